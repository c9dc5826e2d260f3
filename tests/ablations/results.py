"""Rows of the table of variants, made by hand."""

from typing import Any

from transformer.ablations.results import Result
from transformer.ablations.variants import VARIANTS


def result(name: str, perplexity: float | None, bleu: float | None = 20.0, seed: int = 1, **changes: Any) -> Result:
    diverged = None if perplexity is not None else 1200
    values: dict[str, Any] = {
        "group": VARIANTS[name].group, "name": name, "seed": seed, "differs": "something", "perplexity": perplexity,
        "checkpoint": VARIANTS[name].folder(seed), "bleu": bleu if perplexity is not None else None,
        "bleu_signature": "nrefs:1", "chrf": 40.0, "chrf_signature": "nrefs:1", "parameters": 1_900_544,
        "tokens_per_second": 5000.0, "device": "cpu, 1 thread", "diverged_at": diverged, "steps": 3000,
        "target_tokens": 3_000_000, "version": "0.1.0 abc", "command": "roundtable ablate table3-small",
    }  # fmt: skip
    return Result(**(values | changes))
