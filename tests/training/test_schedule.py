"""The learning rate (§5.3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer.config import ModelConfig, TrainConfig
from transformer.training.schedule import cooldown_share, learning_rate

MODEL, TRAIN = ModelConfig(), TrainConfig()


def base(step: int) -> float:
    return learning_rate(step, MODEL.d_model, TRAIN.warmup, TRAIN.lr_factor)


def test_the_base_models_peak_is_at_step_4000_and_is_0_000699():
    """Not 0.0014, as is said elsewhere."""
    assert base(4000) == pytest.approx(0.000699, abs=5e-7)
    assert base(3999) < base(4000) > base(4001)
    assert max(range(1, 20_001), key=base) == 4000


def test_points_worked_out_by_hand():
    """d_model 4, warm-up 4: ½ · min(step^-½, step / 8)."""
    rates = [learning_rate(step, 4, 4) for step in (1, 2, 4, 16, 100)]
    assert rates == pytest.approx([1 / 16, 1 / 8, 1 / 4, 1 / 8, 1 / 20])


def test_without_warmup_the_rate_stands_at_the_same_peak_and_then_falls_as_the_papers():
    """peak · min(1, √(w / step)), here with d_model 4, w 4: the peak is ¼."""
    rates = [learning_rate(step, 4, 4, schedule="no-warmup") for step in (1, 2, 4, 16, 100)]
    assert rates == pytest.approx([1 / 4, 1 / 4, 1 / 4, 1 / 8, 1 / 20])
    assert learning_rate(5, 512, 4, 2.0, "no-warmup") == learning_rate(5, 512, 4, 2.0)


@pytest.mark.parametrize("step", [0, -1])
def test_step_0_is_refused(step: int):
    with pytest.raises(ValueError, match=rf"^step is {step}; optimizer steps count from 1\.$"):
        learning_rate(step, 512, 4000)


@given(d_model=st.integers(1, 2048), warmup=st.integers(1, 20_000), factor=st.floats(0.01, 100))
def test_it_rises_linearly_to_its_peak_at_warmup_and_falls_after(d_model: int, warmup: int, factor: float):
    rate = [learning_rate(step, d_model, warmup, factor) for step in (1, warmup, warmup + 1, 4 * warmup)]
    assert 0 < rate[0] <= rate[1] > rate[2]
    assert rate[0] * warmup == pytest.approx(rate[1])
    assert rate[3] == pytest.approx(rate[1] / 2)
    assert rate[1] == pytest.approx(factor * learning_rate(warmup, d_model, warmup))


def test_cooldown_by_hand():
    shares = [cooldown_share(step, steps=10, cooldown=3) for step in range(1, 11)]
    assert shares == [1, 1, 1, 1, 1, 1, 1, 0.75, 0.5, 0.25]


def test_without_cooldown_the_rate_is_the_papers_to_the_end():
    assert [cooldown_share(step, steps=5, cooldown=0) for step in range(1, 6)] == [1.0] * 5
