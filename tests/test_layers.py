"""The rules on imports that need a running interpreter; the static ones are import-linter's, in pyproject.toml."""

import subprocess
import sys

from tests.conftest import ROOT

IMPORT_ALL = """
import importlib, pkgutil, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"streamlit", "plotly", "bertviz", "pooch", "tyro"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
import transformer
for module in pkgutil.walk_packages(transformer.__path__, "transformer."):
    if not module.name.startswith(("transformer.__main__", "transformer.cli", "transformer.commands.")):
        importlib.import_module(module.name)
"""


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)


# The command line is made of tyro's annotations; nothing imports it.
def test_transformer_imports_where_streamlit_plotly_bertviz_pooch_and_tyro_are_missing():
    result = run_python(IMPORT_ALL)
    assert result.returncode == 0, result.stderr


def test_importing_transformer_or_ui_loads_nothing_heavy():
    """The app paints before torch (2.5 s), bertviz (2.8 s) and Plotly are needed."""
    result = run_python("import sys, transformer, ui; print(*{'torch', 'bertviz', 'plotly'} & set(sys.modules))")
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == []


def test_listing_checkpoints_does_not_import_torch():
    result = run_python("import sys, transformer; transformer.list_checkpoints(); print('torch' in sys.modules)")
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "False"
