import numpy as np

from tests.ui.samples import asymmetric, attention, tokens
from transformer.analysis.trace import Translation
from ui.captions import opened_title, translation_line, what_it_attends_to


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
