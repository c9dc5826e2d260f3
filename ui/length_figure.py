"""The figure of scores by length, within the lengths that models were trained on and beyond them. Pure, to Plotly."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from transformer.ablations.summary import spread_of
from transformer.ablations.table import Row
from ui.encoding_theme import DASHES, ENCODING_COLOURS, ENCODING_NAMES
from ui.figure_parts import BAND, empty_figure, log_axis, note

if TYPE_CHECKING:
    import plotly.graph_objects as go


def length_figure(rows: Sequence[Row], metric: str) -> "go.Figure":
    """One part of the table: a line an encoding over length, with the range over seeds; beyond training is shaded.

    metric: perplexity, accuracy or whole. An encoding whose table ends before the longest texts gets a line where it
    does.
    """
    figure = empty_figure(380, hovermode="x unified")
    trained_to, unit = rows[0].trained_to, rows[0].unit
    edges = list(dict.fromkeys((row.shortest, row.longest) for row in rows))
    for encoding in dict.fromkeys(row.encoding for row in rows):
        own = [[row for row in rows if row.encoding == encoding and row.shortest == low] for low, _ in edges]
        spreads = [spread_of(some, metric) for some in own]
        known = [(at, spread, own[at][0].n_pairs) for at, spread in enumerate(spreads) if spread is not None]
        if not known:
            continue
        means = [spread.mean for _, spread, _ in known]
        bars = {
            "type": "data",
            "symmetric": False,
            "thickness": 1.5,
            "width": 4,
            "array": [spread.highest - spread.mean for _, spread, _ in known],
            "arrayminus": [spread.mean - spread.lowest for _, spread, _ in known],
        }
        figure.add_scatter(
            x=[at for at, _, _ in known],
            y=means,
            mode="lines+markers",
            name=ENCODING_NAMES[encoding],
            marker={"size": 8},
            line={"color": ENCODING_COLOURS[encoding], "width": 2.5, "dash": DASHES[encoding]},
            error_y=bars,
            customdata=[[spread.lowest, spread.highest, spread.n_seeds, pairs] for _, spread, pairs in known],
            hovertemplate="<b>%{y:.3g}</b> (%{customdata[0]:.3g} to %{customdata[1]:.3g}, "
            "seeds: %{customdata[2]}; pairs: %{customdata[3]})",
        )
        # Where a table can still read some of the texts, its line says how well.
        unread = [at for at, some in enumerate(own) if any(row.n_too_long and not row.n_pairs for row in some)]
        if unread:
            _mark_end(figure, unread[0] - 0.5, encoding)
    beyond = next((at for at, (low, _) in enumerate(edges) if low > trained_to), None)
    if beyond is not None:
        right = len(edges) - 0.5
        figure.add_shape(
            x0=beyond - 0.5, x1=right, y0=0, y1=1, yref="paper", fillcolor=BAND, line_width=0, layer="below"
        )
        place = {"x": right, "xanchor": "right", "y": 1, "yref": "paper", "yanchor": "top"}
        note(figure, f"longer than anything trained on ({trained_to} {unit})", 13, **place)
    if metric == "perplexity":
        down = log_axis("perplexity (log)", (1, 2, 5))
    else:
        down = {"title": "share right", "tickformat": ".0%", "range": [-0.03, 1.1]}
    across = {"title": unit, "tickvals": list(range(len(edges))), "ticktext": [f"{low}–{high}" for low, high in edges]}
    return figure.update_layout(
        xaxis=across | {"range": [-0.5, len(edges) - 0.5], "zeroline": False}, yaxis=down | {"zeroline": False}
    )


def _mark_end(figure: "go.Figure", at: float, encoding: str) -> None:
    figure.add_vline(x=at, line={"color": ENCODING_COLOURS[encoding], "width": 2, "dash": DASHES[encoding]})
    place = {"x": at, "xanchor": "left", "xshift": 6, "align": "left", "y": 0.1, "yref": "paper"}
    note(figure, "the learned table<br>ends here", **place)
