"""Runs go on where they were, in any order and on any number of processes, with the same numbers."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

import dawa
from dawa_bench import experiments, runner, store
from dawa_bench.experiments import errors as home

SIZES = (20, 90)
SCRIPT = f"""
import sys
from pathlib import Path
from dawa_bench import experiments, runner
from dawa_bench.experiments import errors
if __name__ == "__main__":
    errors.ROUNDS = {{"quick": {SIZES}}}
    runner.run(experiments.find("paper.rounds"), "quick", Path(sys.argv[1]), None, jobs=2)
"""


@pytest.fixture
def few(monkeypatch):
    """An experiment of 28 short runs, on stand-ins."""
    monkeypatch.setattr(home, "ROUNDS", {"quick": SIZES, "full": (*SIZES, 120)})
    return experiments.find("paper.rounds")


def errors(folder):
    """What matters of the results: times differ."""
    return [(record.task, record.measured.error) for record in store.records(folder)]


def started(folder, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    return subprocess.Popen([sys.executable, str(script), str(folder)], start_new_session=True)  # noqa: S603


def lines(folder):
    path = folder / store.LINES
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.long
def test_killed_and_started_again_it_gives_the_same_numbers(few, tmp_path):
    broken, whole = tmp_path / "broken", tmp_path / "whole"
    process = started(broken, tmp_path)
    while lines(broken) < 5 and process.poll() is None:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = errors(broken)
    assert 3 <= len(before) < 28, "it was killed in the middle"
    assert not (broken / runner.TABLES).exists()
    runner.run(few, "quick", broken, None, jobs=2)
    runner.run(few, "quick", whole, None, jobs=1)
    assert errors(broken) == errors(whole)
    assert set(before) <= set(errors(broken))
    assert (broken / runner.TABLES).read_text() == (whole / runner.TABLES).read_text()


def test_order_does_not_matter(few, tmp_path):
    shuffled = replace(few, tasks=lambda size, data: few.tasks(size, data)[::-1])
    runner.run(shuffled, "quick", tmp_path / "shuffled", None, jobs=1)
    runner.run(few, "quick", tmp_path / "ordered", None, jobs=1)
    assert errors(tmp_path / "shuffled") == errors(tmp_path / "ordered")


def test_what_is_there_is_not_run_again(few, tmp_path):
    runner.run(few, "quick", tmp_path, None, jobs=1)
    heard = []
    refuses = replace(few, run=None)
    found = runner.run(refuses, "quick", tmp_path, None, jobs=1, advanced=lambda *seen: heard.append(seen))
    assert heard == [(28, 28)]
    assert len(found) == 28
    assert runner.kept(few, tmp_path) == ("quick", found)


def test_results_of_another_version_do_not_count(few, tmp_path, monkeypatch):
    runner.run(few, "quick", tmp_path, None, jobs=1)
    monkeypatch.setattr(runner, "__version__", "another")
    assert runner.kept(few, tmp_path) is None


def test_an_experiment_that_did_not_end_is_not_shown(few, tmp_path):
    runner.run(few, "quick", tmp_path, None, jobs=1)
    path = tmp_path / store.LINES
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    assert runner.kept(few, tmp_path) is None
    assert runner.kept(few, tmp_path / "none") is None


@pytest.mark.parametrize("backend", ["dask", "ray"])
def test_an_engine_that_is_missing_is_named(few, tmp_path, backend, monkeypatch):
    real = runner.importlib.util.find_spec
    absent = {"distributed", "ray"}
    monkeypatch.setattr(runner.importlib.util, "find_spec", lambda name: None if name in absent else real(name))
    with pytest.raises(dawa.errors.OptionError, match=f"backend {backend} needs") as caught:
        runner.run(few, "quick", tmp_path, None, backend=backend)
    assert "pip install" in caught.value.hint


def test_without_joblib_one_process_is_enough(few, tmp_path, monkeypatch):
    monkeypatch.setattr(runner.importlib.util, "find_spec", lambda _: None)
    assert len(runner.run(few, "quick", tmp_path, None)) == 28
    with pytest.raises(dawa.errors.OptionError, match="joblib"):
        runner.run(few, "quick", tmp_path, None, jobs=2)


def test_what_would_be_ignored_is_refused(few, tmp_path):
    for wrong in ({"jobs": 0}, {"jobs": -1}, {"backend": "threads"}):
        with pytest.raises(dawa.errors.OptionError):
            runner.run(few, "quick", tmp_path, None, **wrong)
    timed = replace(few, alone=True)
    for wrong in ({"jobs": 2}, {"backend": "dask"}):
        with pytest.raises(dawa.errors.OptionError, match="measures time"):
            runner.run(timed, "quick", tmp_path, None, **wrong)
