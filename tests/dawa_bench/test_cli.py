"""``dawa bench`` as people type it."""

import os
import signal
import subprocess
import sys
import time

import pytest

from dawa_bench import experiments, store
from dawa_bench.experiments import errors
from helpers.commands import dawa, refused


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """No real data, no cache of this machine's, and a folder of its own."""
    monkeypatch.delenv("DAWA_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def test_list_names_every_experiment():
    for arguments in (("bench",), ("bench", "--list")):
        ran = dawa(*arguments)
        assert ran.code == 0
        assert [line.split()[0] for line in ran.out.splitlines()] == list(experiments.names())


def test_an_experiment_from_the_shell(monkeypatch, tmp_path):
    """On stand-ins, out of the box; and the second time nothing is left to do."""
    monkeypatch.setattr(errors, "ROUNDS", {"quick": (10,), "full": (10, 20)})
    for _ in range(2):
        ran = dawa("bench", "paper.rounds", "--quick", "--jobs", 1)
        assert ran.code == 0
        assert "generated stand-ins" in ran.err
        assert "out/bench/paper.rounds/tables.md" in ran.out
    folder = tmp_path / "out" / "bench" / "paper.rounds"
    assert "NOT PRIVATE" in (folder / "tables.md").read_text()
    assert {path.name for path in folder.iterdir()} >= {"records.csv", "records.parquet", "tables.md", "run.json"}
    assert {record.task.data for record in store.records(folder)} == {"generated"}
    ran = dawa("bench", "report", "--to", "page")
    assert ran.code == 0
    assert "Rounds of MWEM" in (tmp_path / "page" / "results.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("paper.eror",), "no experiment 'paper.eror'"),
        (("paper.rounds", "--quick", "--full"), "exclude each other"),
        (("paper.rounds", "--backend", "slurm"), "no backend 'slurm'"),
        (("paper.rounds", "--jobs", "0"), "jobs=0"),
        (("paper.rounds", "--to", "docs"), "--to would change nothing"),
        (("paper.rounds", "--data", "nowhere"), "no folder 'nowhere'"),
        (("paper.time", "--jobs", "2"), "measures time"),
        (("report",), "no results"),
        (("report", "--full"), "--full would change nothing with report"),
        (("fetch", "--jobs", "2"), "--jobs would change nothing with fetch"),
        (("--list", "--full"), "--full would change nothing with --list"),
        (("paper.time", "--list"), "paper.time would change nothing with --list"),
    ],
)
def test_wrong_usage_is_one_sentence_and_a_hint(arguments, says):
    ran = dawa("bench", *arguments)
    last = ran.err.splitlines()[-1]
    assert ran.code == 1
    assert says in last
    assert " Hint: " in last
    assert not ran.out


def test_a_folder_without_datasets_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    ran = dawa("bench", "paper.rounds", "--data", "empty")
    assert ran.code == 1
    assert "has no 1d/nettrace.npy" in ran.err
    assert "dawa bench fetch" in ran.err


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    refused_after_note(dawa("bench", "paper.rounds", "--out", "file"), "cannot be written")


def refused_after_note(ran, part):
    """The first line says which data is used."""
    note, _, rest = ran.err.partition("\n")
    assert note.startswith("Datasets:")
    refused(type(ran)(ran.code, ran.out, rest), part)


@pytest.mark.long
def test_stopped_by_ctrl_c_it_says_how_to_go_on(tmp_path):
    """A real process: one line, no traceback, exit code 130, and what was done is kept."""
    command = [sys.executable, "-m", "dawa", "bench", "paper.rounds", "--full", "--jobs", "2", "--out", str(tmp_path)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)  # noqa: S603
    path = tmp_path / "paper.rounds" / store.LINES
    while process.poll() is None and not (path.exists() and path.read_bytes().count(b"\n") > 4):
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130, said
    assert "the same command resumes" in said
    assert "Traceback" not in said
    assert len(store.records(tmp_path / "paper.rounds")) >= 4
