"""Where training stands, and what it sums between two lines of metrics.jsonl."""

import math
from dataclasses import dataclass, field

from transformer.training.failures import DivergenceError


@dataclass
class Window:
    """Sums since the last line of metrics.jsonl."""

    nll: float = 0.0
    smoothed: float = 0.0
    n_tokens: int = 0
    grad_norm: float = 0.0
    n_steps: int = 0

    def check(self, step: int) -> None:
        """Raises DivergenceError when the loss is no number."""
        if not math.isfinite(self.smoothed):
            raise DivergenceError(
                f"The loss became {self.smoothed} before step {step}: training diverged. "
                "Choose a smaller lr_factor, a longer warmup, or clip_norm, and start anew."
            )

    def averages(self) -> dict[str, float]:
        """Means over tokens, the gradient norm's over steps."""
        return {
            "nll": self.nll / self.n_tokens,
            "smoothed": self.smoothed / self.n_tokens,
            "grad_norm": self.grad_norm / self.n_steps,
        }


@dataclass
class Progress:
    """Where training stands."""

    step: int = 0
    epoch: int = 0
    batch: int = 0
    """Batches of this epoch that are done."""
    n_tokens: int = 0
    """Target tokens seen so far, padding left out."""
    window: Window = field(default_factory=Window)
