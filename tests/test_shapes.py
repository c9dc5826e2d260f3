"""Whether shapes are checked at all: a hook that checks nothing would pass every other test."""

import pytest
import torch
from jaxtyping import Float, TypeCheckError

from tests.shapes import sparing
from transformer.model.positions import Sinusoidal, sinusoids
from transformer.presets import PRESETS


def test_a_tensor_of_the_wrong_rank_is_refused():
    positions = Sinusoidal(PRESETS["tiny"].model)
    assert positions.embed(torch.zeros(2, 3, 128)).shape == (2, 3, 128)
    with pytest.raises(TypeCheckError, match="batch row d_model"):
        positions.embed(torch.zeros(3, 128))


def test_other_annotations_are_left_to_pyright():
    assert sinusoids(3, 4, base=10_000).shape == (3, 4)


def test_functions_with_shapes_are_wrapped_and_others_left():
    def plain(x: int) -> int:
        return x

    def shaped(x: list[Float[torch.Tensor, "row"]]) -> None: ...

    wrapped = sparing(lambda typechecker: lambda target: (typechecker, target))
    assert wrapped(typechecker="checker")(plain) is plain
    for target in (shaped, int):
        assert wrapped(typechecker="checker")(target) == ("checker", target)
