"""Two checkpoints that differ in their seed alone, whatever they are called: what they do not share is chance."""

from collections.abc import Mapping, Sequence

from transformer.ablations.differences import differences
from transformer.checkpoint import CheckpointConfig


def differ_in_seed_alone(one: CheckpointConfig, other: CheckpointConfig) -> bool:
    """Whether two models have the same shape, training, text and steps behind them, and not the same seed."""
    texts = {(config.corpus.get("name"), config.corpus.get("sha256")) for config in (one, other)}
    if one.train.seed == other.train.seed or len(texts) > 1 or (one.step, one.weights) != (other.step, other.weights):
        return False
    return not differences((one.model, one.train), (other.model, other.train), seeds=False)


def seed_pair(shown: Sequence[str], known: Mapping[str, CheckpointConfig]) -> tuple[str, str] | None:
    """Two of the known models that differ in their seed alone, None where there are none.

    The first of those shown that was trained with another seed too; else any two that read what the first one reads.
    """
    for name in shown:
        twin = _twin(name, known)
        if twin is not None:
            return name, twin
    if not shown or shown[0] not in known:
        return None
    corpus = known[shown[0]].corpus.get("name")
    for name in known:
        twin = _twin(name, known) if known[name].corpus.get("name") == corpus else None
        if twin is not None:
            return name, twin
    return None


def _twin(name: str, known: Mapping[str, CheckpointConfig]) -> str | None:
    if name not in known:
        return None
    return next((other for other in known if differ_in_seed_alone(known[name], known[other])), None)
