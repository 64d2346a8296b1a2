"""Ratios, losses and regrets follow from errors alone."""

import pytest

from dawa_bench import datasets, experiments, paper
from dawa_bench.experiments import Measured, Record, errors


def test_ratios_that_equal_the_paper_are_all_reproduced():
    """Errors made up so that every ratio is as printed, its ends on two datasets; then all are made too large."""

    def made(factor):
        records = []
        for task in experiments.find("paper.errors").tasks("quick", None):
            ratio = 1.0
            for rival, code in paper.PUBLISHED_AS.items():
                if task.mechanism == code and rival in paper.RIVALS:
                    at = paper.RIVALS.index(rival)
                    table = paper.LARGEST if task.dataset == "adult" else paper.SMALLEST
                    ratio = factor * table[task.epsilon][at]
            records.append(Record(task, Measured(error=ratio)))
        return records

    assert errors.reproduced(made(1)) == 48
    assert errors.reproduced(made(1.34)) == 48
    assert errors.reproduced(made(1.4)) == 0


def test_losses_name_the_best():
    records = []
    for task in experiments.find("paper.errors").tasks("quick", None):
        error = {"dawa": 2.0, "hb": 1.0}.get(task.mechanism, 3.0)
        if task.dataset != "adult":
            error = 1.0
        records.append(Record(task, Measured(error=error)))
    lost = errors.losses(records)
    assert lost == [("adult", epsilon, "hb", 2.0) for epsilon in paper.EPSILONS]


def test_regret_is_one_for_the_best():
    records = [
        Record(task, Measured(error=1.0 if task.mechanism == "hb" else 4.0))
        for task in experiments.find("scale").tasks("quick", None)
    ]
    found = errors.regrets(records)
    assert {value for (_, name), value in found.items() if name == "hb"} == {1.0}
    assert found[10**5, "dawa"] == pytest.approx(4)


def test_scale_draws_as_many_records_as_it_says():
    found = errors.drawn("adult", None, 1000)
    assert found.sum() == 1000
    assert not found[datasets.load("adult", None).counts == 0].any()
