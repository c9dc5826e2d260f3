"""Corpora by length: nothing tested was trained on, and what is longer than training is only tested."""

from collections import Counter

import pytest

from transformer.ablations.lengths import TESTED_PER_LENGTH, n_words, short_corpus, task_corpus
from transformer.ablations.position_parts import ENCODINGS, PARTS, length
from transformer.ablations.positions import Positions
from transformer.text.corpora import Corpus
from transformer.text.tokenizer import Tokenizer


@pytest.mark.parametrize("task", ["copy", "reverse", "shift-3"])
def test_strings_are_trained_to_20_and_tested_to_60(task: str):
    corpus = task_corpus(task)
    sources = {split: [source for source, _ in corpus.pairs(split)] for split in ("train", "validation", "test")}
    assert {split: len(found) for split, found in sources.items()} == {
        "train": 20_000,
        "validation": 1_000,
        "test": 13 + 59 * TESTED_PER_LENGTH,
    }
    everything = [source for found in sources.values() for source in found]
    assert len(set(everything)) == len(everything)
    trained = Counter(map(n_words, sources["train"] + sources["validation"]))
    assert sorted(trained) == list(range(1, 21))
    tested = Counter(map(n_words, sources["test"]))
    assert tested == Counter({1: 13, **dict.fromkeys(range(2, 61), TESTED_PER_LENGTH)})
    assert corpus.sha256 == task_corpus(task).sha256


def test_tasks_by_hand():
    source, target = task_corpus("shift-3").pairs("test")[-1]
    letters, written = source.split(), target.split()
    assert len(written) == 60
    assert written[:3] == letters[:3]
    assert all(written[place] == written[place - 3] for place in range(3, 60))


def test_short_pairs_are_trained_on_and_longer_ones_tested():
    short, long = ("a b c", "a b c d e f g h"), ("a", "a b c d e f g h i")
    splits = {"train": [short, long], "validation": [long, short], "test": [("x", "y"), ("x " * 9, "y")]}
    corpus = short_corpus(Corpus("own", "free", "us", 0, ("en", "de"), splits))
    assert corpus.pairs("train") == [short]
    assert corpus.pairs("validation") == [short]
    assert corpus.pairs("test") == [("x", "y"), ("x " * 9, "y"), long]
    assert (corpus.name, corpus.licence, corpus.attribution) == ("own, at most 8 words", "free", "us")


def test_no_more_than_about_2000_training_pairs_are_tested():
    splits = {"train": [(f"{n} " * 9, "x") for n in range(5000)], "validation": [], "test": []}
    assert len(short_corpus(Corpus("own", "", "", 0, ("en", "de"), splits)).pairs("test")) == 2500


def test_the_length_of_a_pair_is_its_longer_sides():
    assert length(("a b", "a b c")) == 3
    assert length(("a b c d", "a")) == 4


def test_every_part_trains_all_encodings_from_one_configuration():
    for part in PARTS.values():
        presets = [part.preset_of(encoding, 2, None) for encoding in ENCODINGS]
        assert len({str(preset.model).replace(preset.model.positions, "") for preset in presets}) == 1
        assert {preset.train.seed for preset in presets} == {2}
        assert len({part.checkpoint(encoding, seed) for encoding in ENCODINGS for seed in part.seeds}) == 5 * len(
            part.seeds
        )
        lengths = [n for low, high in part.edges for n in range(low, high + 1)]
        assert lengths == list(range(1, part.edges[-1][1] + 1))


def test_the_five_that_are_shipped_have_the_shape_that_ablations_build_on():
    part = PARTS["tatoeba"]
    assert [part.checkpoint(encoding, 1) for encoding in ENCODINGS] == [
        f"positions-{name}" for name in ("sinusoidal", "learned", "rope", "alibi", "none")
    ]
    model, train = part.preset.model, part.preset.train
    shape = (model.n_encoder_layers, model.n_decoder_layers, model.d_model, model.n_heads, model.d_ff, model.norm)
    assert shape == (3, 3, 128, 4, 512, "post")
    assert train.vocab_size == 4000
    fewer = part.preset_of("learned", 1, 6).train
    assert (fewer.steps, fewer.cooldown) == (6, 2), "the same share of it"


def test_learned_tables_of_the_length_test_end_with_what_was_trained():
    pairs = [("The animal was tired.", "Das Tier war müde."), ("A street is wide.", "Eine Straße ist breit.")] * 4
    corpus = Corpus("two", "free", "us", 0, ("en", "de"), {"train": pairs, "validation": [("wide " * 30, "breit")]})
    texts = [text for pair in pairs for text in pair]
    tokenizer = Tokenizer.train(texts, 310)
    tables = {
        part: Positions().preset(Positions().members([part], None)[0], corpus, tokenizer).model.max_length
        for part in ("copy", "tatoeba")
    }
    assert tables == {"copy": max(len(tokenizer.encode(text)) for text in texts) + 1, "tatoeba": 512}
