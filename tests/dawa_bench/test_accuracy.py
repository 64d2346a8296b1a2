"""The command prints errors, ratios and their means."""

from dawa_bench import accuracy
from helpers.bench import said


def test_a_line_for_each_epsilon_and_one_for_each_yardstick(monkeypatch, capsys):
    lines = said(accuracy, monkeypatch, capsys, "--effort", "fast", "--workloads", "1", "--trials", "1")
    assert "small data" in lines[0]
    assert [line.split()[1] for line in lines if line.startswith("one ")] == list(accuracy.EPSILONS)
    assert [line.partition(":")[0] for line in lines[-3:]] == [
        "geometric mean of ratios to greedy-h",
        "geometric mean of ratios to the published code",
        "fresh queries over given ones",
    ]
