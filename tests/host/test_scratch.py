"""Folders for a while are private, gone afterwards, and swept if their process was killed."""

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import dawa
from dawa.host import scratch
from dawa.sources import engines

HOLD = (
    "import sys\nfrom dawa.host import scratch\n"
    "with scratch.spill() as folder: print(folder, flush=True); sys.stdin.read()"
)


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def aged(folder):
    old = time.time() - 2 * scratch.YOUNG
    os.utime(folder, (old, old))
    return folder


def held(temporary):
    """A process that has such a folder, and the folder."""
    process = subprocess.Popen(  # noqa: S603  our own
        [sys.executable, "-c", HOLD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    return process, Path(process.stdout.readline().strip())


def test_a_folder_is_private_and_gone_afterwards(temporary):
    with scratch.spill() as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "identifiers").write_text("somebody", encoding="utf-8")
        assert folder.parent == temporary
    assert not list(temporary.iterdir())


def test_what_a_killed_process_left_is_removed_by_the_next(temporary):
    process, folder = held(temporary)
    (folder / "identifiers").write_text("somebody", encoding="utf-8")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert folder.exists()
    aged(folder)
    with scratch.spill() as mine:
        assert list(temporary.iterdir()) == [mine]


def test_what_a_process_at_work_has_is_left_alone(temporary):
    process, folder = held(temporary)
    aged(folder)
    with scratch.spill():
        assert folder.exists()
    process.communicate("")
    assert not list(temporary.iterdir())


def test_nothing_else_is_touched(temporary):
    (temporary / "target").mkdir()
    (temporary / "target" / "mine").touch()
    (temporary / "dawa-spill-abcdefgh").symlink_to(temporary / "target")
    (temporary / "dawa-spill-file_abc").touch()
    (temporary / "dawa-spill-of-mine").mkdir()
    (temporary / "dawa-spill-evidence").mkdir()
    (temporary / "dawa-spill-evidence" / "notes.txt").touch()
    (temporary / "other-spill-abcdefgh").mkdir()
    before = {aged(path) if not path.is_symlink() else path for path in temporary.iterdir()}
    with scratch.spill():
        pass
    assert set(temporary.iterdir()) == before
    assert (temporary / "target" / "mine").exists()


@pytest.mark.long
def test_a_run_that_is_asked_to_stop_leaves_no_spill_folder(temporary, tmp_path):
    """SIGTERM used to leave hundreds of thousands of identifiers in clear."""
    code = (
        "import os, signal, sys\nfrom dawa.cli import main\nfrom dawa.sources.counting import Query\n"
        "def counts(self): os.kill(os.getpid(), signal.SIGTERM)\nQuery.counts = counts\n"
        "sys.argv = ['dawa', *sys.argv[1:]]\nmain()"
    )
    (tmp_path / "people.csv").write_text("age\n1\n2\n", encoding="utf-8")
    options = ["--column", "age", "--range", "0:100", "--epsilon", "1", "--out", "out"]
    ran = subprocess.run(  # noqa: S603  our own
        [sys.executable, "-c", code, "release", "people.csv", *options],
        check=False,
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    assert ran.returncode == 128 + signal.SIGTERM
    assert {path.name for path in tmp_path.iterdir()} == {"people.csv"}


@pytest.mark.parametrize("text", ["536870912", "max", "", "no number"])
def test_the_engine_takes_a_third_of_what_a_container_has(tmp_path, text):
    (tmp_path / "memory.max").write_text(text, encoding="utf-8")
    assert engines._number(tmp_path / "memory.max") == (536870912 if text.isdecimal() else 0)
    assert engines._number(tmp_path / "none") == 0
    assert engines.LEAST <= engines.memory() <= engines.MEMORY


def test_without_a_place_for_temporary_files_the_error_says_so(monkeypatch):
    def none():
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr("tempfile.gettempdir", none)
    with pytest.raises(dawa.errors.SourceError, match="No folder for temporary files can be written") as caught:
        dawa.release({"age": [1]}, dawa.Axis("age", 0, 9), epsilon=1, seed=0)
    assert "TMPDIR" in caught.value.hint
