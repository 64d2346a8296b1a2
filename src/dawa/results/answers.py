"""Answers and their two errors: noise, and not knowing where records lie inside buckets.

*Noise* has a known variance, so its margin is known. *Bias* arises where a query cuts a bucket: the bucket's records
are spread evenly, but they may lie unevenly. Two public facts bound it, each with a stated chance of failing:

- the walk left the bucket whole, which it rarely does with an uneven one (``partition.buckets.StopRule``). If a part f
  of a bucket's cells is inside and D is the bucket's unevenness, the records inside differ from the part f of all its
  records by at most max(f, 1-f)·D, whichever cells are inside: subtracting the median from every cell changes neither.
  A walk that compared halves says how much they differ at most, and so how far a range's ends are from even
  (``partition/halves.md``), which takes both facts together;
- the records inside are between none and all of the bucket's records, whose number the release knows.

The margin of the noise is not a confidence interval for the truth; ``low`` to ``high`` is one. Noise and bias each get
half of the chance c of being wrong, and each of the two facts gets half of that of the bias. The walk is asked about
the buckets that hold the cells along the query's border, so its chance is divided by the number of these cells, which
is known before any data.

If nothing is cut there is no bias, but noise may not have all of c: whether something is cut is the walk's doing. The
walk leaves an uneven bucket whole with chance c/4 at most, whatever happens otherwise. Given what it did, noise and the
numbers of records fail with chance 3c/4 at most if something is cut. So noise has 3c/4 if nothing is, and the sum is c
in any case. Where no walk chose the buckets, nothing is left to it, and noise has all of c.

*All groups together.* The truth is a sum over groups, and so is what is known of it, from estimates that were made of
different records, one after the other. Their noise is independent given how all buckets were chosen, so variances add,
and the sum of all noise is a weighted sum of Laplace variables again, whatever the strategies and the weights: the
margin of ``margins`` holds for it. All groups are like one domain that is as many times longer. The walks are asked
about the cells along the range's border in every group, so their chance is divided by the number of these cells in all
groups, which is known before any data. The cut buckets of all groups are bounded as those of one domain are: one or two
by themselves, more of them together, because the noise of their totals is independent or known to be correlated. That
is best where totals are small. Where walks say more in some groups than in others, each group's own bound is better,
so both are computed, each with half of the chance, every group with an equal part of that half, and the smaller one
counts. Walks and totals have the same parts of c as above, once for all groups, and so has noise.

The *value* is another public number: negative totals are evened out, and ``insides`` may place records smoothly. Let M
be ``measured``, the unbiased totals spread evenly. All of the above is about M, whatever the value S is: with the
stated confidence the truth is within noise + bias of M. The interval is that, widened to hold S, so it holds the truth
just as surely. And |truth - S| <= |truth - M| + |M - S|, whose last part is public. A smooth S costs no width as long
as it lies in the interval of M. It mostly does: the two forms differ in cut buckets alone, there by less than a part of
the bucket's total, and the bias bound is a part of the most that the bucket can hold, or of its unevenness.
"""

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import repeat
from typing import Any, NamedTuple, TypeVar

import numpy as np

from dawa import check
from dawa.arrays import BoolArray, FloatArray, IntArray
from dawa.errors import OptionError
from dawa.numerals import told
from dawa.queries.bucket_queries import BucketQueries, runs_of
from dawa.results import halved
from dawa.results.estimate import ROUNDING, Estimate
from dawa.results.margins import margin_factor
from dawa.strategy.base import RESOLUTION


@dataclass(frozen=True)
class Answer:
    """The number of records in a range, with honest error bars.

    Attributes:
        value: The best guess, consistent with all other answers of the release.
        noise_margin: How far noise may have moved the value, and rounding besides, which shows beyond 2^40 records.
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


T = TypeVar("T")


class Cuts(NamedTuple):
    """The buckets that queries cut, query by query."""

    query: IntArray
    bucket: IntArray
    inside: FloatArray
    """The part of the bucket that the query covers."""
    ends: tuple[FloatArray, FloatArray] | None = None
    """Where in the bucket it begins and ends, from 0 to 1; None if it does not cover all of the bucket in between."""


def check_confidence(confidence: float) -> float:
    """The chance of being wrong, or an error."""
    if not check.is_number(confidence) or not 0.5 <= confidence < 1 - 1e-9:
        raise OptionError(
            f"confidence={told(confidence)} cannot be promised.", "pass a probability such as confidence=0.95."
        )
    return 1 - float(confidence)


class Ranged(NamedTuple):
    """The records of an estimate in one or several ranges.

    Attributes:
        estimate: What was measured.
        queries: The ranges, in bucket coordinates; each counts every covered bucket once, or the part that it covers.
        border: At most how many cells lie along the border of each; one or two on one axis.
        on_cells: Which of them cover whole cells only. If not, evenness inside a cell is assumed too.
    """

    estimate: Estimate
    queries: BucketQueries
    border: FloatArray
    on_cells: BoolArray


Steps = Generator[None, None, T]
"""A computation over several estimates in steps, each of which is about one of them."""


def finished(steps: Steps[T]) -> T:
    """What a computation in steps gives in the end."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: T = end.value
            return found


class Figures(NamedTuple):
    """What answers consist of, a column for each part; ``Answer`` says what they are."""

    value: FloatArray
    noise_margin: FloatArray
    bias_bound: FloatArray
    measured: FloatArray
    low: FloatArray
    high: FloatArray


def answers(ranged: Sequence[Ranged], confidence: float, notes: Sequence[str] | None = None) -> list[Answer]:
    """How many records lie in each range, in one estimate or in several of different records together.

    Args:
        ranged: The same ranges on every estimate.
        confidence: The confidence of each answer.
        notes: What to add to each answer, in words; None adds nothing.
    """
    return finished(answers_in_steps(ranged, confidence, notes))


def answers_in_steps(
    ranged: Sequence[Ranged],
    confidence: float,
    notes: Sequence[str] | None = None,
    ends: tuple[Sequence[Any], Sequence[Any]] | None = None,
) -> Steps[list[Answer]]:
    """The same, for who must not wait for hundreds of estimates at once; answers keep the ends that are given."""
    figures = yield from figures_in_steps(ranged, confidence)
    table = np.stack(figures, axis=1).tolist()
    words = repeat("") if notes is None else notes
    lows, highs = (repeat(None), repeat(None)) if ends is None else ends
    sure = float(confidence)
    each = zip(table, words, lows, highs, strict=False)
    return [Answer(a, b, c, d, e, f, sure, word, lo, hi) for (a, b, c, d, e, f), word, lo, hi in each]


def figures_in_steps(ranged: Sequence[Ranged], confidence: float) -> Steps[Figures]:
    """The same in columns, which are quick to make however many there are."""
    chance = check_confidence(confidence)
    cuts = yield from _each(cut_buckets(one.queries) for one in ranged)
    count = _counted(cuts, len(ranged[0].queries))
    walked = any(one.estimate.buckets.stops is not None for one in ranged)
    estimate = ranged[0].estimate  # all have the same budget
    if_cut, if_not = (factor_of(estimate, part) for part in (chance / 2, noise_chance(chance, walked=walked)))
    noise = np.where(count > 0, if_cut, if_not) * (yield from _deviations(ranged)) + rounding(ranged, cuts)
    bias = yield from _bias(ranged, cuts, chance / 2)
    totals = yield from _each(_totals(one) for one in ranged)
    value, centre = (_sum(each) for each in zip(*totals, strict=True))
    low, high = np.maximum(centre - noise - bias, 0), np.maximum(centre + noise + bias, 0)
    return Figures(value, noise, bias, centre, np.minimum(low, value), np.maximum(high, value))


def _each(items: Iterable[T]) -> Steps[list[T]]:
    """All items, each of which is computed in a step of its own."""
    found = []
    for item in items:
        found.append(item)
        yield
    return found


def _totals(one: Ranged) -> tuple[FloatArray, FloatArray]:
    """What lies in each range, and what was measured."""
    return one.estimate.totals_of(one.queries), one.estimate.totals_of(one.queries, unbiased=True)


def deviations(ranged: Sequence[Ranged]) -> FloatArray:
    """The standard deviation of the noise in each range, in all estimates together."""
    return finished(_deviations(ranged))


def _deviations(ranged: Sequence[Ranged]) -> Steps[FloatArray]:
    variances = yield from _each(one.estimate.variances_of(one.queries) for one in ranged)
    spread: FloatArray = np.sqrt(np.maximum(_sum(variances), 0))
    return spread


def rounding(ranged: Sequence[Ranged], cuts: Sequence[Cuts]) -> FloatArray:
    """How far floats may have moved what was measured in each range; ``rounding.md`` has the proof."""
    moved = np.zeros(len(ranged[0].queries))
    for (estimate, queries, _, _), cut in zip(ranged, cuts, strict=True):
        moved += estimate.rounding * np.diff(queries.first)
        if len(estimate.shape) == 1:  # a place in bucket coordinates has fewer digits the more buckets lie before it
            records = (cut.bucket + 1) * np.abs(estimate.unbiased[cut.bucket])
            moved += ROUNDING * np.bincount(cut.query, records, minlength=len(queries))
    return moved


def _sum(arrays: Iterable[FloatArray]) -> FloatArray:
    """Arrays of one length, added up entry by entry."""
    total: FloatArray = np.add.reduce(list(arrays))
    return total


def _counted(cuts: Sequence[Cuts], queries: int) -> IntArray:
    """How many buckets each query cuts, in all estimates together."""
    count: IntArray = np.add.reduce([np.bincount(cut.query, minlength=queries) for cut in cuts])
    return count


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
    run, bucket, covered = run[order], bucket[order], covered[order]
    ends = None if light.any() else tuple(np.clip(end[run] - bucket, 0.0, 1.0) for end in (queries.lo, queries.hi))
    return Cuts(query[run], bucket, queries.weight[run] * covered, ends)


def bias_of(ranged: Sequence[Ranged], cuts: Sequence[Cuts], chance: float) -> FloatArray:
    """How far an even spread can be off in the cut buckets, with at most the given chance of being wrong."""
    return finished(_bias(ranged, cuts, chance))


def _bias(ranged: Sequence[Ranged], cuts: Sequence[Cuts], chance: float) -> Steps[FloatArray]:
    if len(ranged) == 1:
        return (yield from _together(ranged, cuts, chance))
    one_by_one = np.zeros(len(ranged[0].queries))
    for one, cut in zip(ranged, cuts, strict=True):
        one_by_one += yield from _together([one], [cut], chance / 2 / len(ranged))
    return np.minimum((yield from _together(ranged, cuts, chance / 2)), one_by_one)


def _together(ranged: Sequence[Ranged], cuts: Sequence[Cuts], chance: float) -> Steps[FloatArray]:
    """The same, from the cut buckets of all estimates together."""
    m, border = len(ranged[0].queries), _sum(one.border for one in ranged)
    count = _counted(cuts, m)
    few, bias, by_walks = (count > 0) & (count <= 2), np.zeros(m), np.zeros(m)
    for (estimate, _, _, on_cells), cut in zip(ranged, cuts, strict=True):
        larger, by_walk = np.maximum(cut.inside, 1 - cut.inside), np.full(len(cut.query), np.inf)
        stops, score = estimate.buckets.stops, np.full(len(cut.query), np.inf)
        if stops is not None and len(cut.query):
            asked = np.flatnonzero(on_cells[cut.query])
            score[asked] = stops.uneven(chance / 2 / border[cut.query[asked]], cut.bucket[asked])
        if stops is not None and stops.halves is None:
            by_walk = larger * score
        by_walks += np.bincount(cut.query, by_walk, minlength=m)
        # One or two cut buckets, as on a line: each takes the better of the two bounds.
        at = np.flatnonzero(few[cut.query])
        bucket = cut.bucket[at].astype(np.float64)
        variance = estimate.range_variances(bucket, bucket + 1) if len(at) else np.zeros(0)
        most = _most_records(estimate, cut.bucket[at], variance, chance / 2)
        if stops is not None and stops.halves is not None:
            by_walk[at] = _by_halves(estimate, cut, at, most, score[at] + stops.halves)
        np.add.at(bias, cut.query[at], np.minimum(larger[at] * most, by_walk[at]))
        yield
    # Many cut buckets: their totals are bounded together, because their noise mostly cancels.
    many = np.flatnonzero(count > 2)
    if len(many):
        inside = yield from _upper(ranged, cuts, many, chance / 2, inside=True)
        outside = yield from _upper(ranged, cuts, many, chance / 2, inside=False)
        bias[many] = np.minimum(np.maximum(inside, outside), by_walks[many])
    return bias


def _by_halves(estimate: Estimate, cut: Cuts, at: IntArray, most: FloatArray, differ: FloatArray) -> FloatArray:
    """At most how far these cut buckets are from lying evenly, if no two halves in one differ by more than this."""
    if cut.ends is None or len(estimate.shape) > 1:
        return np.full(len(at), np.inf)
    differ, bounds, bucket = np.minimum(differ, most), estimate.buckets.bounds, cut.bucket[at]
    moved = ROUNDING * (bucket + 1).astype(np.float64)
    off: FloatArray = np.add(*(halved.off_even(end[at], most, differ, moved) for end in cut.ends))
    clipped = np.maximum(cut.inside[at], 1 - cut.inside[at]) * differ
    return np.where(halved.dyadic(bounds[bucket], bounds[bucket + 1]), off, clipped)


def bias_of_buckets(estimate: Estimate, buckets: IntArray, variance: FloatArray, chance: float) -> FloatArray:
    """At most how far each bucket's records are from lying evenly, for a bucket that is fixed by one of its cells.

    If a border cuts the part f off such a bucket, evenness is off by at most max(f, 1-f) times this, with at most the
    given chance of being wrong. ``variance`` is that of the noise of their totals.
    """
    by_total, stops = _most_records(estimate, buckets, variance, chance / 2), estimate.buckets.by_cells
    if stops is None or not len(buckets):
        return by_total
    return np.minimum(by_total, stops.uneven(np.full(len(buckets), chance / 2), buckets))


def _most_records(estimate: Estimate, buckets: IntArray, variance: FloatArray, chance: float) -> FloatArray:
    """The most that each bucket can hold, with at most the given chance of being wrong."""
    spread = np.sqrt(np.maximum(variance, 0))
    centre = estimate.unbiased[buckets] + estimate.rounding
    most: FloatArray = np.maximum(centre + factor_of(estimate, chance) * spread, 0)
    return most


def _upper(
    ranged: Sequence[Ranged], cuts: Sequence[Cuts], chosen: IntArray, chance: float, *, inside: bool
) -> Steps[FloatArray]:
    """The most that the cut buckets' parts inside each chosen query can hold together, or those outside."""
    m = len(chosen)
    centre, variance = np.zeros(m), np.zeros(m)
    for (estimate, queries, _, _), cut in zip(ranged, cuts, strict=True):
        begin, entries = runs_of(np.searchsorted(cut.query, np.arange(len(queries) + 1)), chosen)
        held = np.flatnonzero(np.diff(begin))  # queries that cut something here
        lo = cut.bucket[entries].astype(np.float64)
        part = cut.inside[entries] if inside else 1 - cut.inside[entries]
        first, ones = np.append(begin[held], begin[-1]), np.ones(len(held))
        parts = BucketQueries(len(estimate.buckets), first, lo, lo + 1, part, ones, float(len(held)))
        if len(held):
            centre[held] += estimate.totals_of(parts, unbiased=True) + estimate.rounding * np.diff(first)
            variance[held] += estimate.variances_of(parts)
        yield
    spread = np.sqrt(np.maximum(variance, 0))
    most: FloatArray = np.maximum(centre + factor_of(ranged[0].estimate, chance) * spread, 0)
    return most


def uncut(estimate: Estimate, chance: float) -> float:
    """What noise has of a chance where nothing is cut."""
    return noise_chance(chance, walked=estimate.buckets.stops is not None)


def noise_chance(chance: float, *, walked: bool) -> float:
    """The same, from public facts: the walk's part is taken off, if a walk chose the buckets."""
    return 0.75 * chance if walked else chance


def factor_of(estimate: Estimate, chance: float) -> float:
    """Standard deviations that noise exceeds, in either direction, with at most this chance."""
    return margin_factor(chance, RESOLUTION / float(estimate.epsilon))
