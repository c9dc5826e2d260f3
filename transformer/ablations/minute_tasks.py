"""Tasks that a small model learns in a minute, or cannot: what is read, what is to be written, and how it is tested."""

import random
from collections.abc import Callable
from string import ascii_lowercase

from transformer.text.corpora import Corpus
from transformer.text.lines import Pairs

LETTERS = ascii_lowercase[:10]
RECALL_LENGTH = 50
DISTANCES = tuple(range(5, RECALL_LENGTH + 1, 5))
PER_DISTANCE = 100
HALF = 6
"""Letters of each of the two halves in two-places."""
SIZES = {"train": 20_000, "validation": 500, "test": 1_000}


def recall(letters: str) -> str:
    """The one letter that is a capital."""
    return next(letter for letter in letters if letter.isupper())


def distance(source: str) -> int:
    """How many places before the end of a source of recall its capital stands; the last letter is 1 away from </s>."""
    letters = source.split()
    return len(letters) - letters.index(recall("".join(letters)))


def two_places(letters: str) -> str:
    """The first half, letter by letter, as capitals where the same place of the second half has one of a to e."""
    pairs = zip(letters[:HALF], letters[HALF:], strict=True)
    return "".join(first.upper() if second <= "e" else first for first, second in pairs)


def reverse(letters: str) -> str:
    return letters[::-1]


def _recalled(draw: random.Random, split: str, index: int) -> str:
    """Fifty letters with one capital, in training anywhere, in the test at each of the distances alike."""
    letters = [_letter(draw) for _ in range(RECALL_LENGTH)]
    away = DISTANCES[index // PER_DISTANCE] if split == "test" else 1 + int(draw.random() * RECALL_LENGTH)
    letters[-away] = letters[-away].upper()
    return "".join(letters)


def _two_halves(draw: random.Random, split: str, index: int) -> str:
    return "".join(_letter(draw) for _ in range(2 * HALF))


def _string(draw: random.Random, split: str, index: int) -> str:
    return "".join(_letter(draw) for _ in range(1 + int(draw.random() * 10)))


def _letter(draw: random.Random) -> str:
    # Only random() is used, since Python promises the same numbers in every version for no other method.
    return LETTERS[int(draw.random() * len(LETTERS))]


TASKS: dict[str, tuple[Callable[[random.Random, str, int], str], Callable[[str], str]]] = {
    "reverse": (_string, reverse),
    "two-places": (_two_halves, two_places),
    "recall": (_recalled, recall),
}
"""How a task's strings are drawn, and what is right for each."""


def minute_corpus(task: str) -> Corpus:
    """Strings and their answers, letters apart; no string stands in two splits, or twice in one."""
    draw_one, solve = TASKS[task]
    draw, seen = random.Random(0), set()
    splits: dict[str, Pairs] = {}
    for split, size in sorted(SIZES.items()):
        splits[split] = []
        while len(splits[split]) < size:
            drawn = draw_one(draw, split, len(splits[split]))
            if drawn not in seen:
                seen.add(drawn)
                splits[split].append((" ".join(drawn), " ".join(solve(drawn))))
    return Corpus(f"{task}, for a minute", "generated, free of any", "none", 0, ("letters", "letters"), splits)
