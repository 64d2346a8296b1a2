"""The walk by uneven halves: its scores against brute force, its privacy on every tree over 8 cells, its use."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dawa
from dawa.counts import Counts
from dawa.errors import InvariantError
from dawa.limits import MOST_CELLS_LISTED
from dawa.noise.randomness import Seeded
from dawa.partition import Halves, Walk, walk
from dawa.partition.choose import method
from dawa.partition.halves import Unevenness
from dawa.partition.walk import whole
from helpers.examples import examples
from helpers.trees import CELLS, HEIGHT, pairs_of_neighbours, trees

EPSILON = Fraction(4)
CLOSE = Halves(coarse_share=Fraction(1, 4), fine_share=Fraction(1, 3), many=3, block=4, dense=2, tolerance=5)
"""Shares that are worth a look on a few cells, and blocks that can be dense there."""


def nodes_of(size):
    """Every node that a walk over so many cells can reach."""
    found, level = [], whole(size)
    while len(level.start):
        found += zip(level.start.tolist(), level.stop(size).tolist(), strict=True)
        level = level.where(level.stop(size) - level.start > 1).children(size)
    return found


def scores_of(exposed, tolerated, nodes):
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(exposed.counts)))
    start, stop = (np.array(ends, np.int64) for ends in zip(*nodes, strict=True))
    return Unevenness.of(exposed, tolerated)(exposed, before, start, stop)


def brute(cells, tolerated, start, stop):
    """The largest sum over every set of nodes that have no cell in common."""
    width = stop - start
    if width == 1:
        return 0
    records = sum(cells[start:stop])
    half = 1 << (width - 1).bit_length() - 1
    if half * 2 != width:
        own = max(records - tolerated, 0)
    else:
        own = max(abs(sum(cells[start : start + half]) - sum(cells[start + half : stop])) - tolerated, 0)
    below = brute(cells, tolerated, start, start + half) + brute(cells, tolerated, start + half, stop)
    return max(own, below)


COUNTS = st.lists(st.one_of(st.just(0), st.integers(0, 5), st.integers(0, 2**30)), min_size=1, max_size=40)


# --- scores ---------------------------------------------------------------------------------------------------------


@examples(200)
@given(COUNTS, st.integers(0, 12))
def test_scores_equal_brute_force_exactly(cells, tolerated):
    nodes = nodes_of(len(cells))
    found = scores_of(Counts.of(cells).exposed, tolerated, nodes)
    assert found.tolist() == [brute(cells, tolerated, *node) for node in nodes]


@examples(100)
@given(st.lists(st.integers(0, 30), min_size=2, max_size=40), st.integers(0, 12), st.data())
def test_one_record_moves_scores_on_its_path_by_at_most_one_and_children_score_no_more(cells, tolerated, data):
    other, cell = list(cells), data.draw(st.integers(0, len(cells) - 1))
    other[cell] += 1
    nodes = nodes_of(len(cells))
    one, two = (scores_of(Counts.of(each).exposed, tolerated, nodes) for each in (cells, other))
    assert np.abs(one - two).max() <= 1
    for (start, stop), before, after in zip(nodes, one, two, strict=True):
        assert start <= cell < stop or before == after
    known = dict(zip(nodes, one.tolist(), strict=True))
    for (start, stop), score in known.items():
        assert all(score >= less for (a, b), less in known.items() if start <= a and b <= stop)


@pytest.mark.long
@examples(25)
@given(st.lists(st.integers(0, 2**62 - 1), min_size=1, max_size=12, unique=True), st.integers(1, 9), st.data())
def test_on_the_largest_domain_scores_equal_those_on_all_nodes_around_the_records(places, tolerated, data):
    cells = np.array(sorted(places))
    counts = np.array(data.draw(st.lists(st.integers(1, 20), min_size=len(cells), max_size=len(cells))))
    exposed = Counts.sparse((2**62,), cells, counts).exposed

    def held(start, stop):
        return int(counts[(cells >= start) & (cells < stop)].sum())

    def expected(start, stop):
        if stop - start == 1 or not held(start, stop):
            return 0
        middle = (start + stop) // 2
        own = max(abs(held(start, middle) - held(middle, stop)) - tolerated, 0)
        return max(own, expected(start, middle) + expected(middle, stop))

    nodes = {(int(c) >> h << h, (int(c) >> h << h) + (1 << h)) for c in cells for h in range(63)}
    found = scores_of(exposed, tolerated, sorted(nodes))
    assert found.tolist() == [expected(*node) for node in sorted(nodes)]


def test_without_records_nothing_is_uneven():
    empty = Counts.none((2**62,)).exposed
    assert scores_of(empty, 1, [(0, 2**62), (0, 2**61)]).tolist() == [0, 0]
    assert len(Halves().choose_buckets(empty, 2**62, Fraction(1), Seeded(0)).bounds) >= 2


# --- privacy --------------------------------------------------------------------------------------------------------


class Chances:
    """Log-probabilities of trees under one input, from the shipped integers."""

    def __init__(self, cells, table, tolerated):
        nodes = [(s << h, (s + 1) << h) for h in range(HEIGHT + 1) for s in range(CELLS >> h)]
        found = scores_of(Counts.of(cells).exposed, tolerated, nodes)
        self.table, self.score = table, dict(zip(nodes, found.tolist(), strict=True))

    def tree(self, tree, start=0, height=HEIGHT, depth=0):
        if height == 0:
            return 0.0
        score = np.array([self.score[start, start + (1 << height)]])
        word = int(self.table.thresholds[self.table.points(score, depth)[0]])
        if tree is None:
            return math.log((2**64 - word) / 2**64)
        half = height - 1
        below = self.tree(tree[0], start, half, depth + 1) + self.tree(tree[1], start + (1 << half), half, depth + 1)
        return math.log(word / 2**64) + below


@pytest.mark.parametrize("tolerated", [0, 1, 6])
def test_no_record_loses_more_than_its_share_on_any_tree(tolerated):
    every, worst = list(trees(HEIGHT)), 0.0
    _, table = CLOSE.tables(EPSILON)
    for cells, other, _ in pairs_of_neighbours(CELLS, 150, seed=3):
        one, two = Chances(cells, table, tolerated), Chances(other, table, tolerated)
        worst = max(worst, *(abs(one.tree(tree) - two.tree(tree)) for tree in every))
    assert worst <= float(CLOSE.losses(EPSILON)[1]) + 1e-12
    assert worst > 0.5 * float(CLOSE.losses(EPSILON)[1]), "the check has teeth: inputs come near the bound"


def test_both_walks_and_dense_blocks_spend_what_they_say():
    """The second tree below a leaf is lost beside the first; a dense leaf has none and is spared."""
    counts = Counts.of([0, 90, 0, 70, 80, 0, 75, 0] * 8)
    found = CLOSE.choose_buckets(counts.exposed, 64, EPSILON, Seeded(2))
    coarse, fine = CLOSE.losses(EPSILON)
    assert (found.spent, found.spent_least) == (coarse + fine, coarse)
    assert found.spared.any()
    assert found.stops.halves == CLOSE.tolerated(EPSILON)


def test_tables_that_lose_too_much_are_never_used(monkeypatch):
    honest = walk.loss
    monkeypatch.setattr(walk, "loss", lambda epsilon, options: honest(epsilon, options) + epsilon / 100)
    with pytest.raises(InvariantError, match="The walk by halves would lose"):
        CLOSE.choose_buckets(Counts.of([1, 2]).exposed, 2, EPSILON, Seeded(0))


def test_the_tolerance_is_a_public_number():
    assert [Halves().tolerated(Fraction(e)) for e in ("0.01", "0.1", "0.4", "1", "10")] == [300, 30, 8, 3, 1]
    assert Halves(tolerance=10**12).tolerated(Fraction(1, 10**6)) == 2**45
    with pytest.raises(dawa.OptionError, match="tolerance"):
        Halves(tolerance=0)


# --- use ------------------------------------------------------------------------------------------------------------


def test_the_walk_goes_by_halves_where_cells_are_too_many_to_list():
    assert method("walk", (MOST_CELLS_LISTED,)) == Walk()
    assert method("walk", (MOST_CELLS_LISTED + 1,)) == Halves()
    assert not isinstance(method("walk", (2**20, 2**20)), Halves)
    counts = Counts.none((2**40,))
    for aim, taken in (("error", "Halves"), ("guarantee", "Walk")):
        made = dawa.estimate(counts, epsilon=1, aim=aim, effort="fast", seed=0)
        assert made.options["partition"]["method"] == taken


def test_even_records_get_few_buckets_and_a_heap_is_found_down_to_its_cell():
    rng, size = np.random.default_rng(5), 2**62
    cells = np.append(np.unique(rng.integers(0, size, 100_000)), 12345)
    counts = np.append(np.ones(len(cells) - 1, np.int64), 50_000)
    exposed = Counts.sparse((size,), cells, counts).exposed
    by_halves, by_cells = (
        each.choose_buckets(exposed, size, Fraction(1, 10), Seeded(1)) for each in (Halves(), Walk())
    )
    assert len(by_halves) < len(by_cells) / 2
    at = int(np.searchsorted(by_halves.bounds, 12345, side="right")) - 1
    assert by_halves.bounds[at + 1] - by_halves.bounds[at] <= 4
