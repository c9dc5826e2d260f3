"""Our own Table 3: every variant trained on the same text, and measured as the paper's Table 3 was."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

from transformer.ablations.differences import differences
from transformer.ablations.facts import Facts
from transformer.ablations.family import Family, Member, with_steps
from transformer.ablations.position_parts import PARTS
from transformer.ablations.results import TABLE, Result
from transformer.ablations.variants import VARIANTS, chosen
from transformer.checkpoint import load_checkpoint, read_config
from transformer.evaluate import evaluate, save_evaluation
from transformer.folders import CheckpointError, find_checkpoint
from transformer.presets import Preset, derive
from transformer.text.corpora import Corpus

PART = "tatoeba"
"""The part of the family of positions whose models are the base, row E, and the model without positions."""


class Table3(Family):
    """Base, the rows of Table 3 at this scale, and what the paper says without an ablation."""

    table = TABLE
    row = Result

    def members(self, only: Sequence[str], steps: int | None) -> list[Member]:
        return [
            Member(
                name=variant.name,
                seed=seed,
                folder=variant.folder(seed),
                preset=with_steps(derive(self.base, dict(variant.changes)), seed, steps),
                corpus=PART,
                given=variant.positions is not None and seed == variant.seeds[0],
            )
            for variant in chosen(only)
            for seed in variant.seeds
        ]

    @cached_property
    def base(self) -> Preset:
        return PARTS[PART].preset

    def corpus(self, name: str, notify: Callable[[str], None]) -> Corpus:
        return PARTS[name].corpus(notify)

    def given(self, member: Member) -> Path | None:
        try:
            folder = find_checkpoint(member.folder)
            config = read_config(folder)
        except CheckpointError:
            return None
        train = member.preset.train
        return folder if (config.train, config.step, config.weights) == (train, train.steps, "last") else None

    def measure(self, member: Member, corpus: Corpus, folder: Path, facts: Facts) -> list[Result]:
        scores = _scores(corpus, folder) if facts.diverged_at is None else {}
        variant = VARIANTS[member.name]
        base = with_steps(self.base, member.seed, member.preset.train.steps)
        bleu, chrf = (scores.get(name, {"score": None, "signature": ""}) for name in ("bleu", "chrf"))
        differs = differences((base.model, base.train), (member.preset.model, member.preset.train), seeds=False)
        return [
            Result(
                group=variant.group,
                name=member.name,
                seed=member.seed,
                differs="; ".join(differs) or "nothing",
                checkpoint=member.folder,
                perplexity=scores.get("perplexity"),
                bleu=bleu["score"],
                bleu_signature=bleu["signature"],
                chrf=chrf["score"],
                chrf_signature=chrf["signature"],
                steps=member.preset.train.steps,
                command=_command(member, self.base),
                **asdict(facts),
            )
        ]


def _scores(corpus: Corpus, folder: Path) -> dict[str, Any]:
    """As they stand in evaluation.json, measured now where they do not."""
    checkpoint, name = load_checkpoint(folder), f"{corpus.name} test"
    kept = checkpoint.evaluation.get(name)
    if kept is not None and (kept["beam"], kept["alpha"], kept["step"]) == (4, 0.6, checkpoint.config.step):
        return kept
    scores = evaluate(checkpoint, corpus.pairs("test"))
    save_evaluation(folder, name, scores)
    return scores


def _command(member: Member, base: Preset) -> str:
    if member.given:
        return f"roundtable ablate positions --parts {PART}"
    steps = "" if member.preset.train.steps == base.train.steps else f" --steps {member.preset.train.steps}"
    return f"roundtable ablate table3-small --only {member.name}{steps}"
