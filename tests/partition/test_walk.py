"""The walk: its scores against brute force, and its privacy by enumeration of every outcome over 8 cells."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa import kernels
from dawa.counts import Counts
from dawa.errors import DawaError
from dawa.layout.curve import Order
from dawa.noise.randomness import Seeded
from dawa.partition import walk as walks
from dawa.partition.walk import Nodes, Walk, two_phase, walk, whole
from helpers.examples import examples
from helpers.trees import CELLS, HEIGHT, Fours, brute_score, fours, leaves, pairs_of_neighbours, spans, trees


def scores_of(cells, intervals):
    exposed = Counts.of(cells).exposed
    before = np.concatenate(([0], np.cumsum(exposed.counts)))
    lo, hi = (np.array(side) for side in zip(*intervals, strict=True))
    return kernels.walk.median_deviations(exposed.cells, exposed.counts, before, lo, hi)


@examples(60)
@given(st.lists(st.one_of(st.just(0), st.integers(0, 5), st.integers(0, 2**40)), min_size=1, max_size=24))
def test_scores_equal_brute_force_exactly(cells):
    intervals = list(itertools.combinations(range(len(cells) + 1), 2))
    assert scores_of(cells, intervals).tolist() == [brute_score(cells[lo:hi]) for lo, hi in intervals]


@examples(60)
@given(st.lists(st.integers(0, 30), min_size=2, max_size=16), st.data())
def test_one_record_moves_a_score_by_at_most_one_and_children_score_no_more(cells, data):
    other = list(cells)
    other[data.draw(st.integers(0, len(cells) - 1))] += 1
    middle = data.draw(st.integers(1, len(cells) - 1))
    intervals = [(0, len(cells)), (0, middle), (middle, len(cells))]
    one, two = scores_of(cells, intervals), scores_of(other, intervals)
    assert np.abs(one - two).max() <= 1
    assert one[1] + one[2] <= one[0]


# --- exact privacy on eight cells -----------------------------------------------------------------------------------


class Chances:
    """Log-probabilities of trees under one input, from the shipped integers."""

    def __init__(self, cells, table):
        self.table = table
        nodes = [(s << h, (s + 1) << h) for h in range(HEIGHT + 1) for s in range(CELLS >> h)]
        self.score = dict(zip(nodes, scores_of(cells, nodes).tolist(), strict=True))

    def coin(self, start, height, depth):
        """Log-chances of splitting and of stopping."""
        score = self.score[start, start + (1 << height)]
        word = int(self.table.thresholds[self.table.points(np.array([score]), depth)[0]])
        return math.log(word / 2**64), math.log((2**64 - word) / 2**64)

    def tree(self, tree, start=0, height=HEIGHT, depth=0):
        if height == 0:
            return 0.0
        split, stop = self.coin(start, height, depth)
        if tree is None:
            return stop
        half = height - 1
        return (
            split
            + self.tree(tree[0], start, half, depth + 1)
            + self.tree(tree[1], start + (1 << half), half, depth + 1)
        )


def neighbours(count, seed):
    """Pairs of inputs that differ by one record, from smooth to spiky, near the lattice's interesting points."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        cells = rng.integers(0, rng.integers(2, 40), CELLS) * rng.integers(0, 2, CELLS)
        other = cells.copy()
        cell = int(rng.integers(CELLS))
        other[cell] += 1
        yield cells, other, cell


@pytest.mark.long_but(1)
@pytest.mark.parametrize(("epsilon", "theta"), [("0.5", -0.7), ("1", 0.3), ("2", -0.7), ("3", 0.3)])
def test_one_walk_loses_at_most_its_share_on_every_tree(epsilon, theta):
    table = walks.split_table(Fraction(epsilon), 0.15, theta)
    every = list(trees(HEIGHT))
    assert len(every) == 26
    worst = 0.0
    for cells, other, _ in neighbours(1000, seed=1):
        one, two = Chances(cells, table), Chances(other, table)
        worst = max(worst, *(abs(one.tree(tree) - two.tree(tree)) for tree in every))
    assert worst <= float(Fraction(epsilon)) + 1e-12
    assert worst > 0.5 * float(Fraction(epsilon)), "the check has teeth: inputs come near the bound"


@pytest.mark.long
@pytest.mark.parametrize(
    ("epsilon", "options"),
    [
        (
            "4",
            Walk(
                coarse_share=Fraction(1, 4),
                fine_share=Fraction(1, 3),
                many=99,
            ),
        ),
        (
            "4",
            Walk(
                coarse_share=Fraction(1, 4),
                fine_share=Fraction(1, 3),
                many=3,
                block=4,
                dense=2,
            ),
        ),
    ],
    ids=["plain", "dense blocks"],
)
def test_both_walks_and_the_dense_block_rule_lose_at_most_their_share_on_every_pair_of_trees(epsilon, options):
    """Every first tree, every second tree below each of its leaves; a dense leaf has no second tree.

    The loss of an outcome is the sum along both trees; a record of a dense block may lose only the first share.
    """
    coarse_loss, fine_loss = options.losses(Fraction(epsilon))
    coarse_table, fine_table = options.tables(Fraction(epsilon))
    firsts = list(trees(HEIGHT))
    plans = []
    for first in firsts:
        found = leaves(first)
        nodes = Nodes(np.array([s for s, _ in found]), np.array([h for _, h in found]))
        plans.append((first, found, walks.dense_leaves(nodes, options)))
    assert any(dense.any() for _, _, dense in plans) == (options.many < CELLS)
    pairs, worst, worst_dense = 0, 0.0, 0.0
    for cells, other, cell in neighbours(500, seed=2):
        one, two = (Chances(x, coarse_table) for x in (cells, other))
        a, b = Chances(cells, fine_table), Chances(other, fine_table)
        for first, found, dense in plans:
            loss = one.tree(first) - two.tree(first)
            (mine,) = [i for i, (s, h) in enumerate(found) if s <= cell < s + (1 << h)]
            for (start, height), skipped in zip(found, dense, strict=True):
                if not start <= cell < start + (1 << height):
                    # Nothing below this leaf depends on the record.
                    assert skipped or a.tree(None, start, height) == b.tree(None, start, height)
            if dense[mine]:
                pairs += 1
                worst_dense = max(worst_dense, abs(loss) / float(coarse_loss))
                continue
            start, height = found[mine]
            for second in trees(height):
                pairs += 1
                more = a.tree(second, start, height) - b.tree(second, start, height)
                worst = max(worst, abs(loss + more) / float(coarse_loss + fine_loss))
    assert worst <= 1 + 1e-12
    assert worst_dense <= 1 + 1e-12
    assert worst > 0.5
    assert pairs > 20_000


@pytest.mark.long
def test_the_walk_draws_trees_with_the_enumerated_probabilities():
    """Frequencies of the real sampler against exact probabilities; a chi-square bound with chance 1e-6 of failing."""
    cells, draws = [9, 0, 0, 4, 4, 4, 20, 1], 20_000
    table = walks.split_table(Fraction(1), 0.15, -0.7)
    exact = Chances(np.array(cells), table)
    exposed, source = Counts.of(cells).exposed, Seeded(5)
    seen = dict.fromkeys((tuple(leaves(tree)) for tree in trees(HEIGHT)), 0)
    for _ in range(draws):
        found = walk(exposed, CELLS, whole(CELLS), table, source)
        seen[tuple(zip(found.start.tolist(), found.height.tolist(), strict=True))] += 1
    expected = {tuple(leaves(tree)): draws * math.exp(exact.tree(tree)) for tree in trees(HEIGHT)}
    assert sum(expected.values()) == pytest.approx(draws)
    likely = [key for key in expected if expected[key] > 10]
    statistic = sum((seen[key] - expected[key]) ** 2 / expected[key] for key in likely)
    degrees = len(likely)
    assert statistic < degrees + 5 * math.sqrt(2 * degrees) + 25


def capped(chances, tree, most):
    """The log-probability of a tree if a level of more than so many nodes is the last one; None if it cannot occur."""
    level, depth, found = [(tree, 0, HEIGHT)], 0, 0.0
    while level:
        if len(level) > most:
            return found if all(node is None for node, _, _ in level) else None
        below = []
        for node, start, height in level:
            if height == 0:
                continue
            split, stop = chances.coin(start, height, depth)
            found += stop if node is None else split
            if node is not None:
                below += [(part, start + (half << (height - 1)), height - 1) for half, part in enumerate(node)]
        level, depth = below, depth + 1
    return found


@pytest.mark.long_but(1)
@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_walk_whose_work_is_bounded_loses_no_more_on_every_tree(monkeypatch, most):
    table = walks.split_table(Fraction(2), 0.15, -0.7)
    every = list(trees(HEIGHT))
    for cells, other, _ in neighbours(200, seed=2):
        both = Chances(cells, table), Chances(other, table)
        one, two = ([capped(chances, tree, most) for tree in every] for chances in both)
        assert [chance is None for chance in one] == [chance is None for chance in two]
        losses = [abs(a - b) for a, b in zip(one, two, strict=True) if a is not None and b is not None]
        assert max(losses) <= 2 + 1e-12
        assert sum(math.exp(chance) for chance in one if chance is not None) == pytest.approx(1)
    possible = {tuple(leaves(tree)) for tree, chance in zip(every, one, strict=True) if chance is not None}
    monkeypatch.setattr(walks, "MOST_NODES", most)
    rough, source = Counts.of([9, 0, 0, 400, 4, 4, 2000, 1]).exposed, Seeded(6)
    for _ in range(300):
        found = walk(rough, CELLS, whole(CELLS), table, source)
        assert tuple(zip(found.start.tolist(), found.height.tolist(), strict=True)) in possible
        assert (found.depth >= -1).all()
    assert (found.depth == -1).any(), "these counts make the walk go on until it is stopped"


@pytest.mark.parametrize("fan", [2, 4, 8, 16])
def test_the_largest_domain_is_divided_by_every_fan(fan):
    size, records = 2**62, np.array([0, 5, 2**40, 2**61 - 1, 2**61, 2**62 - 1])
    for last in (size, size - 3, 2**61 + 1):
        exposed = Counts.sparse((last,), records[records < last], np.full((records < last).sum(), 10**6)).exposed
        found = two_phase(exposed, last, Fraction(1), Walk(fan=fan, least=min(0.15, 0.5 / fan)), Seeded(1))
        assert (found.bounds[0], found.bounds[-1]) == (0, last)
        assert (np.diff(found.bounds) > 0).all()


# --- structure ------------------------------------------------------------------------------------------------------


@examples(60)
@given(st.integers(1, 300), st.integers(0, 2**32), st.sampled_from(["0.1", "1", "30"]))
def test_buckets_divide_any_domain(size, seed, epsilon):
    rng = np.random.default_rng(seed)
    counts = Counts.of(rng.poisson(rng.gamma(0.2, 50, size)))
    options = Walk(many=4, block=8, dense=2)
    found = two_phase(counts.exposed, size, Fraction(epsilon), options, Seeded(seed))
    assert found.bounds[0] == 0
    assert found.bounds[-1] == size
    assert (np.diff(found.bounds) > 0).all()
    assert len(found.spared) == len(found.stops.depth) == len(found)
    assert (np.diff(found.bounds)[found.spared] == 1).all()
    assert found.spent_least <= found.spent < Fraction(epsilon)


def test_children_partition_their_parent_in_a_ragged_domain():
    for size in range(1, 70):
        nodes, seen = whole(size), []
        while len(nodes.start):
            stop = nodes.stop(size)
            assert (stop > nodes.start).all()
            seen += nodes.start[stop - nodes.start == 1].tolist()
            nodes = nodes.where(stop - nodes.start > 1).children(size)
        assert sorted(seen) == list(range(size))


def test_a_block_is_dense_from_so_many_leaves_on_if_there_are_many_in_all():
    """Blocks of four cells: four leaves, two leaves, one leaf, and half of a leaf that is wider than a block."""
    start, height = np.array([0, 1, 2, 3, 4, 6, 8, 16]), np.array([0, 0, 0, 0, 1, 1, 2, 3])
    leaves_found = Nodes(start, height, np.zeros(8, np.int64))
    for dense, expected in ((5, []), (4, [0, 1, 2, 3]), (3, [0, 1, 2, 3]), (2, [0, 1, 2, 3, 4, 6]), (1, start[:7])):
        options = Walk(many=8, block=4, dense=dense)
        assert start[walks.dense_leaves(leaves_found, options)].tolist() == list(expected)
    assert not walks.dense_leaves(leaves_found, Walk(many=9, block=4, dense=1)).any()


def test_flat_data_stays_whole_and_rough_data_splits():
    flat = two_phase(Counts.of([7] * 1024).exposed, 1024, Fraction(1), Walk(), Seeded(0))
    rough = two_phase(Counts.of([0, 900] * 512).exposed, 1024, Fraction(1), Walk(), Seeded(0))
    assert len(flat) < 20
    assert len(rough) > 1000


@pytest.mark.parametrize(
    "wrong",
    [
        {"coarse_share": Fraction(0)},
        {"coarse_share": Fraction(9, 10)},
        {"coarse_share": float("nan")},
        {"fine_share": "much"},
        {"least": 0.7},
        {"least": None},
        {"fine_theta": float("nan")},
        {"block": 48},
        {"block": 2.0},
        {"many": "a"},
        {"dense": 0},
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_refused_before_anything_runs(wrong):
    with pytest.raises(DawaError, match="Hint:"):
        Walk(**wrong)


def test_shares_are_read_as_they_are_written():
    assert Walk(coarse_share=0.07, fine_share="10/100") == Walk()


def test_the_certified_loss_is_within_the_shares():
    for epsilon in (Fraction(1, 100), Fraction(1, 2), Fraction(100)):
        assert walks.loss(epsilon, Walk()) <= sum(Walk().losses(epsilon))


# --- four parts at a time, as on maps -------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "outcomes"), [(16, 17), (13, 9), (18, 35), (21, 52)])
def test_a_walk_of_fan_four_loses_at_most_its_share_on_every_tree(size, outcomes):
    """On 16 cells, and on domains whose nodes are clipped."""
    every = [spans(tree) for tree in fours(0, size)]
    assert len(every) == outcomes
    for epsilon, theta in (("0.5", -0.6), ("2", 0.3)):
        table, worst = walks.split_table(Fraction(epsilon), 1 / 9, theta), 0.0
        for cells, other, _ in pairs_of_neighbours(size, 150, seed=size):
            one, two = Fours(cells, table), Fours(other, table)
            worst = max(worst, *(abs(one.tree(tree, 0, size) - two.tree(tree, 0, size)) for tree in every))
        assert worst <= float(Fraction(epsilon)) + 1e-12
        assert worst > 0.5 * float(Fraction(epsilon)), "the check has teeth: inputs come near the bound"


@pytest.mark.parametrize("size", [16, 21])
def test_both_walks_of_fan_four_with_dense_blocks_lose_at_most_their_share_on_every_pair_of_trees(size):
    options = Walk(coarse_share=Fraction(1, 4), fine_share=Fraction(1, 3), least=1 / 9, fan=4, many=5, block=4, dense=4)
    epsilon = Fraction(4)
    coarse_loss, fine_loss = options.losses(epsilon)
    coarse_table, fine_table = options.tables(epsilon)
    plans = []
    for tree in fours(0, size):
        heights = np.array([2 * math.ceil(math.log(b - a, 4) - 1e-9) for a, b, _ in tree])
        nodes = Nodes(np.array([a for a, _, _ in tree]), heights)
        plans.append((spans(tree), [(a, b) for a, b, _ in tree], walks.dense_leaves(nodes, options)))
    assert any(dense.any() for _, _, dense in plans)
    worst = {True: 0.0, False: 0.0}
    for cells, other, cell in pairs_of_neighbours(size, 60, seed=3):
        one, two, a, b = (Fours(x, table) for table in (coarse_table, fine_table) for x in (cells, other))
        for first, found, dense in plans:
            loss = one.tree(first, 0, size) - two.tree(first, 0, size)
            (mine,) = [i for i, (start, stop) in enumerate(found) if start <= cell < stop]
            if dense[mine]:
                worst[True] = max(worst[True], abs(loss) / float(coarse_loss))
                continue
            for second in fours(*found[mine]):
                more = a.tree(spans(second), *found[mine]) - b.tree(spans(second), *found[mine])
                worst[False] = max(worst[False], abs(loss + more) / float(coarse_loss + fine_loss))
    assert 0.4 < worst[False] <= 1 + 1e-12
    assert 0.4 < worst[True] <= 1 + 1e-12


@pytest.mark.long_but(1)
@pytest.mark.parametrize("size", [16, 18])
def test_a_walk_of_fan_four_draws_trees_with_the_enumerated_probabilities(size):
    """Frequencies of the real sampler against exact probabilities; a chi-square bound with chance 1e-6 of failing."""
    cells, draws = ([9, 0, 0, 4, 4, 4, 20, 1] * 3)[:size], 6000
    table = walks.split_table(Fraction(1), 1 / 9, -0.6)
    exact = Fours(cells, table)
    expected = {tree: draws * math.exp(exact.tree(spans(tree), 0, size)) for tree in fours(0, size)}
    assert sum(expected.values()) == pytest.approx(draws)
    exposed, source, seen = Counts.of(cells).exposed, Seeded(5), dict.fromkeys(expected, 0)
    for _ in range(draws):
        found = walk(exposed, size, whole(size, 4), table, source, fan=4)
        seen[tuple(zip(found.start.tolist(), found.stop(size).tolist(), found.depth.tolist(), strict=True))] += 1
    likely = [key for key in expected if expected[key] > 10]
    statistic = sum((seen[key] - expected[key]) ** 2 / expected[key] for key in likely)
    assert statistic < len(likely) + 5 * math.sqrt(2 * len(likely)) + 25


@pytest.mark.parametrize("fan", [4, 8])
def test_parts_divide_their_parent_in_a_ragged_domain(fan):
    for size in range(1, 140):
        nodes, seen = whole(size, fan), []
        assert nodes.stop(size).tolist() == [size]
        while len(nodes.start):
            stop = nodes.stop(size)
            assert (stop > nodes.start).all()
            assert ((nodes.height % (fan.bit_length() - 1)) == 0).all()
            seen += nodes.start[stop - nodes.start == 1].tolist()
            parents = nodes.where(stop - nodes.start > 1)
            nodes = parents.children(size, fan)
            covered = sum((nodes.stop(size) - nodes.start).tolist())
            assert covered == sum((parents.stop(size) - parents.start).tolist())
        assert sorted(seen) == list(range(size))


@examples(60)
@given(st.integers(1, 300), st.integers(0, 2**32), st.sampled_from(["0.1", "1", "30"]))
def test_buckets_of_fan_four_divide_any_domain(size, seed, epsilon):
    rng = np.random.default_rng(seed)
    counts = Counts.of(rng.poisson(rng.gamma(0.2, 50, size)))
    found = two_phase(counts.exposed, size, Fraction(epsilon), walks.on_maps(), Seeded(seed))
    assert (found.bounds[0], found.bounds[-1]) == (0, size)
    assert (np.diff(found.bounds) > 0).all()
    assert len(found.spared) == len(found.stops.depth) == len(found)
    assert (np.diff(found.bounds)[found.spared] == 1).all()
    assert found.spent_least <= found.spent < Fraction(epsilon)


def test_on_a_square_map_buckets_are_squares_of_the_quadtree():
    side = 32
    rng = np.random.default_rng(2)
    counts = Counts.of(rng.poisson(rng.gamma(0.1, 100, (side, side))))
    found = two_phase(counts.exposed, side**2, Fraction(1), walks.on_maps(), Seeded(1))
    widths = np.diff(found.bounds)
    assert len(set(widths.tolist())) > 2
    for start, width in zip(found.bounds[:-1].tolist(), widths.tolist(), strict=True):
        cells = Order((side, side)).cells(np.arange(start, start + width))
        assert (np.ptp(cells, axis=0) + 1).tolist() == [math.isqrt(width)] * 2
