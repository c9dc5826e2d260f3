"""BertViz's head view and model view of one kind of attention: offline, escaped, in the theme's colours.

BertViz gives a page that fetches RequireJS, d3 and jQuery from elsewhere, writes its data twice, and its tokens
unescaped into a script. What is kept of that page is the drawing script alone. d3 and jQuery come from installed
packages, two lines stand in for RequireJS, and the data is written here. The package itself is not changed.
"""

import json
from html import escape
from typing import Any

import numpy as np

from transformer.analysis.attention import Attention
from transformer.export.markup import shorten
from transformer.export.palette import AXIS_TITLES, HEAD_COLOURS, KIND_COLOURS, KIND_NAMES, to_rgb
from ui.bertviz_parts import DATA, BertVizError, View, script, template

LARGEST = {"head": 64, "model": 32}
"""Tokens on one side that a browser draws in about five seconds."""
MOST_LINES = 50_000
"""A line is drawn for each cell of each head: of one layer in the head view, of all layers in the model view."""

_LONGEST_LABEL = {"head": 22, "model": 10}  # letters; BertViz cuts off what does not fit
_FITS = 13  # letters beside the head view's lines
_WIDTH = {"head": 350, "model": 980}  # pixels that BertViz draws over, whatever the width of the page
_HOW = {
    "head": "Hover a token to see its weights alone. Each coloured square is a head: click to switch it off or on, "
    "double-click to see it alone.",
    "model": "Each picture is a head. Click one to open it, and hover its tokens on the left.",
}
# As in .streamlit/config.toml; the page in its frame takes nothing over from the app.
_THEMES = {
    False: {"ink": "#14171B", "paper": "#FFFFFF", "shade": "#F5F3EE", "line": "#D8D4CA"},
    True: {"ink": "#E7E6E2", "paper": "#0E1116", "shade": "#181C22", "line": "#343B45"},
}
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"


def bertviz_html(attention: Attention, view: View, *, dark: bool) -> str:
    """One whole HTML page with BertViz's head or model view, which asks the network for nothing.

    Queries stand on the left, keys on the right. Weights are rounded to 4 decimals. Raises BertVizError where there is
    nothing to draw, more than LARGEST tokens on a side or MOST_LINES lines, a weight that is NaN, or a version of
    BertViz whose page is put together otherwise.
    """
    _check(attention, view)
    page = template(view)
    name = KIND_NAMES[attention.kind]
    query, key = AXIS_TITLES[attention.kind]
    data = page.parameters | _data(attention, view, dark)
    parts = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        f"<title>{name}: BertViz {view} view</title>",
        f"<style>{_style(attention, view, dark)}</style></head><body>",
        f"<p>On the left the {query}; on the right the {key}. {_HOW[view]}</p>",
        f"<script>{script('XStatic-jQuery', 'xstatic/pkg/jquery/data/jquery.min.js')}</script>",
        f"<script>{script('mpld3', 'mpld3/js/d3.v5.min.js')}</script>",
        f"<script>{_shim(attention, view, dark)}</script>",
        f"{page.before}{DATA}{_json(data)};{page.after}</body></html>",
    )
    return "".join(parts)


def bertviz_frame(attention: Attention, view: View, *, dark: bool) -> str:
    """The same for st.iframe, whose page may act in the name of the app: inside a frame that may not."""
    page = bertviz_html(attention, view, dark=dark)
    title = f"{KIND_NAMES[attention.kind]}: BertViz {view} view"
    height = _height(attention, view)
    scaled = f"min({height}px, {height / _WIDTH[view] * 100:.1f}vw)"
    style = (
        "html, body { margin: 0 } "
        f"iframe {{ display: block; border: 0; width: 100%; height: {scaled} }} "
        f"@media (max-width: 600px) {{ iframe {{ height: calc({scaled} + 80px) }} }}"  # the text has more lines
    )
    return (
        f"<!doctype html><style>{style}</style>"
        f'<iframe sandbox="allow-scripts" title="{escape(title)}" srcdoc="{escape(page)}"></iframe>'
    )


def _check(attention: Attention, view: View) -> None:
    n_layers, n_heads, n_query, n_key = attention.pattern.shape
    if 0 in attention.pattern.shape:
        raise BertVizError("There are no tokens here for BertViz to draw lines between.")
    if max(n_query, n_key) > LARGEST[view]:
        raise BertVizError(
            f"BertViz's {view} view becomes unusable beyond {LARGEST[view]} tokens, and this attention has "
            f"{max(n_query, n_key)}: the grid shows them all, or type a shorter sentence."
        )
    n_lines = n_heads * n_query * n_key * (n_layers if view == "model" else 1)
    if n_lines > MOST_LINES:
        raise BertVizError(
            f"BertViz's {view} view becomes unusable beyond {MOST_LINES:,} lines, and this attention has {n_lines:,}: "
            "the grid shows them all, or choose fewer layers or heads."
        )
    broken = np.argwhere(~np.isfinite(attention.pattern).all((2, 3)))
    if len(broken):
        layer, head = (names[at] for names, at in zip((attention.layers, attention.heads), broken[0], strict=True))
        raise BertVizError(
            f"Layer {layer}, head {head} has weights that are not numbers (NaN), and BertViz would draw them as lines "
            "of full strength."
        )


def _data(attention: Attention, view: View, dark: bool) -> dict[str, Any]:
    # BertViz counts with layers, so they stay numbers; heads are only written down.
    numbered = all(name.isdecimal() for name in attention.layers)
    layers = [int(name) for name in attention.layers] if numbered else list(range(len(attention.layers)))
    left, right = (
        [shorten(label, _LONGEST_LABEL[view]) for label in side.labels] for side in (attention.queries, attention.keys)
    )
    weights = np.round(attention.pattern.astype(np.float64), 4).tolist()
    shown = [{"name": None, "attn": weights, "left_text": left, "right_text": right}]
    if view == "head":
        return {"attention": shown, "include_layers": layers}
    # The height of a model view's picture is divided by its heads: a single one would be as high as twelve.
    heads = {"include_heads": list(attention.heads), "total_heads": max(len(attention.heads), 4)}
    return {"attention": shown, "include_layers": layers, "display_mode": "dark" if dark else "light", **heads}


def _json(data: dict[str, Any]) -> str:
    """JSON inside a script, which no token can close."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _shim(attention: Attention, view: View, dark: bool) -> str:
    """Stands in for RequireJS, and hands BertViz a d3 with our colours.

    BertViz makes the square of a head that is off lighter, by d3.hsl; on a dark page that would light it up, so that it
    is mixed with the paper instead. A page narrower than what BertViz draws is scaled down.
    """
    return f"""
window.require = {{config() {{}}}};
window.requirejs = (names, draw) => draw(window.jQuery, {{...d3,
  schemeCategory10: {json.dumps(_colours(attention.kind, view, dark))},
  hsl: (colour) => ({{toString: () => d3.interpolateRgb(colour, "{_THEMES[dark]["paper"]}")(0.75)}})}});
const fit = () => {{ document.body.style.zoom = Math.min(1, innerWidth / {_WIDTH[view]}); }};
addEventListener("resize", fit);
fit();
"""


def _colours(kind: str, view: View, dark: bool) -> list[str]:
    """Of the heads, as in the lines of exported files; in the model view one kind's colour for all its layers."""
    if view == "model":
        return [KIND_COLOURS[kind]] * 10
    return [_lighter(colour) for colour in HEAD_COLOURS] if dark else list(HEAD_COLOURS)


def _lighter(colour: str) -> str:
    return "#" + "".join(f"{round(channel + (255 - channel) * 0.4):02x}" for channel in to_rgb(colour))


def _style(attention: Attention, view: View, dark: bool) -> str:
    """Ours over BertViz's. The boxes that its hovering lays under words are halved, or words could not be read."""
    theme = _THEMES[dark]
    paper, shade = ("black", "#222") if dark else ("white", "#F5F5F5")  # as BertViz names its own
    overhangs = view == "head" and any(shorten(label, _FITS) != label for label in attention.queries.labels)
    return f"""
body {{ margin: 0; background: {theme["paper"]}; color: {theme["ink"]}; font: 14px/1.45 system-ui, sans-serif; }}
p {{ margin: 0 0 10px; max-width: 62em; }}
svg {{ display: block; margin-top: 10px; overflow: visible; }}
svg text {{ fill: {theme["ink"]}; font-family: system-ui, sans-serif; }}
select {{ font: inherit; color: inherit; background: {theme["shade"]}; border: 1px solid {theme["line"]};
  border-radius: 6px; padding: 3px 8px; }}
#vis {{ margin-left: {100 if overhangs else 0}px; }}
rect.background {{ fill: {theme["line"]}; }}
.attentionBoxes {{ opacity: 0.5; }}
svg[fill="{paper}"], rect[fill="{paper}"] {{ fill: {theme["paper"]}; }}
rect[fill="{shade}"] {{ fill: {theme["shade"]}; }}
"""


def _height(attention: Attention, view: View) -> int:
    """Pixels that the page takes, by the sizes that BertViz gives its parts."""
    n_layers, n_heads, n_query, n_key = attention.pattern.shape
    most = max(n_query, n_key)
    above = 120  # our lines of text, and the choice of a layer
    if view == "head":
        return round(above + 30 + 22.5 * most)
    thumbnails = n_layers * (7 * 12 / max(n_heads, 4) * most + 10) + 38
    return round(above + max(thumbnails, 18 * most + 55))
