"""Algorithm 1 of the paper, as it is proven there. Our proof, in whole numbers, is in ``noisy_cost.md``.

Every bucket costs its deviation from uniform plus 1/ε2, every cost gets noise, unit buckets included, and the
partition of least noisy total is returned. All numbers are integers: costs are counted in steps of a lattice,
which follows from public numbers alone.

The walk is the better choice: with this noise, the partition of least total collects the buckets that drew low
noise, about half as many as there are cells.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from dawa import budget, check, kernels
from dawa.arrays import IntArray, frozen
from dawa.counts import Occupied
from dawa.errors import BudgetError, OptionError
from dawa.limits import MOST_CELLS_COSTED, MOST_RECORDS
from dawa.noise import discrete, gates
from dawa.noise.discrete import Scale
from dawa.noise.randomness import Randomness
from dawa.partition.buckets import Buckets

FINEST = 2**15
"""Steps per record: power-of-two lengths up to 2^16 are exact, and deviations sum to at most 2^61."""

REACH = 128
"""A draw beyond this many scales, in any of 2^27 buckets, has a chance below 2^-100."""


@dataclass(frozen=True)
class NoisyCost:
    """Options of Algorithm 1: all public.

    Attributes:
        share: Share of epsilon for the partition.
        lengths: Which lengths of buckets compete: ``"powers"`` of two, or ``"all"`` lengths.
        noise: ``"laplace"``, or ``"exponential"``: one-sided, downwards, with half the variance.
    """

    share: Fraction = Fraction(1, 4)
    lengths: Literal["powers", "all"] = "powers"
    noise: Literal["laplace", "exponential"] = "laplace"

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", budget.share(self.share, "share"))
        check.one_of(self.lengths, "lengths", MOST_CELLS_COSTED)
        check.one_of(self.noise, "noise", ("laplace", "exponential"))

    def choose_buckets(self, exposed: Occupied, size: int, epsilon: Fraction, randomness: Randomness) -> Buckets:
        """Choose buckets with this share of epsilon."""
        spent = self.share * epsilon
        return Buckets(noisy_cost(exposed, size, spent, epsilon - spent, self, randomness), spent, spent)


@dataclass(frozen=True, eq=False)
class Parameters:
    """The public numbers of one run; costs, sensitivities and scales are in steps of the lattice.

    Attributes:
        lattice: Steps per record.
        bucket: What a bucket costs by itself, 1/ε2.
        lengths: The lengths that compete, in increasing order.
        sensitivities: By how much one record moves the cost of a bucket, by length.
        scales: Scale of the noise on that cost, by length.
        centres: The number from which one-sided noise is subtracted, by length: about its mean.
    """

    lattice: int
    bucket: int
    lengths: tuple[int, ...]
    sensitivities: tuple[int, ...]
    scales: tuple[Fraction, ...]
    centres: IntArray

    @property
    def loss(self) -> Fraction:
        """The privacy loss of these numbers: (D + D_b)/scale_b at its largest, D the largest D_b."""
        largest = max(self.sensitivities)
        return max((largest + own) / scale for own, scale in zip(self.sensitivities, self.scales, strict=True))


def parameters_for(
    size: int, epsilon1: Fraction, epsilon2: Fraction, options: NoisyCost, lattice: int | None = None
) -> Parameters:
    """Fix lattice, sensitivities and scales, from public numbers alone.

    Args:
        size: Number of cells.
        epsilon1: Budget of the partition.
        epsilon2: Budget of the measurements; it only says what a bucket costs.
        options: Which lengths and which noise.
        lattice: Steps per record; None takes as many as 63-bit sums allow.

    Raises:
        OptionError: If there are too many cells.
        BudgetError: If the budgets are so small that no lattice is coarse enough.
    """
    _check_size(size, options)
    steps = lattice or _lattice(size, epsilon1, epsilon2)
    if options.lengths == "all":
        lengths = tuple(range(1, size + 1))
    else:
        lengths = tuple(2**level for level in range(size.bit_length()))
    sensitivities = tuple(sensitivity(length, steps) for length in lengths)
    largest = max(*sensitivities, 1)  # a single cell has nothing to hide, but its noise needs a scale
    scales = tuple(discrete.coarsened((largest + own) / epsilon1) for own in sensitivities)
    centres = np.array([int(scale) for scale in scales], np.int64)
    return Parameters(steps, round(steps / epsilon2), lengths, sensitivities, scales, frozen(centres))


def sensitivity(length: int, lattice: int) -> int:
    """By how many steps one record moves ``floor(lattice · dev)``: lattice · 2(1 - 1/length), rounded up.

    >>> [sensitivity(length, 8) for length in (1, 2, 3, 4)]
    [0, 8, 11, 12]
    """
    return -(-2 * lattice * (length - 1) // length)


def loss(size: int, epsilon1: Fraction, epsilon2: Fraction, options: NoisyCost) -> Fraction:
    """The privacy loss of the numbers that ``noisy_cost`` would use: at most ``epsilon1``, exactly."""
    return parameters_for(size, epsilon1, epsilon2, options).loss


def noisy_cost(
    exposed: Occupied, size: int, epsilon1: Fraction, epsilon2: Fraction, options: NoisyCost, randomness: Randomness
) -> IntArray:
    """Bounds of the partition of least noisy cost: ``epsilon1``-differentially private.

    Args:
        exposed: The private counts.
        size: Number of cells.
        epsilon1: Budget of this step.
        epsilon2: Budget of the measurements that follow.
        options: Which lengths and which noise.
        randomness: Where noise comes from.

    Returns:
        k + 1 increasing cell numbers from 0 to ``size``.

    Raises:
        OptionError: If there are too many cells.
        BudgetError: If the budgets are too small for so many cells.
    """
    parameters = parameters_for(size, epsilon1, epsilon2, options)
    check.within(parameters.loss, epsilon1, "Noise on costs")
    return chosen(exposed.dense(size), parameters, options, randomness)


def chosen(counts: IntArray, parameters: Parameters, options: NoisyCost, randomness: Randomness) -> IntArray:
    """The private part: compute costs, add noise, and take the partition of least total."""
    select = _among_all if options.lengths == "all" else _among_powers
    return frozen(select(counts, parameters, options, randomness))


def _among_powers(counts: IntArray, parameters: Parameters, options: NoisyCost, randomness: Randomness) -> IntArray:
    """The choice among buckets whose lengths are powers of two."""
    values, ranks = kernels.costs.ranked(counts)
    costs = np.empty((len(parameters.lengths), len(counts)), np.int64)
    for level, length in enumerate(parameters.lengths):
        number = len(counts) - length + 1
        exact = kernels.costs.windows(values, ranks, length, parameters.lattice)
        noisy = _noisy(exact, parameters.scales[level], parameters.centres[level], options, randomness)
        costs[level, :number] = noisy + parameters.bucket
    bounds: IntArray = kernels.costs.powers(costs)
    return bounds


def _among_all(counts: IntArray, parameters: Parameters, options: NoisyCost, randomness: Randomness) -> IntArray:
    """The choice among all buckets, one start at a time: n² noisy costs are never in memory at once."""
    values, ranks = kernels.costs.ranked(counts)
    numerators = np.array([scale.numerator for scale in parameters.scales], np.int64)
    denominators = np.array([scale.denominator for scale in parameters.scales], np.int64)
    best = np.full(len(counts) + 1, kernels.costs.UNREACHED, np.int64)
    best[0] = 0
    last = np.zeros(len(counts) + 1, np.int64)
    for start in range(len(counts)):
        number = len(counts) - start
        scales = numerators[:number], denominators[:number]
        exact = kernels.costs.starting_at(values, ranks, start, parameters.lattice)
        noisy = _noisy(exact, scales, parameters.centres[:number], options, randomness)
        kernels.costs.extend(best, last, start, noisy + parameters.bucket)
    bounds: IntArray = kernels.costs.traced(last)
    return bounds


def _noisy(exact: IntArray, scale: Scale, centre: IntArray, options: NoisyCost, randomness: Randomness) -> IntArray:
    """Costs with noise for which P(Z ≤ z - c) ≥ e^(-c/scale) · P(Z ≤ z) for every z and c ≥ 0."""
    return gates.costs(exact, scale, None if options.noise == "laplace" else centre, randomness)


def _lattice(size: int, epsilon1: Fraction, epsilon2: Fraction) -> int:
    """The finest lattice on which the total of every partition stays below 2^62.

    The deviations of disjoint buckets add up to less than twice the records; the rest is at most ``size``
    times what a bucket costs by itself and what its noise can reach.
    """
    lattice = FINEST
    while lattice >= 1:
        each = 1 + lattice / epsilon2 + REACH * 4 * lattice / epsilon1
        if 2 * MOST_RECORDS * lattice + size * each < 2**62:
            return lattice
        lattice //= 2
    raise BudgetError(
        f"With {size} cells the noise of a budget as small as {float(min(epsilon1, epsilon2)):.3g} overflows.",
        "spend more, or use fewer cells.",
    )


def _check_size(size: int, options: NoisyCost) -> None:
    """Refuse what would take hours, or more memory than most machines have."""
    if size <= MOST_CELLS_COSTED[options.lengths]:
        return
    hint = "use the walk, which has no such limit."
    if options.lengths == "all" and size <= MOST_CELLS_COSTED["powers"]:
        hint = 'pass lengths="powers".'
    most = MOST_CELLS_COSTED[options.lengths]
    raise OptionError(f"noisy-cost with lengths={options.lengths!r} takes at most {most} cells, not {size}.", hint)
