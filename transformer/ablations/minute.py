"""Tasks of a minute: a mask forgotten, one head or two for two places, and how far a letter is remembered."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from transformer.ablations import minute_tasks
from transformer.ablations.differences import differences
from transformer.ablations.facts import Facts
from transformer.ablations.family import Family, Member, with_steps
from transformer.ablations.results import MINUTE_TABLE, MinuteResult
from transformer.analysis.by_length import score_by_length
from transformer.checkpoint import Checkpoint, load_checkpoint
from transformer.config import ConfigError, ModelConfig, TrainConfig
from transformer.decoding.search import greedy
from transformer.presets import Preset, derive
from transformer.text.corpora import Corpus
from transformer.text.lines import Pairs
from transformer.text.tokenizer import EOS

SEEDS = (1, 2, 3)


_TRAIN = TrainConfig(
    steps=600, batch_tokens=1024, vocab_size=301, warmup=100, lr_factor=0.3, label_smoothing=0.0,
    log_every=20, validate_every=200, save_every=200, keep=1,
)  # fmt: skip
_RECALL = Preset(
    ModelConfig(d_model=64, d_ff=128, n_heads=4, n_encoder_layers=2, n_decoder_layers=1, p_drop=0.0, memory="last"),
    _TRAIN,
)
"""The decoder sees </s> of the source alone: whatever it recalls has been carried there by the encoder."""
_TWO_PLACES = derive(
    _RECALL, {"memory": "all", "n_encoder_layers": 1, "mixing": "window", "mixing_width": 1, "steps": 3000}
)
"""Self-attention sees its own place alone, so that only cross-attention can bring two places together."""
_REVERSE = derive(_RECALL, {"memory": "all", "n_decoder_layers": 2, "steps": 1500})

TASKS: dict[str, tuple[Preset, dict[str, dict[str, Any]]]] = {
    "reverse": (_REVERSE, {"masked": {}, "forgotten": {"causal": False}}),
    "two-places": (_TWO_PLACES, {"h1": {"n_heads": 1}, "h2": {"n_heads": 2}}),
    "recall": (
        _RECALL,
        {
            "full": {},
            "window": {"mixing": "window"},
            "convolution": {"mixing": "convolution"},
            "gru": {"encoder": "gru"},
            "additive": {"score": "additive"},
            "qk-norm": {"score": "qk-norm"},
        },
    ),
}
"""Each task's preset, and its models as differences from it."""


class Minute(Family):
    """Every model of every task, with three seeds."""

    table = MINUTE_TABLE
    row = MinuteResult

    def members(self, only: Sequence[str], steps: int | None) -> list[Member]:
        names = {f"{task}-{model}": task for task, (_, models) in TASKS.items() for model in models}
        for name in only:
            if name not in names and name not in TASKS:
                allowed = f"a task, {' | '.join(TASKS)}, or a name, {' | '.join(names)}"
                raise ConfigError(f"--only is {name!r}; allowed is {allowed}.")
        return [
            Member(
                name=name,
                seed=seed,
                folder=f"minute/{name}-{seed}",
                preset=with_steps(_preset(name), seed, steps),
                corpus=task,
            )
            for name, task in names.items()
            if not only or name in only or task in only
            for seed in SEEDS
        ]

    def corpus(self, name: str, notify: Callable[[str], None]) -> Corpus:
        return minute_tasks.minute_corpus(name)

    def measure(self, member: Member, corpus: Corpus, folder: Path, facts: Facts) -> list[MinuteResult]:
        checkpoint = load_checkpoint(folder) if facts.diverged_at is None else None
        planned, usual = member.preset.train.steps, _preset(member.name).train.steps
        first = with_steps(_preset(_name(member.corpus, next(iter(TASKS[member.corpus][1])))), member.seed, planned)
        differs = differences((first.model, first.train), (member.preset.model, member.preset.train), seeds=False)
        steps = "" if planned == usual else f" --steps {planned}"
        groups = _groups(member.corpus, corpus.pairs("test"))
        return [
            MinuteResult(
                task=member.corpus,
                name=member.name,
                seed=member.seed,
                differs="; ".join(differs) or "nothing",
                checkpoint=member.folder,
                distance=distance,
                n_pairs=len(pairs),
                **(_scores(checkpoint, pairs) if checkpoint else dict.fromkeys(("nll", "accuracy", "generated"))),
                steps=planned,
                command=f"roundtable ablate minute --only {member.name}{steps}",
                **asdict(facts),
            )
            for distance, pairs in groups.items()
        ]


def _name(task: str, model: str) -> str:
    return f"{task}-{model}"


def _preset(name: str) -> Preset:
    presets = {_name(task, model): derive(preset, changes) for task, (preset, models) in TASKS.items()
               for model, changes in models.items()}  # fmt: skip
    return presets[name]


def _groups(task: str, pairs: Pairs) -> Mapping[int | None, Pairs]:
    """The test pairs by distance, where the task has any."""
    groups: dict[int | None, Pairs] = {}
    for pair in pairs:
        groups.setdefault(minute_tasks.distance(pair[0]) if task == "recall" else None, []).append(pair)
    return groups


def _scores(checkpoint: Checkpoint, pairs: Pairs) -> dict[str, Any]:
    """nll and accuracy after the right tokens, and the share that greedy decoding writes without a mistake."""
    tokenizer = checkpoint.tokenizer
    encoded = [(tokenizer.encode(source), tokenizer.encode(target)) for source, target in pairs]
    (score,) = score_by_length(checkpoint.model, encoded, [1] * len(encoded), [(1, 1)])
    written = greedy(checkpoint.model, [source for source, _ in encoded], max_extra=8)
    right = sum(list(one.tokens) == [*target, EOS] for one, (_, target) in zip(written, encoded, strict=True))
    return {"nll": score.nll, "accuracy": score.accuracy, "generated": right / len(encoded)}
