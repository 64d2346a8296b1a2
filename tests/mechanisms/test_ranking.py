"""Recommendations are by true expected error, and the mechanisms they compare are private: exactly, on few cells."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import dawa
from dawa import measure, mechanisms, workloads
from dawa.errors import BudgetError, OptionError, WorkloadError
from dawa.mechanisms import ranking as recommend
from dawa.mechanisms.ranking import recommended
from dawa.partition.buckets import every_cell, given
from dawa.queries.workload import Workload
from dawa.strategy import choose
from dawa.strategy.base import RESOLUTION
from dawa.strategy.tree import every_range

RIVALS = ("privelet", "hierarchical", "hb", "uniform")


def partition_of(name, n):
    return given([0, n], n) if name == "uniform" else every_cell(n)


def strategy_of(name, n, allowance):
    buckets, options = partition_of(name, n), mechanisms.configured(name, {})
    queries, allowed = every_range(len(buckets)), np.full(len(buckets), allowance)
    return choose.choose(queries, allowed, options.strategy, options.effort or "best", options.branching)


# --- the rivals are private -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("name", RIVALS)
def test_no_outcome_tells_neighbours_apart_by_more_than_epsilon(name, n):
    """Every outcome in a box around the answers, by the formula of the discrete Laplace.

    Rows have independent noise, so the worst log-ratio over all outcomes is the sum of the rows' worst; where the box
    is small enough, all outcomes are gone through together as well.
    """
    budget, epsilon = 4, Fraction(7, 10)
    strategy, scale = strategy_of(name, n, budget), budget / epsilon
    bounds = partition_of(name, n).bounds

    def answers(cells):
        return strategy.apply(np.add.reduceat(np.array(cells), bounds[:-1])).tolist()

    worst = 0.0
    for cells in itertools.product(range(3), repeat=n):
        here = answers(cells)
        for cell in range(n):
            there = answers([count + (j == cell) for j, count in enumerate(cells)])
            boxes = [range(min(pair) - 2, max(pair) + 3) for pair in zip(here, there, strict=True)]
            rows = [
                [(abs(y - b) - abs(y - a)) / scale for y in box] for box, a, b in zip(boxes, here, there, strict=True)
            ]
            for sign in (1, -1):
                worst = max(worst, float(sum(max(sign * ratio for ratio in row) for row in rows)))
            if len(rows) <= 3:
                worst = max(worst, *(float(abs(sum(ratios))) for ratios in itertools.product(*rows)))
    assert worst <= float(epsilon) + 1e-12
    assert worst == pytest.approx(float(epsilon)), "and all of the budget is used"


@pytest.mark.parametrize("n", [1, 2, 5, 16, 100, 1000, 4096])
@pytest.mark.parametrize("name", RIVALS)
def test_the_loss_is_epsilon_in_exact_arithmetic(name, n):
    strategy = strategy_of(name, n, RESOLUTION)
    epsilon = Fraction(3, 10)
    assert measure.loss(partition_of(name, n), strategy, RESOLUTION / epsilon) == epsilon
    if n <= 100:
        rows = np.array([strategy.apply(unit) for unit in np.eye(strategy.buckets, dtype=np.int64)])
        assert np.abs(rows).sum(axis=1).tolist() == strategy.column_sums().tolist() == [RESOLUTION] * strategy.buckets


# --- and they do what they say --------------------------------------------------------------------------------------


@pytest.mark.long_but(2)
@pytest.mark.parametrize("n", [37, 64])
@pytest.mark.parametrize("name", ["privelet", "hierarchical", "hb"])
def test_errors_are_as_expected_over_many_runs(name, n):
    """Mean squared errors of 300 runs against the exact figure; runs are independent, so five standard errors."""
    cells = np.random.default_rng(0).integers(0, 50, n)
    workload = workloads.uniform(n, 200)
    truth, seen = workload.answers(cells), []
    for seed in range(300):
        found = dawa.estimate(cells, workload, epsilon=0.5, mechanism=name, seed=seed)
        seen.append(((found.answers(workload) - truth) ** 2).mean())
    assert found.partition is None
    assert abs(np.mean(seen) - found.noise_rmse(workload) ** 2) < 5 * np.std(seen) / math.sqrt(300)
    same = next(ranked for ranked in recommended(workload, 0.5, "fast") if ranked.name == name)
    assert same.rmse == pytest.approx(found.noise_rmse(workload), rel=1e-12)


def test_uniform_spreads_the_total():
    found = dawa.estimate([90, *[0] * 9], epsilon=1, mechanism="uniform", seed=0)
    assert found.partition.tolist() == [0, 10]
    assert len(set(found.cells.tolist())) == 1
    assert abs(found.cells.sum() - 90) < 30


@pytest.mark.parametrize("name", RIVALS)
def test_each_keeps_to_its_paper(name):
    options = mechanisms.configured(name, {})
    assert options.postprocess == "none"
    assert not options.merge
    assert options.partition == ("one" if name == "uniform" else "none")


# --- ranking --------------------------------------------------------------------------------------------------------


@pytest.mark.long_but(2)
@pytest.mark.parametrize(
    "workload",
    [
        workloads.uniform(100, 50),
        workloads.prefixes(90),
        workloads.all_ranges(64),
        workloads.identity(70),
        workloads.clustered(100, 2, 20, sd=10),
        Workload.ranges([3, 40], [40, 64], 64),
    ],
    ids=["uniform", "prefixes", "all-ranges", "identity", "clustered", "two ranges"],
)
def test_the_ranking_is_by_the_variances_of_all_queries(workload):
    ranking = recommended(workload, "1/10", "fast")
    assert [ranked.rmse for ranked in ranking] == sorted(ranked.rmse for ranked in ranking)
    assert {ranked.name for ranked in ranking} == set(recommend.CANDIDATES)
    for found in ranking:
        options = mechanisms.configured(found.name, found.options)
        buckets = every_cell(workload.size)
        queries, allowed = workload.on_buckets(buckets.bounds), np.full(len(buckets), RESOLUTION)
        strategy = choose.choose(queries, allowed, options.strategy, "fast", options.branching)
        rows = np.array([strategy.apply(unit) for unit in np.eye(len(buckets), dtype=np.int64)]).T / RESOLUTION
        listed = workload.enumerated().on_buckets(buckets.bounds).dense()
        variances = 200 * np.einsum("ij,jk,ik->i", listed, np.linalg.inv(rows.T @ rows), listed)
        assert found.rmse == pytest.approx(math.sqrt(variances.mean()), rel=1e-6)


def test_each_workload_has_the_winner_that_it_should():
    assert recommended(workloads.identity(200), effort="fast")[0].rmse == pytest.approx(math.sqrt(2), rel=1e-6)
    workload = workloads.uniform(1024, 300)
    ranking = recommended(workload)
    assert (ranking[0].name, ranking[0].options) == ("dawa", {"partition": "none"})
    found = dawa.estimate([1] * 1024, workload, epsilon=1, mechanism="dawa", seed=0, partition="none")
    assert found.noise_rmse(workload) == pytest.approx(ranking[0].rmse, rel=1e-9)
    assert ranking[-1].name == "identity"


def test_the_budget_scales_all_errors():
    workload = workloads.uniform(50, 20)
    one, tenth = recommended(workload, 1, "fast"), recommended(workload, 0.1, "fast")
    for a, b in zip(one, tenth, strict=True):
        assert (a.name, a.strategy) == (b.name, b.strategy)
        assert b.rmse == pytest.approx(10 * a.rmse, rel=1e-6)


def test_bad_input_is_refused():
    workload = workloads.prefixes(8)
    with pytest.raises(WorkloadError, match="Hint:"):
        recommended([(0, 3)])
    with pytest.raises(WorkloadError, match="Hint:"):
        recommended(workloads.prefixes(2**23))
    with pytest.raises(BudgetError, match="Hint:"):
        recommended(workload, 0)
    with pytest.raises(OptionError, match="Hint:"):
        recommended(workload, 1, "lazy")
