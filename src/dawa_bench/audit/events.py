"""Events that tell two neighbours apart, found in outputs alone.

A search looks at outputs of both, and says in which event they differ most. It learns scores on one part of them, and
compares events on another: a score above or below a threshold. Scores are

- single numbers of an output, and what lies in their last digits: the exponent, the trailing zeros of the mantissa, the
  lowest bit that is set, the part after the point;
- how much likelier one neighbour makes a number, or an exact pattern of several numbers, as counted;
- all of these together, weighed by logistic regression.

A mechanism that rounds noisy floats shows in the lowest bits (Mironov, On Significance of the Least Significant Bits
for Differential Privacy, 2012). The search follows DP-Sniper (Bichsel et al. 2021): what is found here proves nothing
before it was counted on fresh outputs, which ``outside`` does.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from dawa.arrays import BoolArray, FloatArray, IntArray, WordArray

Score = Callable[[FloatArray], FloatArray]
"""One number for each output: outputs are rows."""

MANTISSA = 53
"""Binary digits of a float."""
BINS = 32
"""Numbers that are nearly all different are counted in so many bins."""
DISTINCT = 0.05
"""Numbers with fewer different values than this part of all outputs are counted value by value."""
THRESHOLDS = special.expit(np.linspace(-9, 9, 73))
"""Parts of all outputs below a threshold: fine at both ends."""
WEIGHED, STEPS, RIDGE = 48, 12, 1e-3
"""Scores in the regression, its Newton steps, and what keeps its weights small."""
PLAINER = 0.02
"""An event must be worth more by this part than one with plainer words."""
LISTED = 16
"""Numbers of an example that are shown."""
ROWS = 50_000
"""Outputs of each neighbour that the regression looks at."""


@dataclass(frozen=True)
class Reading:
    """What the numbers of an output are.

    Attributes:
        names: A name for each.
        together: Parts of an output whose exact patterns are looked at, with a name for each part.
    """

    names: tuple[str, ...]
    together: tuple[tuple[str, slice], ...] = (("all numbers", slice(None)),)

    @classmethod
    def numbered(cls, width: int) -> "Reading":
        """Numbers without names.

        >>> Reading.numbered(2).names
        ('number 1', 'number 2')
        """
        return cls(tuple(f"number {place + 1}" for place in range(width)))


@dataclass(frozen=True)
class _Scored:
    """A score in words; if the words say little, what an example of an event should show of an output."""

    words: str
    score: Score
    example: Score | None = None


@dataclass(frozen=True)
class Event:
    """A score that lies above a threshold, or does not.

    Attributes:
        words: What happens.
        score: Of each output.
        threshold: What it is compared with.
        above: Whether the event is to lie above it, or at or below it.
    """

    words: str
    score: Score
    threshold: float
    above: bool

    def holds(self, outputs: FloatArray) -> BoolArray:
        """In which outputs it happens."""
        over: BoolArray = self.score(outputs) > self.threshold
        return over if self.above else ~over


Worth = Callable[[IntArray, IntArray, int], FloatArray]
"""What an event is worth: seen so often with one neighbour and with the other, each of so many times."""


def found(one: FloatArray, two: FloatArray, reading: Reading, worth: Worth, least: int) -> Event:
    """The event that tells most, by ``worth``, among those that one neighbour shows at least so often.

    The first half of the outputs teaches scores, the second half compares events. Of events that are worth nearly the
    same, the plainest is taken.
    """
    half = len(one) // 2
    best, most, example = Event("anything", lambda outputs: np.zeros(len(outputs)), 0.0, above=False), 0.0, None
    for scored in _scores(one[:half], two[:half], reading):
        score = scored.score
        mine, theirs = np.sort(score(one[half:])), np.sort(score(two[half:]))
        thresholds = np.unique(np.quantile(np.concatenate((mine, theirs)), THRESHOLDS, method="inverted_cdf"))
        below = [np.searchsorted(each, thresholds, side="right") for each in (mine, theirs)]
        for above in (False, True):
            seen, other = (len(mine) - each if above else each for each in below)
            value = np.where(seen >= least, worth(seen, other, len(mine)), -np.inf)
            at = int(value.argmax())
            if value[at] > most * (1 + PLAINER):
                most, example = float(value[at]), scored.example
                sense = "above" if above else "at most"
                words = f"{scored.words} {sense} {thresholds[at]:.6g}"
                best = Event(words, score, float(thresholds[at]), above)
    return best if example is None else replace(best, words=f"{best.words}, such as {_commonest(best, example, one)}")


def exponents(numbers: FloatArray) -> FloatArray:
    """The binary exponents of floats.

    >>> exponents(np.array([1.0, 0.75, 0.0])).tolist()
    [1.0, 0.0, 0.0]
    """
    return np.frexp(numbers)[1].astype(np.float64)


def trailing_zeros(numbers: FloatArray) -> FloatArray:
    """How many of the last binary digits of floats are zero.

    >>> trailing_zeros(np.array([1.0, 0.1, 0.0])).tolist()
    [52.0, 1.0, 53.0]
    """
    whole = np.ldexp(np.frexp(numbers)[0], MANTISSA).astype(np.int64)
    zeros: FloatArray = np.where(whole == 0, MANTISSA, np.frexp((whole & -whole).astype(np.float64))[1] - 1.0)
    return zeros


def lowest_bits(numbers: FloatArray) -> FloatArray:
    """The powers of two of the lowest bits that are set: floats are multiples of these. Zero is a multiple of all.

    >>> lowest_bits(np.array([6.0, 0.75, 2.0**-60])).tolist()
    [1.0, -2.0, -60.0]
    """
    low: FloatArray = np.where(
        numbers == 0, float(2 * MANTISSA), exponents(numbers) - MANTISSA + trailing_zeros(numbers)
    )
    return low


def patterns(numbers: FloatArray) -> FloatArray:
    """A number for each row that depends on all of its bits; other rows have another one, but for about 2^-52."""
    words: WordArray = np.ascontiguousarray(numbers, np.float64).view(np.uint64)
    mixed = np.zeros(len(words), np.uint64)
    for column in words.T:
        mixed = (mixed ^ column) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(12)).astype(np.float64)


def _features(reading: Reading) -> Iterator[_Scored]:
    """What is computed from outputs without looking at others."""
    for at, name in enumerate(reading.names):
        yield _Scored(name, _column(at))
        yield _Scored(f"the lowest bit of {name}, a power of two,", _of(lowest_bits, at))
        yield _Scored(f"the trailing zero bits of {name}", _of(trailing_zeros, at))
        yield _Scored(f"the exponent of {name}", _of(exponents, at))
        yield _Scored(f"the part after the point of {name}", _of(lambda numbers: numbers - np.floor(numbers), at))


def _patterns(reading: Reading) -> Iterator[tuple[str, Score]]:
    """What parts of an output show: names, and numbers of which only the exact pattern means anything."""
    for name, part in reading.together:
        yield name, _part(part, lambda rows: rows)
        yield f"which of {name} are zero", _part(part, lambda rows: (rows == 0).astype(np.float64))
        yield f"which of {name} equal the next", _part(part, lambda rows: (np.diff(rows) == 0).astype(np.float64))


def _column(at: int) -> Score:
    return lambda outputs: outputs[:, at]


def _of(feature: Score, at: int) -> Score:
    return lambda outputs: feature(outputs[:, at])


def _part(part: slice, shown: Score) -> Score:
    return lambda outputs: shown(outputs[:, part])


def _hashed(shown: Score) -> Score:
    return lambda outputs: patterns(shown(outputs))


def _scores(one: FloatArray, two: FloatArray, reading: Reading) -> Iterator[_Scored]:
    """Features themselves, how much likelier one neighbour makes them, and all together; the plain ones first."""
    learned = []
    for each in _features(reading):
        mine, theirs = each.score(one), each.score(two)
        if mine.min() != mine.max() or (theirs != mine[0]).any():
            yield each
            likelihood = _likelihood(each.score, mine, theirs)
            learned.append(_Scored(f"the likelihood of {each.words}", likelihood, each.score))
    for name, shown in _patterns(reading):
        pattern = _hashed(shown)
        likelihood = _likelihood(pattern, pattern(one), pattern(two))
        learned.append(_Scored(f"the likelihood of {name}", likelihood, shown))
    yield from learned
    together = _together([each.score for each in learned], one[:ROWS], two[:ROWS])
    yield _Scored("a score of everything together", together)


def _commonest(event: Event, shown: Score, outputs: FloatArray) -> str:
    """What outputs with an event show most often."""
    rows, times = np.unique(shown(outputs[event.holds(outputs)][:ROWS]), axis=0, return_counts=True)
    numbers = ", ".join(f"{number:.6g}" for number in np.atleast_1d(rows[times.argmax()])[:LISTED])
    return f"({numbers})"


def _likelihood(feature: Score, one: FloatArray, two: FloatArray) -> Score:
    """The logarithm of how much likelier one neighbour makes a feature, less its standard error; 0 where unknown."""
    values = np.unique(np.concatenate((one, two)))
    listed = len(values) <= max(DISTINCT * 2 * len(one), BINS)
    if not listed:
        both = np.concatenate((one, two))
        values = np.unique(np.quantile(both, np.arange(1, BINS) / BINS, method="inverted_cdf"))
    logarithms = _logarithms(*(_counted(each, values, listed=listed) for each in (one, two)))

    def score(outputs: FloatArray) -> FloatArray:
        numbers = feature(outputs)
        places = np.searchsorted(values, numbers, side="left")
        if not listed:
            return logarithms[places]
        places = np.minimum(places, len(values) - 1)
        return np.where(values[places] == numbers, logarithms[places], 0.0)

    return score


def _counted(numbers: FloatArray, values: FloatArray, *, listed: bool) -> IntArray:
    """How many lie in each bin, which ends at a value; the last one has no end unless all values are listed."""
    places = np.searchsorted(values, numbers, side="left")
    return np.bincount(places, minlength=len(values) + (not listed))


def _logarithms(one: IntArray, two: IntArray) -> FloatArray:
    raw = np.log((one + 0.5) / (two + 0.5))
    error = np.sqrt(1 / (one + 0.5) + 1 / (two + 0.5))
    sure: FloatArray = np.sign(raw) * np.maximum(np.abs(raw) - error, 0)
    return sure


def _together(scores: Sequence[Score], one: FloatArray, two: FloatArray) -> Score:
    """Logistic regression on the scores that differ most between the neighbours."""
    columns = [(score(one), score(two)) for score in scores]
    apart = [abs(float(mine.mean() - theirs.mean())) for mine, theirs in columns]
    kept = [at for at in np.argsort(apart)[::-1][:WEIGHED].tolist() if apart[at] > 0]
    table = np.stack([np.concatenate(columns[at]) for at in kept], axis=1) if kept else np.zeros((2 * len(one), 0))
    weights = _weights(table, np.repeat([True, False], [len(one), len(two)]))
    used = [scores[at] for at in kept]

    def score(outputs: FloatArray) -> FloatArray:
        total = np.zeros(len(outputs))
        for weight, each in zip(weights.tolist(), used, strict=True):
            total += weight * each(outputs)
        return total

    return score


def _weights(table: FloatArray, first: NDArray[np.bool_]) -> FloatArray:
    """The weights of a logistic regression with a small ridge, by Newton's method, without its constant."""
    spread = np.where(table.std(axis=0) > 0, table.std(axis=0), 1.0)
    scaled = np.column_stack((np.ones(len(table)), (table - table.mean(axis=0)) / spread))
    weights = np.zeros(scaled.shape[1])
    for _ in range(STEPS):
        chance = special.expit(scaled @ weights)
        slope = scaled.T @ (first - chance) - RIDGE * len(table) * weights
        bend = (scaled * (chance * (1 - chance))[:, None]).T @ scaled + RIDGE * len(table) * np.eye(len(weights))
        weights += np.linalg.solve(bend, slope)
    found_weights: FloatArray = weights[1:] / spread
    return found_weights
