"""Weights on disk: tied ones once, every mismatch named, averages exact (§6.1)."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from torch import Tensor

from tests.model.small import SOURCE, TARGET_IN, small_model
from transformer.folders import CheckpointError
from transformer.weights import average_weights, load_weights, named_weights, read_weights, save_weights


def written(path: Path, **weights: Tensor) -> Path:
    save_file(weights, path)
    return path


def equal(a: dict[str, Tensor], b: dict[str, Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(weight, b[name]) for name, weight in a.items())


@pytest.mark.parametrize("tied", [True, False])
def test_what_is_saved_is_loaded_bit_for_bit(tmp_path: Path, tied: bool):
    model, other = (small_model(seed, tied_embeddings=tied, positions="learned") for seed in (0, 1))
    save_weights(named_weights(model), tmp_path / "model.safetensors")
    load_weights(other, tmp_path / "model.safetensors")
    assert equal(named_weights(model), named_weights(other))
    assert torch.equal(model(SOURCE, TARGET_IN), other(SOURCE, TARGET_IN))


def test_tied_matrices_are_saved_once_and_are_one_after_loading(tmp_path: Path):
    path = tmp_path / "model.safetensors"
    model, other = small_model(0), small_model(1)
    save_weights(named_weights(model), path)
    saved = load_file(path)
    assert sum(weight.numel() for weight in saved.values()) == model.n_parameters
    assert [name for name, weight in saved.items() if 40 in weight.shape] == ["source_embedding.weight"]
    load_weights(other, path)
    pointers = {m.weight.data_ptr() for m in (other.source_embedding, other.target_embedding, other.projection)}
    assert len(pointers) == 1
    assert torch.equal(other.projection.weight, model.source_embedding.weight)


def test_half_precision_is_half_the_file_and_loads_into_float32(tmp_path: Path):
    model, other = small_model(0), small_model(1)
    whole, half = tmp_path / "whole.safetensors", tmp_path / "half.safetensors"
    save_weights(named_weights(model), whole)
    save_weights(named_weights(model), half, torch.float16)
    assert half.stat().st_size < 0.6 * whole.stat().st_size
    load_weights(other, half)
    for name, weight in named_weights(other).items():
        assert weight.dtype == torch.float32
        assert torch.equal(weight, named_weights(model)[name].half().float())


def test_saving_replaces_the_file_or_leaves_it_as_it_was(tmp_path: Path):
    path = tmp_path / "model.safetensors"
    save_weights({"a": torch.zeros(2)}, path)
    with pytest.raises(TypeError):
        save_weights({"a": torch.ones(2), 1: torch.ones(2)}, path)  # type: ignore[dict-item]
    assert read_weights(path)["a"].eq(0).all()
    assert [found.name for found in tmp_path.iterdir()] == ["model.safetensors"]
    save_weights({"a": torch.ones(2).expand(3, 2).T}, path)
    assert torch.equal(read_weights(path)["a"], torch.ones(2, 3))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda w: w.pop("encoder.1.attention.key.bias"), "has no weight 'encoder.1.attention.key.bias'"),
        (lambda w: w.update(surplus=torch.zeros(1)), "has a weight 'surplus', which"),
        (
            lambda w: w.update({"decoder.0.cross.query.weight": torch.zeros(16, 1)}),
            r"weight 'decoder.0.cross.query.weight' has shape \(16, 1\); config.json asks for \(16, 16\)",
        ),
        (
            lambda w: w.update({"decoder.0.cross.query.bias": torch.zeros(1)}),
            r"weight 'decoder.0.cross.query.bias' has shape \(1,\); config.json asks for \(16,\)",
        ),
    ],
    ids=["missing", "unknown", "misshapen", "one number that would be spread over all"],
)
def test_a_weight_that_does_not_fit_is_named_and_the_model_left_as_it_was(
    tmp_path: Path, change: Callable[[dict[str, Tensor]], object], message: str
):
    path, model = tmp_path / "model.safetensors", small_model(0)
    weights = {name: weight.detach().clone() for name, weight in named_weights(small_model(1)).items()}
    change(weights)
    save_weights(weights, path)
    before = {name: weight.detach().clone() for name, weight in named_weights(model).items()}
    with pytest.raises(CheckpointError, match=message) as error:
        load_weights(model, path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)
    assert equal(before, named_weights(model))


@pytest.mark.parametrize("content", ["missing", "empty", "truncated", "text", "huge header", "folder"])
def test_a_file_that_is_no_whole_safetensors_file_is_refused_in_one_sentence(tmp_path: Path, content: str):
    path = tmp_path / "model.safetensors"
    if content == "truncated":
        save_weights(named_weights(small_model()), path)
        path.write_bytes(path.read_bytes()[:-1])
    elif content == "folder":
        path.mkdir()
    elif content != "missing":
        path.write_bytes({"empty": b"", "text": b"not weights at all", "huge header": b"\xff" * 64}[content])
    with pytest.raises(CheckpointError) as error:
        read_weights(path)
    message = str(error.value)
    assert message.startswith(f"{path} cannot be read as weights: ")
    assert "\n" not in message
    assert message.endswith(".")


# Averages


@given(
    values=st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=5),
    k=st.integers(1, 20),
)
def test_the_average_of_k_copies_is_bit_for_bit_the_copy(
    tmp_path_factory: pytest.TempPathFactory, values: list[float], k: int
):
    weight = torch.tensor(values, dtype=torch.float32)
    path = written(tmp_path_factory.mktemp("copies") / "1.safetensors", a=weight)
    assert torch.equal(average_weights([path] * k)["a"], weight)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_1_2_and_4_have_the_float32_mean_whatever_they_were_kept_in(tmp_path: Path, dtype: torch.dtype):
    """In bfloat16 their mean would be 2.328, off by 2 parts in 1000."""
    paths = [written(tmp_path / f"{n}.safetensors", a=torch.full((3,), float(n), dtype=dtype)) for n in (1, 2, 4)]
    average = average_weights(paths)["a"]
    assert average.dtype == torch.float32
    assert torch.equal(average, torch.full((3,), 7 / 3, dtype=torch.float32))


def test_sums_are_float64s(tmp_path: Path):
    """In float32, 2^24 + 1 - 2^24 would lose the 1."""
    values = (2.0**24, 1.0, -(2.0**24))
    paths = [written(tmp_path / f"{i}.safetensors", a=torch.tensor([value])) for i, value in enumerate(values)]
    assert average_weights(paths)["a"].item() == pytest.approx(1 / 3, rel=1e-7)


def test_an_average_of_models_loads_and_stays_tied(tmp_path: Path):
    models, paths = [small_model(seed) for seed in range(3)], [tmp_path / f"{n}.safetensors" for n in range(3)]
    for model, path in zip(models, paths, strict=True):
        save_weights(named_weights(model), path)
    save_weights(average_weights(paths), tmp_path / "average.safetensors")
    load_weights(models[0], tmp_path / "average.safetensors")
    assert models[0].projection.weight.data_ptr() == models[0].source_embedding.weight.data_ptr()
    stacked = torch.stack([read_weights(path)["source_embedding.weight"] for path in paths])
    torch.testing.assert_close(models[0].projection.weight.detach(), stacked.mean(0))


def test_files_with_other_weights_or_shapes_are_not_averaged(tmp_path: Path):
    first = written(tmp_path / "first.safetensors", a=torch.zeros(2))
    for other in ({"b": torch.zeros(2)}, {"a": torch.zeros(3)}, {"a": torch.zeros(2), "b": torch.zeros(2)}):
        path = written(tmp_path / "other.safetensors", **other)
        with pytest.raises(CheckpointError, match=f"^{path} and {first} do not hold the same weights"):
            average_weights([first, path])


def test_nothing_to_average_is_said_in_a_sentence():
    with pytest.raises(CheckpointError, match=r"^There are no saved steps to average; .*\.$"):
        average_weights([])
