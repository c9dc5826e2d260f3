"""Another model over the pieces of a trace, so that its maps have the same rows and columns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from transformer.analysis.trace import Trace
from transformer.analysis.tracing import trace_ids

if TYPE_CHECKING:
    from transformer.checkpoint import Checkpoint
    from transformer.text.tokenizer import Tokenizer


def retrace(checkpoint: "Checkpoint", trace: Trace) -> Trace:
    """The trace of a checkpoint, such as an untrained twin, over the very pieces of another one's trace.

    What the other model wrote counts as given here. Raises ValueError, in one sentence, for a piece that the
    checkpoint's tokenizer does not have.
    """
    source, written = (piece_ids(checkpoint.tokenizer, side.pieces) for side in (trace.source, trace.target))
    return trace_ids(checkpoint, (trace.source_text, trace.target_text), source, written, generated=False)


def piece_ids(tokenizer: "Tokenizer", pieces: Sequence[str]) -> list[int]:
    """The ids of pieces by their names. Raises ValueError for one that is not in the vocabulary."""
    known = {piece: number for number, piece in enumerate(tokenizer.pieces(range(len(tokenizer))))}
    missing = next((piece for piece in pieces if piece not in known), None)
    if missing is not None:
        raise ValueError(f"The piece {missing!r} is not in the vocabulary: the trace is of another tokenizer.")
    return [known[piece] for piece in pieces]
