"""What the form offers, and the requests that its answers make."""

from dataclasses import fields, replace
from typing import Literal, get_args, get_origin

import pytest

from tests import hostile
from transformer.config import ConfigError, ModelConfig, TrainConfig
from transformer.folders import CheckpointError
from transformer.presets import PRESETS
from transformer.text.corpora import CORPORA
from transformer.training.device import Device
from transformer.training.estimate import Estimate, estimate
from ui.train_choices import (
    NUMBERS,
    OWN,
    Answers,
    as_bytes,
    as_count,
    as_probes,
    corpora,
    describe_changes,
    describe_corpus,
    first_budget,
    first_preset,
    first_probe,
    is_here,
    preset_values,
    presets,
    refusal,
    request_of,
    suggested_name,
    word_fields,
)

ANSWERS = Answers(corpus="reverse-small", preset="reverse-small", unit="steps", amount=500, probes=("a b c",))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(tmp_path / "checkpoints"))
    return tmp_path / "checkpoints"


def test_every_corpus_and_every_preset_is_offered_once():
    assert corpora() == (*CORPORA, OWN)
    assert sorted(presets()) == sorted(PRESETS)
    assert len(set(presets())) == len(presets())
    assert presets().index("base") > presets().index("small")


def test_every_corpus_starts_with_a_preset_that_there_is():
    assert {first_preset(corpus) for corpus in corpora()} <= set(PRESETS)
    assert first_preset("reverse-small") == "reverse-small"


def test_every_choice_that_a_config_declares_is_offered():
    declared = {
        each.name: get_args(each.type)
        for config in (ModelConfig, TrainConfig)
        for each in fields(config)
        if get_origin(each.type) is Literal
    }
    assert word_fields() == declared
    assert word_fields()["positions"][0] == "sinusoidal"
    for preset in presets():
        assert {*declared, *NUMBERS} <= preset_values(preset).keys()


def test_the_answers_untouched_are_the_preset():
    request = request_of(ANSWERS)
    assert (request.name, request.corpus, request.preset) == ("reverse-small", "reverse-small", "reverse-small")
    assert (request.model, request.train) == (PRESETS["reverse-small"].model, PRESETS["reverse-small"].train)
    assert request.probes == ("a b c",)


def test_changes_seed_and_device_reach_the_request():
    changes = {"n_heads": 2, "positions": "learned", "label_smoothing": 0.0, "batch_tokens": 700}
    request = request_of(replace(ANSWERS, changes=changes, seed=7, device="cpu"))
    assert (request.model.n_heads, request.model.positions) == (2, "learned")
    assert (request.train.label_smoothing, request.train.batch_tokens, request.train.seed) == (0.0, 700, 7)
    assert request.device == "cpu"
    assert request.name == "reverse-small-learned"


def test_fewer_steps_shrink_the_schedule_with_them():
    train = request_of(replace(ANSWERS, amount=50)).train
    assert (train.steps, train.warmup) == (50, 10)


@pytest.mark.parametrize("unit", ["minutes", "epochs"])
def test_another_budget_is_left_for_the_run_to_turn_into_steps(unit):
    request = request_of(replace(ANSWERS, unit=unit, amount=3))
    assert getattr(request, unit) == 3.0
    assert request.steps is None


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"changes": {"n_heads": 3}}, "n_heads is 3; allowed is a divisor of d_model = 64"),
        ({"changes": {"p_drop": 1.0}}, "p_drop is 1.0"),
        ({"amount": 0}, "steps is 0"),
        ({"unit": "minutes", "amount": 0}, "minutes is 0"),
        ({"name": "../x"}, "cannot name a checkpoint"),
        ({"name": "💚"}, "cannot name a checkpoint"),
        ({"name": "x" * 300}, "cannot name a checkpoint"),
        ({"device": "toaster"}, "device is 'toaster'"),
        ({"corpus": OWN}, "There is no text yet"),
        ({"probes": ("a",) * 9}, "There are 9 probe sentences; allowed are 8"),
        ({"probes": ("a" * 501,)}, "allowed is a sentence"),
    ],
)
def test_what_is_not_allowed_gets_one_sentence(changes, what):
    with pytest.raises((ConfigError, CheckpointError), match=what) as caught:
        request_of(replace(ANSWERS, **changes))
    assert "\n" not in str(caught.value)


def test_a_name_in_use_is_refused_and_the_suggestion_steps_aside(folder):
    (folder / "reverse-small").mkdir(parents=True)
    with pytest.raises(CheckpointError, match="There is a checkpoint reverse-small already"):
        request_of(replace(ANSWERS, name="reverse-small"))
    assert request_of(ANSWERS).name == "reverse-small-2"
    (folder / "reverse-small-2").mkdir()
    assert suggested_name("reverse-small", "reverse-small") == "reverse-small-3"


@pytest.mark.parametrize("text", [*hostile.PARAMETERS, *hostile.BLANK.values(), "...", "../../etc", "-rf", "x" * 300])
def test_whatever_a_text_is_called_its_run_gets_a_name(text, folder):
    request = request_of(replace(ANSWERS, corpus=OWN, file=f"{text}.tsv"))
    assert (folder / request.name).parent == folder
    assert request.uploaded


def test_a_corpus_names_its_licence_and_what_it_costs(tmp_path, monkeypatch):
    monkeypatch.delenv("ROUNDTABLE_DATA", raising=False)
    monkeypatch.setattr("ui.train_choices.cache_folder", lambda: tmp_path)
    assert "downloads about 10 MB" in describe_corpus("tatoeba")
    assert "CC BY 2.0 FR" in describe_corpus("tatoeba")
    assert "downloads about 1 MB" in describe_corpus("multi30k")
    assert "non-commercial" in describe_corpus("multi30k")
    (tmp_path / "tatoeba-en-de").mkdir()
    (tmp_path / "tatoeba-en-de" / "deu-eng.zip").touch()
    assert "on this machine" in describe_corpus("tatoeba")
    assert is_here("copy")
    assert (
        describe_corpus("reverse-small") == "Made here, free of any licence: reverse strings of 1 to 10 of 10 letters."
    )


def test_a_short_preset_keeps_its_steps_and_a_long_one_starts_with_minutes():
    assert first_budget("reverse-small") == ("steps", {"steps": 500, "epochs": 1.0, "minutes": 3.0})
    assert first_budget("base")[0] == "minutes"


def test_probes_are_lines_and_the_sidebars_sentence_where_there_are_none():
    assert as_probes(" a b \n\n c\td \n", "x") == ("a b", "c\td")
    assert as_probes(" \n", "x") == ("x",)


@pytest.mark.parametrize(
    ("corpus", "sentence", "probe"),
    [
        ("tatoeba", "I am here.", "I am here."),
        ("reverse", "I am here.", "a b c"),
        ("reverse", "x y", "x y"),
        ("reverse", "1 2", "a b c"),
        ("tatoeba", "  ", "a b c"),
        (OWN, "Any", "Any"),
    ],
)
def test_a_task_of_letters_is_probed_with_letters(corpus, sentence, probe):
    assert first_probe(corpus, sentence, "a b c") == probe


def test_a_run_too_large_for_its_device_or_disk_is_refused(monkeypatch):
    small = Device("cpu", "2 cores", 2**30)
    assert refusal(Estimate(1000, 2**29, 60.0, small), keep=5) is None
    assert "needs about 2.0 GiB of memory, and cpu has 1.0 GiB" in str(refusal(Estimate(1000, 2**31, 60.0, small), 5))
    assert "are free: free some space first" in str(refusal(Estimate(10**15, 2**29, 60.0, small), 5))


def test_base_is_refused_on_a_machine_with_one_gigabyte():
    size = replace(estimate(request_of(replace(ANSWERS, preset="base"))), device=Device("cpu", "2 cores", 2**30))
    assert "choose fewer layers" in str(refusal(size, 5))


def test_sizes_and_changes_read_as_people_write_them():
    assert (as_bytes(3 * 2**29), as_bytes(5 * 2**20), as_bytes(1)) == ("1.5 GiB", "5 MiB", "1 MiB")
    assert (as_count(185_123), as_count(6_001_664)) == ("185 k", "6.0 M")
    assert describe_changes({"positions": "learned", "n_heads": 2}) == "learned, n_heads 2"
