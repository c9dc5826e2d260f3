"""Tatoeba and Multi30k: from the folder ROUNDTABLE_DATA, or downloaded once and kept in the platform's cache."""

import gzip
import os
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from transformer.text.lines import CorpusError, Pairs, hash_fraction, pair_lines, split_lines

MULTI30K_URL = (
    "https://raw.githubusercontent.com/multi30k/dataset/a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/raw/"
)
MULTI30K_SHA256 = {
    "train.en.gz": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    "train.de.gz": "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
    "val.en.gz": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    "val.de.gz": "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
    "test_2016_flickr.en.gz": "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    "test_2016_flickr.de.gz": "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
}
TATOEBA_URL = "https://www.manythings.org/anki/deu-eng.zip"
HELD_OUT = 0.01
"""Share of Tatoeba's English sentences that go to validation, and again to test."""

TIMEOUT = 30  # seconds without an answer
USER_AGENT = "Mozilla/5.0 (compatible; roundtable)"  # manythings.org refuses the names of Python's HTTP libraries


def _nothing(_n_bytes: int) -> None: ...


def multi30k_splits(announce: Callable[[], None], arrived: Callable[[int], None] = _nothing) -> dict[str, Pairs]:
    """The three splits of Multi30k; `announce` is called before a download, not when the files are here.

    `arrived` is told of every few bytes that come. Raises CorpusError if a file cannot be had or read.
    """
    folder = data_folder("multi30k-en-de")
    if folder is None:
        folder = cache_folder() / "multi30k-en-de"
        if not all((folder / name).is_file() for name in MULTI30K_SHA256):
            announce()
        for name, sha256 in MULTI30K_SHA256.items():
            fetch(MULTI30K_URL + name, folder / name, sha256, arrived)
    return read_folder(folder, test="test_2016_flickr")


def tatoeba_splits(announce: Callable[[], None], arrived: Callable[[int], None] = _nothing) -> dict[str, Pairs]:
    """The three splits of Tatoeba: those of the data folder, or the current export, split by hash.

    `announce` is called before a download, `arrived` told of every few bytes that come. Raises CorpusError if a
    file cannot be had or read.
    """
    folder = data_folder("tatoeba-en-de")
    if folder is not None:
        return read_folder(folder, test="test")
    archive = cache_folder() / "tatoeba-en-de" / "deu-eng.zip"
    if not archive.is_file():
        announce()
        fetch(TATOEBA_URL, archive, None, arrived)
    return split_tatoeba(read_tatoeba_archive(archive))


def data_folder(name: str) -> Path | None:
    """The folder `name` in ROUNDTABLE_DATA, or None where there is none; raises CorpusError if that is no folder."""
    setting = os.environ.get("ROUNDTABLE_DATA")
    if not setting:
        return None
    root = Path(setting).expanduser()
    if not root.is_dir():
        raise CorpusError(f"ROUNDTABLE_DATA is {setting!r}; allowed is a folder that exists, or nothing.")
    return root / name if (root / name).is_dir() else None


def read_folder(folder: Path, test: str) -> dict[str, Pairs]:
    """Splits from train, val and `test`, each an .en.gz and a .de.gz with one sentence a line."""
    splits = {}
    for split, stem in (("train", "train"), ("validation", "val"), ("test", test)):
        english, german = folder / f"{stem}.en.gz", folder / f"{stem}.de.gz"
        splits[split] = pair_lines(_gzip_lines(english), _gzip_lines(german), str(english), str(german))
    return splits


def read_tatoeba_archive(archive: Path) -> Pairs:
    """Pairs of deu.txt in the archive of manythings.org: English, tab, German, tab, attribution.

    An archive that cannot be read is removed, so that the next attempt downloads it again.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            content = opened.read("deu.txt")
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError) as error:
        archive.unlink()
        raise CorpusError(f"{TATOEBA_URL} gave no archive with deu.txt in it; it was removed, try again.") from error
    pairs = []
    for number, line in enumerate(split_lines(content, f"{archive}, deu.txt"), start=1):
        columns = line.split("\t")
        if len(columns) < 2 or not columns[0] or not columns[1]:
            raise CorpusError(f"{archive}, deu.txt, line {number}: it is not English, tab, German.")
        pairs.append((columns[0], columns[1]))
    return pairs


def split_tatoeba(pairs: Pairs) -> dict[str, Pairs]:
    """Splits by a hash of the lower-cased English sentence, so that a later export moves no sentence.

    A German sentence may translate English sentences of two splits: its pairs in test stay, or else those in
    validation, and the others go, so that no sentence of either language, whatever its case, is in two splits.
    """
    splits: dict[str, Pairs] = {"train": [], "validation": [], "test": []}
    for english, german in dict.fromkeys(pairs):
        fraction = hash_fraction(english.lower())
        split = "test" if fraction < HELD_OUT else "validation" if fraction < 2 * HELD_OUT else "train"
        splits[split].append((english, german))
    taken: set[str] = set()
    for split in ("test", "validation", "train"):
        splits[split] = [pair for pair in splits[split] if pair[1].lower() not in taken]
        taken |= {german.lower() for _, german in splits[split]}
    return splits


def cache_folder() -> Path:
    """Where downloads are kept: the platform's cache folder."""
    import pooch

    return Path(pooch.os_cache("roundtable"))


def fetch(url: str, path: Path, sha256: str | None, arrived: Callable[[int], None] = _nothing) -> None:
    """Download `url` to `path`, unless a file with this sha256 is there.

    Without a sha256 any file that is there will do. `arrived` is told of every few bytes that come. Raises CorpusError
    if the file cannot be had.
    """
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")
    known = None if sha256 is None else f"sha256:{sha256}"
    downloader: Any = partial(_download, arrived)  # pooch's type also has an argument that `retrieve` never gives
    try:
        pooch.retrieve(url, known_hash=known, fname=path.name, path=path.parent, downloader=downloader)
    except requests.RequestException as error:
        advice = f"connect to the network, or set ROUNDTABLE_DATA to a folder with {path.parent.name} in it"
        raise CorpusError(f"{url} cannot be downloaded ({_reason(error)}); {advice}.") from error
    except OSError as error:
        raise CorpusError(f"{path} cannot be written: {error.strerror or error}.") from error
    except ValueError as error:
        raise CorpusError(f"{url} gave a file whose sha256 is not {sha256}; nothing was kept of it.") from error


def _download(arrived: Callable[[int], None], url: str, output: str, _pooch: object) -> None:
    """What pooch calls; its own downloader leaves the connection open when it fails."""
    import requests

    with requests.get(url, headers={"User-Agent": USER_AGENT}, timeout=TIMEOUT, stream=True) as response:
        response.raise_for_status()
        with open(output, "wb") as file:
            for chunk in response.iter_content(chunk_size=2**16):
                file.write(chunk)
                arrived(len(chunk))


def _reason(error: Exception) -> str:
    response = getattr(error, "response", None)
    return type(error).__name__ if response is None else f"HTTP status {response.status_code}"


def _gzip_lines(path: Path) -> list[str]:
    try:
        content = gzip.decompress(path.read_bytes())
    except FileNotFoundError as error:
        raise CorpusError(f"{path} is missing; allowed in ROUNDTABLE_DATA is a folder with every split.") from error
    except (OSError, EOFError, zlib.error) as error:
        raise CorpusError(f"{path} cannot be read as gzip; replace it by a whole file.") from error
    return split_lines(content, str(path))
