"""What jaxtyping's import hook applies to every function of transformer/: beartype, on annotations that give shapes.

Other annotations are for pyright to check. At run time they would hide what bad input really does: the product answers
a wrong type with a sentence, and tests have to see it.
"""

from collections.abc import Callable
from inspect import get_annotations, isclass
from typing import Any, get_args

from beartype import beartype
from jaxtyping import AbstractArray


def gives_shape(hint: Any) -> bool:
    if isclass(hint) and issubclass(hint, AbstractArray):
        return True
    return any(gives_shape(argument) for argument in get_args(hint))


def sparing(jaxtyped: Callable) -> Callable:
    """jaxtyping's decorator, but functions without shapes stay as they are: it would slow them and check nothing."""

    def decorator(*, typechecker: Any) -> Callable:
        wrap = jaxtyped(typechecker=typechecker)

        def apply(target: Any) -> Any:
            return (
                wrap(target) if isclass(target) or any(map(gives_shape, get_annotations(target).values())) else target
            )

        return apply

    return decorator


def check(function: Callable) -> Callable:
    """The function with its array arguments and results checked, or the function itself if it has none."""
    hints = {name: hint for name, hint in function.__annotations__.items() if gives_shape(hint)}
    function.__annotations__ = hints
    return beartype(function) if hints else function
