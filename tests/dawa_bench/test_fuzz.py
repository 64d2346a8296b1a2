"""Fuzzers: a short run of each with fixed seeds, and proof that they notice what they are there for."""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from dawa.errors import AxisError, DawaError, InvariantError
from dawa_bench.faults import fuzz, mutation, targets
from dawa_bench.faults.finding import FindingError, refused

RUNS = {"loader": 1500, "archives": 1500, "spec": 3000, "ranges": 8000, "axes": 8000, "http": 1500}


@pytest.mark.parametrize("step", [30, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", RUNS)
def test_a_short_run_finds_nothing(name, step):
    target, outcomes = targets.TARGETS[name](), set()
    for run in range(0, RUNS[name], step):
        rng = fuzz.generator(name, 7, run)
        content = target.made(rng)
        outcomes.add(target.take(content, rng))
    assert outcomes & {"accepted", "200"}, "some inputs are let in"
    assert len(outcomes) > 1, "and some are not"


@pytest.mark.long
def test_a_seed_makes_the_same_input_again():
    for name in ("spec", "ranges", "axes"):
        target = targets.TARGETS[name]()
        made = [target.made(fuzz.generator(name, 1, run)) for run in (1, 1, 2)]
        assert made[0] == made[1] != made[2]


def test_one_input_does_not_change_the_next():
    """What is put into a document is changed there, and must not be changed where it came from."""
    before = repr(mutation.PLAIN)
    for run in range(2000):
        rng = fuzz.generator("loader", 1, run)
        mutation.document({"a": [1, {"b": [2]}], "c": "d"}, rng)
    assert repr(mutation.PLAIN) == before


@pytest.mark.long
def test_the_command_counts_and_ends_well(tmp_path):
    command = [sys.executable, "-m", "dawa_bench.faults.fuzz", "spec", "--runs", "700", "--jobs", "2"]
    ran = subprocess.run([*command, "--folder", str(tmp_path)], capture_output=True, text=True, check=False)  # noqa: S603
    assert ran.returncode == 0, ran.stderr
    assert "spec: 700 runs" in ran.stdout
    assert "Nothing failed." in ran.stdout


# --- positive controls ----------------------------------------------------------------------------------------------


class Faulty:
    """A target that misbehaves at one run, in the way that its name says."""

    held: list = []  # noqa: RUF012  it is there to leak

    def __init__(self, way):
        self.way, self.taken = way, 0

    def made(self, rng):
        return rng.randbytes(8)

    def take(self, content, rng):
        del content, rng
        self.taken += 1
        if self.taken == fuzz.WARM + 20:
            getattr(self, self.way)()
        return "accepted"

    def crash(self):
        raise KeyError("not ours")

    def hang(self):
        while True:
            pass

    def slow(self):
        began = time.process_time()
        while time.process_time() - began < fuzz.SECONDS + 0.2:
            pass

    def grow(self):
        self.held.append(np.ones(2**25 + 2**22))


class Pipe:
    def __init__(self):
        self.said = []

    def send(self, message):
        self.said.append(message)

    def close(self):
        pass


def resident():
    """The memory that this process has now, in MB."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize() / 2**20


@pytest.mark.long_but(1)
@pytest.mark.parametrize(
    ("way", "said"), [("crash", "KeyError"), ("hang", "StuckError"), ("slow", "it took"), ("grow", "memory grew")]
)
def test_what_must_not_happen_is_noticed(monkeypatch, tmp_path, way, said):
    """A fuzzer has a process of its own; here others may have had more memory before, so what is held now counts."""
    if Path("/proc/self/statm").exists():
        monkeypatch.setattr(fuzz, "_peak", resident)
    monkeypatch.setitem(fuzz.TARGETS, "faulty", lambda: Faulty(way))
    pipe = Pipe()
    fuzz.worked("faulty", 1, 0, 1, fuzz.WARM + 60, str(tmp_path), pipe)
    tally = fuzz.Tally()
    for message in pipe.said:
        if "tally" in message:
            tally.add(message["tally"])
    assert tally.runs == fuzz.WARM + 60
    (failure,) = tally.failures
    assert said in failure
    (known,) = tmp_path.glob("*.json")
    assert json.loads(known.read_text(encoding="utf-8"))["run"] == fuzz.WARM + 19
    assert known.with_suffix(".input").stat().st_size == 8


def test_errors_that_nobody_can_work_with_are_findings():
    assert refused(AxisError("It is wrong.", "mend it.")) == "AxisError"
    caught = AxisError("It is wrong.", "mend it.")
    caught.__cause__ = KeyError("kind")
    for error in (InvariantError("It broke."), AxisError("x" * 3000, "mend it."), caught):
        assert isinstance(error, DawaError)
        with pytest.raises(FindingError):
            refused(error)


def test_the_named_attacks_are_among_the_values():
    named = ("1e99999999", "nan", "١٢", "1_000", "0x10", " 1 ", "1/3", "-0", "9" * 5000, "1e-99999999", "inf")
    assert set(named) <= set(mutation.NUMBERS)
