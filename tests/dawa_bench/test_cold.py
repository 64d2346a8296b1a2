"""What a first answer costs is told beside what later ones cost."""

import sys

import pytest

from dawa_bench import cold


def test_a_first_run_has_no_byte_code_and_later_ones_have(monkeypatch, capsys):
    seen = []

    def run(arguments, bytecode, python):
        seen.append((arguments[-1], bytecode.exists() and any(bytecode.rglob("*.pyc"))))
        return real(arguments, bytecode, python)

    real = cold.run
    monkeypatch.setattr(cold, "run", run)
    monkeypatch.setattr(
        cold, "commands", lambda _: {"import numpy": ["-c", "import json"], "slow": ["-c", "import csv"]}
    )
    monkeypatch.setattr(sys, "argv", ["cold", "--repeats", "2"])
    cold.main()
    told = capsys.readouterr().out.splitlines()
    assert told[0].split() == ["processor", "seconds", "first", "later", "ratio"]
    assert [line.split()[0] for line in told[1:]] == ["import", "slow"]
    rounds = seen[2:]
    assert len(rounds) == 8
    assert [kept for _, kept in rounds[0::2]] == [False] * 4
    assert all(kept for _, kept in rounds[1::2])


@pytest.mark.long
def test_every_command_that_is_timed_runs(tmp_path):
    timed = cold.commands(tmp_path)
    assert cold.run(timed["query"], tmp_path / cold.KEPT) > 0
    assert len(timed) == 7


def test_another_installation_runs_in_turn(monkeypatch, capsys):
    ran = []
    monkeypatch.setattr(cold, "run", lambda _, __, python: ran.append(python) or 1.0)
    monkeypatch.setattr(cold, "commands", lambda _: {"import numpy": []})
    monkeypatch.setattr(sys, "argv", ["cold", "--repeats", "1", "--beside", "other"])
    cold.main()
    assert [python == "other" for python in ran] == [False, True, False, False, True, True]
    assert capsys.readouterr().out.splitlines()[1].split() == ["import", "numpy", *["1.00"] * 2, "1.0", *["1.00"] * 2]
