"""Where checkpoints lie on disk, and how a file there is replaced in one step. Imports nothing heavy."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import get_native_id

SHIPPED = Path(__file__).resolve().parent.parent / "checkpoints"
_MAX_NAME = 60  # of up to 4 bytes each: file systems end at 255


class CheckpointError(ValueError):
    """A checkpoint that is not there, or not whole; the message says in one sentence what is wrong."""


def runs_folder() -> Path:
    """Where training runs are written: ROUNDTABLE_CHECKPOINTS, by default ./checkpoints."""
    return Path(os.environ.get("ROUNDTABLE_CHECKPOINTS") or "checkpoints")


def check_name(name: str) -> str:
    """The name, if it can be a folder's inside the checkpoints folder.

    Raises CheckpointError for a name that is empty, long, could lead out of it, or would be an option in a shell.
    """
    if not is_name(name):
        shown = name if len(name) <= _MAX_NAME else name[:_MAX_NAME] + "…"
        raise CheckpointError(
            f"{shown!r} cannot name a checkpoint: 1 to {_MAX_NAME} letters, digits, '-', '_' and '.' are allowed, "
            "with no '.' or '-' at the start."
        )
    return name


def is_name(name: str) -> bool:
    """Whether check_name takes it."""
    plain = all(character.isalnum() or character in "-_." for character in name)
    return plain and 1 <= len(name) <= _MAX_NAME and not name.startswith((".", "-"))


def list_checkpoints() -> list[str]:
    """Names of all checkpoints that hold weights, your own runs first, then the shipped ones."""
    names: dict[str, None] = {}
    for folder in (runs_folder(), SHIPPED):
        found = (path.parent for path in sorted(folder.glob("*/model.safetensors")))
        names.update((path.name, None) for path in found if (path / "config.json").exists() and is_name(path.name))
    return list(names)


def find_checkpoint(name_or_folder: str | Path) -> Path:
    """The folder of a checkpoint given by name, or by a path to it.

    Raises CheckpointError when there is none.
    """
    text = str(name_or_folder)
    if isinstance(name_or_folder, Path) or os.sep in text or text in (".", ".."):
        folder = Path(name_or_folder)
        if os.path.isfile(folder / "config.json"):  # False, where Path.is_file raises, for a path that is too long
            return folder
        raise CheckpointError(f"{folder} is not a checkpoint: it has no config.json.")
    check_name(text)
    for parent in (runs_folder(), SHIPPED):
        if (parent / text / "config.json").is_file():
            return parent / text
    known = ", ".join(list_checkpoints()) or "none yet"
    raise CheckpointError(f"There is no checkpoint {text!r}; those that can be used: {known}.")


def reason(error: BaseException) -> str:
    """What an error says, as the end of a sentence: one line, without its full stop."""
    if isinstance(error, KeyError):
        return f"it has no {error}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` to write to; on success it replaces `path` in one step, durably."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}-{get_native_id()}.tmp")
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
