"""A checkpoint on disk: what its files say, and what is said of files that are not ours, or not whole."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.conftest import checkpoint  # noqa: F401
from transformer.checkpoint import Checkpoint, CheckpointConfig, read_config, read_evaluation, write_config
from transformer.config import ModelConfig, TrainConfig
from transformer.evaluate import save_evaluation
from transformer.folders import CheckpointError

CORPUS = {"name": "copy", "sha256": "0" * 64}


@pytest.fixture
def written(tmp_path: Path) -> Path:
    write_config(tmp_path, CheckpointConfig(ModelConfig(), TrainConfig(), CORPUS, step=7))
    return tmp_path


def refused(folder: Path) -> str:
    """What is said of a folder's config.json: one sentence that names it."""
    with pytest.raises(CheckpointError) as error:
        read_config(folder)
    message = str(error.value)
    assert message.startswith(str(folder / "config.json"))
    assert message.endswith(".")
    assert not message.endswith("..")
    assert "\n" not in message
    return message


def test_a_configuration_comes_back_as_it_was_written(written: Path):
    config = read_config(written)
    assert config == CheckpointConfig(ModelConfig().resolved(), TrainConfig(), CORPUS, step=7)


@pytest.mark.parametrize("content", ["", "{", "[]", "5", "null", '{"format": 2}', "\0\0", "{}"])
def test_what_is_no_configuration_is_refused(written: Path, content: str):
    (written / "config.json").write_text(content)
    refused(written)


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_configuration_that_cannot_be_read_is_refused(written: Path, content: bytes | None):
    (written / "config.json").unlink()
    if content is not None:
        (written / "config.json").write_bytes(content)
    assert "cannot be read" in refused(written)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"model": None}, ""),
        ({"model": {"n_heads": 0}}, "ModelConfig.n_heads is 0; allowed is a number of at least 1."),
        ({"train": {"no_such_field": 1}}, "no_such_field"),
        ({"corpus": "copy"}, "corpus"),
        ({"corpus": {"name": 5}}, "corpus"),
        ({"corpus": {}}, "corpus"),
        ({"step": "7"}, "step"),
        ({"step": None}, "step"),
        ({"weights": 3}, "weights"),
        ({"version": []}, "version"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused(written: Path, change: dict[str, Any], says: str):
    content = json.loads((written / "config.json").read_text("utf-8"))
    (written / "config.json").write_text(json.dumps(content | change))
    assert says in refused(written)


@pytest.mark.parametrize("field", ["model", "train", "corpus"])
def test_a_field_that_is_missing_is_named(written: Path, field: str):
    content = json.loads((written / "config.json").read_text("utf-8"))
    del content[field]
    (written / "config.json").write_text(json.dumps(content))
    assert f"it has no {field!r}" in refused(written)


@pytest.mark.parametrize("content", ["", "[]", "{", "\0"])
def test_an_evaluation_that_is_none_is_named_and_not_written_over(tmp_path: Path, content: str):
    path = tmp_path / "evaluation.json"
    path.write_text(content)
    for act in (lambda: read_evaluation(tmp_path), lambda: save_evaluation(tmp_path, "copy test", {})):
        with pytest.raises(CheckpointError, match=rf"^{path} is not an evaluation: .*[^.]\.$"):
            act()
    assert path.read_text() == content


def test_of_an_untrained_twin_nothing_was_measured(checkpoint: Checkpoint):  # noqa: F811
    save_evaluation(checkpoint.folder, "test", {"perplexity": 2.0})
    assert checkpoint.evaluation == {"test": {"perplexity": 2.0}}
    assert checkpoint.untrained().evaluation == {}
    (checkpoint.folder / "evaluation.json").unlink()
