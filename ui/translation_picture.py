"""An SVG of ours inside a page, in the page's own font and colour (st.html takes SVG away)."""

from ui.component import own_component

_component = own_component("translation_picture", '<div class="picture"></div>')


def picture(svg: str, key: str) -> None:
    """Show an SVG whose texts are escaped, as everything made with transformer.export.markup is."""
    _component(data={"svg": svg}, key=key)
