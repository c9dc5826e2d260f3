"""What the controls of Head maps say, as one value that every part of the page is given."""

from dataclasses import dataclass

from transformer.analysis.attention import Attention, Kind
from transformer.analysis.filters import Filters


@dataclass(frozen=True)
class View:
    """The view that the address bar holds."""

    kind: Kind
    filters: Filters
    layer: str
    """Name of the opened head's layer."""
    head: str
    """Name of the opened head."""
    n_heads: int
    """In a layer of the model, whatever the filters leave."""
    untrained: bool
    """Whether the heads are those of the model's twin at step 0."""

    def place(self, attention: Attention) -> tuple[int, int]:
        """Where the opened head stands along the first two axes: the first one where it is not among them."""
        layer = attention.layers.index(self.layer) if self.layer in attention.layers else 0
        return layer, attention.heads.index(self.head) if self.head in attention.heads else 0
