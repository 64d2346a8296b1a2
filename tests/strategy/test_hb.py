"""HB: the branching is the best of all, by the exact error over all ranges."""

import numpy as np
import pytest

from dawa.strategy import choose, tree
from dawa.strategy.base import RESOLUTION
from dawa.strategy.tree import average_variance, equal_levels, every_range, hb, least_branchings
from helpers.dense import covariance, random_allowance, tree_rows


def full(k):
    return np.full(k, RESOLUTION)


@pytest.mark.parametrize("k", [*range(2, 70), 81, 100, 121, 127, 128, 129, 150, 211])
def test_no_branching_does_better(k):
    queries = every_range(k)
    errors = {fan: equal_levels(full(k), fan).expected_error(queries) for fan in range(2, k + 1)}
    assert errors[hb(full(k)).branching] <= min(errors.values()) * (1 + 1e-9)


def test_the_errors_that_are_compared_are_the_true_ones():
    lo, hi = np.triu_indices(40)
    ranges = (np.arange(40) >= lo[:, None]) & (np.arange(40) <= hi[:, None])
    for branching in (2, 3, 7, 40):
        strategy = equal_levels(full(40), branching)
        exact = np.trace(ranges.astype(float) @ covariance(tree_rows(strategy)) @ ranges.T)
        assert strategy.expected_error(every_range(40)) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize(("k", "branching"), [(16, 16), (40, 40), (100, 10), (1000, 10), (4096, 16)])
def test_known_choices(k, branching):
    """The authors' rule also takes 16 children at 4096, and no tree at all for small domains."""
    assert hb(full(k)).branching == branching


def test_levels_share_the_budget_alike_and_the_root_has_none():
    strategy = hb(full(4096))
    weights = [set(level.tolist()) for level in np.split(strategy.weights, strategy.offset[1:-1])]
    assert weights == [{RESOLUTION - 2 * (RESOLUTION // 3)}, {RESOLUTION // 3}, {RESOLUTION // 3}, {0}]


@pytest.mark.parametrize("branching", [2, 3, 5, 30])
def test_columns_are_exactly_the_allowance(branching):
    allowance = random_allowance(np.random.default_rng(branching), 30)
    strategy = equal_levels(allowance, branching)
    assert [sum(map(int, column)) for column in tree_rows(strategy).T] == allowance.tolist()
    assert strategy.column_sums().tolist() == allowance.tolist()


def test_leaving_out_the_root_pays():
    queries = every_range(4096)
    assert hb(full(4096)).expected_error(queries) < 0.75 * tree.uniform(full(4096), 16).expected_error(queries)


def test_a_branching_may_be_asked_for():
    queries = every_range(50)
    assert choose.choose(queries, full(50), "hb").branching == hb(full(50)).branching
    assert choose.choose(queries, full(50), "hb", branching=3).branching == 3
    assert choose.choose(every_range(1), full(1), "hb").buckets == 1


@pytest.mark.parametrize("k", [1, 2, 3, 4, 8, 9, 27, 28, 99, 1000, 4096, 10**6, 3**20, 2**40 + 1])
def test_every_height_has_its_least_branching(k):
    for branching, height in least_branchings(k):
        assert branching**height >= k
        assert branching == 2 or (branching - 1) ** height < k
        assert height == 1 or branching ** (height - 1) < k


def test_the_formula_is_the_authors():
    """For 4096 leaves it prefers 16 children, then 64, then 8."""
    ranked = sorted([(2, 12), (4, 6), (8, 4), (16, 3), (64, 2), (4096, 1)], key=lambda pair: average_variance(*pair))
    assert [branching for branching, _ in ranked[:3]] == [16, 64, 8]
