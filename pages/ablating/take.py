"""Take it with you: the comparison as files and as Python, each made when it is asked for."""

from pages.ablating.shown import Shown


def take_it_with_you(shown: Shown, *, opened: bool) -> None:
    """What the popover holds; nothing before it is opened."""
