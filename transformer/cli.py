"""The command `roundtable`: a dataclass a subcommand, whose fields are its options and whose run() does the work."""

import io
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import redirect_stderr
from typing import Annotated, Any, Union

import tyro

from transformer.commands.ablate import Ablate
from transformer.commands.align import Align
from transformer.commands.console import say
from transformer.commands.models import Average, Evaluate, TraceCommand, Translate
from transformer.commands.runs import Runs
from transformer.commands.train import Train
from transformer.presets import get_preset

_ABOUT = "Train encoder–decoder Transformers and see whom every attention head listens to."
_COMMANDS = {
    "train": Train,
    "translate": Translate,
    "evaluate": Evaluate,
    "align": Align,
    "trace": TraceCommand,
    "average": Average,
    "ablate": Ablate,
    "runs": Runs,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit code: 2, after one sentence, for bad input; 130 after Ctrl-C."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    warnings.formatwarning = lambda message, *_: f"{message}\n"
    try:
        code = _parse(arguments).run()
        sys.stdout.flush()
        sys.exit(code)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # whoever read the output has left, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except (ValueError, OSError) as error:
        say(f"roundtable: {error}")
        sys.exit(2)


def _parse(arguments: list[str]) -> Any:
    name = _preset_name(arguments)
    preset = get_preset(name)
    train = Train(name=tyro.MISSING, preset=name, model=preset.model, train=preset.train)
    commands = [
        Annotated[command, tyro.conf.subcommand(word, default=train if command is Train else tyro.MISSING_NONPROP)]
        for word, command in _COMMANDS.items()
    ]
    box = io.StringIO()
    try:
        with redirect_stderr(box):
            return tyro.cli(
                Union[tuple(commands)],  # type: ignore[arg-type]  # noqa: UP007
                prog="roundtable",
                description=_ABOUT,
                args=arguments,
                config=(tyro.conf.OmitSubcommandPrefixes,),
            )
    except SystemExit as leaving:
        if leaving.code:
            raise ValueError(_sentence(box.getvalue())) from None
        raise


def _preset_name(arguments: Sequence[str]) -> str:
    for index, argument in enumerate(arguments):
        if argument == "--preset" and index + 1 < len(arguments):
            return arguments[index + 1]
        if argument.startswith("--preset="):
            return argument.partition("=")[2]
    return "small"


def _sentence(box: str) -> str:
    """What tyro prints in a box, as one sentence: the lines of the box up to its first rule."""
    words: list[str] = []
    for line in box.splitlines():
        text = line.strip("╭╮╰╯│─ ")
        if words and line.strip("│ ").startswith("──"):
            break
        if text and not line.startswith("╭"):
            words.append(text)
    sentence = " ".join(words).replace("__tyro-dummy-inner__.", "--").removesuffix(".")
    return sentence + " (roundtable --help says more)."
