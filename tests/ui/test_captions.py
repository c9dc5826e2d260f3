import numpy as np

from tests.ui.samples import asymmetric, attention, tokens
from transformer.analysis.filters import Filters
from transformer.analysis.trace import Translation
from ui.captions import (
    left_out_line,
    near_uniform_line,
    opened_note,
    opened_title,
    shown_line,
    translation_line,
    waiting_line,
    what_it_attends_to,
)


def test_the_title_names_layer_head_and_kind():
    assert "L0·H1" in opened_title(asymmetric(), 0, 1, 2)
    assert "Encoder–decoder attention" in opened_title(asymmetric(), 0, 1, 2)
    assert "L0, mean of 2 heads" in opened_title(asymmetric().mean(), 0, 0, 2)


def test_a_translation_is_escaped_and_its_number_has_a_unit():
    line = translation_line(Translation("<b>Tier</b>", True, (-1.0, -0.5), -1.2), "a&b")
    assert "&lt;b&gt;Tier&lt;/b&gt;" in line
    assert "a&amp;b writes" in line
    assert "log-probability −1.5 nats over 2 tokens" in line
    assert "typed target" in translation_line(Translation("Tier", False, (-1.0,), -1.0), "a")


def test_a_translation_of_nothing_says_so():
    assert "(nothing)" in translation_line(Translation("", True, (-1.0,), -1.0), "a")


def test_it_says_what_it_attends_to_on_the_famous_sentence():
    words = tokens("The", "animal", "it", "street")
    pattern = np.array([[[[1, 0, 0, 0], [0, 1, 0, 0], [0.125, 0.25, 0.5, 0.125], [0, 0, 0, 1]]]])
    said = what_it_attends_to(attention(pattern, words, words, kind="encoder"), 0, 0)
    assert "gives 0.25 to “animal”, 0.12 to “street”, and most to “it”: 0.50." in said
    assert "Google" not in what_it_attends_to(asymmetric(), 0, 0)
    assert "nan" not in what_it_attends_to(attention(pattern * np.nan, words, words, kind="encoder"), 0, 0)


def test_the_title_says_when_the_twin_is_shown():
    assert "attention, untrained<" in opened_title(asymmetric(), 0, 1, 2, untrained=True)


def test_a_head_that_hardly_chooses_says_so():
    assert "near uniform" in opened_note(asymmetric(), 0, 0, 0.95)
    assert "95 %" in opened_note(asymmetric(), 0, 0, 0.95)
    assert "near uniform" not in opened_note(asymmetric(), 0, 0, 0.949)
    assert "94 %" in opened_note(asymmetric(), 0, 0, 0.949), "rounded down, or it would look near uniform"
    assert "%" not in opened_note(asymmetric(), 0, 0, None)
    assert "%" not in opened_note(asymmetric(), 0, 0, float("nan"))


def test_weights_that_are_no_numbers_are_counted_but_not_where_masked():
    words = tokens("a", "b")
    pattern = np.array([[[[np.nan, np.nan], [np.inf, 0.5]]]])
    causal = attention(pattern, words, words, kind="decoder", mask=np.tri(2, dtype=bool))
    assert "2 weights are not numbers" in opened_note(causal, 0, 0, float("nan"))


def test_near_uniform_heads_are_counted_among_those_that_have_a_choice():
    assert "1 of 3 heads is near uniform (at least 95 %" in near_uniform_line(np.array([[0.97, 0.5], [0.1, np.nan]]))
    assert "All of 2 heads are" in near_uniform_line(np.array([[0.97, 0.99]]))
    assert "None of 1 heads is" in near_uniform_line(np.array([[0.5]]))
    assert near_uniform_line(np.array([[np.nan]])) == ""


def test_filters_and_summaries_are_said_and_nothing_else():
    assert shown_line("encoder", Filters(), 4) == ""
    assert "Shown: words." in shown_line("encoder", Filters(words=True), 4)
    assert "over 4 heads" in shown_line("encoder", Filters(summary="mean"), 4)
    assert "any of 2 heads" in shown_line("encoder", Filters(summary="max", heads=("0", "1")), 4)
    assert "see decoder" in shown_line("cross", Filters(summary="rollout"), 4)
    assert "see cross" in shown_line("decoder", Filters(summary="rollout"), 4)


def test_what_a_link_asked_for_in_vain_is_escaped_and_short():
    assert left_out_line([]) == ""
    said = left_out_line(["layer=99", "kind=<img src=x onerror=alert(1)>" + "y" * 500])
    assert "layer=99, kind=&lt;img src=x onerror" in said
    assert len(said) < 250
    many = left_out_line([f"n={at}" for at in range(1_010)])
    assert "n=7 and 1,002 more." in many
    assert "n=8" not in many


def test_what_a_link_sets_out_of_view_is_escaped_and_named():
    assert waiting_line([]) == ""
    assert "waits for its control: matrix=Q, key=&lt;b&gt;.</div>" in waiting_line(["matrix=Q", "key=<b>"])


def test_the_twin_reads_what_the_trained_model_wrote():
    read = Translation("Tier", False, (-1.0,), -1.0)
    assert "m writes, trained; its untrained twin reads it" in translation_line(read, "m", untrained=True, typed=False)
    assert "typed target; its untrained twin reads it" in translation_line(read, "m", untrained=True, typed=True)
