"""How much of a domain is filled: one record moves the sum by one, and what is lost is accounted for."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dawa
from dawa import measure
from dawa.counts import Counts
from dawa.errors import BudgetError, OptionError
from dawa.noise import discrete
from dawa.noise.randomness import Seeded
from dawa.partition import filled
from dawa.partition.filled import Filled
from dawa.strategy import choose as stage_two
from dawa.strategy.base import RESOLUTION

cells = st.lists(st.integers(0, 40), min_size=1, max_size=40)
budgets = st.fractions(min_value=Fraction(1, 50), max_value=20)


def held(counts, epsilon, options):
    return filled.counted(Counts.of(counts).exposed, len(counts), epsilon, options)


@settings(deadline=None)
@given(cells, st.data(), budgets, st.integers(1, 50), st.integers(1, 30))
def test_one_record_moves_the_sum_by_at_most_one(counts, data, epsilon, blocks, enough):
    options = Filled(blocks=blocks, enough=enough)
    at = data.draw(st.integers(0, len(counts) - 1))
    more = [count + (i == at) for i, count in enumerate(counts)]
    assert held(more, epsilon, options) - held(counts, epsilon, options) in {0, 1}


@given(cells, budgets, st.integers(1, 50))
def test_it_is_the_sum_of_blocks_by_definition(counts, epsilon, blocks):
    options = Filled(blocks=blocks)
    bounds = filled.edges(len(counts), options).tolist()
    assert (bounds[0], bounds[-1]) == (0, len(counts))
    assert len(bounds) == min(blocks, len(counts)) + 1
    most = max(1, math.floor(16 / epsilon))
    pairs = pairwise(bounds)
    assert held(counts, epsilon, options) == sum(min(sum(counts[lo:hi]), most) for lo, hi in pairs)


def chance(total, needed, scale):
    """The exact chance that a sum with discrete Laplace noise reaches what is needed."""
    q, gap = math.exp(-1 / scale), math.ceil(needed) - total
    return q**gap / (1 + q) if gap > 0 else 1 - q ** (1 - gap) / (1 + q)


def worst(scale, needed):
    """The largest log-ratio of a chance between neighbouring sums."""
    found = 0.0
    for total in range(int(needed) + 60):
        one, other = chance(total, needed, scale), chance(total + 1, needed, scale)
        found = max(found, math.log(other / one), math.log((1 - one) / (1 - other)))
    return found


@pytest.mark.parametrize("epsilon", ["1/10", "1", "5"])
def test_the_bit_loses_its_share_and_half_the_noise_is_caught(epsilon):
    epsilon, options = Fraction(epsilon), Filled()
    share = options.share * epsilon
    scale = discrete.coarsened(1 / share)
    assert filled.loss(scale) <= share
    needed = options.needed(64, epsilon)
    assert 0.9 * float(share) < worst(float(scale), needed) <= float(share) * (1 + 1e-9)
    assert worst(float(scale) / 2, needed) > 1.5 * float(share)


@pytest.mark.long
def test_the_chance_is_that_of_the_sampler():
    epsilon, options = Fraction(1), Filled(share=Fraction(1, 4), blocks=8, part=Fraction(1, 2))
    counts = np.array([20, 20, 20, 0, 0, 0, 0, 2])
    needed = options.needed(8, epsilon)
    expected = chance(held(counts, epsilon, options), needed, 4.0)
    runs = 2000
    chosen = [
        options.choose_buckets(Counts.of(counts).exposed, 8, epsilon, Seeded(seed)).stops is None
        for seed in range(runs)
    ]
    assert abs(np.mean(chosen) - expected) < 5 * math.sqrt(expected * (1 - expected) / runs)
    assert 0.01 < expected < 0.99


@pytest.mark.parametrize("counts", [np.zeros(512, int), np.full(512, 100), np.eye(1, 512, 9, int)[0] * 5000])
@pytest.mark.parametrize("epsilon", ["1/10", "1"])
def test_no_record_loses_more_than_epsilon(counts, epsilon):
    epsilon = Fraction(epsilon)
    buckets = Filled().choose_buckets(Counts.of(counts).exposed, 512, epsilon, Seeded(1))
    assert min(buckets.spent, buckets.spent_least) >= Fraction(2, 100) * epsilon
    assert (len(buckets) == 512) == (counts.min() > 0)
    assert (buckets.stops is None) == (counts.min() > 0)
    strategy = stage_two.choose(
        buckets.queries(dawa.workloads.uniform(512)), buckets.allowance(epsilon, RESOLUTION), "best", "fast", None, None
    )
    scale = discrete.coarsened(RESOLUTION / (epsilon - buckets.spent_least))
    assert measure.loss(buckets, strategy, scale) <= epsilon
    cheap = replace(buckets, spent=buckets.spent / 2, spent_least=buckets.spent_least / 2)
    assert measure.loss(cheap, strategy, scale) < measure.loss(buckets, strategy, scale)


@pytest.mark.parametrize(
    "wrong", [{"share": 0}, {"share": "3/4"}, {"blocks": 0}, {"enough": 1.5}, {"part": 2}, {"blocks": 2**40}]
)
def test_wrong_options_are_refused(wrong):
    with pytest.raises((OptionError, BudgetError)):
        Filled(**wrong)
