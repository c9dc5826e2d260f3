"""The learning rate over the steps of training (§5.3)."""

from transformer.config import Schedule


def learning_rate(step: int, d_model: int, warmup: int, factor: float = 1.0, schedule: Schedule = "warmup") -> float:
    """factor · d_model^-0.5 · min(step^-0.5, step · warmup^-1.5), for steps that count from 1; its peak is at warmup.

    The schedule without warmup stands at the same peak until there: peak · min(1, √(warmup / step)).
    Raises ValueError for step 0, where the formula would divide by zero.
    """
    if step < 1:
        raise ValueError(f"step is {step}; optimizer steps count from 1.")
    before = step * warmup**-1.5 if schedule == "warmup" else warmup**-0.5
    return factor * d_model**-0.5 * min(step**-0.5, before)


def cooldown_share(step: int, steps: int, cooldown: int) -> float:
    """What is left of the learning rate at a step: 1 until the last `cooldown` of all steps, then a straight line to 0.

    The line would reach 0 one step after the last. The paper has no cooldown; a short run gains by one what a long run
    gains by its ever smaller rate: the noise of its last steps averages out.
    """
    return min(1.0, (steps + 1 - step) / (cooldown + 1))
