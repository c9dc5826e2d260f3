"""The code of a view runs, whatever is in its strings; tests/pages checks its numbers against the page's."""

import ast

import pytest

from tests import hostile
from transformer.analysis.filters import Filters
from transformer.export.as_code import as_code


def test_three_lines_reproduce_a_view():
    code = as_code("small", "It is late.", "Es ist spät.", "cross", Filters(words=True, top_k=2), opened=(1, 3))
    assert code.splitlines() == [
        "from transformer import load_checkpoint",
        "from transformer.analysis.filters import Filters",
        "",
        "checkpoint = load_checkpoint('small')",
        "trace = checkpoint.trace('It is late.', target='Es ist spät.')",
        'view = Filters(words=True, top_k=2).apply(trace, "cross")',
        "view.pattern[1, 3]  # (query, key)",
    ]


def test_a_second_sentence_is_viewed_the_same_way():
    code = as_code("small", "a", "b", "cross", Filters(threshold=0.5), opened=(0, 1), second="c")
    assert code.splitlines()[3:] == [
        "checkpoint = load_checkpoint('small')",
        "trace = checkpoint.trace('a', target='b')",
        'view = Filters(threshold=0.5).apply(trace, "cross")',
        "trace = checkpoint.trace('c')",
        'second = Filters(threshold=0.5).apply(trace, "cross")',
        "view.pattern[0, 1], second.pattern[0, 1]  # (query, key)",
    ]


def test_nothing_is_imported_that_is_not_used():
    plain = as_code("small", "x", None, "encoder")
    assert 'view = trace["encoder"]' in plain
    assert plain.count("import") == 1
    twin = as_code("small", "x", None, "encoder", Filters(weighting="norm"), untrained=True)
    assert "trace = retrace(checkpoint.untrained(), checkpoint.trace('x'))" in twin
    assert "value_norms(checkpoint.untrained(), trace.source, trace.decoder.keys)" in twin
    assert twin.count("import") == 4


@pytest.mark.parametrize("text", hostile.PARAMETERS)
def test_any_text_is_a_string_in_it_and_nothing_else(text):
    tree = ast.parse(as_code(text, text, text, "decoder", Filters(threshold=0.5), untrained=True))
    found = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert found.count(text) == 3
    assert len(tree.body) == 3 + 4
