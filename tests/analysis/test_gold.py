"""The reader of gold alignments: what it reads, and what it says of every bad line."""

import pytest

from transformer.analysis.gold import load_gold, read_gold

HEAD = "id\tsrc\ttgt\tsure\tpossible\n"


@pytest.fixture
def written(tmp_path):
    def write(text: str):
        path = tmp_path / "gold.tsv"
        path.write_bytes(text.encode("utf-8"))
        return path

    return write


def test_sure_links_are_possible_links_too(written):
    (pair,) = read_gold(written(HEAD + "one\ta b\tx y z\t0-1 1-2\t1-0\n"))
    assert (pair.name, pair.source, pair.target) == ("one", ("a", "b"), ("x", "y", "z"))
    assert pair.sure == {(0, 1), (1, 2)}
    assert pair.possible == {(0, 1), (1, 2), (1, 0)}


def test_no_possible_links_a_mark_at_the_start_and_line_ends_of_windows(written):
    (pair,) = read_gold(written("\ufeff" + HEAD.replace("\n", "\r\n") + "one\ta\tx\t0-0\t\r\n\r\n"))
    assert pair.sure == pair.possible == {(0, 0)}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("one\ta\tx", "the number of columns is 3; allowed is 5, separated by tabs."),
        ("one\t \tx\t\t", "a sentence is empty; allowed is at least one word on both sides."),
        ("one\ta b\tx\t0-1\t", "'0-1' links no words of this pair; allowed is SOURCE-TARGET, up to 1-0."),
        ("one\ta b\tx\t0-0\t2-0", "'2-0' links no words of this pair; allowed is SOURCE-TARGET, up to 1-0."),
        ("one\ta b\tx\t0:0\t", "'0:0' links no words of this pair; allowed is SOURCE-TARGET, up to 1-0."),
        ("one\ta b\tx\t0--1\t", "'0--1' links no words of this pair; allowed is SOURCE-TARGET, up to 1-0."),
    ],
)
def test_a_bad_line_is_named(written, line, problem):
    with pytest.raises(ValueError, match="line 3") as error:
        read_gold(written(HEAD + "good\ta\tx\t0-0\t\n" + line + "\n"))
    assert str(error.value).endswith(f"gold.tsv, line 3: {problem}")


def test_a_file_that_is_none(tmp_path, written):
    with pytest.raises(ValueError, match="cannot be read as gold alignments"):
        read_gold(tmp_path / "missing.tsv")
    (tmp_path / "bytes.tsv").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="cannot be read as gold alignments"):
        read_gold(tmp_path / "bytes.tsv")
    with pytest.raises(ValueError, match=r"has no sentence pairs below its head line\.$"):
        read_gold(written(HEAD))


def test_a_folder_without_gold_says_where_it_should_be(tmp_path, monkeypatch):
    monkeypatch.setenv("ROUNDTABLE_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=r"alignments has no gold alignments; set ROUNDTABLE_DATA"):
        load_gold()


def test_the_shared_gold(shared_data):
    gold = load_gold(shared_data / "alignments")
    assert {name: len(pairs) for name, pairs in gold.items()} == {
        "gold_en-de_bicici100": 100,
        "gold_en-de_simalign5": 5,
    }
    assert all(pair.sure for pairs in gold.values() for pair in pairs)
