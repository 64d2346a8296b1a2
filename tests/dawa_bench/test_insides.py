"""The command prints a line for each dataset and epsilon, and the means."""

import pytest

from dawa_bench import comparison, insides, maps
from helpers.bench import said


@pytest.mark.parametrize("axes", [1, 2])
def test_a_line_for_each_epsilon_and_the_means(monkeypatch, capsys, axes):
    lines = said(insides, monkeypatch, capsys, "--axes", str(axes), "--trials", "1")
    assert "small data" in lines[0]
    epsilons = comparison.EPSILONS if axes == 1 else maps.EPSILONS
    assert [line.split()[1] for line in lines if line.startswith("one ")] == list(epsilons)
    assert lines[-1].startswith("geometric mean: given")
