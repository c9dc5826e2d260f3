"""The learning rate over the steps of training (§5.3)."""


def learning_rate(step: int, d_model: int, warmup: int, factor: float = 1.0) -> float:
    """factor · d_model^-0.5 · min(step^-0.5, step · warmup^-1.5), for steps that count from 1; its peak is at warmup.

    Raises ValueError for step 0, where the formula would divide by zero.
    """
    if step < 1:
        raise ValueError(f"step is {step}; optimizer steps count from 1.")
    return factor * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
