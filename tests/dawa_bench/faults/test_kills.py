"""A short run of the command that kills releases, and a look at whether it would notice a loss."""

import shutil
import signal
import subprocess
from fractions import Fraction

import pytest

from dawa_bench.faults import kills


@pytest.mark.parametrize("moments", [1, pytest.param(6, marks=pytest.mark.long)])
def test_nothing_is_lost_at_random_moments(moments):
    found = kills.run(moments, 1, seed=3, calls=False, told=False)
    assert not found.failures
    assert sum(found.counts.values()) == moments


@pytest.mark.long
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed; .ci/run installs it")
def test_nothing_is_lost_at_system_calls():
    found = kills.run(0, 20, seed=3, calls=True, told=False)
    assert not found.failures
    assert sum(found.counts.values()) >= 4, "a release has more than eighty calls that write"


@pytest.fixture
def field(tmp_path):
    return kills.prepared(tmp_path, Fraction(10))


def ran(code, out="", err=""):
    return subprocess.CompletedProcess([], code, out, err)


@pytest.mark.long
def test_a_lost_folder_is_noticed(field):
    kills.judge(field, "none", signal.SIGKILL, ran(0))
    assert [line.partition("not so: ")[2].partition(".")[0] for line in field.failures] == ["success means a folder"]


@pytest.mark.long
def test_a_half_done_folder_is_noticed(field):
    shutil.copytree(field.folder / "first", field.folder / "half")
    (field.folder / "half" / "README.md").unlink()
    kills.judge(field, "half", signal.SIGKILL, ran(-9))
    assert any("a folder is complete or absent" in line for line in field.failures)


@pytest.mark.long
def test_a_release_that_the_ledger_does_not_know_is_noticed(field):
    other = kills.dawa.release({"age": [1]}, kills.dawa.Axis("age", 0, 9), epsilon=1)
    (field.folder / ".hidden").mkdir()
    other.save(field.folder / ".hidden" / "release.json")
    kills.judge(field, "none", signal.SIGKILL, ran(-9))
    assert any("every release is known to the ledger" in line for line in field.failures)


@pytest.mark.long
def test_silence_about_a_stop_is_noticed(field):
    kills.judge(field, "none", signal.SIGTERM, ran(1, err="Something else."))
    assert any("says what it made" in line for line in field.failures)
