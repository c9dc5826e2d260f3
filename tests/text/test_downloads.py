"""Downloads, from a server on this machine: what is announced, kept, checked and refused."""

import dataclasses
import functools
import gzip
import hashlib
import http.server
import io
import threading
import zipfile

import pytest

from transformer.text import corpora, downloads
from transformer.text.corpora import load_corpus
from transformer.text.lines import CorpusError

FILES = {
    f"{stem}.{language}.gz": gzip.compress("".join(f"{stem} {language} {n}\n" for n in range(3)).encode(), mtime=0)
    for stem in ("train", "val", "test_2016_flickr")
    for language in ("en", "de")
}
PAIRS = [(f"Sentence {number}.", f"Satz {number}.") for number in range(600)]


def archive(text: str, name: str = "deu.txt") -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as opened:
        opened.writestr(name, text)
        opened.writestr("_about.txt", "about")
    return content.getvalue()


EXPORT = archive("".join(f"{english}\t{german}\tCC-BY 2.0 (France)\n" for english, german in PAIRS))


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.seen.append((self.path, self.headers["User-Agent"]))
        content = self.server.files.get(self.path.removeprefix("/"))
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content) + self.server.withheld))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_args) -> None:
        """Keep the tests' output clean."""


@pytest.fixture
def server(monkeypatch, tmp_path):
    """A server with both corpora, an empty cache, and no data folder."""
    monkeypatch.delenv("ROUNDTABLE_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(downloads, "cache_folder", lambda: tmp_path / "cache")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.seen, running.withheld = [], 0
        running.files = {**FILES, "deu-eng.zip": EXPORT}
        url = f"http://127.0.0.1:{running.server_port}/"
        monkeypatch.setattr(downloads, "MULTI30K_URL", url)
        monkeypatch.setattr(downloads, "TATOEBA_URL", f"{url}deu-eng.zip")
        digests = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
        monkeypatch.setattr(downloads, "MULTI30K_SHA256", digests)
        thread = threading.Thread(target=functools.partial(running.serve_forever, poll_interval=0.01))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def kept(folder) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_the_real_addresses():
    commit = "a3d2e0d26b56f3846f66a952536ffed4e401d05a"
    assert f"https://raw.githubusercontent.com/multi30k/dataset/{commit}/data/task1/raw/" == downloads.MULTI30K_URL
    assert downloads.TATOEBA_URL == "https://www.manythings.org/anki/deu-eng.zip"


def test_downloads_are_kept_where_the_platform_keeps_such_things(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert downloads.cache_folder().name == "roundtable"


def test_multi30k_is_downloaded_once(server, tmp_path):
    told = []
    corpus = load_corpus("multi30k", notify=told.append)
    assert told == [
        "Downloading multi30k: about 1 MB; licence: non-commercial research and educational purposes; "
        "attribution: Elliott et al. 2016, Multi30K (W16-3210), github.com/multi30k/dataset."
    ]
    assert corpus.pairs("test")[1] == ("test_2016_flickr en 1", "test_2016_flickr de 1")
    assert len(server.seen) == 6
    assert kept(tmp_path / "cache") == sorted(FILES)
    assert load_corpus("multi30k", notify=pytest.fail).sha256 == corpus.sha256
    assert len(server.seen) == 6


def test_licence_and_size_are_told_before_anything_is_asked_for(server):
    def stop(_message: str) -> None:
        raise KeyboardInterrupt

    for name in ("multi30k", "tatoeba"):
        with pytest.raises(KeyboardInterrupt):
            load_corpus(name, notify=stop)
    assert server.seen == []


def test_how_much_has_come_is_told_in_tenths(server, monkeypatch):
    source = dataclasses.replace(corpora.DOWNLOADS["tatoeba"], size=5 * 2**16)
    monkeypatch.setitem(corpora.DOWNLOADS, "tatoeba", source)
    server.files["deu-eng.zip"] = bytes(5 * 2**16) + EXPORT  # an archive may have anything before it
    told = []
    assert load_corpus("tatoeba", notify=told.append).pairs("train")
    assert told[0].startswith("Downloading tatoeba: about 0 MB; licence")
    assert [message.split(":")[1].split("%")[0].strip() for message in told[1:]] == ["20", "40", "60", "80", "100"]


def test_a_wrong_checksum_is_refused_and_not_kept(server, tmp_path):
    server.files["train.en.gz"] = gzip.compress(b"something else\n" * 3)
    with pytest.raises(
        CorpusError, match=r"^http.*train\.en\.gz gave a file whose sha256 is not [0-9a-f]{64}; nothing was"
    ):
        load_corpus("multi30k", notify=str)
    assert kept(tmp_path / "cache") == []


def test_a_damaged_file_in_the_cache_is_downloaded_again(server, tmp_path):
    corpus = load_corpus("multi30k", notify=str)
    (tmp_path / "cache/multi30k-en-de/val.de.gz").write_bytes(b"damaged")
    assert load_corpus("multi30k", notify=str).sha256 == corpus.sha256
    assert len(server.seen) == 7


def test_tatoeba_is_downloaded_once_and_split(server, tmp_path):
    told = []
    corpus = load_corpus("tatoeba", notify=told.append)
    assert told[0].startswith("Downloading tatoeba: about 10 MB; licence: CC BY 2.0 FR; attribution: tatoeba.org")
    assert sorted(pair for split in corpus.splits.values() for pair in split) == sorted(PAIRS)
    assert load_corpus("tatoeba", notify=pytest.fail).sha256 == corpus.sha256
    assert len(server.seen) == 1
    assert server.seen[0][1] == downloads.USER_AGENT
    assert kept(tmp_path / "cache") == ["deu-eng.zip"]


@pytest.mark.parametrize(
    "content",
    [b"<html>Not Acceptable!</html>", EXPORT[:500], archive("a\tb\n", name="fra.txt")],
    ids=["a page", "half an archive", "another language"],
)
def test_an_archive_that_is_none_is_refused_and_not_kept(server, tmp_path, content):
    server.files["deu-eng.zip"] = content
    with pytest.raises(
        CorpusError, match=r"deu-eng\.zip gave no archive with deu\.txt in it; it was removed, try again\.$"
    ):
        load_corpus("tatoeba", notify=str)
    assert kept(tmp_path / "cache") == []
    server.files["deu-eng.zip"] = EXPORT
    assert load_corpus("tatoeba", notify=str).pairs("train")


@pytest.mark.parametrize("line", ["only English", "\tGerman", "English\t\tCC-BY"])
def test_a_bad_line_of_the_export_is_named(server, line):
    server.files["deu-eng.zip"] = archive(f"Hi.\tHallo.\tCC-BY\n{line}\n")
    with pytest.raises(CorpusError, match=r"deu\.txt, line 2: it is not English, tab, German\.$"):
        load_corpus("tatoeba", notify=str)


def test_a_missing_page_says_what_to_do(server, tmp_path):
    server.files.clear()
    with pytest.raises(CorpusError) as refused:
        load_corpus("tatoeba", notify=str)
    assert str(refused.value) == (
        f"{downloads.TATOEBA_URL} cannot be downloaded (HTTP status 404); "
        "connect to the network, or set ROUNDTABLE_DATA to a folder with tatoeba-en-de in it."
    )
    assert kept(tmp_path) == []


def test_a_broken_connection_leaves_nothing_behind(server, tmp_path):
    server.withheld = 100
    with pytest.raises(
        CorpusError, match=r"cannot be downloaded \(\w+\); connect to the network, or set ROUNDTABLE_DATA"
    ):
        load_corpus("tatoeba", notify=str)
    assert kept(tmp_path) == []


def test_no_network_says_what_to_do(server, monkeypatch):
    monkeypatch.setattr(downloads, "TATOEBA_URL", "http://127.0.0.1:9/deu-eng.zip")
    monkeypatch.setenv("ROUNDTABLE_DATA", "")
    with pytest.raises(
        CorpusError, match=r"\(ConnectionError\); connect .* folder with tatoeba-en-de in it\.$"
    ) as refused:
        load_corpus("tatoeba", notify=str)
    assert "\n" not in str(refused.value)


def test_a_cache_that_cannot_be_written_is_named(server, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(CorpusError, match=r"cache/tatoeba-en-de/deu-eng\.zip cannot be written: "):
        load_corpus("tatoeba", notify=str)


def test_no_sentence_of_tatoeba_is_in_two_splits():
    # Many English sentences share a German one, and both come in other cases.
    pairs = [(f"{'gO' if n % 2 else 'Go'} {n // 2}!", f"{'GEH' if n % 3 else 'Geh'} {n % 500}!") for n in range(4_000)]
    splits = downloads.split_tatoeba([*pairs, *pairs[:100]])
    kept_pairs = [pair for split in splits.values() for pair in split]
    assert len(set(kept_pairs)) == len(kept_pairs)
    assert set(kept_pairs) <= set(pairs)
    for side in (0, 1):
        train, validation, test = ({pair[side].lower() for pair in split} for split in splits.values())
        assert train
        assert validation
        assert test
        assert not train & validation | train & test | validation & test


def test_a_later_export_moves_no_sentence():
    before, after = downloads.split_tatoeba(PAIRS[:300]), downloads.split_tatoeba(PAIRS)
    assert {split: set(pairs) <= set(after[split]) for split, pairs in before.items()} == dict.fromkeys(before, True)
