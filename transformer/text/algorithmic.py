"""Tasks whose right answer is known: copy, reverse and sort strings of letters."""

import random
from string import ascii_lowercase

from transformer.text.lines import Pairs

TASKS = {
    "copy": lambda letters: letters,
    "reverse": lambda letters: letters[::-1],
    "sort": lambda letters: "".join(sorted(letters)),
    "reverse-small": lambda letters: letters[::-1],
    "shift-3": lambda letters: (letters[:3] * len(letters))[: len(letters)],
}
LETTERS, LONGEST = 26, 16
SMALLER = {"reverse-small": (10, 10)}
"""Tasks with other letters and lengths than 26 and 16: quick to learn."""
SIZES = {"train": 20_000, "validation": 1_000, "test": 1_000}


def algorithmic_splits(task: str, seed: int = 0) -> dict[str, Pairs]:
    """Pairs of `task` by split; letters stand apart ("g a f c"), so that each is one piece.

    Lengths are uniform over 1 to 16 as long as there are new strings of a length: no string is drawn twice, within a
    split or across splits, so all 26 strings of one letter and most of the 676 of two are used up.
    reverse-small has the letters a to j and lengths 1 to 10.
    shift-3 repeats the first three letters to the length of the source: from the fourth on, every letter written is the
    one three places back in the target, which the decoder's self-attention alone can find.
    """
    solve = TASKS[task]
    splits, start = {}, 0
    n_letters, longest = SMALLER.get(task, (LETTERS, LONGEST))
    strings = _distinct_strings(sum(SIZES.values()), n_letters, longest, seed)
    for split, size in SIZES.items():
        splits[split] = [(" ".join(letters), " ".join(solve(letters))) for letters in strings[start : start + size]]
        start += size
    return splits


def answer(task: str, sentence: str) -> str | None:
    """What `task` makes of letters that stand apart; None for another corpus' name and any other sentence."""
    letters = sentence.split()
    if task not in TASKS or not letters or any(len(letter) > 1 for letter in letters):
        return None
    return " ".join(TASKS[task]("".join(letters)))


def vocabulary_size(task: str) -> int | None:
    """Pieces that a task's text allows: 4 special ones, 256 bytes, ▁, and each letter alone and after ▁.

    None for another corpus' name.
    """
    n_letters, _ = SMALLER.get(task, (LETTERS, LONGEST))
    return 4 + 256 + 1 + 2 * n_letters if task in TASKS else None


def _distinct_strings(count: int, n_letters: int, longest: int, seed: int) -> list[str]:
    # Only random() is used, since Python promises the same numbers in every version for no other method.
    draw = random.Random(seed).random
    strings: dict[str, None] = {}
    while len(strings) < count:
        length = 1 + int(draw() * longest)
        strings["".join(ascii_lowercase[int(draw() * n_letters)] for _ in range(length))] = None
    # Late draws hold fewer short strings, which are used up by then; shuffling gives every split its share.
    return sorted(strings, key=lambda _: draw())
