"""The measurement of how well plans predict."""

import sys

import numpy as np
import pytest

import dawa
from dawa.plan import KINDS, planned
from dawa_bench import plan

SMALL = plan.Column("small", (dawa.Axis("x", 0, 64),), np.random.default_rng(0).poisson(50, 64), "smooth")


def test_kinds_were_written_down_for_every_column():
    assert set(plan.KINDS.values()) <= set(KINDS)
    assert len(plan.KINDS) == 12


def test_a_plan_beside_what_came_of_it():
    made = planned(SMALL.axes, epsilon=1, records=int(SMALL.counts.sum()), kind="smooth")
    (one,) = made.predictions
    line = plan.compared(np.array([one.mean, one.mean * 1.1]), made)
    assert line.ratio == pytest.approx(1 / 1.05)
    assert line.inside == (one.least <= line.measured <= one.largest)
    assert not plan.compared(np.array([1e6, 1e6]), made).inside


def test_the_sum_of_it():
    lines = [plan.Line(1, 0, ratio, inside=True) for ratio in (1.0, 1.5, 4.0, 0.25)]
    assert plan.told(lines).startswith("2 of 4 within a factor of 1.5; off by a factor of 2.21")
    assert "4.00 at worst; 4 of 4 inside" in plan.told(lines)


def test_the_command(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(plan, "columns", lambda: [SMALL])
    monkeypatch.setattr(sys, "argv", ["plan", "--trials", "2", "--epsilons", "1", "--out", str(tmp_path / "x.csv")])
    plan.main()
    shown = capsys.readouterr().out
    assert "small" in shown
    assert "With the kind named: " in shown
    assert "With no kind named" in shown
    assert len((tmp_path / "x.csv").read_text(encoding="utf-8").splitlines()) == 2
