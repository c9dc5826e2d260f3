"""Outputs beside each other: tokens with their probabilities, differences marked, everything escaped."""

import math
from dataclasses import replace

import numpy as np

from tests.analysis.hand_made import tokens
from transformer.analysis.attention import Attention
from transformer.analysis.trace import Trace, Translation
from ui.output_line import output_line


def made(text: str, *labels: str, log_probs: tuple[float, ...] = ()) -> Trace:
    written = tokens(*labels)
    n = len(labels)
    attention = Attention("decoder", np.zeros((1, 1, n, n), np.float32), None, np.ones((n, n), bool), written, written)
    log_probs = log_probs or (math.log(0.5),) * n
    translation = Translation(text, True, log_probs, sum(log_probs))
    return Trace("model", 1, "source", translation, attention, attention, replace(attention, kind="cross"))


def test_each_token_has_its_probability_and_a_shade_of_it():
    html = output_line(made("ja", "ja", "</s>", log_probs=(0.0, math.log(0.25))), "one writes")
    assert "rgba(76,138,229,0.60)" in html
    assert 'title="probability 0.250"' in html
    assert "log-probability −1.4 nats over 2 tokens" in html
    assert "underline" not in html


def test_only_what_the_other_does_not_write_is_underlined():
    one, other = made("a b c", "a", "b", "c"), made("a x c", "a", "x", "c", "d")
    html = output_line(one, "one writes", other)
    marked = [part for part in html.split("<span")[1:] if "text-decoration:underline" in part]
    assert [part.split(">")[1].split("<")[0] for part in marked] == ["b"]
    assert "underlined: the other model writes something else" in html


def test_what_a_model_or_a_person_wrote_is_text():
    html = output_line(made("<b>x</b>", "<b>x", "</b>"), "<i>model</i> writes")
    assert "<b>" not in html
    assert "<i>" not in html
    assert "&lt;b&gt;x" in html
