"""Answers and their two errors: noise, and not knowing where records lie inside buckets.

*Noise* has a known variance, so its margin is known. *Bias* arises where a query cuts a bucket: the bucket's records
are spread evenly, but they may lie unevenly. Two public facts bound it, each with a stated chance of failing:

- the walk left the bucket whole, which it rarely does with an uneven one (``partition.buckets.StopRule``). If a part f
  of a bucket's cells is inside and D is the bucket's unevenness, the records inside differ from the part f of all its
  records by at most max(f, 1-f)·D, whichever cells are inside: subtracting the median from every cell changes neither;
- the records inside are between none and all of the bucket's records, whose number the release knows.

The margin of the noise is not a confidence interval for the truth; ``low`` to ``high`` is one. Noise and bias each get
half of the chance c of being wrong, and each of the two facts gets half of that of the bias. The walk is asked about
the buckets that hold the cells along the query's border, so its chance is divided by the number of these cells, which
is known before any data.

If nothing is cut there is no bias, but noise may not have all of c: whether something is cut is the walk's doing. The
walk leaves an uneven bucket whole with chance c/4 at most, whatever happens otherwise. Given what it did, noise and the
numbers of records fail with chance 3c/4 at most if something is cut. So noise has 3c/4 if nothing is, and the sum is c
in any case. Where no walk chose the buckets, nothing is left to it, and noise has all of c.

The *value* is another public number: negative totals are evened out, and ``insides`` may place records smoothly. Let M
be ``measured``, the unbiased totals spread evenly. All of the above is about M, whatever the value S is: with the
stated confidence the truth is within noise + bias of M. The interval is that, widened to hold S, so it holds the truth
just as surely. And |truth - S| <= |truth - M| + |M - S|, whose last part is public. A smooth S costs no width as long
as it lies in the interval of M. It mostly does: the two forms differ in cut buckets alone, there by less than a part of
the bucket's total, and the bias bound is a part of the most that the bucket can hold, or of its unevenness.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from dawa import check
from dawa.arrays import BoolArray, FloatArray, IntArray
from dawa.errors import OptionError
from dawa.numerals import told
from dawa.queries.bucket_queries import BucketQueries, runs_of
from dawa.results.estimate import Estimate
from dawa.results.margins import margin_factor
from dawa.strategy.base import RESOLUTION


@dataclass(frozen=True)
class Answer:
    """The number of records in a range, with honest error bars.

    Attributes:
        value: The best guess, consistent with all other answers of the release.
        noise_margin: How far noise may have moved the value.
        bias_bound: How much more the truth may differ because the range cuts buckets; 0 if it cuts no bucket.
        measured: The number as it was measured, around which the interval lies: before negative buckets were evened
            out, and with the records of cut buckets spread evenly.
        low: The lower end of an interval that holds the truth: ``measured`` minus both errors, but neither below 0 nor
            above the value.
        high: The upper end: ``measured`` plus both errors, but not below the value.
        confidence: The probability, at least, that it holds the truth.
        remark: What else is counted in it, or what was counted at all, in words; empty if there is nothing to add.
        lo: The lower end of the range, as it was asked; with several axes, one for each. None if it is no range.
        hi: The upper end.
    """

    value: float
    noise_margin: float
    bias_bound: float
    measured: float
    low: float
    high: float
    confidence: float
    remark: str = ""
    lo: Any = None
    hi: Any = None

    @property
    def evened_out(self) -> bool:
        """Whether the value is so far from what was measured that it shows."""
        return abs(self.value - self.measured) >= 0.5

    def row(self) -> dict[str, Any]:
        """What tables and JSON list of it, by name: all but the range, which they write in their own way."""
        return {name: getattr(self, name) for name in LISTED}

    def __str__(self) -> str:
        bias = f", at most {self.bias_bound:,.0f} more from cut buckets" if self.bias_bound else ""
        moved = f" ({self.measured:,.0f} as measured)" if self.evened_out else ""
        return (
            f"{self.value:,.0f}{moved} ± {self.noise_margin:,.0f} noise{bias}"
            f" (between {self.low:,.0f} and {self.high:,.0f} with {sure(self.confidence)} confidence)"
            f"{self.remark and '; '}{self.remark}"
        )


def sure(confidence: float) -> str:
    """A confidence as people write it, with all of its digits: 99.9% is not 100%.

    >>> sure(0.95), sure(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * confidence:.10g}%"


LISTED = tuple(field.name for field in fields(Answer) if field.name not in {"lo", "hi"})
"""The names in ``Answer.row``."""


class Cuts(NamedTuple):
    """The buckets that queries cut, query by query."""

    query: IntArray
    bucket: IntArray
    inside: FloatArray
    """The part of the bucket that the query covers."""


def check_confidence(confidence: float) -> float:
    """The chance of being wrong, or an error."""
    if not check.is_number(confidence) or not 0.5 <= confidence < 1 - 1e-9:
        raise OptionError(
            f"confidence={told(confidence)} cannot be promised.", "pass a probability such as confidence=0.95."
        )
    return 1 - float(confidence)


def answers(
    estimate: Estimate,
    queries: BucketQueries,
    border: FloatArray,
    on_cells: BoolArray,
    confidence: float,
    notes: Sequence[str] | None = None,
) -> list[Answer]:
    """Answer queries that count every covered bucket once, or the part of it that they cover.

    Args:
        estimate: What was measured.
        queries: The queries, in bucket coordinates.
        border: At most how many cells lie along each query's border; one or two for a range on one axis.
        on_cells: Whether a query covers whole cells only. If not, evenness inside a cell is assumed too.
        confidence: The confidence of each answer.
        notes: What to add to each answer, in words; None adds nothing.
    """
    chance = check_confidence(confidence)
    cuts = cut_buckets(queries)
    count = np.bincount(cuts.query, minlength=len(queries))
    factor = np.where(count > 0, factor_of(estimate, chance / 2), factor_of(estimate, uncut(estimate, chance)))
    noise = factor * np.sqrt(estimate.variances_of(queries))
    bias = bias_of(estimate, cuts, count, border, on_cells, chance / 2)
    value, centre = estimate.totals_of(queries), estimate.totals_of(queries, unbiased=True)
    low, high = np.maximum(centre - noise - bias, 0), np.maximum(centre + noise + bias, 0)
    table = np.stack((value, noise, bias, centre, np.minimum(low, value), np.maximum(high, value)), axis=1).tolist()
    words = [""] * len(table) if notes is None else notes
    sure = float(confidence)
    return [Answer(a, b, c, d, e, f, sure, note) for (a, b, c, d, e, f), note in zip(table, words, strict=True)]


def cut_buckets(queries: BucketQueries) -> Cuts:
    """Which buckets each query covers in part only, and how large a part."""
    query = np.repeat(np.arange(len(queries)), np.diff(queries.first))
    left, right = np.floor(queries.lo).astype(np.int64), np.floor(queries.hi).astype(np.int64)
    light = queries.weight != 1  # every bucket of such a run is cut; otherwise, only buckets at its ends can be
    at_left = ~light & (left != queries.lo)
    at_right = ~light & (right != queries.hi) & ((right != left) | ~at_left)
    lengths = np.where(light, np.ceil(queries.hi).astype(np.int64) - left, 0)
    along = np.repeat(np.arange(len(lengths)), lengths)
    step = np.arange(len(along)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    run = np.concatenate((along, np.flatnonzero(at_left), np.flatnonzero(at_right)))
    bucket = np.concatenate((left[along] + step, left[at_left], right[at_right]))
    covered = np.minimum(queries.hi[run], bucket + 1) - np.maximum(queries.lo[run], bucket)
    order = np.argsort(query[run], kind="stable")
    return Cuts(query[run][order], bucket[order], (queries.weight[run] * covered)[order])


def bias_of(
    estimate: Estimate, cuts: Cuts, count: IntArray, border: FloatArray, on_cells: BoolArray, chance: float
) -> FloatArray:
    """How far an even spread can be off in the cut buckets, with at most the given chance of being wrong."""
    larger = np.maximum(cuts.inside, 1 - cuts.inside)
    by_walk = np.full(len(cuts.query), np.inf)
    stops = estimate.buckets.stops
    if stops is not None and len(cuts.query):
        asked = np.flatnonzero(on_cells[cuts.query])
        chances = chance / 2 / border[cuts.query[asked]]
        by_walk[asked] = larger[asked] * stops.uneven(chances, cuts.bucket[asked])
    few = (count > 0) & (count <= 2)
    bias = np.zeros(len(count))
    # One or two cut buckets, as on a line: each takes the better of the two bounds.
    at = np.flatnonzero(few[cuts.query])
    bucket = cuts.bucket[at].astype(np.float64)
    variance = estimate.range_variances(bucket, bucket + 1) if len(at) else np.zeros(0)
    by_total = larger[at] * _most_records(estimate, cuts.bucket[at], variance, chance / 2)
    np.add.at(bias, cuts.query[at], np.minimum(by_total, by_walk[at]))
    # Many cut buckets: their totals are bounded together, because their noise mostly cancels.
    many = np.flatnonzero(count > 2)
    if len(many):
        walked = np.bincount(cuts.query, by_walk, minlength=len(count))[many]
        sides = [_upper(estimate, cuts, part, many, chance / 2) for part in (cuts.inside, 1 - cuts.inside)]
        bias[many] = np.minimum(np.maximum(*sides), walked)
    return bias


def bias_of_buckets(estimate: Estimate, buckets: IntArray, variance: FloatArray, chance: float) -> FloatArray:
    """At most how far each bucket's records are from lying evenly, for a bucket that is fixed by one of its cells.

    If a border cuts the part f off such a bucket, evenness is off by at most max(f, 1-f) times this, with at most the
    given chance of being wrong. ``variance`` is that of the noise of their totals.
    """
    by_total, stops = _most_records(estimate, buckets, variance, chance / 2), estimate.buckets.stops
    if stops is None or not len(buckets):
        return by_total
    return np.minimum(by_total, stops.uneven(np.full(len(buckets), chance / 2), buckets))


def _most_records(estimate: Estimate, buckets: IntArray, variance: FloatArray, chance: float) -> FloatArray:
    """The most that each bucket can hold, with at most the given chance of being wrong."""
    spread = np.sqrt(np.maximum(variance, 0))
    most: FloatArray = np.maximum(estimate.unbiased[buckets] + factor_of(estimate, chance) * spread, 0)
    return most


def _upper(estimate: Estimate, cuts: Cuts, part: FloatArray, chosen: IntArray, chance: float) -> FloatArray:
    """The most that these parts of the cut buckets can hold, for each chosen query."""
    first = np.searchsorted(cuts.query, np.arange(cuts.query[-1] + 2))
    begin, entries = runs_of(first, chosen)
    lo = cuts.bucket[entries].astype(np.float64)
    m = len(chosen)
    queries = BucketQueries(len(estimate.buckets), begin, lo, lo + 1, part[entries], np.ones(m), float(m))
    noise = np.sqrt(np.maximum(estimate.variances_of(queries), 0))
    return np.maximum(estimate.totals_of(queries, unbiased=True) + factor_of(estimate, chance) * noise, 0)


def uncut(estimate: Estimate, chance: float) -> float:
    """What noise has of a chance where nothing is cut."""
    return noise_chance(chance, walked=estimate.buckets.stops is not None)


def noise_chance(chance: float, *, walked: bool) -> float:
    """The same, from public facts: the walk's part is taken off, if a walk chose the buckets."""
    return 0.75 * chance if walked else chance


def factor_of(estimate: Estimate, chance: float) -> float:
    """Standard deviations that noise exceeds, in either direction, with at most this chance."""
    return margin_factor(chance, RESOLUTION / float(estimate.epsilon))
