"""What ended a run, in a sentence for the person who started it."""

import errno
import shutil
from pathlib import Path

from transformer.training.status import STATE_FILE

_FULL = ("No space left", "Disk quota exceeded", "File too large")
_TORN_WRITE = ("inline_container", "iostream error", "PytorchStreamWriter")
"""What torch says when a file could not be written, whatever the reason."""
_NO_MEMORY = ("DefaultCPUAllocator", "out of memory", "can't allocate memory")
_LITTLE = 2**20
_ADVICE = "choose a smaller batch_tokens, fewer layers or a smaller d_model"


class DivergenceError(ValueError):
    """The loss is no number any more."""


class RunError(ValueError):
    """A run ended before its time; the message is what its status says."""


def explain(error: BaseException, folder: Path, device: str) -> str | None:
    """One or two sentences: what happened and what helps; None for an error that nobody thought of."""
    text = str(error)
    if _is_full(error, folder):
        return f"The disk is full: {folder} could not be written. Free some space, then resume."
    if _is_memory(error):
        return f"There was not enough memory on {device}: {_ADVICE}, or close other programs."
    if isinstance(error, ValueError):
        return text
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    return None


def _is_full(error: BaseException, folder: Path) -> bool:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return True
    text = str(error)
    if any(words in text for words in _FULL):
        return True
    torn = any(words in text for words in _TORN_WRITE)
    return torn and shutil.disk_usage(folder).free < max(_LITTLE, _saved_size(folder))


def _saved_size(folder: Path) -> int:
    """Bytes that one more save takes, about."""
    paths = (folder / name for name in (STATE_FILE, "model.safetensors"))
    return sum(path.stat().st_size for path in paths if path.exists())


def _is_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _NO_MEMORY)
