"""Training curves of our own Table 3 over each other, those of models that diverged or failed among them."""

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from transformer.ablations.results import Result
from ui.ablation_figures import Curve, curve_figure

_MOST, _FIRST = 6, 4
CHART = {"displaylogo": False}


def curves(results: Sequence[Result]) -> None:
    """A choice of models, and their validation loss over steps."""
    by_name = {_name(one): one for one in results}
    chosen = st.multiselect(
        "Models", list(by_name), default=_to_begin_with(results), max_selections=_MOST, key="curves_of",
        bind="query-params",
    )  # fmt: skip
    found = {name: curve for name in chosen if (curve := _curve(by_name[name])) is not None}
    if found:
        st.plotly_chart(
            curve_figure(found), key="ablation_curves", config=CHART, alt="Validation loss over training steps."
        )
    gone = [name for name in chosen if name not in found]
    if gone:
        st.caption(f"There is no curve here of {'; '.join(gone)}: it lies where the model was trained.")
    short = [name for name, curve in found.items() if curve.training]
    if short:
        st.caption(f"Training loss, for it ended before the second validation: {'; '.join(short)}.")
    if not chosen:
        st.info(f"Choose one to {_MOST} models.")


def _name(one: Result) -> str:
    return f"{one.name}, seed {one.seed}"


def _to_begin_with(results: Sequence[Result]) -> list[str]:
    """The base, what diverged, what failed, and the rows measured last, at most as many as are easily told apart."""
    base = [_name(one) for one in results if one.name == "base"][:1]
    diverged = [_name(one) for one in results if one.diverged_at is not None]
    failed = [_name(one) for one in results if one.failed]
    last = [_name(one) for one in reversed(results)]
    return list(dict.fromkeys(base + diverged + failed + last))[:_FIRST]


def _curve(one: Result) -> Curve | None:
    """What training logged; of a model that has hardly been validated, its training loss. None where it is not here."""
    from transformer.training.metrics import read_metrics

    folder = _folder(one.checkpoint)
    lines = [] if folder is None else read_metrics(folder)
    validated = [line for line in lines if "validation_nll" in line]
    if len(validated) > 1 or (validated and one.diverged_at is None):
        field, training = "validation_nll", False
    else:
        field, training = "nll", True
        validated = [line for line in lines if "nll" in line]
    if not validated:
        return None
    steps, losses = [line["step"] for line in validated], [line[field] for line in validated]
    return Curve(steps, losses, one.diverged_at, training)


def _folder(checkpoint: str) -> Path | None:
    from transformer.folders import SHIPPED, runs_folder

    return next((path for parent in (runs_folder(), SHIPPED) if (path := parent / checkpoint).is_dir()), None)
