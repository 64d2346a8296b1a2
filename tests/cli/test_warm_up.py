"""Images of containers can do beforehand what a first run would do."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from dawa.kernels import native
from helpers.commands import dawa, refused


def warm_up(**environment):
    """What it says in a new process, whose modules nobody has imported before."""
    command = [sys.executable, "-m", "dawa", "warm-up"]
    settings = {**os.environ, **environment}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=settings).stdout  # noqa: S603  our own


def lent(folder):
    """Give what libraries have of byte code here to a process that keeps it in a folder: only dawa's is to be made."""
    for module in [*sys.modules.values()]:
        source, code = getattr(module, "__file__", None), Path(getattr(module, "__cached__", None) or "none")
        if source and code.is_file() and not module.__name__.startswith("dawa") and "pytest" not in code.name:
            there = folder / Path(source).parent.relative_to("/") / code.name
            there.parent.mkdir(parents=True, exist_ok=True)
            if not there.exists():
                there.symlink_to(code)


@pytest.mark.long
def test_it_says_where_everything_is():
    told = dawa("warm-up").out
    assert "Byte code: " in told
    assert str(native.LIBRARY) in told


def test_without_a_place_for_temporary_files_it_says_how_to_name_one(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    refused(dawa("warm-up"), "No folder for temporary files can be written", "TMPDIR=")


@pytest.mark.long
def test_byte_code_is_kept_where_later_runs_find_it(tmp_path):
    kept, others = tmp_path / "kept", tmp_path / "others"
    others.mkdir()
    lent(kept)
    told = warm_up(PYTHONPYCACHEPREFIX=str(kept), PYTHONDONTWRITEBYTECODE="", TMPDIR=str(others))
    assert str(native.LIBRARY) in told
    assert f"modules have theirs in {kept}" in told
    assert "read anew" not in told
    for module in ("pipeline", "publish/page/build", "ledger/book", "sources/files", "cli/query"):
        assert list(kept.rglob(f"dawa/{module}.*.pyc")), module
    assert list(others.iterdir()) == []


@pytest.mark.long
def test_where_nothing_can_be_kept_it_says_so(tmp_path):
    told = warm_up(PYTHONPYCACHEPREFIX=str(tmp_path / "none"), PYTHONDONTWRITEBYTECODE="1")
    assert "Byte code: 0 of" in told
    assert "as PYTHONDONTWRITEBYTECODE says" in told
    assert "PYTHONPYCACHEPREFIX" in told
