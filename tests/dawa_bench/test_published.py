"""The published mechanisms: NOT PRIVATE, behind a switch, and what they are said to be."""

import itertools

import numpy as np
import pytest

import dawa
from dawa_bench import published

LINE = np.array([9, 9, 9, 9, 0, 0, 30, 1, 1, 1, 1, 1, 1, 1, 1, 1])
SURE = 1e7
"""A budget at which noise is far below one record."""


@pytest.mark.parametrize("name", published.NAMES)
def test_nothing_runs_without_the_switch(name):
    queries = dawa.workloads.uniform(16, 5)
    with pytest.raises(dawa.DawaError, match="protects nobody"):
        published.run(name, LINE, queries, "1", 0)
    with pytest.raises(dawa.DawaError, match="protects nobody"):
        published.run(name, LINE, queries, "1", 0, research=1)


def test_no_mechanism_of_the_library_has_such_a_name():
    assert not set(published.NAMES) & set(dawa.mechanisms.names())


@pytest.mark.parametrize("name", published.NAMES)
def test_names_say_what_they_are(name):
    assert published.labelled(name) == f"{name} (NOT PRIVATE)"


def test_an_estimate_says_what_it_is():
    found = published.two_stages(LINE, dawa.workloads.uniform(16, 5), "1", "greedy", 0)
    assert "NOT PRIVATE" in found.mechanism
    assert "NOT PRIVATE" in found.randomness


@pytest.mark.parametrize("name", published.NAMES)
def test_without_noise_answers_are_near(name):
    """With a huge budget all of them know the data; MWEM knows what it asked for."""
    queries = dawa.workloads.uniform(16, 40, seed=1)
    rounds = {"rounds": 40} if name == published.MWEM else {}
    found = published.run(name, LINE, queries, "1e4", 3, research=True, **rounds)
    assert np.abs(found.answers - queries.answers(LINE)).mean() < (4 if rounds else 0.1)


def test_the_same_seed_gives_the_same_answers():
    queries = dawa.workloads.uniform(16, 40, seed=1)
    for name in (*published.STRATEGIES, *published.RIVALS):
        one, same, other = (
            published.run(name, LINE, queries, "0.1", seed, research=True).answers for seed in (1, 1, 2)
        )
        assert np.array_equal(one, same)
        assert not np.array_equal(one, other)


def test_bad_input_leads_on():
    queries = dawa.workloads.uniform(16, 5)
    with pytest.raises(dawa.DawaError, match="no published mechanism"):
        published.run("dawa", LINE, queries, "1", 0, research=True)
    with pytest.raises(dawa.DawaError, match="rounds=None"):
        published.run(published.MWEM, LINE, queries, "1", 0, research=True)
    with pytest.raises(dawa.DawaError, match="rounds=5"):
        published.run("dawa-2014-code", LINE, queries, "1", 0, rounds=5, research=True)


def partitions(size):
    """Every partition into buckets whose lengths are powers of two."""
    if size == 0:
        yield (0,)
    for length in (1, 2, 4, 8):
        if length <= size:
            yield from ((*bounds, size) for bounds in partitions(size - length))


@pytest.mark.parametrize("seed", range(20))
def test_stage_one_is_what_it_is_said_to_be(seed):
    """Half the noise, none on single cells, clamped: against all partitions of eight cells."""
    counts = np.random.default_rng(seed).integers(0, 6, 8)
    epsilon1, epsilon2 = 0.5, 1.5
    generator = np.random.default_rng(seed)
    noise = {length: generator.laplace(0, 2 / epsilon1, 8 - length + 1) for length in (2, 4, 8)}

    def cost(lo, hi):
        uneven = np.abs(counts[lo:hi] - counts[lo:hi].mean()).sum()
        return max(uneven + (noise[hi - lo][lo] if hi - lo > 1 else 0), 0) + 1 / epsilon2

    totals = {bounds: sum(itertools.starmap(cost, itertools.pairwise(bounds))) for bounds in partitions(8)}
    found = tuple(published.stage_one(counts, epsilon1, epsilon2, np.random.default_rng(seed)).tolist())
    assert totals[found] <= min(totals.values()) + 8 / published.LATTICE


def test_two_cells_are_split_as_often_as_the_formula_says():
    """P(dev + Z > 1/ε2), Z Laplace of scale 2/ε1; and so a record moves this chance by more than ε1 allows."""
    epsilon1, epsilon2, runs = 1.0, 0.25, 4000
    generator = np.random.default_rng(7)
    for counts, deviation in (([1, 1], 0), ([3, 0], 3)):
        split = sum(len(published.stage_one(np.array(counts), epsilon1, epsilon2, generator)) == 3 for _ in range(runs))
        chance = np.exp(-(1 / epsilon2 - deviation) * epsilon1 / 2) / 2
        assert abs(split - runs * chance) < 4.5 * np.sqrt(runs * chance * (1 - chance))


def test_the_trees_of_structure_first_have_nodes_without_noise():
    """A bucket that begins beyond its own length: with all leaves alike, sums come out far better than leaves."""
    cells = np.full(64, 100)
    early, late = (
        np.array([published._boosted(cells, begin, 1.0, np.random.default_rng(s)).sum() for s in range(200)])
        for begin in (0, 64)
    )
    assert np.abs(late - 6400).mean() < np.abs(early - 6400).mean() / 2


def test_a_tree_without_noise_is_exact():
    """Also where the length is not a power of two, and spare leaves are empty."""
    for length in (2, 3, 5, 8, 13):
        cells = np.arange(length)
        assert np.allclose(published._boosted(cells, 0, SURE, np.random.default_rng(0)), cells, atol=1e-3)


def test_php_cuts_where_counts_jump():
    bounds = published.php_bounds(np.repeat([0, 50, 7], (20, 24, 20)), 1e4, np.random.default_rng(0))
    assert {0, 20, 44, 64} <= set(bounds.tolist())
