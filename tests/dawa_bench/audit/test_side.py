"""What time and memory tell."""

import sys

import numpy as np
import pytest

from dawa_bench.audit import side
from dawa_bench.audit.side import LOOKED, SOURCES, Spent, cases, spent
from dawa_bench.audit.tables import ASKED, ODDS


def test_what_is_measured_is_summed_up():
    fewer = np.array([[1.0, 10.0], [2.0, 10.0], [3.0, 10.0]])
    found = Spent("x", fewer, fewer + np.array([1.5, 0.0]))
    assert (found.medians(0), found.medians(1)) == ((2.0, 3.5), (10.0, 10.0))
    assert found.spread == 0.5
    assert (found.chance(0), found.chance(1)) == (8 / 9, 0.5)


def test_everything_that_is_named_is_there():
    looked = list(cases(SOURCES))
    assert {asked.name for _, asked, _ in looked} == set(LOOKED) <= {asked.name for asked in ASKED}
    assert {odd.name for *_, odd in looked} == {name for names in LOOKED.values() for name in names}
    assert {holder.name for holder, *_ in looked} == set(SOURCES)
    assert {odd.name for odd in ODDS} >= {odd.name for *_, odd in looked}


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_neighbours_run_in_turns():
    holder, asked, odd = next(case for case in cases(("lists",)) if case[1].name == "persons")
    found = spent(holder, asked, odd, runs=2)
    assert found.fewer.shape == found.more.shape == (2, 2)
    assert (found.fewer[:, 0] > 0).all()
    assert (found.more[:, 0] > 0).all()


def test_a_table_is_printed(monkeypatch, capsys):
    monkeypatch.setattr(side, "spent", lambda *_: Spent("lists: x", np.ones((3, 2)), 2 * np.ones((3, 2))))
    monkeypatch.setattr(sys, "argv", ["side", "lists"])
    side.main()
    lines = capsys.readouterr().out.splitlines()
    assert len({line.count("|") for line in lines}) == 1
    assert lines[2].startswith("| lists: x | 30,000 | 1000.0 | 2000.0 | 0.0 | 100% |")


def test_memory_is_not_known_everywhere(monkeypatch, tmp_path):
    monkeypatch.setattr(side, "RESET", tmp_path / "nowhere" / "reset")
    assert side._memory(reset=True) == 0
