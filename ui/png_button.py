"""A button that makes a PNG of an SVG in the browser and saves it; nothing is sent anywhere."""

from ui.component import own_component, packed

_component = own_component("png_button", '<button type="button">PNG</button><div class="said" role="status"></div>')


def png_button(svg: str, file_name: str, key: str) -> None:
    """Saves `svg` as a PNG of twice its size under `file_name` when pressed."""
    _component(data=packed({"file": file_name}, svg.encode()), key=key)
