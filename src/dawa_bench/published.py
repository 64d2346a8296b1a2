"""Mechanisms as they were published in 2012 to 2014, from research code: NOT PRIVATE, for comparison only.

The paper's figures were made with code like this. It is written here from what that code does, in floats, on counts in
the clear, with a seeded generator: it protects nobody, and says so wherever its name is shown. ``run`` asks for an
explicit switch, and nothing outside of ``dawa_bench`` imports this module.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

import dawa
from dawa import kernels
from dawa.arrays import FloatArray, IntArray
from dawa.errors import OptionError
from dawa.layout.curve import Order
from dawa.partition.buckets import Buckets
from dawa.queries.workload import Workload
from dawa.results.estimate import Estimate
from dawa_bench import published_rivals

NOT_PRIVATE = "NOT PRIVATE"

STRATEGIES = {
    "dawa-2014-code": "greedy",
    "partition-laplace-code": "leaves",
    "partition-uniform-code": "uniform",
    "partition-geometric-code": "geometric",
}
"""The published first stage, by what is measured after it."""

RIVALS: dict[str, Callable[[IntArray, float, np.random.Generator], FloatArray]] = {
    "efpa-2012-code": published_rivals.efpa,
    "php-2012-code": published_rivals.php,
    "structure-first-2013-code": published_rivals.structure_first,
}
MWEM = "mwem-2012-code"
OPTIMUM = "optimum"
"""The best partition there is, found in the clear."""

NAMES = (*STRATEGIES, *RIVALS, MWEM)

ROUNDS = {"nettrace": 10, "adult": 10, "medcost": 10, "searchlogs": 30, "income": 190, "patent": 160, "hepth": 20}
"""Rounds of MWEM with the least error at ε = 0.1, tuned on the data as the paper did: ``dawa bench paper.rounds``."""

LATTICE = 2**10
"""Steps per record in which noisy costs are compared."""

SHARE = Fraction(1, 4)
"""What the first stage spends."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a mechanism made of counts.

    Attributes:
        answers: One per query.
        bounds: The bucket bounds, on the line; None where it has none.
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
        epsilon: What the publication would call its privacy budget. It is no such thing.
        seed: Of the noise.
        rounds: Of MWEM, which the paper tuned on the data.
        research: The switch. Without it this function refuses to run.

    Raises:
        OptionError: If the switch is not set, or there is no such mechanism.
    """
    if research is not True:
        raise OptionError(
            f"{labelled(name)} protects nobody.",
            "use dawa.estimate(mechanism='dawa'); or pass research=True if the data is public and you compare.",
        )
    if name not in NAMES:
        raise OptionError(f"There is no published mechanism {name!r}.", f"choose one of {', '.join(NAMES)}.")
    if (rounds is not None) != (name == MWEM):
        raise OptionError(f"rounds={rounds!r} does not go with {name!r}.", f"pass a number with {MWEM!r}, only there.")
    if name in STRATEGIES:
        found = two_stages(counts, workload, epsilon, STRATEGIES[name], seed)
        return Outcome(found.answers(workload), found.buckets.bounds)
    if name == MWEM:
        # With the true number of records, and rounds tuned on the data, ours is the published one.
        known = dawa.estimate(
            counts, workload, epsilon=epsilon, mechanism="mwem", seed=seed, rounds=rounds, records=int(counts.sum())
        )
        return Outcome(known.answers(workload), None)
    return Outcome(workload.answers(RIVALS[name](counts, float(epsilon), np.random.default_rng(seed))), None)


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

    Algorithm 1 puts noise of scale 4/ε1 on the cost of every bucket. This puts half of that on buckets of two cells and
    more, none on single cells, and lets no noisy cost fall below that of an even bucket.

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
