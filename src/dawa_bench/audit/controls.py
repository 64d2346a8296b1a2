"""Controls: mechanisms that are known to be wrong, which the audit must catch, and the same done right.

Each is audited as sound mechanisms are, and in less than a minute.
"""

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from fractions import Fraction

import numpy as np

import dawa
from dawa.arrays import FloatArray, IntArray
from dawa_bench import published
from dawa_bench.audit import outside, sampler
from dawa_bench.audit.events import Reading
from dawa_bench.audit.finding import Control, Finding
from dawa_bench.audit.tampered import half_the_noise

FLAT, RAISED = (2, 2, 2, 2), (2, 2, 3, 2)
"""Neighbours: the published first stage cuts the second into single cells far more often."""
FIRST, REST = 1, 3
"""What the first stage claims to lose, and what is left for the second."""
RUNS, DRAWS = 20_000, 200_000
"""Runs of each neighbour, and draws."""
SCALE = Fraction(10)
"""Of the noise that is halved."""


def published_stage(seed: int | None) -> Finding:
    """The buckets of the published first stage, on four cells.

    It cuts everything into single cells if no noisy cost of a wider bucket is below that of its cells. Of the four
    wider buckets, three hold the third cell; a record more there raises their deviations by 1, 1 and 1.5, so with noise
    of scale 2/ε1 the chance rises by up to exp(1.75 ε1): here from 0.0230 to 0.1064, by exp(1.53).
    """

    def run(line: tuple[int, ...]) -> outside.Run:
        counts = np.array(line)
        return lambda seed: _ends(published.stage_one(counts, FIRST, REST, np.random.default_rng(seed)), len(line))

    return _buckets("the published first stage", run(FLAT), run(RAISED), seed)


def sound_stage(seed: int | None) -> Finding:
    """The same with as much noise as its proof asks for: ``noisy-cost``, with the same budgets."""

    def run(line: tuple[int, ...]) -> outside.Run:
        def buckets(seed: int | None) -> FloatArray:
            made = dawa.estimate(
                line,
                epsilon=FIRST + REST,
                mechanism="partition-uniform",
                partition=dawa.partition.NoisyCost(share=Fraction(FIRST, FIRST + REST)),
                seed=seed,
            )
            return _ends(made.buckets.bounds, len(line))

        return buckets

    return _buckets("noisy costs", run(FLAT), run(RAISED), seed)


def halved_draws(seed: int | None) -> Finding:
    """Draws of the gates while the sampler draws at half the scale."""
    return _draws(half_the_noise(), seed)


def whole_draws(seed: int | None) -> Finding:
    """Draws of the gates."""
    return _draws(nullcontext(), seed)


def halved_estimates(seed: int | None) -> Finding:
    """A mechanism while the sampler draws at half the scale."""
    return _estimates(half_the_noise(), seed)


def whole_estimates(seed: int | None) -> Finding:
    """The mechanism itself."""
    return _estimates(nullcontext(), seed)


def float_noise(seed: int | None) -> Finding:
    """A count with Laplace noise of scale 1 in floats, by the inverse of its distribution function.

    With a count of 1, what comes out is always a multiple of 2^-53: either the noise is at least 1/2 in size, and so is
    itself such a multiple, or the sum is. With a count of 0 it is the noise, which has lower bits whenever it is small.
    """
    generator = np.random.default_rng(seed)

    def noise(count: int) -> FloatArray:
        side = generator.random(count) - 0.5
        drawn: FloatArray = -np.copysign(np.log1p(-2 * np.abs(side)), side)
        return drawn

    return _counts("Laplace noise in floats", noise)


def whole_noise(seed: int | None) -> Finding:
    """A count with noise in whole numbers, the difference of two geometric draws."""
    generator = np.random.default_rng(seed)
    stop = -math.expm1(-1)

    def noise(count: int) -> FloatArray:
        return (generator.geometric(stop, count) - generator.geometric(stop, count)).astype(np.float64)

    return _counts("discrete Laplace noise", noise)


def _buckets(what: str, one: outside.Run, two: outside.Run, seed: int | None) -> Finding:
    reading = Reading(
        tuple(f"a bucket's end behind cell {at}" for at in range(1, len(FLAT))), (("all ends", slice(None)),)
    )
    return outside.audited(one, two, RUNS, FIRST, seed=seed, what=what, reading=reading)


def _ends(bounds: IntArray, size: int) -> FloatArray:
    """Whether a bucket ends behind each cell but the last."""
    ends = np.zeros(size + 1)
    ends[bounds] = 1
    return ends[1:-1]


def _draws(tampered: AbstractContextManager[None], seed: int | None) -> Finding:
    case = next(sampler.sums(SCALE, round(SCALE)))
    with tampered:
        return sampler.audited(case, DRAWS, seed)


def _estimates(tampered: AbstractContextManager[None], seed: int | None) -> Finding:
    with tampered:
        return outside.estimates([3, 0], [4, 0], RUNS // 4, "1", seed=seed, mechanism="identity")


def _counts(what: str, noise: Callable[[int], FloatArray]) -> Finding:
    """A count of 0 or 1 with noise that loses 1."""

    def published_count(count: int) -> outside.Sampling:
        return lambda runs: (count + noise(runs))[:, None]

    return outside.shown(published_count(0), published_count(1), RUNS, 1.0, what=what, reading=Reading(("the count",)))


CONTROLS = (
    Control(
        "published stage 1",
        "The first stage as its authors coded it adds too little noise to costs, and none to single cells.",
        FIRST,
        published_stage,
        sound_stage,
    ),
    Control(
        "half the noise, drawn",
        "The sampler draws at half the scale that it is asked for.",
        1,
        halved_draws,
        whole_draws,
    ),
    Control(
        "half the noise, published",
        "The same sampler, seen through what a mechanism publishes.",
        1,
        halved_estimates,
        whole_estimates,
    ),
    Control(
        "float rounding",
        "Laplace noise is drawn and added in floats: the last bits of a noisy count show what it was before.",
        1,
        float_noise,
        whole_noise,
    ),
)
"""All of them; whoever adds one gives its ``audit``, and what is ``sound`` in its place."""
