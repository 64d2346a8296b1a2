"""Mechanisms as they were published in 2012 to 2014, from research code: NOT PRIVATE, for comparison only.

The paper's figures were made with code like this. It is rewritten here from what that code does, in floats, on counts
without protection, with a seeded generator: it protects nobody, and every place that shows its name says so. ``run``
asks for an explicit switch, and nothing outside ``dawa_bench`` imports this module.
"""

from collections import deque
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

import dawa
from dawa import kernels
from dawa.arrays import FloatArray, IntArray
from dawa.errors import OptionError
from dawa.layout.curve import Order
from dawa.partition.buckets import Buckets
from dawa.queries.workload import Workload
from dawa.results.estimate import Estimate

NOT_PRIVATE = "NOT PRIVATE"

STRATEGIES = {
    "dawa-2014-code": "greedy",
    "partition-laplace-code": "leaves",
    "partition-uniform-code": "uniform",
    "partition-geometric-code": "geometric",
}
"""The published first stage, by what is measured after it."""

RIVALS = ("efpa-2012-code", "php-2012-code", "structure-first-2013-code")
"""Mechanisms with a function below, which says what is unsound in it. The sound ones are in ``dawa.mechanisms``."""

MWEM = "mwem-2012-code"
OPTIMUM = "optimum"
"""The best possible partition, found from counts without noise."""

NAMES = (*STRATEGIES, *RIVALS, MWEM)

ROUNDS = {"nettrace": 10, "adult": 10, "medcost": 10, "searchlogs": 30, "income": 190, "patent": 160, "hepth": 20}
"""Rounds of MWEM with the least error at ε = 0.1, tuned on the data as the paper did: ``dawa bench paper.rounds``."""

LATTICE = 2**10
"""Steps per record in which noisy costs are compared."""

SHARE = Fraction(1, 4)
"""What the first stage spends."""

MOST_CLUSTERS = 2000
"""P-HP stops at this many."""

STEPS = 2**8
"""Steps per record in which deviations are computed."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a mechanism made of counts.

    Attributes:
        answers: One per query.
        bounds: The bucket bounds, on the line; None if the mechanism has no buckets.
    """

    answers: FloatArray
    bounds: IntArray | None


def labelled(name: str) -> str:
    """A mechanism's name as it is shown.

    >>> labelled("dawa-2014-code"), labelled("dawa")
    ('dawa-2014-code (NOT PRIVATE)', 'dawa')
    """
    return f"{name} ({NOT_PRIVATE})" if name in (*NAMES, OPTIMUM) else name


def run(
    name: str,
    counts: IntArray,
    workload: Workload,
    epsilon: str,
    seed: int,
    *,
    rounds: int | None = None,
    research: bool = False,
) -> Outcome:
    """Run a mechanism as it was published. NOT PRIVATE: for public data only.

    Args:
        name: One of ``NAMES``.
        counts: Public counts.
        workload: What is asked.
        epsilon: What the publication calls its privacy budget. It is not one.
        seed: The seed of the noise.
        rounds: The rounds of MWEM, which the paper tuned on the data.
        research: The switch. Without it this function refuses to run.

    Raises:
        OptionError: If the switch is not set, or there is no such mechanism.
    """
    if research is not True:
        raise OptionError(
            f"{labelled(name)} protects nobody.",
            "use dawa.estimate(mechanism='dawa'); or pass research=True to compare mechanisms on public data.",
        )
    if name not in NAMES:
        raise OptionError(f"There is no published mechanism {name!r}.", f"choose one of {', '.join(NAMES)}.")
    if (rounds is not None) != (name == MWEM):
        raise OptionError(f"rounds={rounds!r} does not go with {name!r}.", f"pass a number with {MWEM!r}, only there.")
    if name in STRATEGIES:
        found = two_stages(counts, workload, epsilon, STRATEGIES[name], seed)
        return Outcome(found.answers(workload), found.buckets.bounds)
    if name == MWEM:
        # With the true number of records, and rounds tuned on the data, our MWEM is the published one.
        known = dawa.estimate(
            counts, workload, epsilon=epsilon, mechanism="mwem", seed=seed, rounds=rounds, records=int(counts.sum())
        )
        return Outcome(known.answers(workload), None)
    rival = dict(zip(RIVALS, (efpa, php, structure_first), strict=True))[name]
    return Outcome(workload.answers(rival(counts, float(epsilon), np.random.default_rng(seed))), None)


def two_stages(counts: IntArray, workload: Workload, epsilon: str, strategy: str, seed: int) -> Estimate:
    """The published first stage, then a tree. NOT PRIVATE, and the estimate says so."""
    line = counts if counts.ndim == 1 else counts.ravel()[Order(counts.shape).flat()]
    spent = SHARE * Fraction(epsilon)
    bounds = stage_one(line, float(spent), float(Fraction(epsilon) - spent), np.random.default_rng(seed))
    found = dawa.estimate(
        counts,
        workload,
        epsilon=epsilon,
        mechanism="dawa-2014",
        partition=Buckets(bounds, spent, spent),
        strategy=strategy,
        seed=seed,
    )
    return replace(found, mechanism=labelled("dawa-2014-code"), randomness=NOT_PRIVATE)


def stage_one(line: IntArray, epsilon1: float, epsilon2: float, generator: np.random.Generator) -> IntArray:
    """Bucket bounds as the published code chooses them. NOT PRIVATE.

    Algorithm 1 adds noise of scale 4/ε1 to the cost of every bucket. This code adds half of that to buckets of two
    cells or more, and none to single cells. It lets no noisy cost fall below that of an even bucket.

    >>> stage_one(np.array([9, 9, 9, 9, 0, 0, 0, 0]), 1e6, 1.0, np.random.default_rng(0))
    array([0, 4, 8])
    """
    values, ranks = kernels.costs.ranked(line)
    costs = np.zeros((len(line).bit_length(), len(line)), np.int64)
    for level in range(len(costs)):
        number = len(line) - 2**level + 1
        uneven = kernels.costs.windows(values, ranks, 2**level, LATTICE) / LATTICE
        noise = generator.laplace(0, 2 / epsilon1, number) if level else 0
        costs[level, :number] = np.rint(LATTICE * (np.maximum(uneven + noise, 0) + 1 / epsilon2))
    bounds: IntArray = kernels.costs.powers(costs)
    return bounds


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
    """The buckets of P-HP, which spends half of ε on them."""
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

    It draws bounds by costs, but at a scale (10,000 times the mean count) at which all places are almost equally
    likely; here they are equally likely. In each bucket it builds a tree, and adds noise to the nodes that begin before
    the cell whose number is the *length* of the bucket. So in a bucket that begins later, no node above the leaves has
    noise.
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
    """How far the first one, two, three, … cells together lie from their mean."""
    values, ranks = kernels.costs.ranked(cells)
    found: FloatArray = kernels.costs.starting_at(values, ranks, 0, STEPS) / STEPS
    return found


def _drawn(logarithms: FloatArray, generator: np.random.Generator) -> int:
    """One index, drawn with probabilities proportional to the exponentials."""
    chances = np.exp(logarithms - logarithms.max())
    return int(generator.choice(len(chances), p=chances / chances.sum()))
