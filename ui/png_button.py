"""A button that makes a PNG of an SVG in the browser and saves it; nothing is sent anywhere (ui/png_button.js)."""

import json
from pathlib import Path

from streamlit.components.v2 import component

_JS = (Path(__file__).parent / "png_button.js").read_text(encoding="utf-8")
_CSS = """
button {
  font: inherit; font-size: .875rem; width: 100%;
  color: var(--st-text-color); background: var(--st-background-color); min-height: 2.5rem;
  padding: .25rem .75rem; border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius, .375rem);
  cursor: pointer; box-sizing: border-box;
}
button:hover, button:focus-visible { border-color: var(--st-primary-color); outline: none; }
.said { font-size: .875rem; min-height: 0; }
"""
_component = component(
    "roundtable.png_button",
    html='<button type="button"></button><div class="said" role="status"></div>',
    css=_CSS,
    js=_JS,
)


def png_button(label: str, svg: str, file_name: str, key: str) -> None:
    """Saves `svg` as a PNG of twice its size under `file_name` when pressed."""
    data = {"label": label, "svg": svg, "file": file_name}
    _component(data=json.dumps(data).encode(), key=key)
