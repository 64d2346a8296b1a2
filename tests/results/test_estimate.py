"""Estimates: right on average, as noisy as they say, and the same for every shape of data and workload."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import dawa
from dawa import workloads
from dawa.errors import WorkloadError
from dawa.queries.bucket_queries import BucketQueries
from dawa.queries.workload import Workload
from dawa.strategy import choose

PUBLIC = [0, 3, 4, 8, 13, 14, 16]
SMALL = np.array([9, 0, 0, 4, 70, 71, 69, 70, 0, 0, 1, 0, 0, 12, 500, 3])


def made(n, seed=0):
    """Counts with empty stretches, smooth ones and spikes."""
    rng = np.random.default_rng(seed)
    return rng.poisson(np.repeat(rng.gamma(0.2, 100, -(-n // 8)), 8)[:n])


def runs(n):
    """Queries of several weighted runs, some of which touch."""
    return dawa.Workload.runs(
        [0, 2, 3, 6], [0, n // 2, 1, 0, n // 4, n // 2], [n // 4, n, n - 1, 1, n // 2, n], [1, -0.5, 2, 3, 1, 0.25], n
    )


# --- the distribution of estimates ----------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("strategy", ["leaves", "greedy", "uniform", "geometric", "levels"])
def test_estimates_are_unbiased_and_their_variances_are_right(strategy):
    """Over seeds, on fixed buckets: means within 5 standard errors, variances within 5 of theirs.

    A sum of independent Laplace variables has kurtosis at most 6, so a sample variance of N draws has a relative
    standard error of at most sqrt(5/N).
    """
    queries = dawa.Workload.ranges([0, 3, 3, 13, 4, 8], [16, 4, 14, 14, 8, 16], 16)
    options = {"partition": PUBLIC, "strategy": strategy, "postprocess": "none"}
    draws = 1500
    found = [dawa.estimate(SMALL, queries, epsilon=0.5, seed=seed, **options) for seed in range(draws)]
    answers = np.array([est.answers(queries) for est in found])
    variances = found[0].variances(queries)
    truth = queries.answers(SMALL)  # no query cuts a bucket
    assert (np.abs(answers.mean(axis=0) - truth) <= 5 * np.sqrt(variances / draws)).all()
    assert (np.abs(answers.var(axis=0) / variances - 1) <= 5 * math.sqrt(5 / draws)).all()


@pytest.mark.long
def test_bucket_totals_are_unbiased_where_the_data_chose_the_buckets():
    """Given any buckets, errors in units of their deviations have mean 0 and variance 1."""
    cells, standard = made(128, seed=3), []
    before = np.concatenate(([0], np.cumsum(cells)))
    draws = 300
    for seed in range(draws):
        est = dawa.estimate(cells, epsilon=0.3, seed=seed, effort="fast")
        k = len(est.buckets)
        lo, hi = np.array([0.0, 0, k // 2]), np.array([k, 1.0, k])
        truth = before[est.buckets.bounds[hi.astype(int)]] - before[est.buckets.bounds[lo.astype(int)]]
        errors = est.totals_of(BucketQueries.of_runs(k, lo, hi), unbiased=True) - truth
        standard.append(errors / np.sqrt(est.range_variances(lo, hi)))
    standard = np.array(standard)
    assert (np.abs(standard.mean(axis=0)) <= 5 / math.sqrt(draws)).all()
    assert (np.abs((standard**2).mean(axis=0) - 1) <= 5 * math.sqrt(5 / draws)).all()


@pytest.mark.parametrize("strategy", ["greedy", "levels", "hats"])
def test_variances_equal_the_dense_formula_also_for_many_runs(strategy):
    n = 60
    hurry = {"effort": "fast"} if strategy in choose.SEARCHED else {}
    est = dawa.estimate(made(n), epsilon=1, seed=1, strategy=strategy, partition="none", **hurry)
    unit = np.eye(n, dtype=np.int64)
    rows = np.array([est.strategy.apply(column) for column in unit]).T / dawa.strategy.RESOLUTION
    covariance = est.unit_variance * np.linalg.inv(rows.T @ rows)
    weighted = dawa.Workload.runs([0, 1, 2], [0, 7], [30, 9], [-2, 0.5], n)
    for workload in (runs(n), weighted, workloads.uniform(n, 50), workloads.prefixes(n)):
        matrix = workload.enumerated().on_buckets(est.buckets.bounds).dense()
        exact = np.einsum("ij,jk,ik->i", matrix, covariance, matrix)
        np.testing.assert_allclose(est.variances(workload), exact, rtol=1e-6)
        assert est.noise_rmse(workload) == pytest.approx(math.sqrt(exact.mean()), rel=1e-6)


def test_on_single_cells_greedy_and_laplace_are_the_same_mechanism():
    """The greedy weights of the identity workload are all on the leaves, so the same seed gives the same noise."""
    cells, asked = made(256, seed=4), workloads.identity(256)
    plain = {"strategy": "greedy", "postprocess": "none"}
    for seed in range(20):
        one = dawa.estimate(cells, asked, epsilon=0.5, seed=seed, mechanism="partition-laplace")
        two = dawa.estimate(cells, asked, epsilon=0.5, seed=seed, mechanism="dawa", **plain)
        assert not two.strategy.weights[two.strategy.buckets :].any()
        np.testing.assert_array_equal(one.buckets.bounds, two.buckets.bounds)
        np.testing.assert_array_equal(one.cells, two.cells)


@pytest.mark.long
def test_greedy_and_laplace_agree_in_distribution_on_single_cells():
    """Different seeds: a two-sample Kolmogorov-Smirnov test that errs once in a million, per cell."""
    asked, draws = workloads.identity(16), 700
    plain = {"strategy": "greedy", "postprocess": "none"}
    one = [
        dawa.estimate(SMALL, asked, epsilon=0.5, seed=seed, mechanism="partition-laplace").cells
        for seed in range(draws)
    ]
    two = [dawa.estimate(SMALL, asked, epsilon=0.5, seed=seed, **plain).cells for seed in range(draws, 2 * draws)]
    for a, b in zip(np.array(one).T, np.array(two).T, strict=True):
        assert stats.ks_2samp(a, b).pvalue > 1e-6


# --- what an estimate holds -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", dawa.mechanisms.names())
@pytest.mark.parametrize("n", [1, 2, 3, 37, 64])
def test_every_mechanism_fits_every_size(mechanism, n):
    cells = made(n, seed=n)
    est = dawa.estimate(cells, epsilon=0.7, mechanism=mechanism, seed=0)
    assert est.cells.shape == est.shape == (n,)
    assert est.cells.dtype == np.float64
    assert np.isfinite(est.cells).all()
    assert est.epsilon == Fraction(7, 10)
    assert est.mechanism == mechanism
    assert sum(est.split.values()) == est.epsilon
    for workload in (workloads.all_ranges(n), workloads.uniform(n, 5), workloads.identity(n)):
        answers = est.answers(workload)
        assert answers.shape == (len(workload),)
        np.testing.assert_allclose(answers, workload.answers(est.cells), rtol=1e-9, atol=1e-6)
        if est.strategy is not None:
            assert (est.variances(workload) > 0).all()
    if mechanism in {"identity", "greedy-h"}:
        assert est.partition is None
    if est.partition is not None:
        assert est.partition[0] == 0
        assert est.partition[-1] == n
        assert (np.diff(est.partition) > 0).all()


@pytest.mark.parametrize("mechanism", dawa.mechanisms.names(with_error_bars=True))
@pytest.mark.parametrize("cells", [[0] * 40, [0] * 17 + [2**45] + [0] * 22, [2**45], [1] * 40], ids=len)
def test_extreme_data_is_estimated_to_within_the_noise(mechanism, cells):
    est = dawa.estimate(cells, epsilon=1, mechanism=mechanism, seed=2)
    whole = dawa.Workload.ranges([0], [len(cells)], len(cells))
    # 40 deviations: further out than e^-50 for any sum of Laplace variables; floats hold 2^45 to within 2^-7.
    assert abs(est.answers(whole)[0] - sum(cells)) <= 40 * math.sqrt(est.variances(whole)[0]) + 0.01


@pytest.mark.parametrize("mechanism", ["efpa", "mwem"])
def test_a_mechanism_without_error_bars_says_so_before_it_is_too_late(mechanism):
    est = dawa.estimate(made(20), epsilon=1, mechanism=mechanism, seed=0)
    for ask in (est.variances, est.noise_rmse):
        with pytest.raises(dawa.DawaError, match="Hint: use a mechanism with error bars"):
            ask(workloads.identity(20))

    class Untouchable(dict):
        def __getitem__(self, column):
            raise AssertionError(column)

    with pytest.raises(dawa.DawaError, match="Hint: use 'dawa'"):
        dawa.release(Untouchable(), dawa.Axis("age", 0, 100), epsilon=1, mechanism=mechanism)


def test_no_workload_means_all_ranges():
    none, ranges, single = (
        dawa.estimate(made(100), workload, epsilon=1, seed=5, partition="none")
        for workload in (None, workloads.all_ranges(100), workloads.identity(100))
    )
    np.testing.assert_array_equal(none.cells, ranges.cells)
    assert (none.cells != single.cells).any()


def test_a_seed_repeats_and_no_seed_does_not():
    cells = made(50)
    one, two, other = (dawa.estimate(cells, epsilon=1, seed=seed) for seed in (8, 8, 9))
    np.testing.assert_array_equal(one.cells, two.cells)
    assert (one.cells != other.cells).any()
    first, second = (dawa.estimate(cells, epsilon=1, mechanism="identity") for _ in range(2))
    assert (first.cells != second.cells).any()
    assert first.randomness != one.randomness


@pytest.mark.parametrize("effort", ["best", "fast"])
def test_either_effort_answers(effort):
    est = dawa.estimate(made(200), workloads.uniform(200, 100), epsilon=1, seed=1, effort=effort)
    assert est.options["effort"] == effort
    assert np.isfinite(est.cells).all()


def test_more_effort_expects_no_more_error():
    cells, asked = made(300, seed=6), workloads.uniform(300, 200)
    error = {
        effort: dawa.estimate(cells, asked, epsilon=1, seed=1, partition="none", effort=effort).noise_rmse(asked)
        for effort in ("best", "fast")
    }
    assert error["best"] <= error["fast"] * (1 + 1e-9)


def test_post_processing_is_what_was_asked_for():
    cells = made(100, seed=9)
    none, kept, whole = (
        dawa.estimate(cells, epsilon=0.05, seed=3, postprocess=how) for how in ("none", "nonnegative", "rounded")
    )
    np.testing.assert_array_equal(none.totals, none.unbiased)
    np.testing.assert_array_equal(none.unbiased, kept.unbiased)
    assert (none.totals < 0).any(), "the example is noisy enough to tell"
    assert (kept.totals >= 0).all()
    assert (whole.totals >= 0).all()
    assert (whole.totals == np.rint(whole.totals)).all()


def test_merging_measures_together_what_no_query_tells_apart():
    asked = dawa.Workload.ranges([0, 20], [20, 64], 64)
    cells = made(64)
    together = dawa.estimate(cells, asked, epsilon=1, seed=1, partition="none", merge=True)
    apart = dawa.estimate(cells, asked, epsilon=1, seed=1, partition="none")
    assert together.partition.tolist() == [0, 20, 64]
    assert apart.partition is None
    assert together.noise_rmse(asked) <= apart.noise_rmse(asked)


@pytest.mark.parametrize("ask", ["answers", "variances", "noise_rmse"])
@pytest.mark.parametrize("wrong", [workloads.identity(9), "everything", None, [0, 5]])
def test_other_questions_are_refused(ask, wrong):
    est = dawa.estimate(made(10), epsilon=1, seed=0)
    with pytest.raises(WorkloadError, match="Hint:"):
        getattr(est, ask)(wrong)


def test_repr_is_short_and_public():
    assert repr(dawa.estimate([5] * 4, epsilon="1/3", mechanism="identity")) == (
        "Estimate(identity, epsilon=1/3, 4 buckets of 4 cells)"
    )


# --- one answer and many --------------------------------------------------------------------------------------------


def test_answer_is_one_and_answers_are_many():
    line = dawa.estimate(np.arange(20), epsilon=1, seed=0)
    queries = dawa.workloads.prefixes(20)
    grid = dawa.estimate(np.arange(20).reshape(4, 5), epsilon=1, seed=0)
    assert line.answer(3, 17) == line.answers(Workload.ranges([3], [17], 20))[0]
    assert grid.answer((1, 0), (3, 4)) == grid.answers(Workload.rectangles([[1, 0]], [[3, 4]], (4, 5)))[0]
    assert isinstance(line.answer(3, 17), float)
    for wrong in [
        (3,),
        (17, 3),
        (3, 21),
        ("a", "b"),
        ((1, 2), (3, 4)),
        ([[0], [1]], [[2], [3]]),
        (None, None),
        (queries, 3),
    ]:
        with pytest.raises(WorkloadError, match="Hint:"):
            line.answer(*wrong)
    for wrong in [((0, 0), (1, (2, 3))), ([[0, 0], [1, 1]], [[1, 1], [2, 2]]), (0, 1)]:
        with pytest.raises(WorkloadError, match="Hint:"):
            grid.answer(*wrong)


def test_a_workload_is_answered_as_before_with_a_warning():
    est = dawa.estimate(np.arange(20), epsilon=1, seed=0)
    queries = dawa.workloads.prefixes(20)
    with pytest.warns(DeprecationWarning, match=r"est\.answers\(workload\)"):
        old = est.answer(queries)
    np.testing.assert_array_equal(old, est.answers(queries))
    with pytest.warns(DeprecationWarning, match="now"):
        np.testing.assert_array_equal(est.answer(workload=queries), old)


def test_the_partition_is_the_bounds_of_the_buckets():
    est = dawa.estimate([9] * 8 + [0] * 24, epsilon=10, partition=[0, 8, 32], seed=0)
    assert est.partition is est.buckets.bounds


def test_the_old_name_of_the_noise_says_the_new_one():
    est, asked = dawa.estimate([1, 2, 3], epsilon=1, seed=0), dawa.workloads.prefixes(3)
    with pytest.warns(DeprecationWarning, match="est.noise_rmse now"):
        assert est.rmse(asked) == est.noise_rmse(asked)
