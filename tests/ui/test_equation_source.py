import linecache

import pytest

from tests.conftest import ROOT
from tests.ui.one_head import Q, one_head
from transformer.export.equation import MATRICES
from ui.equation_source import lines, source_of


@pytest.mark.parametrize("score", ["scaled", "unscaled", "scaled-twice"])
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize("matrix", MATRICES)
def test_lines_stand_where_they_are_said_to_stand(matrix, kind, score):
    parts = one_head(kind=kind, score=score, unturned={"q": Q, "k": Q}, bias=one_head().scores)
    found = source_of(parts, matrix)
    assert found
    for source in found:
        for number, line in enumerate(source.text.split("\n"), start=source.first):
            assert linecache.getline(str(ROOT / source.file), number).strip() == line.strip()


def test_rotation_and_bias_are_shown_only_where_they_run():
    plain = one_head()
    turned = one_head(unturned={"q": Q, "k": Q}, bias=plain.scores)
    for matrix, word in (("Q", "rotate"), ("K", "rotate"), ("scores", "slopes")):
        assert not any(word in source.text for source in source_of(plain, matrix))
        assert any(word in source.text for source in source_of(turned, matrix))
    assert not any("rotate" in source.text for source in source_of(turned, "V"))


def test_what_is_read_is_dedented_and_placed():
    def sample():
        if True:
            first = [1]
            return first * 2
        return None

    assert lines(sample, "if True").text == "if True:"
    block = lines(sample, "first", "return first")
    assert block.text == "first = [1]\nreturn first * 2"
    assert block.place.startswith("tests/ui/test_equation_source.py, lines ")
    assert lines(sample, "first").place.count("–") == 0


@pytest.mark.parametrize(("first", "last"), [("nothing", None), ("return", "never")])
def test_a_line_that_is_not_there_is_an_error(first, last):
    def sample():
        return 1

    with pytest.raises(LookupError, match="that begins with"):
        lines(sample, first, last)
