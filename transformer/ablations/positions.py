"""The family of positions: five encodings, every other thing the same, measured by the length of what they read."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from transformer.ablations.facts import Facts
from transformer.ablations.family import Family, Member
from transformer.ablations.position_parts import ENCODINGS, PARTS, Part, length
from transformer.ablations.table import TABLE, Row
from transformer.analysis.by_length import LengthScore, score_by_length
from transformer.analysis.visits import corpus_visits
from transformer.checkpoint import Checkpoint, load_checkpoint
from transformer.evaluate import evaluate, save_evaluation
from transformer.folders import runs_folder
from transformer.presets import Preset
from transformer.text.corpora import Corpus
from transformer.text.tokenizer import Tokenizer

VISITS = "position_visits"
"""Under this name evaluation.json keeps how many texts of one epoch reach each position."""


class Positions(Family):
    """Every encoding on every part, seed after seed, so that one of each encoding is there early."""

    table = TABLE
    row = Row

    def members(self, only: Sequence[str], steps: int | None) -> list[Member]:
        """only: names of parts."""
        return [
            Member(
                name=f"{part.name}-{encoding}",
                seed=seed,
                folder=part.checkpoint(encoding, seed),
                preset=part.preset_of(encoding, seed, steps),
                corpus=part.name,
            )
            for part in PARTS.values()
            if not only or part.name in only
            for seed in part.seeds
            for encoding in ENCODINGS
        ]

    def missing(self, members: Sequence[Member]) -> list[Member]:
        """Also those whose weights are gone, where they are checkpoints that every page offers."""
        unmeasured = super().missing(members)
        return [member for member in members if member in unmeasured or _is_gone(member)]

    def corpus(self, name: str, notify: Callable[[str], None]) -> Corpus:
        return PARTS[name].corpus(notify)

    def preset(self, member: Member, corpus: Corpus, tokenizer: Tokenizer) -> Preset:
        if not PARTS[member.corpus].fitted_table:
            return member.preset
        model = replace(member.preset.model, max_length=_longest(corpus, tokenizer))
        return Preset(model, member.preset.train)

    def measure(self, member: Member, corpus: Corpus, folder: Path, facts: Facts) -> list[Row]:
        part = PARTS[member.corpus]
        if facts.diverged_at is None:
            checkpoint = load_checkpoint(folder)
            if part.listed:
                _save_scores(checkpoint, corpus)
            scores = _scores(checkpoint, corpus, part)
        else:
            scores = [LengthScore(*edges, 0, 0, 0, None, None, None) for edges in part.edges]
        return [
            Row(
                part=part.name,
                encoding=member.preset.model.positions,
                seed=member.seed,
                unit=part.unit,
                trained_to=part.trained_to or max(map(length, corpus.pairs("train"))),
                steps=member.preset.train.steps,
                target_tokens=facts.target_tokens,
                version=facts.version,
                **asdict(score),
            )
            for score in scores
        ]


def _is_gone(member: Member) -> bool:
    return PARTS[member.corpus].listed and not (runs_folder() / member.folder / "model.safetensors").exists()


def _longest(corpus: Corpus, tokenizer: Tokenizer) -> int:
    """Tokens of the longest training text, </s> included."""
    return 1 + max(len(tokenizer.encode(text)) for pair in corpus.pairs("train") for text in pair)


def _scores(checkpoint: Checkpoint, corpus: Corpus, part: Part) -> list[LengthScore]:
    tokenizer, pairs = checkpoint.tokenizer, corpus.pairs("test")
    encoded = [(tokenizer.encode(source), tokenizer.encode(target)) for source, target in pairs]
    return score_by_length(checkpoint.model, encoded, [length(pair) for pair in pairs], part.edges, part.judged)


def _save_scores(checkpoint: Checkpoint, corpus: Corpus) -> None:
    """What the card and the page of positions show of a checkpoint that every page offers."""
    scores = evaluate(checkpoint, corpus.pairs("test"))
    save_evaluation(checkpoint.folder, f"{corpus.name} test", scores)
    visits = corpus_visits(corpus, checkpoint.tokenizer, checkpoint.config.model.max_length)
    save_evaluation(checkpoint.folder, VISITS, {"corpus": corpus.name, "texts": visits.tolist()})
