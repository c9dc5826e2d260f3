"""The views of the opened head, in the order of their switch.

A view draws below the head's title. It is given what the sidebar asks for, the page's controls, the attention as they
leave it (view.place says where the head stands in it), and how many pixels are free across. The whole trace behind it
is ui.state.trace(request.model, request.sentence, request.target, view.untrained), its model
ui.state.load(request.model, view.untrained).
"""

from collections.abc import Callable, Mapping

from pages.heads.equation import equation
from pages.heads.lines import lines
from pages.heads.neurons import neurons
from pages.heads.opened_map import opened_map
from pages.heads.view import View
from transformer.analysis.attention import Attention
from ui.sidebar import Request

VIEWS: Mapping[str, Callable[[Request, View, Attention, int], None]] = {
    "Map": opened_map,
    "Lines": lines,
    "Neurons": neurons,
    "Equation": equation,
}
