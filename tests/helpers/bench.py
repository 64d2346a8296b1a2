"""Invented results of experiments, and commands on data so small that they answer at once."""

import sys

import numpy as np

from dawa_bench import comparison, experiments
from dawa_bench.experiments import Measured, Record


def invented(name, size="quick"):
    """A result for every task of an experiment, the same every time."""
    records = []
    for task in experiments.find(name).tasks(size, None):
        value = 1 + task.seed % 1000
        records.append(Record(task, Measured(value, value / 100, value, float(value), float(value))))
    return records


def said(command, monkeypatch, capsys, *arguments):
    """What a command prints, on one histogram or map and without the figures of the research code."""
    rng = np.random.default_rng(0)
    shapes = {1: (64,), 2: (16, 16)}
    monkeypatch.setattr(comparison, "measured_on", lambda axes: ("small", {"one": rng.poisson(9, shapes[axes])}))
    monkeypatch.setattr(comparison, "reference_errors", lambda _: {("DAWA", "one", "0.1"): 2.0})
    monkeypatch.setattr(sys, "argv", [command.__name__, *arguments])
    command.main()
    return capsys.readouterr().out.splitlines()
