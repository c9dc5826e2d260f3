"""What decoding keeps from step to step: every decoder layer's keys and values, of the target so far and the source."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

_ROOM = 4
"""Places for keys that are added when there is none left. Few, because beams copy them whenever they change order."""


class LayerCache:
    """Keys (row, head, key, d_k) and values (row, head, key, d_v) of one attention layer.

    Self-attention's grow in place, with more room made when it runs out; cross-attention's are complete once appended.
    """

    def __init__(self, *, grows: bool) -> None:
        self.grows = grows
        self.length = 0
        self._keys: Tensor | None = None
        self._values: Tensor | None = None

    @property
    def complete(self) -> bool:
        """Whether nothing more is to be appended."""
        return not self.grows and self.length > 0

    @property
    def keys(self) -> Float[Tensor, "row head key d_k"]:
        assert self._keys is not None
        return self._keys[:, :, : self.length]

    @property
    def values(self) -> Float[Tensor, "row head key d_v"]:
        assert self._values is not None
        return self._values[:, :, : self.length]

    def append(
        self, keys: Float[Tensor, "row head new d_k"], values: Float[Tensor, "row head new d_v"]
    ) -> tuple[Float[Tensor, "row head key d_k"], Float[Tensor, "row head key d_v"]]:
        """All keys and values so far, these included."""
        end = self.length + keys.shape[2]
        if not self.grows:
            self._keys, self._values = keys.contiguous(), values.contiguous()
        else:
            self._keys = _with_room(self._keys, keys, end)
            self._values = _with_room(self._values, values, end)
            self._keys[:, :, self.length : end] = keys
            self._values[:, :, self.length : end] = values
        self.length = end
        return self.keys, self.values

    def select(self, rows: Int[Tensor, " new_row"]) -> None:
        """Keep these rows, in this order; a row may be taken twice."""
        if self._keys is not None and self._values is not None:
            # With their room: the next step would have to make it again, and a whole block is copied faster.
            self._keys = self._keys.index_select(0, rows)
            self._values = self._values.index_select(0, rows)


def _with_room(kept: Tensor | None, new: Tensor, end: int) -> Tensor:
    """The kept tensor, or a copy with at least `end` places along its third dimension."""
    if kept is not None and kept.shape[2] >= end:
        return kept
    room = torch.empty(*new.shape[:2], end + _ROOM - 1, new.shape[3], dtype=new.dtype, device=new.device)
    if kept is not None:
        room[:, :, : kept.shape[2]] = kept
    return room


class KeyValueCache:
    """One LayerCache for each decoder layer's self-attention and cross-attention.

    Self-attention has a row for each hypothesis, cross-attention a row for each sentence, which its hypotheses share.
    """

    def __init__(self, n_layers: int) -> None:
        self.decoder: Sequence[LayerCache] = [LayerCache(grows=True) for _ in range(n_layers)]
        self.cross: Sequence[LayerCache] = [LayerCache(grows=False) for _ in range(n_layers)]

    @property
    def length(self) -> int:
        """Target positions decoded so far."""
        return self.decoder[0].length

    def select(self, rows: Int[Tensor, " new_row"]) -> None:
        """Reorder or repeat hypotheses, or let some leave: keep these, in this order."""
        unchanged = len(rows) == len(self.decoder[0].keys) and bool((rows[1:] - rows[:-1] == 1).all() and rows[0] == 0)
        if not unchanged:
            for layer in self.decoder:
                layer.select(rows)

    def select_sentences(self, sentences: Int[Tensor, " sentence"]) -> None:
        """Let sentences leave whose hypotheses have left: keep these, in this order."""
        for layer in self.cross:
            layer.select(sentences)
