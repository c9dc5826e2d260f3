"""Text sorted by length: what models are trained on up to some length, and what they are tested on beyond it (§3.5)."""

import random
from string import ascii_lowercase

from transformer.text.algorithmic import SIZES, TASKS
from transformer.text.corpora import Corpus
from transformer.text.lines import Pairs

LONGEST_TRAINED, LONGEST_TESTED = 20, 60
"""Letters of the algorithmic tasks."""
SHIFT = 3
"""Letters of shift-3 that stand nowhere in the target before; accuracy counts those after them."""
SHORT = 8
"""Words, on both sides, of the pairs that the short family is trained on."""
TESTED_PER_LENGTH = 40
LETTERS = ascii_lowercase


def n_tested(length: int) -> int:
    """How many strings of a length are tested: of 26 strings of one letter no more than half."""
    return min(TESTED_PER_LENGTH, len(LETTERS) ** length // 2)


def task_corpus(task: str) -> Corpus:
    """Strings of 1 to 20 letters and their answers, for training and validation, no string twice.

    Its test split has TESTED_PER_LENGTH strings of each of the lengths 1 to 60, none of which is in the other splits;
    of 1 and 2 letters there are too few strings for that, and those of the test are left out of training.
    """
    draw = random.Random(0).random

    def string(length: int) -> str:
        return "".join(LETTERS[int(draw() * len(LETTERS))] for _ in range(length))

    test: dict[str, None] = {}
    for length in range(1, LONGEST_TESTED + 1):
        wanted = len(test) + n_tested(length)
        while len(test) < wanted:
            test[string(length)] = None
    seen: dict[str, None] = {}
    n_train, n_validation = SIZES["train"], SIZES["validation"]
    while len(seen) < n_train + n_validation:
        drawn = string(1 + int(draw() * LONGEST_TRAINED))
        if drawn not in test:
            seen[drawn] = None
    # Late draws hold fewer short strings, which are used up by then; shuffling gives both splits their share.
    strings = sorted(seen, key=lambda _: draw())
    splits = {
        "train": _solved(task, strings[:n_train]),
        "validation": _solved(task, strings[n_train:]),
        "test": _solved(task, list(test)),
    }
    name = f"{task}, 1 to {LONGEST_TRAINED} letters"
    return Corpus(name, "generated, free of any", "none", 0, ("letters", "letters"), splits)


def short_corpus(corpus: Corpus) -> Corpus:
    """Training and validation pairs with at most 8 words on both sides, and every test pair.

    Since longer pairs of the training split are in no training here, some of them are tested on too. Of few the source
    is trained on with a shorter translation: in Tatoeba 67 of 2,498, nearly all of 9 or 10 words.
    """
    splits = {split: [pair for pair in corpus.pairs(split) if _is_short(pair)] for split in ("train", "validation")}
    longer = [pair for pair in corpus.pairs("train") if not _is_short(pair)]
    splits["test"] = corpus.pairs("test") + longer[:: max(1, len(longer) // 2000)]
    name = f"{corpus.name}, at most {SHORT} words"
    return Corpus(name, corpus.licence, corpus.attribution, corpus.size, corpus.languages, splits)


def n_words(sentence: str) -> int:
    """Words apart by white space; in the algorithmic tasks letters are."""
    return len(sentence.split())


def _is_short(pair: tuple[str, str]) -> bool:
    return max(map(n_words, pair)) <= SHORT


def _solved(task: str, strings: list[str]) -> Pairs:
    return [(" ".join(letters), " ".join(TASKS[task](letters))) for letters in strings]
