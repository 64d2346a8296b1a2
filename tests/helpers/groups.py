"""Releases of groups, put together by hand: each group's histogram is made from its own records."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

import dawa
from dawa.axis.apart import patterns
from dawa.axis.groups import combinations, groupings
from dawa.counts import Counts
from dawa.mechanisms.catalogue import Identity
from dawa.noise.randomness import randomness_for
from dawa.results.grouped import GroupedRelease
from dawa.workloads import all_ranges


def histogram(counts, epsilon, seed=None, **options):
    """The estimate of one histogram."""
    return dawa.estimate(counts, epsilon=epsilon, seed=seed, **options)


def none_of(count, ways, epsilon, seed=None):
    """The records in no group."""
    found = Identity().run(Counts.of([count] * ways), all_ranges(ways), Fraction(epsilon), randomness_for(seed))
    return replace(found, totals=np.maximum(found.unbiased, 0) + 0.0, mechanism="identity")


def put_together(axes, by, truth, epsilon="1/2", seed=None, unlisted=7, **options):
    """A release of groups whose counts are given: ``truth[i]`` are those of the i-th group.

    Args:
        axes: One or several axes that count nothing apart.
        by: The groups, as ``dawa.axis.groups.groupings`` takes them.
        truth: For each group its counts.
        epsilon: The budget.
        seed: For repeatable noise.
        unlisted: How many records are in each way of being in no group.
        options: Options of the mechanism.
    """
    columns = groupings(by)
    axes = axes if isinstance(axes, tuple) else (axes,)
    epsilon = Fraction(epsilon)
    seeds = [None if seed is None else seed * 10_000 + i for i in range(len(truth) + 1)]
    estimates = tuple(histogram(c, epsilon, s, **options) for c, s in zip(truth, seeds, strict=False))
    first = dawa.release({axes[0].column: []} | {axis.column: [] for axis in axes}, axes, epsilon=epsilon, seed=seed)
    privacy = replace(
        first.privacy,
        split=estimates[0].split,
        mechanism=estimates[0].mechanism,
        options=estimates[0].options,
        by=tuple(one.column for one in columns),
    )
    assert len(truth) == len(combinations(columns))
    none = none_of(unlisted, len(patterns(columns)), epsilon, seeds[-1])
    return GroupedRelease(columns, axes, privacy, estimates, (None,) * len(truth), none)
