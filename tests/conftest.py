"""What every test gets: shapes checked at run time, one torch thread, the shared corpora.

Tests mirror transformer/, ui/ and pages/: `transformer/text/words.py` is tested in `tests/text/test_words.py`.
"""

import os
import sys
from pathlib import Path

import jaxtyping
import pytest
from hypothesis import settings

import tests.shapes

ROOT = Path(__file__).resolve().parent.parent

# Before torch is imported, here or in a subprocess: tests share few cores, and one thread adds up in one order.
os.environ.setdefault("OMP_NUM_THREADS", "1")

if (ROOT.parent / "shared" / "data").is_dir():
    os.environ.setdefault("ROUNDTABLE_DATA", str(ROOT.parent / "shared" / "data"))

# The hook rewrites modules while they are imported; one that is already there would go unchecked.
assert "transformer" not in sys.modules, "transformer was imported before tests/conftest.py could install its hook"
jaxtyping.install_import_hook("transformer", "tests.shapes.check")
jaxtyping.jaxtyped = tests.shapes.sparing(jaxtyping.jaxtyped)

# Examples on a busy machine may be slow without being wrong.
settings.register_profile("roundtable", deadline=None)
settings.load_profile("roundtable")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with `tatoeba-en-de` and `multi30k-en-de`: $ROUNDTABLE_DATA, or ../shared/data beside the checkout."""
    folder = Path(os.environ.get("ROUNDTABLE_DATA", ""))
    if all((folder / name / "train.en.gz").is_file() for name in ("tatoeba-en-de", "multi30k-en-de")):
        return folder
    reason = "set ROUNDTABLE_DATA to a folder that holds tatoeba-en-de/ and multi30k-en-de/ with train.en.gz and so on"
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI has to run this test: {reason}")
    pytest.skip(reason)
