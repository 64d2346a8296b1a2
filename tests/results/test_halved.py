"""Error bars where a walk compared halves: the bound against every prefix, and intervals that hold the truth."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dawa
from dawa import load
from dawa.counts import Counts
from dawa.errors import ReleaseError
from dawa.noise.randomness import Seeded
from dawa.partition import Halves
from dawa.partition.halves import Unevenness
from dawa.results.halved import dyadic, off_even
from helpers.examples import examples
from helpers.groups import put_together
from helpers.schemas import validator

SIZE = 2**62
COUNTS = st.integers(0, 6).flatmap(
    lambda height: st.lists(
        st.one_of(st.just(0), st.integers(0, 3), st.integers(0, 60), st.integers(0, 5000)),
        min_size=2**height,
        max_size=2**height,
    )
)


def differ_most(cells):
    """By how much the halves of any dyadic interval differ."""
    level, most = np.array(cells), 0
    while len(level) > 1:
        pairs = level.reshape(-1, 2)
        most, level = max(most, int(np.abs(pairs[:, 0] - pairs[:, 1]).max())), pairs.sum(axis=1)
    return most


def prefixes(cells):
    """How large a part each prefix is, and how far its records are from lying evenly."""
    part = np.arange(len(cells) + 1) / len(cells)
    return part, np.abs(np.concatenate(([0], np.cumsum(cells))) - part * sum(cells))


def bound(part, most, differ, moved=0.0):
    full = np.ones(len(part))
    return off_even(part, most * full, min(differ, most) * full, moved * full)


# --- the bound ------------------------------------------------------------------------------------------------------


@pytest.mark.long
@examples(400)
@given(COUNTS, st.integers(0, 40), st.sampled_from([0.0, 2.0**-48, 2.0**-20, 2.0**-9, 0.01, 0.3]), st.floats(-1, 1))
def test_no_prefix_is_further_from_even_however_places_are_moved(cells, more, moved, by):
    part, off = prefixes(cells)
    most, differ = sum(cells) + more, differ_most(cells) + more / 3
    asked = part.copy()
    asked[1:-1] = np.clip(part[1:-1] + by * moved, 1e-9, 1 - 1e-9)
    assert (off <= bound(asked, most, differ, moved + 1e-9) * (1 + 1e-12) + 1e-9).all()


@examples(200)
@given(COUNTS, st.floats(0.001, 0.999))
def test_two_places_bound_what_lies_between_them_and_simpler_bounds_are_no_better(cells, place):
    part, _ = prefixes(cells)
    n, differ = sum(cells), differ_most(cells)
    upto, found = np.concatenate(([0], np.cumsum(cells))), bound(part, n, differ)
    off = np.abs((upto[None, :] - upto[:, None]) - (part[None, :] - part[:, None]) * n)
    assert (off <= found[None, :] + found[:, None] + 1e-9).all()
    simple = min(level * differ / 2 + n / 2**level + differ * (level > 0) for level in range(20))
    assert bound(np.array([place]), n, differ)[0] <= simple + 1e-9


@pytest.mark.long
@examples(200)
@given(
    st.lists(st.one_of(st.just(0), st.integers(0, 200)), min_size=2, max_size=40), st.integers(1, 30), st.integers(0, 9)
)
def test_a_score_bounds_every_bucket_that_a_walk_can_leave(cells, tolerated, more):
    """Halves in it differ by its score and the tolerance at most; one that is clipped holds no more records."""
    size, counts = len(cells), Counts.of(cells)
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts.exposed.counts)))
    score = Unevenness.of(counts.exposed, tolerated)
    for height in range(1, 7):
        for start in range(0, size, 1 << height):
            stop = min(start + (1 << height), size)
            ends = np.array([start]), np.array([stop])
            differ = int(score(counts.exposed, before, *ends)[0]) + tolerated
            part, off = prefixes(cells[start:stop])
            if dyadic(*ends)[0]:
                assert (off <= bound(part, sum(cells[start:stop]) + more, differ) + 1e-9).all()
            else:
                assert (off <= np.maximum(part, 1 - part) * differ + 1e-9).all()


def test_which_intervals_are_dyadic():
    ends = np.array([(0, 8), (8, 16), (4, 12), (0, 6), (6, 7), (2**61, 2**62), (0, 2**62 - 1), (2, 6)])
    assert dyadic(*ends.T).tolist() == [True, True, False, False, True, True, False, False]


def test_records_as_far_from_even_as_halves_may_differ_meet_the_bound():
    """All lower halves have the same surplus: a prefix of a third is off by a third of it at every second level."""
    level = np.array([4096.0])
    while len(level) < 4096:
        surplus = np.minimum(level, 64.0)
        level = np.stack((level + surplus, level - surplus), axis=1).ravel() / 2
    part = np.arange(4097) / 4096
    off = np.abs(np.concatenate(([0], np.cumsum(level))) - part * 4096)
    found = bound(part, 4096.0, 64.0)
    assert (off <= found + 1e-9).all()
    assert (off[1:-1] / found[1:-1]).max() > 0.9


# --- intervals ------------------------------------------------------------------------------------------------------


def lying(kind, rng, n=500_000):
    """Where records lie among 2^62 cells."""
    block, inside = rng.integers(0, 256, n) << 54, 2**54
    if kind == "even":
        return rng.integers(0, SIZE, n)
    if kind == "bell":
        return np.clip(SIZE / 2 + rng.normal(size=n) * SIZE / 8, 0, SIZE - 1024).astype(np.int64)
    if kind == "clusters":
        which = rng.integers(0, 50, n)
        spread = (rng.normal(size=n) * (2.0 ** rng.uniform(20, 55, 50))[which]).astype(np.int64)
        return np.clip(rng.integers(0, SIZE, 50)[which] + spread, 0, SIZE - 1)
    if kind == "at the lower ends":  # of 256 even blocks
        return block
    if kind == "alternating":  # in every other 256th of each block
        return block + (rng.integers(0, 128, n) * 2 * 2**46) + rng.integers(0, 2**46, n)
    assert kind == "geometric"  # each half of a block, and of what is left of it, has twice what the next one has
    return block + np.minimum(rng.geometric(0.5, n), 53).astype(np.int64).__rrshift__(inside)


def ranges_of(rng, release, m=300):
    """Ranges with ends anywhere, within one bucket, near its middle, and by powers of two."""
    bounds = release.estimate.buckets.bounds
    anywhere = rng.integers(0, SIZE, (m, 2))
    bucket = rng.integers(0, len(bounds) - 1, (m, 2))
    width = bounds[bucket + 1] - bounds[bucket]
    near = bounds[bucket] + np.minimum(width // 2 + rng.integers(0, 3, (m, 2)), width - 1)
    within = bounds[bucket[:, :1]] + (width[:, :1] * rng.random((m, 2))).astype(np.int64)
    powers = rng.integers(0, 2**12, (m, 2)) << 50
    ends = np.sort(np.concatenate((anywhere, near, within, powers)), axis=1)
    return ends[:, 0], np.minimum(ends[:, 1] + 1, SIZE)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["even", "at the lower ends", "clusters", "bell", "alternating", "geometric"])
def test_intervals_hold_the_truth_and_are_narrower_than_totals_alone_would_make_them(kind):
    narrower, missed, asked = [], 0, 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        data = lying(kind, rng)
        made = dawa.release(
            {"x": data}, dawa.Axis("x", 0, SIZE, missing="drop"), epsilon="0.1", seed=seed, effort="fast"
        )
        buckets = made.estimate.buckets
        assert buckets.stops.halves == Halves().tolerated(Fraction(1, 10))
        lo, hi = ranges_of(rng, made)
        found = made.answers(lo.tolist(), hi.tolist())
        truth = np.diff(np.searchsorted(np.sort(data), np.stack((lo, hi))), axis=0)[0]
        low, high = (np.array([getattr(one, end) for one in found]) for end in ("low", "high"))
        missed, asked = missed + int(((truth < low) | (high < truth)).sum()), asked + len(lo)
        by_totals = replace(made, estimate=replace(made.estimate, buckets=replace(buckets, stops=None)))
        wide = by_totals.answers(lo.tolist(), hi.tolist())
        narrower += [(a.bias_bound + 1) / (b.bias_bound + 1) for a, b in zip(found, wide, strict=True)]
    assert missed <= stats.binom.isf(1e-6, asked, 0.05)
    assert max(narrower) <= 1 + 1e-9
    if kind in {"even", "bell"}:
        assert np.median(narrower) < 0.75


@pytest.mark.long
def test_on_few_cells_every_range_is_held_as_often_as_promised():
    """An exact binomial bound for each of all ranges between some cells; spikes, slopes, and a clipped root."""
    size, draws, confidence = 250, 150, 0.8
    cells = np.full(size, 3)
    cells[[37, 90, 91, 188]] = [150, 80, 2, 40]
    cells[125:180], cells[210:] = 0, np.arange(40)
    before, ends = np.concatenate(([0], np.cumsum(cells))), [0, 1, 30, 37, 38, 60, 64, 91, 125, 128, 160, 192, 225, 249]
    lo, hi = np.array([(a, b) for a in ends for b in ends if a < b]).T
    truth, failed, tighter = before[hi] - before[lo], np.zeros(len(lo)), 0
    made = dawa.release({"x": []}, dawa.Axis("x", 0, size), epsilon=1, seed=0)
    for seed in range(draws):
        est = dawa.estimate(cells, epsilon="0.5", partition=Halves(), effort="fast", seed=seed)
        plain = replace(est, buckets=replace(est.buckets, stops=None))
        found, by_totals = (
            replace(made, estimate=one).answers(lo.tolist(), hi.tolist(), confidence) for one in (est, plain)
        )
        low, high = (np.array([getattr(one, end) for one in found]) for end in ("low", "high"))
        failed += (truth < low) | (high < truth)
        tighter += sum(one.bias_bound < other.bias_bound for one, other in zip(found, by_totals, strict=True))
    assert (failed <= stats.binom.isf(1e-6 / len(lo), draws, 1 - confidence)).all()
    assert tighter > 100, "the walk has its say"


def test_files_keep_what_the_walk_compared(tmp_path):
    table = {"x": np.random.default_rng(1).integers(0, SIZE, 30_000)}
    made = dawa.release(table, dawa.Axis("x", 0, SIZE, missing="drop"), epsilon=1, seed=1, effort="fast")
    lo, hi = [5, 2**60, 3 * 2**59 + 7], [2**61 + 12345, 2**61 + 1, 2**62 - 9]
    expected = made.answers(lo, hi)
    for name in ("release.json", "release.npz"):
        again = load(made.save(tmp_path / name))
        assert again.estimate.buckets.stops.halves == Halves().tolerated(Fraction(1))
        assert again.answers(lo, hi) == expected
    document = made.to_json()
    assert document["stops"] is None, "who does not know of halves takes the totals"
    for wrong in (0, -1, 2**45 + 1, 1.5, True, "2"):
        document["halves"]["tolerated"] = wrong
        (tmp_path / "wrong.json").write_text(json.dumps(document))
        with pytest.raises(ReleaseError, match=r"halves\.tolerated"):
            load(tmp_path / "wrong.json")
    document["halves"]["tolerated"] = 2
    document["stops"] = {key: part for key, part in document["halves"].items() if key != "tolerated"}
    (tmp_path / "wrong.json").write_text(json.dumps(document))
    with pytest.raises(ReleaseError, match="halves is there beside stops"):
        load(tmp_path / "wrong.json")


def test_groups_are_bounded_one_by_one_or_together_and_read_back(tmp_path):
    rng, axis = np.random.default_rng(2), dawa.Axis("x", 0, 2**40, outside="drop", missing="drop")
    cells = [np.unique(rng.integers(0, 2**40, 20_000)) for _ in range(3)]
    counts = [Counts.sparse((2**40,), each, np.ones(len(each), np.int64)) for each in cells]
    made = put_together(axis, {"g": ["a", "b", "c"]}, counts, seed=3, effort="fast")
    assert {one.buckets.stops.halves for one in made.estimates} == {Halves().tolerated(Fraction(1, 2))}
    for lo, hi in ((10**11, 7 * 10**11), (2**39, 2**39 + 12345), (1, 2**40 - 1)):
        found = made.answer(lo, hi)
        assert found.low <= sum(int(((each >= lo) & (each < hi)).sum()) for each in cells) <= found.high
        for name in ("groups.json", "groups.npz"):
            assert load(made.save(tmp_path / name)).answer(lo, hi) == found
    validator(3).validate(made.to_json())


def test_buckets_of_maps_rest_on_their_totals():
    """The beginning of a stretch of the curve is no rectangle."""
    counts = Counts.of(np.random.default_rng(4).integers(0, 9, (64, 64)))
    est = dawa.estimate(counts, epsilon=1, partition=Halves(), effort="fast", seed=0)
    made = dawa.release({"a": [], "b": []}, [dawa.Axis("a", 0, 64), dawa.Axis("b", 0, 64)], epsilon=1, seed=0)
    ruled = replace(made, estimate=est)
    plain = replace(made, estimate=replace(est, buckets=replace(est.buckets, stops=None)))
    assert est.buckets.stops.halves == Halves().tolerated(Fraction(1))
    lo, hi = [(1, 2), (3, 5), (0, 0), (7, 7)], [(33, 60), (4, 64), (64, 31), (9, 9)]
    bounds = [[one.bias_bound for one in each.answers(lo, hi)] for each in (ruled, plain)]
    assert bounds[0] == bounds[1]
    assert max(bounds[0]) > 0


def test_buckets_that_were_merged_have_no_score_and_those_left_alone_keep_theirs():
    values = np.unique(np.random.default_rng(6).integers(0, SIZE, 30_000))
    exposed = Counts.sparse((SIZE,), values, np.ones(len(values), np.int64)).exposed
    found = Halves().choose_buckets(exposed, SIZE, Fraction(1), Seeded(0))
    merged = found.merged(dawa.Workload.ranges([0], [int(found.bounds[1]) // 2], SIZE))
    assert 1 < len(merged) < len(found)
    assert merged.stops.halves == found.stops.halves
    scores = merged.stops.uneven(0.01)
    assert np.isinf(scores[-1])
    assert scores[0] == found.stops.uneven(0.01)[0] < np.inf
