"""EFPA: the lowest frequencies of the counts, as many as the noise allows; ``efpa.md`` has the proof.

Ács, Castelluccia and Chen, *Differentially private histogram publishing through lossy compression* (ICDM 2012): the
exponential mechanism chooses how many Fourier coefficients to keep, the kept ones get Laplace noise, the others are 0.

Adapts to: the data, by the number of coefficients; and to the workload, which says how much an error in each
frequency matters (to ranges, high ones hardly do). With ``weights="equal"`` it does not look at the workload.

Cost: O(n·k) for n cells and k frequencies, all n/2 of them up to 4,096 cells: 0.06 s there. Larger domains have fewer
(``most_frequencies``).

Use it for smooth or periodic data. Sharp steps and spikes need all frequencies, for which this noise is expensive;
``cells=True`` lets the mechanism fall back to noise on every cell. On most real histograms ``dawa`` does better.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from dawa import budget, check, kernels
from dawa.arrays import FloatArray, IntArray, frozen
from dawa.counts import Counts, Occupied
from dawa.errors import BudgetError, OptionError
from dawa.limits import MOST_CELLS_TRANSFORMED, MOST_FREQUENCIES, MOST_QUERIES_TRANSFORMED
from dawa.mechanisms.base import Mechanism
from dawa.noise import discrete, gates
from dawa.noise.randomness import Randomness
from dawa.queries.bucket_queries import Closed, runs_of
from dawa.queries.workload import Workload
from dawa.results.estimate import Estimate

WORK = 2**26
"""Most table entries that are read per pass: cells times frequencies."""

FINEST = 28
"""Bits of a cosine of 1, if the noise scale allows it."""

LOW = 14
"""Bits in the lower word of an entry: the sums of both words fit in 64 bits."""

HEAVIEST = 2**10
"""The weight of the most important frequency."""

SCALE_LIMIT = 2**55
"""Noise scales lie below this."""

IMPORTANCE = 2**40
"""The importance of the most important frequency in a score."""

STEPS = 2**10
"""About how many steps one record can move a score."""

SCORE_LIMIT = 2**58
"""Noise alone makes no more steps than this: with 2^45 records, scores then fit in 64 bits."""


@dataclass(frozen=True)
class Efpa(Mechanism):
    """Options of EFPA: all public.

    Attributes:
        share: Share of epsilon for choosing how many coefficients to keep; the original has one half.
        weights: ``"workload"``: frequencies are measured and judged by how much they matter for the workload; or
            ``"equal"``, as in the original: the squared error of the cells counts.
        cells: Whether noise on every cell may be chosen in place of all coefficients.
    """

    name = "efpa"
    summary = "The lowest Fourier coefficients, their number chosen by the exponential mechanism (Ács et al. 2012)."
    error_bars = False

    share: Annotated[Fraction, check.SHARE] = Fraction(1, 5)
    weights: Literal["workload", "equal"] = "workload"
    cells: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", budget.share(self.share, "share"))
        check.one_of(self.weights, "weights", ("workload", "equal"))
        object.__setattr__(self, "cells", check.flag(self.cells, "cells"))

    def run(self, counts: Counts, workload: Workload, epsilon: Fraction, randomness: Randomness) -> Estimate:
        """See the module's function of the same name."""
        return run(counts, workload, epsilon, self, randomness)


DEFAULTS = Efpa()


@dataclass(frozen=True, eq=False)
class Parameters:
    """The public numbers of one run.

    Candidate k keeps the frequencies 0 to k; one more candidate, if there is one, is noise on every cell.

    Attributes:
        size: Number of cells, n.
        bits: A cosine of 1 is ``2^bits``.
        cosines: One period of integer cosines.
        sines: One period of integer sines.
        importance: The weight of a squared error in an answer of each frequency, in a score.
        weights: The weight of the answers of each frequency: their noise has scale ``scales[k] / weight``.
        columns: The most by which one record moves the weighted answers of candidate k.
        scales: Noise scale of the weighted answers of candidate k.
        cell_scale: Noise scale of cells; None if they are not a candidate.
        noise: The expected noise of each candidate, in squared score units.
        step: Score units per step.
        spread: The most steps by which one record moves a score against another.
        choice_scale: Scale of the exponential mechanism, in steps.
    """

    size: int
    bits: int
    cosines: IntArray
    sines: IntArray
    importance: tuple[int, ...]
    weights: IntArray
    columns: IntArray
    scales: IntArray
    cell_scale: Fraction | None
    noise: tuple[int, ...]
    step: int
    spread: int
    choice_scale: Fraction

    @property
    def choice_loss(self) -> Fraction:
        """The privacy loss of choosing."""
        return self.spread / self.choice_scale

    @property
    def measure_loss(self) -> Fraction:
        """The privacy loss of measuring, for the worst candidate."""
        pairs = zip(self.columns.tolist(), self.scales.tolist(), strict=True)
        losses = [discrete.loss(column, Fraction(scale)) for column, scale in pairs]
        if self.cell_scale is not None:
            losses.append(discrete.loss(1, self.cell_scale))
        return max(losses)

    @property
    def loss(self) -> Fraction:
        """The privacy loss of both steps."""
        return self.choice_loss + self.measure_loss


@dataclass(frozen=True, eq=False)
class Answers:
    """The exact answers to all rows, private: whole numbers too large for 64 bits."""

    cosines: list[int]
    sines: list[int]


def most_frequencies(size: int) -> int:
    """How many frequencies are considered, from the size of the domain alone.

    >>> [most_frequencies(n) for n in (1, 2, 7, 4096, 2**16, 2**20)]
    [1, 2, 4, 2049, 1024, 64]
    """
    return min(size // 2 + 1, MOST_FREQUENCIES, WORK // size)


def parameters_for(size: int, workload: Workload, epsilon: Fraction, options: Efpa) -> Parameters:
    """Fix tables, weights and scales, from public numbers alone.

    Raises:
        OptionError: If there are too many cells.
        BudgetError: If epsilon is so small that no scale can be drawn.
    """
    if size > MOST_CELLS_TRANSFORMED:
        raise OptionError(
            f"efpa takes at most {MOST_CELLS_TRANSFORMED} cells, not {size}.", "use 'dawa', which has no such limit."
        )
    epsilon1, epsilon2 = options.share * epsilon, (1 - options.share) * epsilon
    matters, square = _importance(workload, most_frequencies(size), options)
    weights = _weights(matters, options)
    bits = _bits(weights, epsilon2)
    cosines, sines = tables(size, bits)
    columns: IntArray = kernels.fourier.largest_columns(cosines, sines, weights)
    scales = np.array([math.ceil(column / epsilon2) for column in columns.tolist()], np.int64)
    importance = tuple(round(IMPORTANCE * matter) for matter in matters / matters.max())
    rows = np.where((np.arange(len(weights)) == 0) | (2 * np.arange(len(weights)) == size), 1.0, 2.0)
    heard = np.cumsum(np.array(importance, np.float64) * rows / weights.astype(np.float64) ** 2)
    noise = [int(2 * each * float(scale) ** 2) for each, scale in zip(heard, scales, strict=True)]
    cell_scale = None
    if options.cells:
        cell_scale = discrete.coarsened(1 / epsilon2)
        noise.append(int(IMPORTANCE * 4.0**bits * square / matters.max() * discrete.variance(cell_scale)))
    square_move = int((cosines**2 + sines**2).max()) * sum(importance[1:])
    step = max(1, math.isqrt(square_move) // STEPS, math.isqrt(max(noise)) // SCORE_LIMIT)
    spread = _root_above(2 * square_move, step) + 1
    choice_scale = discrete.coarsened(spread / epsilon1)
    return Parameters(
        size,
        bits,
        cosines,
        sines,
        importance,
        weights,
        columns,
        scales,
        cell_scale,
        tuple(noise),
        step,
        spread,
        choice_scale,
    )


def loss(size: int, workload: Workload, epsilon: Fraction, options: Efpa = DEFAULTS) -> Fraction:
    """The privacy loss of the numbers that ``run`` would use: at most ``epsilon``, exactly.

    >>> loss(5, Workload.ranges([0, 2], [3, 4], 5), Fraction(1)) <= 1
    True
    """
    return parameters_for(size, workload, epsilon, options).loss


def tables(size: int, bits: int) -> tuple[IntArray, IntArray]:
    """One period of ``2^bits`` times cosine and sine, in whole numbers."""
    angle = 2 * np.pi * np.arange(size) / size
    cosines, sines = (np.rint(2.0**bits * wave).astype(np.int64) for wave in (np.cos(angle), np.sin(angle)))
    return frozen(cosines), frozen(sines)


def transformed(exposed: Occupied, parameters: Parameters) -> Answers:
    """The exact answers to all rows: sums of integers."""
    frequencies = len(parameters.weights)
    words = [
        kernels.fourier.sums(exposed.cells, exposed.counts, table, frequencies, LOW)
        for table in (parameters.cosines, parameters.sines)
    ]
    cosines, sines = (
        [(upper << LOW) + lower for upper, lower in zip(high.tolist(), rest.tolist(), strict=True)]
        for high, rest in words
    )
    return Answers(cosines, sines)


def scores(answers: Answers, parameters: Parameters) -> IntArray:
    """How good each candidate is: minus its expected error, in steps.

    The error is the root of the dropped frequencies' energy plus the noise in the kept ones.
    """
    energies = [
        matter * (cosine**2 + sine**2)
        for matter, cosine, sine in zip(parameters.importance, answers.cosines, answers.sines, strict=True)
    ]
    dropped = sum(energies)
    squares = []
    for energy, noise in zip(energies, parameters.noise, strict=False):  # the cells, if they compete, drop nothing
        dropped -= energy
        squares.append(dropped + noise)
    squares.extend(parameters.noise[len(energies) :])
    steps: IntArray = np.array([-math.isqrt(square // parameters.step**2) for square in squares], np.int64)
    return steps


def run(counts: Counts, workload: Workload, epsilon: Fraction, options: Efpa, randomness: Randomness) -> Estimate:
    """Choose how many frequencies to keep, measure them, and transform back."""
    parameters = parameters_for(counts.size, workload, epsilon, options)
    check.within(parameters.loss, epsilon, "Measuring frequencies")
    answers = transformed(counts.exposed, parameters)
    chosen = gates.chosen(scores(answers, parameters), parameters.choice_scale, randomness)
    if chosen == len(parameters.weights) and parameters.cell_scale is not None:
        exact = counts.exposed.dense(counts.size)
        cells = gates.noisy(exact, parameters.cell_scale, randomness).astype(np.float64)
    else:
        cells = inverted(measured(answers, parameters, chosen, randomness), parameters.size)
    split = {"choose": options.share * epsilon, "measure": (1 - options.share) * epsilon}
    return Estimate.of_cells(counts.shape, cells, epsilon, _plain(options), split, randomness.description)


def measured(answers: Answers, parameters: Parameters, highest: int, randomness: Randomness) -> NDArray[np.complex128]:
    """Noisy Fourier coefficients of the frequencies 0 to ``highest``: public from here on."""
    kept = highest + 1
    weights = np.tile(parameters.weights[:kept], 2)
    scales = np.full(2 * kept, parameters.scales[highest]), weights
    noisy = gates.noisy_large(answers.cosines[:kept] + answers.sines[:kept], scales, randomness)
    waves = np.array([float(answer) for answer in noisy]) / 2.0**parameters.bits
    coefficients: NDArray[np.complex128] = waves[:kept] - 1j * waves[kept:]
    return coefficients


def inverted(coefficients: NDArray[np.complex128], size: int) -> FloatArray:
    """Cells from the lowest coefficients; the others are 0, and sines of frequencies without a sine are ignored."""
    cells: FloatArray = np.fft.irfft(coefficients, size) if size > 1 else coefficients.real
    return cells


def _importance(workload: Workload, frequencies: int, options: Efpa) -> tuple[FloatArray, float]:
    """What a squared error in a row's answer adds to that of a query, on average; and the mean square of a query.

    A query with the power ``|q_j|²`` at frequency j takes each of the two rows with ``2·|q_j|²/n²`` on average over
    shifts; the row of a frequency with a single row (0, and n/2 if there is one) with ``|q_j|²/n²``.
    """
    size, each = workload.size, np.arange(frequencies)
    powers, square = _powers(workload, frequencies) if options.weights == "workload" else (np.ones(frequencies), 1.0)
    if not powers.max() > 0:  # all queries have weight 0
        powers, square = np.ones(frequencies), 1.0
    single = (each == 0) | (2 * each == size)
    return np.where(single, 1.0, 2.0) * powers / size**2, square


def _powers(workload: Workload, frequencies: int) -> tuple[FloatArray, float]:
    """The mean over queries of ``|q_j|²`` for each frequency, and of the sum of squares over cells."""
    size, each = workload.size, np.arange(1, frequencies)
    if workload.closed is Closed.CELLS:
        return np.ones(frequencies), 1.0
    gaps = 4 * np.sin(np.pi * each / size) ** 2
    if workload.closed is None:
        first, lo, hi, weight = _thinned(workload)
        circle = np.exp(-2j * np.pi * np.arange(size) / size)
        powers = kernels.fourier.powers(first, lo, hi, weight, circle, frequencies)
        lengths = (hi - lo).astype(np.float64)
        powers[0] = np.mean(np.add.reduceat(weight * lengths, first[:-1]) ** 2)
        powers[1:] /= gaps
        return powers, float((weight**2 * lengths).sum() / (len(first) - 1))
    if workload.closed is Closed.PREFIXES:
        return np.concatenate(([(size + 1) * (2 * size + 1) / 6], 2 / gaps)), (size + 1) / 2
    apart = 2 * (size + 2) / (size + 1)  # the mean square between two distinct ends, on the circle
    return np.concatenate(([(size + 1) * (size + 2) / 6], apart / gaps)), (size + 2) / 3


def _thinned(workload: Workload) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Every j-th query, so that not many more than ``MOST_QUERIES_TRANSFORMED`` runs are left."""
    queries = len(workload.first) - 1
    keep = max(1, min(queries, MOST_QUERIES_TRANSFORMED * queries // len(workload.lo)))
    picks = np.linspace(0, queries - 1, keep).astype(np.int64)
    first, runs = runs_of(workload.first, picks)
    return first, workload.lo[runs], workload.hi[runs], workload.weight[runs]


def _weights(matters: FloatArray, options: Efpa) -> IntArray:
    """Whole weights near the best ones: noise ``1/w²`` under a fixed sum of w asks for the cube root."""
    if options.weights == "equal":
        return np.ones(len(matters), np.int64)
    roots = np.cbrt(matters / matters.max())
    weights: IntArray = np.maximum(1, np.rint(HEAVIEST * roots)).astype(np.int64)
    return weights


def _bits(weights: IntArray, epsilon2: Fraction) -> int:
    """The finest cosines whose noise scale can be drawn: a column sums to at most 3/2 per unit of weight."""
    most = 3 * int(weights.sum())
    for bits in range(FINEST, 1, -1):
        if most * 2 ** (bits - 1) / epsilon2 < SCALE_LIMIT:
            return bits
    raise BudgetError(
        f"A budget of {float(epsilon2):.3g} for so many frequencies needs more noise than can be drawn.",
        "spend more.",
    )


def _root_above(square: int, step: int) -> int:
    """The least whole s with ``(s · step)² ≥ square``."""
    root = math.isqrt(square // step**2)
    return root if (root * step) ** 2 >= square else root + 1


def _plain(options: Efpa) -> dict[str, Any]:
    """Options as JSON can hold them."""
    return {"share": str(options.share), "weights": options.weights, "cells": options.cells}
