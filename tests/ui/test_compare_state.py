"""Which models can be compared: every checkpoint, and the members of families one folder deeper."""

from pathlib import Path

import pytest

from ui.compare_state import known_models


def test_members_of_a_family_are_known_by_family_and_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A folder whose name is none of ours might be read as Markdown on a page, and is left out."""
    monkeypatch.setenv("ROUNDTABLE_CHECKPOINTS", str(tmp_path))
    for name in ("own", "family/own-1", "family/![x](y)", "a *b*/own-1", "family/without-config"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "model.safetensors").touch()
        if not name.endswith("without-config"):
            (tmp_path / name / "config.json").touch()
    known = known_models()
    own = {name: place for name, place in known.items() if name.startswith(("own", "family", "a "))}
    assert own == {"own": "own", "family/own-1": str(tmp_path / "family" / "own-1")}
