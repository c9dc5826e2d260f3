"""A trained table of positions and the sinusoids beside it, and what a view of both gives away."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pages.encodings.views import Given
from transformer.export.tables import Rows

WHEN = ("after training", "at the start")


@dataclass(frozen=True)
class Sides:
    """The two tables beside each other, and where the learned one comes from."""

    fixed: Float[np.ndarray, "position d_model"]
    """Sinusoids; one column more where the model's d_model is odd."""
    rows: Float[np.ndarray, "position d_model"]
    """Learned."""
    when: str
    """One of WHEN."""
    name: str
    """Of the model."""

    @property
    def titled(self) -> tuple[tuple[str, np.ndarray, str], ...]:
        """Each side's encoding, table and title."""
        return ("sinusoidal", self.fixed, "Sinusoidal"), ("learned", self.rows, f"Learned, {self.when}")

    def given(
        self, shown: str, imports: str, last: str, rows: Mapping[str, Callable[[], Rows]], **arrays: np.ndarray
    ) -> Given:
        """What a view of both gives away: tables by what they hold, arrays, and Python whose last line is `last`."""
        twin = "" if self.when == WHEN[0] else ".untrained()"
        code = (
            "from transformer import load_checkpoint\n"
            f"from transformer.analysis.{imports}\n"
            "from transformer.weights import named_weights\n\n"
            f"weights = named_weights(load_checkpoint({self.name!r}){twin}.model)\n"
            f'learned = weights["positions.table"].detach().float().numpy()[:{len(self.rows)}]\n'
            f"fixed = sinusoidal{self.fixed.shape}\n{last}"
        )
        facts = {"model": self.name, "learned": self.when, "rows": len(self.rows)}
        return Given(f"{self.name}-{shown}", facts, rows, code, arrays)
