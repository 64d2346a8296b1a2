"""The paper's random workloads: drawn from the distributions that it names."""

import math

import numpy as np
import pytest
from scipy import special, stats

import dawa
from dawa.errors import WorkloadError
from dawa.workloads import (
    all_ranges,
    clustered,
    identity,
    large_clustered,
    prefixes,
    random_rectangles,
    uniform,
)

SURE = 1e-6
"""The chance that a correct sampler fails a test here, had the seed not been fixed."""


def evenly_drawn(seen, kinds):
    """Whether the frequencies are those of an even draw, by the chi-square test."""
    counts = np.bincount(seen, minlength=kinds)
    return stats.chisquare(counts).pvalue > SURE


def test_uniform_draws_every_range_equally_often():
    n, m = 6, 20_000
    workload = uniform(n, m, seed=1)
    number = {pair: i for i, pair in enumerate((a, b) for a in range(n) for b in range(a + 1, n + 1))}
    seen = [number[pair] for pair in zip(workload.lo.tolist(), workload.hi.tolist(), strict=True)]
    assert len(number) == len(all_ranges(n)) == 21
    assert evenly_drawn(seen, len(number))


def test_uniform_draws_2000_ranges_unless_told_otherwise():
    assert len(uniform(4096)) == 2000
    assert len(uniform(1, m=3)) == 3


def test_clustered_is_the_papers_workload():
    """Five centres, 400 queries each, ``[c - |X|, c + |Y|]`` with standard deviation 256."""
    n, sd = 2**24, 256
    workload = clustered(n, seed=3)
    assert len(workload) == 5 * 400
    lo, last = workload.lo.reshape(5, 400), workload.hi.reshape(5, 400) - 1
    assert lo.min() > 0, "no query is clipped, or the moments below do not hold"
    assert last.max() < n - 1
    assert (lo.max(axis=1) <= last.min(axis=1)).all(), "one cell lies in all queries of a cluster: its centre"
    lengths = (last - lo).ravel()
    left, right = (lo.max(axis=1)[:, None] - lo).ravel(), (last - last.min(axis=1)[:, None]).ravel()
    assert abs(np.corrcoef(left, right)[0, 1]) < 5 / math.sqrt(lengths.size)
    # The nearest of 400 ends stands for the centre; it is within 14 but for a chance of 1e-7, and rounding adds 1.
    shift = 15 * math.sqrt(2 / math.pi) / sd
    bound = math.sqrt(math.log(2 / SURE) / (2 * lengths.size)) + shift
    for side in (left, right):
        distance = stats.ks_1samp(side, lambda x: special.erf(x / (sd * math.sqrt(2)))).statistic
        assert distance < bound


@pytest.mark.parametrize(("make", "sd"), [(clustered, 256), (large_clustered, 1024)])
def test_lengths_have_the_moments_of_two_half_normal_variables(make, sd):
    """Mean and mean square of |X| + |Y| over 20 workloads, each within 5 standard errors."""
    many = [make(2**24, seed=seed) for seed in range(20)]
    lengths = np.concatenate([workload.hi - 1 - workload.lo for workload in many]).astype(np.float64)
    mean, square = 2 * sd * math.sqrt(2 / math.pi), sd**2 * (2 + 4 / math.pi)
    for power, expected in ((1, mean), (2, square)):
        values = lengths**power
        assert abs(values.mean() - expected) < 5 * values.std() / math.sqrt(values.size) + 0.01 * sd ** (power - 1)


def test_centres_are_drawn_evenly():
    """Without spread a query is its centre's cell."""
    workload = clustered(7, clusters=20_000, per_cluster=1, sd=0, seed=4)
    assert (workload.hi - workload.lo == 1).all()
    assert evenly_drawn(workload.lo, 7)


def test_queries_are_clipped_to_the_domain_and_keep_their_centre():
    workload = clustered(100, sd=1e300, seed=5)
    assert (workload.lo == 0).all()
    assert (workload.hi == 100).all()


def test_large_clustered_has_a_standard_deviation_of_1024():
    one, two = large_clustered(2**24, seed=6), clustered(2**24, sd=1024, seed=6)
    assert one.lo.tolist() == two.lo.tolist()
    assert one.hi.tolist() == two.hi.tolist()
    assert (one.hi - one.lo).mean() == pytest.approx(2 * 1024 * math.sqrt(2 / math.pi), rel=0.1)


@pytest.mark.parametrize("make", [uniform, clustered, large_clustered])
def test_seeds_repeat(make):
    one, two, other = make(4096, seed=1), make(4096, seed=1), make(4096, seed=2)
    assert one.lo.tolist() == two.lo.tolist()
    assert one.hi.tolist() == two.hi.tolist()
    assert one.lo.tolist() != other.lo.tolist()
    assert make(4096).lo.tolist() == make(4096, seed=0).lo.tolist()


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (identity, {"n": 0}),
        (prefixes, {"n": 2.5}),
        (all_ranges, {"n": "8"}),
        (uniform, {"n": 0}),
        (uniform, {"n": 8, "m": 0}),
        (uniform, {"n": 8, "m": 2.5}),
        (uniform, {"n": True}),
        (uniform, {"n": 8, "seed": -1}),
        (uniform, {"n": 8, "seed": "x"}),
        (uniform, {"n": 8, "seed": None}),
        (clustered, {"n": 8, "clusters": 0}),
        (clustered, {"n": 8, "per_cluster": 0}),
        (clustered, {"n": 8, "sd": -1}),
        (clustered, {"n": 8, "sd": float("nan")}),
        (clustered, {"n": 8, "sd": float("inf")}),
        (clustered, {"n": 8, "sd": "wide"}),
    ],
)
def test_numbers_that_make_no_workload_are_refused(make, wrong):
    with pytest.raises(WorkloadError, match="Hint:"):
        make(**wrong)


# --- rectangles -----------------------------------------------------------------------------------------------------

LON_LAT = (dawa.Axis("lon", -10, 20, step=0.25), dawa.Axis("lat", 0, 12, step="1/3"))


def test_rectangles_have_evenly_drawn_ends_on_every_axis():
    """Two cells are drawn on each axis, in any order; a rectangle reaches from the lower to the higher."""
    shape, m = (3, 4), 20_000
    lo, hi = random_rectangles(shape, m, seed=1).boxes
    for axis, n in enumerate(shape):
        pairs = [(a, b) for a in range(n) for b in range(a, n)]
        chance = np.array([(1 if a == b else 2) / n**2 for a, b in pairs])
        found = list(zip(lo[:, axis].tolist(), (hi[:, axis] - 1).tolist(), strict=True))
        counts = np.array([found.count(pair) for pair in pairs])
        assert counts.sum() == m
        assert stats.chisquare(counts, m * chance).pvalue > SURE
    # The sides of different axes have nothing to do with each other.
    assert abs(np.corrcoef((hi - lo).T)[0, 1]) < 5 / math.sqrt(m)


def test_rectangles_of_one_size_are_evenly_placed():
    lo, hi = random_rectangles((7, 9), 20_000, seed=2, size=(3, 5)).boxes
    assert (hi - lo == [3, 5]).all()
    assert evenly_drawn((lo @ [5, 1]).astype(int), 25), "every place is as likely as every other"


def test_sizes_that_are_no_whole_number_of_cells_lie_anywhere():
    m = 20_000
    lo, hi = random_rectangles((7, 9), m, seed=3, size=(2.5, 0.25)).boxes
    np.testing.assert_allclose(hi - lo, np.broadcast_to([2.5, 0.25], lo.shape))
    for axis, room in enumerate((4.5, 8.75)):
        assert stats.kstest(lo[:, axis] / room, "uniform").pvalue > SURE


def test_a_size_on_axes_is_in_their_own_units():
    """Degrees, of which a cell has a quarter or a third: sizes are read as they are written."""
    workload = random_rectangles(LON_LAT, 500, seed=4, size=(5, 2))
    assert workload.shape == (120, 36)
    lo, hi = workload.boxes
    assert (hi - lo == [20, 6]).all()
    assert (lo == np.floor(lo)).all()
    tenths = tuple(dawa.Axis(name, 0, 1, step=0.1) for name in "xy")
    lo, hi = random_rectangles(tenths, 50, size=(0.3, 0.7)).boxes
    assert (hi - lo == [3, 7]).all(), "0.3 / 0.1 is 3, and not a little less"
    lo, hi = random_rectangles(LON_LAT, 500, size=(15, 0.2)).boxes
    np.testing.assert_allclose(hi - lo, np.broadcast_to([60, 0.6], lo.shape))


def test_axes_without_a_size_count_as_their_cells():
    one, two = random_rectangles(LON_LAT, 40, seed=5), random_rectangles((120, 36), 40, seed=5)
    assert one.shape == two.shape == (120, 36)
    assert (one.boxes[0] == two.boxes[0]).all()
    assert (one.boxes[1] == two.boxes[1]).all()


def test_a_size_may_fill_the_domain():
    lo, hi = random_rectangles((5, 7, 3), 20, size=(5, 7, 3)).boxes
    assert not lo.any()
    assert (hi == [5, 7, 3]).all()


@pytest.mark.parametrize("shape", [(9,), (4, 5), (3, 2, 4), (2, 3, 2, 2)])
def test_rectangles_come_on_one_to_four_axes_and_seeds_repeat(shape):
    one, two, other = (random_rectangles(shape, 30, seed=seed) for seed in (1, 1, 2))
    assert len(one) == 30
    assert one.shape == shape
    assert (one.boxes[0] == two.boxes[0]).all()
    assert (one.boxes[0] != other.boxes[0]).any()
    assert len(random_rectangles(shape)) == 2000


def test_every_cell_of_a_map_is_a_workload():
    assert repr(identity((3, 4))) == "Workload(12 queries over 3 × 4 cells)"
    assert len(identity((2**20, 2**20))) == 2**40


@pytest.mark.parametrize(
    "wrong",
    [
        {"domain": 256},
        {"domain": ()},
        {"domain": None},
        {"domain": "ab"},
        {"domain": dawa.Axis("x", 0, 4)},
        {"domain": (8, 0)},
        {"domain": (8, 2.5)},
        {"domain": (8, True)},
        {"domain": (8,) * 5},
        {"domain": (2**40, 2**40)},
        {"domain": (2**70, 2)},
        {"domain": (8, dawa.Axis("x", 0, 4))},
        {"domain": (8, dawa.Axis("x", 0, 4)), "size": (1, 1)},
        {"domain": (8, 8), "m": 0},
        {"domain": (8, 8), "seed": -1},
        {"domain": (8, 8), "size": 5},
        {"domain": (8, 8), "size": (5,)},
        {"domain": (8, 8), "size": (5, 5, 5)},
        {"domain": (8, 8), "size": (9, 1)},
        {"domain": (8, 8), "size": (0, 1)},
        {"domain": (8, 8), "size": (-1, 1)},
        {"domain": (8, 8), "size": (float("nan"), 1)},
        {"domain": (8, 8), "size": (float("inf"), 1)},
        {"domain": (8, 8), "size": (True, 1)},
        {"domain": (8, 8), "size": "ab"},
        {"domain": LON_LAT, "size": (31, 1)},
    ],
    ids=str,
)
def test_what_makes_no_rectangles_is_refused(wrong):
    with pytest.raises(WorkloadError, match="Hint:"):
        random_rectangles(**wrong)


@pytest.mark.parametrize(
    "axis",
    [
        dawa.Axis.dates("when", "2013-01-01", "2014-01-01", step="1 month"),
        dawa.Axis.ordered("grade", ["A", "B", "C"]),
        dawa.Axis.edges("income", [0, 10, 100]),
    ],
    ids=str,
)
def test_a_size_is_for_numbers_in_equal_steps(axis):
    domain = (dawa.Axis("x", 0, 5), axis)
    assert random_rectangles(domain, 10).shape == (5, axis.size)
    with pytest.raises(WorkloadError, match="Hint: give the domain as a number of cells"):
        random_rectangles(domain, 10, size=(1, 1))
