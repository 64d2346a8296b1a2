"""What DAWA aims at: small errors, or narrow promises."""

import sys
from fractions import Fraction

import numpy as np
import pytest

import dawa
from dawa.results.answers import Ranged, answers
from dawa_bench import guarantee

RNG = np.random.default_rng(0)
UNEVEN = RNG.poisson(50, 512) * RNG.integers(0, 5, 512)


def promised_of_fresh(est):
    """The mean width of the intervals of ranges all over the domain."""
    return guarantee._once(est, np.zeros(est.size, int), dawa.workloads.uniform(est.size, 200, seed=9)).promised


def promised(est, lo=13, hi=377):
    queries = est.buckets.queries(dawa.Workload.ranges([lo], [hi], est.shape))
    (found,) = answers([Ranged(est, queries, np.full(1, 2.0), np.ones(1, bool))], 0.95)
    return found.high - found.low


def test_for_a_guarantee_every_cell_is_measured_and_intervals_are_narrower():
    sure = dawa.estimate(UNEVEN, epsilon="0.1", seed=1, aim="guarantee", effort="fast")
    close = dawa.estimate(UNEVEN, epsilon="0.1", seed=1, effort="fast")
    assert len(sure.buckets) == 512 > len(close.buckets)
    assert promised(sure) < promised(close)
    assert sure.split["partition"] == Fraction(2, 1000)
    assert (sure.options["aim"], sure.options["partition"]["method"]) == ("guarantee", "Filled")
    assert close.options["aim"] == "error"


def test_on_few_cells_it_is_the_same_as_no_partition():
    few = UNEVEN[:128]
    sure = dawa.estimate(few, epsilon="0.1", seed=1, aim="guarantee", effort="fast")
    none = dawa.estimate(few, epsilon="0.1", seed=1, partition="none", effort="fast")
    np.testing.assert_array_equal(sure.totals, none.totals)
    assert (sure.split["partition"], sure.options["partition"]) == (0, "none")


def test_where_records_lie_in_few_places_buckets_promise_more():
    counts = np.zeros(4096, int)
    counts[1000:1010] = 2000
    sure = dawa.estimate(counts, epsilon="0.1", seed=1, aim="guarantee", effort="fast")
    none = dawa.estimate(counts, epsilon="0.1", seed=1, partition="none", effort="fast")
    assert len(sure.buckets) < 1000
    assert promised_of_fresh(sure) < 0.9 * promised_of_fresh(none)
    assert Fraction(2, 1000) < sure.split["partition"] < Fraction(3, 100)


@pytest.mark.parametrize("shape", [(64,), (8, 8)])
def test_with_too_many_cells_buckets_are_chosen(monkeypatch, shape):
    for name in ("GUARANTEED_CELLS", "GUARANTEED_CELLS_ON_MAPS"):
        monkeypatch.setattr(f"dawa.mechanisms.dawa.{name}", 63)
    est = dawa.estimate(np.zeros(shape, int), epsilon=1, seed=0, aim="guarantee")
    assert len(est.buckets) < 64
    assert est.options["partition"]["method"] == "Walk"


@pytest.mark.parametrize("wrong", ["best", None, 3, ["error"]])
def test_another_aim_is_refused(wrong):
    with pytest.raises(dawa.OptionError, match="choose one of error, guarantee"):
        dawa.estimate([1, 2], epsilon=1, aim=wrong)


@pytest.mark.parametrize("partition", ["none", "one", [0, 1, 2], None])
def test_aim_and_partition_contradict_each_other(partition):
    with pytest.raises(dawa.OptionError, match="either aim or the partition"):
        dawa.estimate([1, 2], epsilon=1, aim="guarantee", partition=partition)


def test_a_release_says_its_aim(tmp_path):
    rel = dawa.release({"x": [1, 2, 3]}, dawa.Axis("x", 0, 10), epsilon=1, aim="guarantee")
    again = dawa.load(rel.save(tmp_path / "release.json"))
    assert again.privacy.options["aim"] == "guarantee"


def test_the_command_compares_both(monkeypatch, capsys):
    monkeypatch.setattr(guarantee, "SIZES", (64,))
    monkeypatch.setattr(guarantee, "EPSILONS", ("1",))
    monkeypatch.setattr(sys, "argv", ["guarantee", "--trials", "1"])
    guarantee.main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 4
    assert lines[-1].startswith("geometric means: promised")
