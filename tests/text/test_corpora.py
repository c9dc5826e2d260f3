"""Corpora by name, from the folder that already holds them."""

import gzip
import hashlib

import pytest

from transformer.text.corpora import CORPORA, SPLITS, Corpus, load_corpus
from transformer.text.downloads import MULTI30K_SHA256
from transformer.text.lines import CorpusError

TINY = {"train": [("a", "b"), ("c", "d")], "validation": [("e", "f")], "test": []}


def tiny(splits=TINY) -> Corpus:
    return Corpus("tiny", "none", "none", 0, ("en", "de"), splits)


@pytest.fixture(scope="module")
def tatoeba(shared_data) -> Corpus:
    return load_corpus("tatoeba", notify=pytest.fail)


def write_folder(folder, **texts: str):
    folder.mkdir(parents=True)
    for stem in ("train", "val", "test"):
        for language in ("en", "de"):
            (folder / f"{stem}.{language}.gz").write_bytes(
                gzip.compress(texts.get(stem, f"{stem} 1\n{stem} 2\n").encode())
            )
    return folder


def test_the_digest_is_of_every_pair_in_its_split():
    text = "train 2\na\nb\nc\nd\nvalidation 1\ne\nf\ntest 0\n"
    assert tiny().sha256 == hashlib.sha256(text.encode()).hexdigest()
    moved = {"train": [("a", "b")], "validation": [("c", "d"), ("e", "f")], "test": []}
    swapped = {**TINY, "train": [("c", "d"), ("a", "b")]}
    assert len({corpus.sha256 for corpus in (tiny(), tiny(moved), tiny(swapped))}) == 3


@pytest.mark.parametrize("split", ["val", "", "Train"])
def test_an_unknown_split_is_refused(split):
    message = f"^The corpus tiny has no split '{split}'; allowed is train . validation . test.$"
    with pytest.raises(CorpusError, match=message):
        tiny().pairs(split)


def test_every_name_is_known():
    assert CORPORA == ("copy", "reverse", "sort", "reverse-small", "shift-3", "tatoeba", "multi30k")


def test_tatoeba_is_read_from_the_data_folder(tatoeba):
    assert {split: len(tatoeba.pairs(split)) for split in SPLITS} == {
        "train": 166_064,
        "validation": 1_531,
        "test": 1_543,
    }
    assert tatoeba.pairs("test")[4] == ("Both of them are very cute.", "Beide sind sehr niedlich.")
    assert tatoeba.languages == ("en", "de")
    assert tatoeba.licence == "CC BY 2.0 FR"
    assert "tatoeba.org" in tatoeba.attribution
    assert tatoeba.sha256 == "65bd8546e68c351d096d5cfe721753bff760d063b392ee06328b398eedd1b464"


def test_no_sentence_of_tatoeba_is_in_two_splits(tatoeba):
    for side in (0, 1):
        train, validation, test = ({pair[side].lower() for pair in tatoeba.pairs(split)} for split in SPLITS)
        assert not train & validation | train & test | validation & test


def test_multi30k_is_read_from_the_data_folder(shared_data):
    corpus = load_corpus("multi30k", notify=pytest.fail)
    assert {split: len(corpus.pairs(split)) for split in SPLITS} == {
        "train": 29_000,
        "validation": 1_014,
        "test": 1_000,
    }
    assert corpus.pairs("train")[0] == (
        "Two young, White males are outside near many bushes.",
        "Zwei junge weiße Männer sind im Freien in der Nähe vieler Büsche.",
    )
    assert corpus.sha256 == "7cb029a6889cbc707c947b56e52ef7226bd9e27d22bf280bb30f93331a519145"


def test_multi30k_is_known_by_its_checksums(shared_data):
    folder = shared_data / "multi30k-en-de"
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.gz")}
    assert found == MULTI30K_SHA256


def test_a_folder_of_ones_own(tmp_path, monkeypatch):
    write_folder(tmp_path / "tatoeba-en-de", train="one\r\ntwo\u2028\n")
    monkeypatch.setenv("ROUNDTABLE_DATA", str(tmp_path))
    corpus = load_corpus("tatoeba", notify=pytest.fail)
    assert corpus.pairs("train") == [("one", "one"), ("two\u2028", "two\u2028")]
    assert corpus.pairs("validation") == [("val 1", "val 1"), ("val 2", "val 2")]


def test_a_data_folder_that_does_not_exist_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("ROUNDTABLE_DATA", str(tmp_path / "nothing"))
    with pytest.raises(
        CorpusError, match=r"^ROUNDTABLE_DATA is '.*nothing'; allowed is a folder that exists, or nothing\.$"
    ):
        load_corpus("tatoeba", notify=pytest.fail)


def test_a_data_folder_without_a_split_is_refused(tmp_path, monkeypatch):
    folder = write_folder(tmp_path / "tatoeba-en-de")
    (folder / "val.de.gz").unlink()
    monkeypatch.setenv("ROUNDTABLE_DATA", str(tmp_path))
    with pytest.raises(CorpusError, match=r"val\.de\.gz is missing; allowed in ROUNDTABLE_DATA is a folder with every"):
        load_corpus("tatoeba", notify=pytest.fail)


@pytest.mark.parametrize(
    "damage",
    [lambda data: b"no gzip", lambda data: data[:-9], lambda data: data[:10] + b"\xff" * 20],
    ids=["no gzip", "cut short", "garbled"],
)
def test_a_damaged_file_is_refused(tmp_path, monkeypatch, damage):
    path = write_folder(tmp_path / "tatoeba-en-de") / "test.en.gz"
    path.write_bytes(damage(path.read_bytes()))
    monkeypatch.setenv("ROUNDTABLE_DATA", str(tmp_path))
    with pytest.raises(CorpusError, match=r"test\.en\.gz cannot be read as gzip; replace it by a whole file\.$"):
        load_corpus("tatoeba", notify=pytest.fail)


def test_sides_of_different_length_are_refused(tmp_path, monkeypatch):
    path = write_folder(tmp_path / "tatoeba-en-de") / "test.en.gz"
    path.write_bytes(gzip.compress(b"one\n"))
    monkeypatch.setenv("ROUNDTABLE_DATA", str(tmp_path))
    with pytest.raises(
        CorpusError, match=r"test\.en\.gz has 1 lines and .*test\.de\.gz has 2; allowed is the same number"
    ):
        load_corpus("tatoeba", notify=pytest.fail)
