"""The quadtree: squares where the sides allow it, and as many parts per node as the axes ask for."""

from fractions import Fraction

import numpy as np
import pytest

import dawa
from dawa import measure
from dawa.errors import OptionError
from dawa.layout.curve import Order
from dawa.noise import discrete
from dawa.strategy.base import RESOLUTION


def estimated(counts, epsilon=1, seed=0, **options):
    return dawa.estimate(counts, epsilon=epsilon, mechanism="quadtree", seed=seed, **options)


@pytest.mark.parametrize(
    ("shape", "branching"), [((40,), 2), ((9, 14), 4), ((16, 16), 4), ((4, 5, 6), 8), ((3, 4, 2, 3), 16)]
)
def test_a_node_has_as_many_parts_as_all_axes_halved(shape, branching):
    counts = np.random.default_rng(0).poisson(9, shape)
    est = estimated(counts, epsilon=10**5)
    assert (est.strategy.weighting, est.strategy.branching) == ("geometric", branching)
    assert est.options["branching"] == branching
    np.testing.assert_allclose(est.cells, counts, atol=0.1)
    scale = discrete.coarsened(RESOLUTION / Fraction(10**5))
    assert (est.strategy.column_sums() == RESOLUTION).all()
    assert measure.loss(est.buckets, est.strategy, scale) <= 10**5
    assert est.split == {"partition": 0, "measure": 10**5}


@pytest.mark.parametrize("side", [2, 8, 32])
def test_nodes_are_squares_where_the_side_is_a_power_of_two(side):
    cells = Order((side, side)).cells(np.arange(side * side))
    width = 2
    while width <= side:
        for node in cells.reshape(-1, width * width, 2):
            low, high = node.min(axis=0), node.max(axis=0)
            assert (high - low + 1 == width).all()
            assert (low % width == 0).all()
        width *= 2


def test_error_bars_equal_those_of_the_dense_matrix():
    from helpers.dense import covariance, tree_rows  # noqa: PLC0415  beside this file

    est = estimated(np.zeros((6, 7), int))
    workload = dawa.Workload.rectangles([[0, 0], [1, 2], [2.5, 0.25]], [[6, 7], [4, 7], [3.5, 6]], (6, 7))
    dense = est.buckets.queries(workload).dense()
    exact = np.einsum("ij,jk,ik->i", dense, covariance(tree_rows(est.strategy)), dense)
    np.testing.assert_allclose(est.variances(workload), est.unit_variance * exact, rtol=1e-9)


def test_levels_share_the_budget_by_the_cube_root_of_the_parts():
    weights = [estimated(np.zeros((16, 16), int)).strategy.weights[at] for at in (0, 256, 256 + 64)]
    np.testing.assert_allclose([weights[0] / weights[1], weights[1] / weights[2]], 4 ** (1 / 3), rtol=1e-3)


def test_options_of_two_stages_are_taken():
    counts = np.ones((8, 8), int)
    assert estimated(counts, branching=16).strategy.branching == 16
    assert estimated(counts, strategy="leaves").strategy.weighting == "leaves-only"
    with pytest.raises(OptionError, match="Hint:"):
        estimated(counts, height=3)
