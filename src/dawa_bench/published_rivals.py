"""The paper's rivals as their research code has them: NOT PRIVATE, for comparison only.

What is unsound in each is said in its function. The sound ones are in ``dawa.mechanisms``.
"""

from collections import deque
from itertools import pairwise

import numpy as np

from dawa import kernels
from dawa.arrays import FloatArray, IntArray

MOST_CLUSTERS = 2000
"""P-HP stops there."""

STEPS = 2**8
"""Steps per record in which deviations are computed."""


def efpa(counts: IntArray, epsilon: float, generator: np.random.Generator) -> FloatArray:
    """EFPA (Ács et al. 2012). NOT PRIVATE: phases are exact, and magnitudes have the noise of another transform."""
    half = epsilon / 2
    spectrum = np.fft.rfft(counts)
    copies = np.full(len(spectrum), 2.0)
    copies[0] = 1
    if len(counts) % 2 == 0:
        copies[-1] = 1
    power = copies * np.abs(spectrum) ** 2
    kept = np.cumsum(copies)
    lost = np.sqrt(np.maximum(power.sum() - np.cumsum(power), 0))
    last = _drawn(-half / 2 * (lost + np.sqrt(2) * kept / half), generator)
    size = np.abs(spectrum) + generator.laplace(0, np.sqrt(kept[last]) / half, len(spectrum))
    shown = np.where(np.arange(len(spectrum)) <= last, size * np.exp(1j * np.angle(spectrum)), 0)
    cells: FloatArray = np.fft.irfft(shown, len(counts))
    return cells


def php(counts: IntArray, epsilon: float, generator: np.random.Generator) -> FloatArray:
    """P-HP (Ács et al. 2012): sound on paper, but drawn in floats here."""
    bounds = php_bounds(counts, epsilon, generator)
    noise = generator.laplace(0, 2 / epsilon, len(bounds) - 1)
    totals = np.maximum(np.add.reduceat(counts, bounds[:-1]) + noise, 0)
    return np.repeat(totals / np.diff(bounds), np.diff(bounds))


def php_bounds(counts: IntArray, epsilon: float, generator: np.random.Generator) -> IntArray:
    """The buckets of P-HP, for which it has half of ε."""
    n = len(counts)
    depth = int(np.log2(n))
    bucket = 2 / epsilon
    total = _deviations(counts)[-1]
    cuts: list[int] = []
    states = [(total, 0)]
    waiting = deque([(0, n, 1)])
    while waiting and len(cuts) < MOST_CLUSTERS:
        lo, hi, level = waiting.popleft()
        before, after = _deviations(counts[lo:hi]), _deviations(counts[lo:hi][::-1])[::-1]
        gain = np.concatenate(([0.0], before[-1] - before[:-1] - after[1:] - bucket))
        cut = _drawn(epsilon / 16 / depth * gain, generator)
        if cut:
            cuts.append(lo + cut)
            total -= gain[cut]
            parts = ((lo, lo + cut), (lo + cut, hi))
            waiting.extend((a, b, level + 1) for a, b in parts if b - a > 1 and level + 1 < depth)
        states.append((total, len(cuts)))
    kept = states[_drawn(-epsilon / 16 * np.array([cost for cost, _ in states]), generator)][1]
    return np.array(sorted([0, n, *cuts[:kept]]))


def structure_first(counts: IntArray, epsilon: float, generator: np.random.Generator) -> FloatArray:
    """StructureFirst (Xu et al. 2013). NOT PRIVATE: most nodes of its trees have no noise at all.

    It draws bounds by costs, but at a scale (10,000 times the mean count) at which all places are as good as alike;
    here they are. In each bucket it builds a tree, and adds noise to the nodes that begin before the cell whose number
    is the *length* of the bucket: to none above the leaves, in a bucket that begins later.
    """
    bounds = [len(counts)]
    for left in range(-(-len(counts) // 10) - 1, 0, -1):
        bounds.append(int(generator.integers(left, bounds[-1])))
    bounds.append(0)
    bounds.reverse()
    spent = 0.95 * epsilon
    pieces = [_boosted(counts[a:b], a, spent, generator) for a, b in pairwise(bounds)]
    return np.concatenate(pieces)


def _boosted(cells: IntArray, begin: int, epsilon: float, generator: np.random.Generator) -> FloatArray:
    """A binary tree over the cells of a bucket, made consistent (Hay et al. 2010), with the gap described above."""
    length = len(cells)
    if length == 1:
        return cells + generator.laplace(0, 1 / epsilon, 1)
    levels = int(np.ceil(np.log2(length))) + 1
    scale, spare = levels / epsilon, 2 ** (levels - 1) - length
    sums = np.concatenate((cells.astype(np.float64), np.zeros(spare)))
    first = np.concatenate((begin + np.arange(length), length + np.arange(spare)))
    best = [sums + np.concatenate((generator.laplace(0, scale, length), np.zeros(spare)))]
    below: list[FloatArray] = []
    for level in range(1, levels):
        sums, first = sums.reshape(-1, 2).sum(axis=1), first[::2]
        noisy = sums + np.where(first < length, generator.laplace(0, scale, len(sums)), 0)
        below.append(best[-1].reshape(-1, 2).sum(axis=1))
        weight = 2.0**level
        best.append((weight * noisy + (weight - 1) * below[-1]) / (2 * weight - 1))
    settled: FloatArray = best[-1]
    for level in range(levels - 1, 0, -1):
        settled = best[level - 1] + np.repeat((settled - below[level - 1]) / 2, 2)
    return settled[:length]


def _deviations(cells: IntArray) -> FloatArray:
    """How far the first one, two, three, … cells lie from their mean."""
    values, ranks = kernels.costs.ranked(cells)
    found: FloatArray = kernels.costs.starting_at(values, ranks, 0, STEPS) / STEPS
    return found


def _drawn(logarithms: FloatArray, generator: np.random.Generator) -> int:
    """One index, with chances in proportion to the exponentials."""
    chances = np.exp(logarithms - logarithms.max())
    return int(generator.choice(len(chances), p=chances / chances.sum()))
