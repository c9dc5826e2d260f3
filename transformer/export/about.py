"""What every exported file says of itself: which model at which step read which sentence, and what is shown of it."""

from dataclasses import dataclass
from typing import Any, Self

from transformer import __version__
from transformer.analysis.attention import Attention
from transformer.analysis.trace import Trace


@dataclass(frozen=True)
class About:
    """Where a view comes from."""

    model: str
    step: int
    """Optimizer steps behind the model's weights."""
    sentence: str
    target: str | None = None
    """None where the encoder was traced alone."""
    view: str = ""
    """What was done to the patterns, in words: "words, without special tokens"; empty for patterns as they are."""

    @classmethod
    def of(cls, trace: Trace, view: str = "") -> Self:
        """What a trace says of itself."""
        return cls(trace.model, trace.step, trace.source_text, trace.target_text, view)

    @property
    def line(self) -> str:
        """Model, step, version and view in one line."""
        parts = [self.model, f"step {self.step:,}", f"Roundtable {__version__}", self.view]
        return " · ".join(part for part in parts if part)

    def facts(
        self, attention: Attention | None = None, layers: tuple[str, ...] = (), heads: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """The same for a machine; layers and heads are the names of those shown of the attention, by default all."""
        said: dict[str, Any] = {
            "program": "Roundtable",
            "version": __version__,
            "model": self.model,
            "step": self.step,
            "sentence": self.sentence,
            "target": self.target,
            "view": self.view,
        }
        if attention is not None:
            said |= {
                "kind": attention.kind,
                "layers": list(layers or attention.layers),
                "heads": list(heads or attention.heads),
            }
        return said
