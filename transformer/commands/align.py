"""`roundtable align`: how far a checkpoint's cross-attention is from gold word alignments."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transformer.analysis.gold import GoldPair
    from transformer.checkpoint import Checkpoint

NOTE = (
    "Measured, not tuned on these sentences: the gold target is given, and each of its words is linked to the source "
    "word it attends to most, heads averaged. The best layer is the best of all listed here, on these very pairs; "
    "best_layer_held_out_aer chooses it on one half and scores the other. The diagonal needs no model."
)


@dataclass
class Align:
    """Alignment error rate of a checkpoint's cross-attention against gold word alignments, as JSON."""

    checkpoint: str = "everyday-en-de"
    """Name of a checkpoint, or its folder."""
    gold: Path | None = None
    """A folder of gold alignments, *.tsv; by default alignments/ in $ROUNDTABLE_DATA."""
    save: bool = False
    """Also keep the results in the checkpoint's evaluation.json."""

    def run(self) -> int:
        from transformer.analysis.gold import load_gold
        from transformer.checkpoint import load_checkpoint
        from transformer.evaluate import save_evaluation

        checkpoint = load_checkpoint(self.checkpoint)
        results = {evaluation_name(name): measure(checkpoint, pairs) for name, pairs in load_gold(self.gold).items()}
        print(json.dumps(results, indent=2, ensure_ascii=False))
        if self.save:
            for name, result in results.items():
                save_evaluation(checkpoint.folder, name, result)
        return 0


def evaluation_name(gold: str) -> str:
    """Under which name evaluation.json keeps the error rates on a gold file."""
    return f"alignment {gold}"


def measure(checkpoint: "Checkpoint", pairs: "Sequence[GoldPair]") -> dict[str, Any]:
    """What evaluation.json says of a checkpoint on gold pairs: AlignmentScores.summary, and how it was measured."""
    from transformer.analysis.alignment_error import alignment_error_rate

    weights, step = checkpoint.config.weights, checkpoint.config.step
    return {**alignment_error_rate(checkpoint, pairs).summary(), "note": NOTE, "weights": weights, "step": step}
