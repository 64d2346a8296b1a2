"""The command that counts how often intervals hold: it says so, and fails when they do not."""

import sys

import pytest

from dawa.results import quantiles
from dawa_bench import coverage


def run(monkeypatch, *options):
    monkeypatch.setattr(sys, "argv", ["coverage", *options])
    with pytest.raises(SystemExit) as ended:
        coverage.main()
    return ended.value.code


@pytest.mark.long
def test_promises_are_kept(monkeypatch, capsys):
    assert run(monkeypatch, "--releases", "9") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + 6 * len(coverage.EPSILONS)
    assert all("band" in line for line in lines[1:])


@pytest.mark.long
def test_a_broken_promise_fails(monkeypatch, capsys):
    """Quantiles without a margin for noise; everything else is left as it is."""
    few = [sample for sample in coverage.samples() if sample.name == "few records"]
    monkeypatch.setattr(coverage, "samples", lambda: few)
    monkeypatch.setattr(coverage, "EPSILONS", ("0.5",))
    monkeypatch.setattr(quantiles, "factor_of", lambda *_: 0.0)
    monkeypatch.setattr(quantiles, "bias_of_buckets", lambda _estimate, buckets, *_: 0.0 * buckets)
    said = run(monkeypatch, "--releases", "60")
    assert "few records, epsilon 0.5: quantile" in said
    assert capsys.readouterr().out


def test_samples_lie_inside_their_axes():
    for sample in coverage.samples():
        assert sample.counts.sum() == len(sample.values)
        assert len(sample.counts) == sample.axis.size
