"""The user's own text: every line that cannot be used is named."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer.text.corpora import load_corpus
from transformer.text.lines import CorpusError, split_lines
from transformer.text.own_files import split_by_source

BAD_LINES = {
    "no tab": (b"a\tb\nc d\ne\tf\n", 2, "it has no tab; allowed is source, one tab, target."),
    "three columns": (b"a\tb\tc\n", 1, "it has 3 columns; allowed is source, one tab, target."),
    "empty source": (b"a\tb\n\tb\n", 2, "the source is empty; allowed is a sentence on both sides."),
    "empty target": (b"a\tb\nc\t\r\n", 2, "the target is empty; allowed is a sentence on both sides."),
    "blank target": (b"a\t \xc2\xa0\n", 1, "the target is empty; allowed is a sentence on both sides."),
    "blank line": (b"a\tb\n\nc\td\n", 2, "it has no tab; allowed is source, one tab, target."),
    "Latin-1": (b"a\tb\nStra\xdfe\tstreet\n", 2, "byte 5 is not UTF-8; allowed is UTF-8 text."),
    "lone surrogate": (b"a\t\xed\xa0\x80\n", 1, "byte 3 is not UTF-8; allowed is UTF-8 text."),
    "NUL": (b"a\0\tb\n", 1, "the source holds a NUL character; allowed is text."),
}


def write(path, content: bytes | str):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def all_pairs(corpus) -> list[tuple[str, str]]:
    return sorted(pair for split in ("train", "validation", "test") for pair in corpus.pairs(split))


@pytest.mark.parametrize(("content", "line", "message"), BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_line_is_named(tmp_path, content, line, message):
    path = write(tmp_path / "mine.tsv", content)
    with pytest.raises(CorpusError, match=f"^{re.escape(f'{path}, line {line}: {message}')}$"):
        load_corpus(path)


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(tmp_path, content):
    path = write(tmp_path / "mine.tsv", content)
    with pytest.raises(
        CorpusError, match=f"^{re.escape(str(path))} is empty; allowed is a text with one sentence a line"
    ):
        load_corpus(path)


def test_a_missing_file_is_refused(tmp_path):
    path = tmp_path / "mine.tsv"
    with pytest.raises(CorpusError, match=f"^{re.escape(str(path))} cannot be read: No such file or directory\\.$"):
        load_corpus(path)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(CorpusError, match=r"cannot be read: Is a directory\.$"):
        load_corpus(write_folder(tmp_path / "mine.tsv"))


def write_folder(path):
    path.mkdir()
    return path


def test_too_few_sentences_are_refused(tmp_path):
    path = write(tmp_path / "mine.tsv", "a\tb\na\tc\nd\te\n")
    with pytest.raises(CorpusError, match=r"mine\.tsv has 2 different source sentences; allowed is at least 3"):
        load_corpus(path)


def test_a_tsv_as_an_editor_on_windows_writes_it(tmp_path):
    path = write(tmp_path / "Mine.TSV", b"\xef\xbb\xbfone\teins\r\ntwo\tzwei\r\nthree\tdrei")
    corpus = load_corpus(path)
    assert all_pairs(corpus) == [("one", "eins"), ("three", "drei"), ("two", "zwei")]
    assert (corpus.name, corpus.size, corpus.languages) == ("Mine", 0, ("source", "target"))


def test_spaces_and_odd_line_separators_stay_in_their_sentence(tmp_path):
    path = write(tmp_path / "mine.tsv", " one \u2028two\teins\x85\x0b\nb\tb\nc\tc\n")
    assert (" one \u2028two", "eins\x85\x0b") in all_pairs(load_corpus(path))


def test_two_files_are_the_same_corpus_as_one(tmp_path):
    write(tmp_path / "both.tsv", "one\teins\ntwo\tzwei\nthree\tdrei\n")
    source = write(tmp_path / "both.en", "one\ntwo\nthree\n")
    target = write(tmp_path / "both.de", "eins\nzwei\ndrei\n")
    two, one = load_corpus(f"{source},{target}"), load_corpus(tmp_path / "both.tsv")
    assert two.sha256 == one.sha256
    assert (two.name, one.name) == ("both", "both")


def test_two_files_may_hold_tabs(tmp_path):
    source = write(tmp_path / "a.txt", "one\ttab\ntwo\nthree\n")
    target = write(tmp_path / "b.txt", "eins\nzwei\ndrei\n")
    assert ("one\ttab", "eins") in all_pairs(load_corpus(f"{source},{target}"))


def test_two_files_of_different_length_are_refused(tmp_path):
    source = write(tmp_path / "a.txt", "one\ntwo\nthree\n")
    target = write(tmp_path / "b.txt", "eins\nzwei\n")
    message = (
        f"{source} has 3 lines and {target} has 2; allowed is the same number, line by line each other's translation."
    )
    with pytest.raises(CorpusError, match=f"^{re.escape(message)}$"):
        load_corpus(f"{source},{target}")


def test_an_empty_line_of_two_files_is_named(tmp_path):
    source = write(tmp_path / "a.txt", "one\ntwo\nthree\n")
    target = write(tmp_path / "b.txt", "eins\n\ndrei\n")
    message = f"{target}, line 2: the target is empty; allowed is a sentence on both sides."
    with pytest.raises(CorpusError, match=f"^{re.escape(message)}$"):
        load_corpus(f"{source},{target}")


@pytest.mark.parametrize("name", ["", "klingon", "a.txt", ",", "a.txt,", ",b.txt"])
def test_an_unknown_corpus_is_refused(name):
    with pytest.raises(CorpusError, match=f"^There is no corpus '{name}'; allowed is copy . reverse . .* . tatoeba"):
        load_corpus(name)


SENTENCES = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), min_size=1, max_size=8)


@given(st.lists(st.tuples(SENTENCES, SENTENCES), min_size=3, max_size=80, unique_by=lambda pair: pair[0]))
def test_laws_of_splitting(pairs):
    pairs = [*pairs, pairs[0]]
    splits = split_by_source(pairs, "mine")
    assert all(splits.values())
    assert sorted(pair for split in splits.values() for pair in split) == sorted(pairs)
    train, validation, test = ({source for source, _ in split} for split in splits.values())
    assert not train & validation | train & test | validation & test


def test_shares_and_stability_of_splitting():
    pairs = [(f"sentence {number}", "Satz") for number in range(10_000)]
    before, after = (split_by_source(pairs[:size], "mine") for size in (5_000, 10_000))
    for split, share in (("train", 0.96), ("validation", 0.02), ("test", 0.02)):
        assert len(after[split]) / 10_000 == pytest.approx(share, abs=0.005)
        assert set(before[split]) <= set(after[split])


@given(st.lists(SENTENCES, min_size=1))
def test_lines_are_cut_at_line_feeds_only(sentences):
    sentences = [sentence.removesuffix("\r").removeprefix("\ufeff") or "x" for sentence in sentences]
    sentences = [sentence.rstrip("\r") or "x" for sentence in sentences]
    assert split_lines("\n".join(sentences).encode(), "mine") == sentences
    assert split_lines("".join(f"{sentence}\r\n" for sentence in sentences).encode(), "mine") == sentences
