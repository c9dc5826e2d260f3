"""Outputs of several models: what is shaded, what is underlined, and that it is text."""

import math
import re

from ui.compare_outputs import Line, Output, apart, outputs_html


def output(*labels: str, probability: float = 0.5, generated: bool = True) -> Output:
    return Output(labels, (math.log(probability),) * len(labels), generated)


def underlined(html: str) -> list[str]:
    return re.findall(r"underline 2px[^>]*>([^<]*)</bdi>", html)


def test_what_two_outputs_do_not_share_in_order():
    assert apart(["a", "b", "c"], ["a", "c"]) == {1}
    assert apart(["a", "b"], ["b", "a"]) in ({0}, {1})
    assert apart([], ["a"]) == set()


def test_tokens_that_the_first_lacks_are_underlined_and_its_own_that_not_all_others_have():
    lines = [
        Line("one", "", output("Das", "Tier", "war")),
        Line("two", "", output("Das", "Tier", "war")),
        Line("three", "", output("Ein", "Tier", "war")),
    ]
    html = outputs_html(lines)
    assert underlined(html) == ["Das", "Ein"]
    assert "Underlined: not what the others write." in html
    assert "Underlined" not in outputs_html(lines[:2])


def test_a_target_that_was_read_is_compared_by_what_would_have_been_written():
    read = output("Das", "Tier", generated=False)
    lines = [
        Line("one", "", output("Das", "Tier")),
        Line("two", "heads 1 (not 4)", read, output("Das", "Pferd")),
        Line("three", "", read, output("Das", "Tier")),
    ]
    html = outputs_html(lines)
    assert underlined(html) == ["Tier", "Pferd"]
    assert html.count("would write") == 1, "who would write the same is not told twice"
    assert html.count("reads, as its target,") == 2
    assert "heads 1 (not 4)" in html


def test_probabilities_are_said_and_shade():
    html = outputs_html([Line("one", "", Output(("a", "b"), (0.0, -math.inf), True))])
    assert "rgba(76,138,229,0.60)" in html
    assert 'title="probability 0.000"' in html


def test_what_is_all_but_certain_has_0_nats():
    assert ">0.0 nats<" in outputs_html([Line("one", "", Output(("a",), (-0.001,), True))])
    assert ">−2.0 nats<" in outputs_html([Line("one", "", Output(("a",), (-2.0,), True))])


def test_markup_stays_text():
    html = outputs_html([Line("<i>m</i>", "<b>x</b>", output("<script>"))])
    assert "<script>" not in html
    assert "<i>m" not in html
    assert "&lt;b&gt;x&lt;/b&gt;" in html
