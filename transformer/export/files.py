"""A trace as a file of the kind that its name asks for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformer.analysis.attention import Kind
from transformer.analysis.trace import Trace
from transformer.export.about import About
from transformer.export.formats import trace_csv, trace_npz
from transformer.export.report import report_html
from transformer.export.svg_grid import grid_svg
from transformer.export.svg_head import head_svg
from transformer.export.trace_json import trace_json
from transformer.folders import replacing

SUFFIXES = (".npz", ".json", ".csv", ".svg", ".html")


def check_suffix(path: Path) -> None:
    """Raises ValueError, in one sentence, for a file that write_trace does not know how to write."""
    if path.suffix not in SUFFIXES:
        *most, last = SUFFIXES
        raise ValueError(f"The file is {path}; allowed is one that ends in {', '.join(most)} or {last}.")


def write_trace(
    path: Path,
    trace: Trace,
    kind: Kind,
    head: tuple[int, int] | None = None,
    *,
    config: Mapping[str, Any] | None = None,
    evaluation: Mapping[str, Any] | None = None,
) -> None:
    """Write all heads of all kinds (.npz, .json, .csv), one picture (.svg), or the report (.html), in one step.

    The picture is that of one head of this kind, given by the indices of its layer and of itself, or of all its heads;
    the report shows that head large. config and evaluation are for the report. Raises ValueError, in one sentence, for
    another suffix, for a head that is not there, and for a trace too large for the format.
    """
    check_suffix(path)
    match path.suffix:
        case ".npz":
            content = trace_npz(trace)
        case ".json":
            content = trace_json(trace)
        case ".csv":
            content = trace_csv(trace)
        case ".svg":
            about = About.of(trace)
            picture = head_svg(trace[kind], *head, about) if head else grid_svg(trace[kind], about)
            content = picture.encode("utf-8")
        case _:
            opened: dict[Kind, tuple[int, int]] = {kind: head} if head else {}
            content = report_html(trace, opened, config=config, evaluation=evaluation).encode("utf-8")
    with replacing(path) as temporary:
        temporary.write_bytes(content)
