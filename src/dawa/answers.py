"""An answer and its two errors: what noise did, and what evenness inside buckets assumes.

*Noise* has a known variance, so its margin is known. *Bias* arises where a range cuts a bucket: the release spreads a
bucket's records evenly, and they need not lie so. Two public facts bound it, each with a stated chance of failing:

- the walk left the bucket whole, which it rarely does with an uneven one (``partition.buckets.StopRule``);
- the part inside the range lies between none and all of the bucket's records, of which the release knows the number.

The margin of the noise is not a confidence interval for the truth; ``low`` to ``high`` is one.
"""

from dataclasses import dataclass

import numpy as np

from dawa.arrays import FloatArray
from dawa.errors import OptionError
from dawa.estimates import Estimate
from dawa.margins import margin_factor
from dawa.strategy.rows import RESOLUTION


@dataclass(frozen=True)
class Answer:
    """The number of records in a range, with honest error bars.

    Attributes:
        value: The best guess, consistent with all other answers of the release.
        noise_margin: How far noise may have moved it.
        bias_bound: How much more the truth may differ because the range cuts buckets; 0 where it cuts none.
        low: The truth is not lower than this,
        high: nor higher than this,
        confidence: with at least this probability.
    """

    value: float
    noise_margin: float
    bias_bound: float
    low: float
    high: float
    confidence: float

    def __str__(self) -> str:
        bias = f", at most {self.bias_bound:,.0f} more from cut buckets" if self.bias_bound else ""
        return (
            f"{self.value:,.0f} ± {self.noise_margin:,.0f} noise{bias}"
            f" (between {self.low:,.0f} and {self.high:,.0f} with {self.confidence:.0%} confidence)"
        )


def check_confidence(confidence: float) -> float:
    """The chance of being wrong, or an error."""
    if not isinstance(confidence, (int, float, np.number)) or not 0.5 <= confidence < 1 - 1e-9:
        raise OptionError(
            f"confidence={confidence!r} cannot be promised.", "pass a probability such as confidence=0.95."
        )
    return 1 - float(confidence)


def answer(estimate: Estimate, lo: float, hi: float, *, on_cells: bool, confidence: float) -> Answer:
    """Answer one range, given in bucket coordinates.

    The chance of being wrong is halved between noise and bias; bias divides its half among the at most two cut
    buckets and, for each, among the two facts that bound it.

    Args:
        estimate: What was measured.
        lo: Where the range begins, in buckets.
        hi: Where it ends.
        on_cells: Whether both ends are cell borders. If not, evenness inside a cell is assumed too.
        confidence: How sure to be.
    """
    chance = check_confidence(confidence)
    cut = {int(end) for end in (lo, hi) if end != int(end)}
    start, stop = np.array([lo]), np.array([hi])
    noise = _margin(estimate, start, stop, chance / 2 if cut else chance)
    bias = sum(_bias(estimate, bucket, lo, hi, chance / 8, on_cells=on_cells) for bucket in cut)
    value = float(estimate.range_totals(start, stop)[0])
    centre = float(estimate.range_totals(start, stop, unbiased=True)[0])
    low, high = max(centre - noise - bias, 0.0), max(centre + noise + bias, 0.0)
    return Answer(value, noise, bias, min(low, value), max(high, value), float(confidence))


def _margin(estimate: Estimate, lo: FloatArray, hi: FloatArray, chance: float) -> float:
    factor = margin_factor(chance, RESOLUTION / float(estimate.epsilon))
    return factor * float(np.sqrt(estimate.range_variances(lo, hi)[0]))


def _bias(estimate: Estimate, bucket: int, lo: float, hi: float, chance: float, *, on_cells: bool) -> float:
    """How far evenness can be off in one cut bucket; each of two bounds fails with at most the given chance."""
    inside = min(hi, bucket + 1) - max(lo, bucket)
    start = np.array([float(bucket)])
    one_sided = _margin(estimate, start, start + 1, 2 * chance)
    by_total = max(inside, 1 - inside) * max(float(estimate.unbiased[bucket]) + one_sided, 0.0)
    if estimate.buckets.stops is None or not on_cells:
        return by_total
    return min(by_total, float(estimate.buckets.stops.uneven(chance)[bucket]))
