"""Copy, reverse and sort: right answers, and no string twice."""

from collections import Counter
from string import ascii_lowercase

import pytest

from transformer.text.algorithmic import TASKS, algorithmic_splits
from transformer.text.corpora import load_corpus
from transformer.text.tokenizer import Tokenizer

RIGHT = {
    "copy": lambda letters: letters,
    "reverse": lambda letters: list(reversed(letters)),
    "sort": sorted,
    "reverse-small": lambda letters: list(reversed(letters)),
    "shift-3": lambda letters: [letters[place % 3] for place in range(len(letters))],
}


@pytest.mark.parametrize("task", TASKS)
def test_every_answer_is_right(task):
    for pairs in algorithmic_splits(task).values():
        for source, target in pairs:
            letters = source.split(" ")
            assert 1 <= len(letters) <= 16
            assert set(letters) <= set(ascii_lowercase)
            assert target == " ".join(RIGHT[task](letters))


def test_a_reversed_string_by_hand():
    assert TASKS["reverse"]("gafc") == "cfag"
    assert TASKS["sort"]("gafca") == "aacfg"
    assert TASKS["copy"]("gafc") == "gafc"


@pytest.mark.parametrize("seed", [0, 7])
def test_no_string_is_drawn_twice(seed):
    splits = algorithmic_splits("reverse", seed)
    assert {split: len(pairs) for split, pairs in splits.items()} == {
        "train": 20_000,
        "validation": 1_000,
        "test": 1_000,
    }
    assert len({source for pairs in splits.values() for source, _ in pairs}) == 22_000


def test_lengths_are_uniform_as_far_as_there_are_strings():
    splits = algorithmic_splits("reverse")
    lengths = Counter(len(source.split()) for pairs in splits.values() for source, _ in pairs)
    assert lengths[1] == 26
    assert 550 < lengths[2] <= 676
    for length in range(3, 17):
        assert 1_400 < lengths[length] < 1_650


def test_a_small_task_has_ten_letters_and_lengths_up_to_ten():
    splits = algorithmic_splits("reverse-small")
    sources = [source.split() for pairs in splits.values() for source, _ in pairs]
    assert {letter for letters in sources for letter in letters} == set("abcdefghij")
    assert {len(letters) for letters in sources} == set(range(1, 11))
    assert len({tuple(letters) for letters in sources}) == 22_000


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_every_split_has_its_share_of_every_length(split):
    pairs = algorithmic_splits("reverse")[split]
    lengths = Counter(len(source.split()) for source, _ in pairs)
    for length in range(2, 17):
        expected = (626 if length == 2 else 1_525) / 22_000 * len(pairs)
        assert 0.5 * expected < lengths[length] < 1.6 * expected


def test_the_strings_are_those_of_the_shipped_checkpoint():
    """The digest is in that checkpoint's config.json: whoever draws other strings must train it anew."""
    assert load_corpus("reverse").sha256 == "e909c61fb1f3b7a1312e1368c6f3e6e08d4d0d6d443b989cc73e93d33d8ecb0f"


def test_seeds_draw_other_strings():
    first, again, other = (load_corpus("reverse", seed) for seed in (0, 0, 1))
    assert first.sha256 == again.sha256 != other.sha256
    assert load_corpus("copy").sha256 != first.sha256


def test_one_letter_is_one_piece():
    sentences = [sentence for pair in algorithmic_splits("reverse")["train"] for sentence in pair]
    with pytest.warns(UserWarning, match="313 pieces, not the 4000"):
        tokenizer = Tokenizer.train(sentences, 4_000)
    # 4 special pieces, 256 bytes, ▁, 26 letters, and 26 letters with ▁ before them.
    assert len(tokenizer) == 4 + 256 + 1 + 26 + 26
    assert tokenizer.pieces(tokenizer.encode("g a f c")) == ["▁g", "▁a", "▁f", "▁c"]
