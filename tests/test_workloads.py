"""The paper's random workloads: drawn from the distributions that it names."""

import math

import numpy as np
import pytest
from scipy import special, stats

from dawa.errors import WorkloadError
from dawa.workloads import all_ranges, clustered, identity, large_clustered, prefixes, uniform

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
