"""What is taken from installed packages to draw BertViz's views: its page, taken apart at its data, and two scripts."""

import json
import warnings
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, Literal, NamedTuple

View = Literal["head", "model"]
DATA = "const params = "
"""What the data follows in the page."""

_PARAMETERS = {
    "head": {"attention", "default_filter", "root_div_id", "layer", "heads", "include_layers"},
    "model": {
        "attention", "default_filter", "root_div_id", "display_mode", "include_layers", "include_heads", "total_heads",
    },
}  # fmt: skip
_REQUIRE = '<script src="https://cdnjs.cloudflare.com/ajax/libs/require.js/2.3.6/require.min.js"></script>'


class BertVizError(ValueError):
    """BertViz cannot show this, or not in reasonable time; the message says why, in one sentence for the page."""


class Template(NamedTuple):
    before: str
    parameters: dict[str, Any]
    after: str


@cache
def template(view: View) -> Template:
    """BertViz's page around its data. Importing BertViz takes seconds: it imports torch and IPython."""
    import torch
    from bertviz import head_view, model_view

    draw, weights = {"head": head_view, "model": model_view}[view], [torch.ones(1, 1, 1, 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # BertViz leaves its script file open
        page = draw(attention=weights, tokens=["x"], prettify_tokens=False, html_action="return").data
    return split(page, view)


def split(page: str, view: View) -> Template:
    """Take the page apart at its data; raises BertVizError where it is not as BertViz 1.4.1 writes it."""
    before, found, rest = page.partition(DATA)
    try:
        parameters, end = json.JSONDecoder().raw_decode(rest)
    except ValueError:
        parameters, end = {}, 0
    # Behind the data stands a comment on the same line into which BertViz has written the data once more.
    comment, _, after = rest[end:].partition("\n")
    known = (
        found
        and before.count("<script") == 2
        and before.startswith(_REQUIRE)
        and comment.startswith("; // ")
        and set(parameters) == _PARAMETERS[view]
        and set(parameters["attention"][0]) == {"name", "attn", "left_text", "right_text"}
    )
    if not known:
        version = distribution("bertviz").version
        raise BertVizError(f"BertViz {version} builds its {view} view in a way that is not known here; 1.4.1 is known.")
    named = before.removeprefix(_REQUIRE).replace('<select id="layer">', '<select id="layer" aria-label="Layer">')
    return Template(named, parameters, f"\n{after}")


@cache
def script(package: str, path: str) -> str:
    """A script that an installed package brings. Raises BertVizError where it is missing."""
    try:
        text = Path(str(distribution(package).locate_file(path))).read_text("utf-8")
    except (ImportError, OSError, ValueError) as error:
        raise BertVizError(
            f"BertViz needs {path} of the package {package}, which is not there: install it again."
        ) from error
    return text.replace("</script", "<\\/script")
