"""An SVG of ours inside a page, in the page's own font and colour (st.html takes SVG away)."""

from pathlib import Path

from streamlit.components.v2 import component

_CSS = """
:host, .picture { font-family: var(--st-font); color: var(--st-text-color); }
.picture { overflow-x: auto; }
svg { display: block; font-family: inherit; max-width: 100%; height: auto; }
.beam-tree { min-width: 760px; }
"""

_component = component(
    "roundtable.translation_picture",
    html='<div class="picture"></div>',
    css=_CSS,
    js=(Path(__file__).parent / "translation_picture.js").read_text(encoding="utf-8"),
)


def picture(svg: str, key: str) -> None:
    """Show an SVG whose texts are escaped, as everything made with transformer.export.markup is."""
    _component(data={"svg": svg}, key=key)
