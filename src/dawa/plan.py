"""What a release would spend, whom it would protect and how accurate it would be: from public inputs alone.

The noise of a mechanism that does not look at the data is known beforehand, exactly. The default mechanism looks at the
data, privately, to choose buckets, so its noise depends on how many buckets the data support: the plan then gives the
noise for several numbers of buckets. To find it, the mechanism itself is run on an empty table.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

from dawa import budget, mechanisms, pipeline, sources
from dawa.axis import Axis, AxisLike
from dawa.bounds import search as bounds
from dawa.budget import Epsilon
from dawa.counts import Counts
from dawa.errors import OptionError
from dawa.limits import MOST_CELLS_FOR_ALL_RANGES, MOST_CELLS_PLANNED
from dawa.mechanisms import Dawa, MechanismLike
from dawa.queries.workload import Workload
from dawa.results.answers import noise_chance
from dawa.results.estimate import Estimate
from dawa.results.margins import margin_factor
from dawa.results.statement import listed, protected
from dawa.sources.where import Where
from dawa.sources.where_text import optional
from dawa.workloads import uniform

CONFIDENCE = 0.95
NUMBERS = (16, 64, 256, 1024, 4096, 16_384)
"""Numbers of buckets for which a plan gives the noise, as examples; the last example has a bucket for every cell."""


SMALL = {1: 256, 2: 16, 3: 6, 4: 4}
"""Cells along each axis that are enough to see how a mechanism splits its budget."""


@dataclass(frozen=True)
class Expected:
    """The noise of answers, for one number of buckets of equal size.

    Attributes:
        buckets: The number of buckets.
        rmse: The root of the mean squared error that noise makes, over the workload.
        margin: About how far noise moves an answer at most, at 95%.
    """

    buckets: int
    rmse: float
    margin: float


@dataclass(frozen=True)
class Plan:
    """A release that has not been made.

    Attributes:
        axes: What the axes count and what they leave out, in sentences.
        shape: Cells along each axis.
        epsilon: What the release spends, exactly.
        mechanism: The mechanism's name.
        split: How much of epsilon each step spends.
        unit: The columns that say together who is protected; none protect rows.
        max_rows_per_unit: How many rows of each unit are kept.
        queries: How many ranges the release is made for; None stands for all of them.
        looks: Whether the mechanism looks at the data to choose its buckets; its noise then depends on the data.
        expected: The noise of answers, by the number of buckets; one line if the noise is known.
        where: Which records would be counted; None stands for all.
    """

    axes: tuple[str, ...]
    shape: tuple[int, ...]
    epsilon: Fraction
    mechanism: str
    split: dict[str, Fraction]
    unit: tuple[str, ...]
    max_rows_per_unit: int | str
    queries: int | None
    looks: bool
    expected: tuple[Expected, ...]
    where: Where | None = None

    @property
    def filtered(self) -> tuple[str, ...]:
        """Which records would be counted, in a sentence, if not all."""
        if self.where is None:
            return ()
        return (f"Only records with {self.where} would be counted, where that is known.",)

    @property
    def protected(self) -> str:
        """Whom the release protects, in a sentence."""
        if not self.unit:
            return "Each row is protected; a person with several rows is protected that many times less."
        names, most = listed(self.unit), self.max_rows_per_unit
        who = f"Whoever {names} names" if len(self.unit) == 1 else f"Each combination of {names}"
        rows = "one" if most == 1 else most
        if isinstance(most, str):
            return f"{who} is protected with all their rows; how many of them will be counted is found in the data."
        return f"{who} is protected with all their rows, of which at most {rows} will be counted."

    @property
    def caution(self) -> str:
        """What everybody has to be told if epsilon is so large that it promises little; otherwise empty."""
        return budget.caution(self.epsilon, protected(self.unit, 1)["unit"])

    @property
    def accuracy(self) -> str:
        """What to expect of answers, in a sentence or two."""
        if not self.expected:
            return "How accurate answers will be depends on the data."
        last = self.expected[-1]
        if not self.looks:
            cut = " Ranges that cut one of its buckets may be off by more." if last.buckets < prod(self.shape) else ""
            return f"Expect answers to be off by about ±{last.margin:,.0f} records from noise at 95%.{cut}"
        first = self.expected[min(1, len(self.expected) - 1)]
        most = (
            f", and by about ±{last.margin:,.0f} at most, if every bucket is a single cell"
            if last.buckets == prod(self.shape) and last is not first
            else ""
        )
        return (
            f"Expect answers to be off by about ±{first.margin:,.0f} records from noise at 95% if the data support"
            f" {first.buckets:,} buckets{most}. How many they support, and how much further off"
            " ranges that cut a bucket are, depends on the data and is not known beforehand; each answer will say."
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values; exact numbers as fractions in strings."""
        return {
            "axes": list(self.axes),
            "shape": list(self.shape),
            "epsilon": str(self.epsilon),
            "mechanism": self.mechanism,
            "split": {step: str(part) for step, part in self.split.items()},
            "unit": list(self.unit),
            "max_rows_per_unit": self.max_rows_per_unit,
            "where": None if self.where is None else str(self.where),
            "queries": self.queries,
            "depends_on_data": self.looks,
            "confidence": CONFIDENCE,
            "expected": [vars(line) for line in self.expected],
            "protected": self.protected,
            "caution": self.caution or None,
            "accuracy": self.accuracy,
        }


def planned(
    axes: AxisLike,
    *,
    epsilon: Epsilon,
    unit: sources.UnitLike | None = None,
    max_rows_per_unit: int | str | None = None,
    where: Where | str | None = None,
    workload: Workload | None = None,
    mechanism: MechanismLike = "dawa",
    **options: Any,  # noqa: ANN401  each mechanism checks its own
) -> Plan:
    """Plan a release, with the arguments of ``dawa.release``; a budget that promises little is warned about.

    >>> import dawa
    >>> plan = planned([dawa.Axis("age", 0, 120)], epsilon=1, mechanism="identity")
    >>> plan.looks, plan.split["measure"]
    (False, Fraction(1, 1))

    Raises:
        DawaError: If ``dawa.release`` would not accept them.
    """
    total = budget.exact(epsilon)
    chosen = mechanisms.configured(mechanism, options)
    name, options = chosen.name, {**chosen.changed(), **options}
    owner, condition = sources.unit_columns(unit), optional(where)
    budget.warn_if_large(total, protected(owner, 1)["unit"])
    keep = bounds.kept(owner, max_rows_per_unit)
    along = pipeline.listed_axes(axes)
    told = tuple(axis.describe() for axis in along)
    known = tuple(axis for axis in along if isinstance(axis, Axis))
    if keep is not None or len(known) < len(along):
        searched = {what: part * total for what, part in bounds.shares(along, owner, keep).items()}
        split = {**searched, "the release itself": total - sum(searched.values())}
        most = sources.check_rows(owner, max_rows_per_unit) if keep is None else max_rows_per_unit or 1
        cells = tuple(axis.size for axis in known) if len(known) == len(along) else ()
        return Plan(told, cells, total, name, split, owner, most, None, looks=True, expected=(), where=condition)
    most = sources.check_rows(owner, max_rows_per_unit)
    share = budget.exact(total / most, "epsilon / max_rows_per_unit")
    shape = tuple(axis.size for axis in known)
    asked = pipeline.asked(workload, shape)
    chosen = mechanisms.configured(name, options)
    if isinstance(chosen, Dawa):  # what it does on few cells is not what it does on many
        options = chosen.at(shape).changed()
    split, walked = _split(shape, share, name, options)
    looks = split.get("partition", Fraction(0)) > 0
    if looks:
        expected = _by_buckets(shape, asked, share - split["partition"], name, options, walked=walked)
    else:
        expected = _known(shape, asked, share, name, options)
    queries = None if workload is None else len(workload)
    whole = {step: part * most for step, part in split.items()}
    return Plan(told, shape, total, name, whole, owner, most, queries, looks, tuple(expected), condition)


def _split(
    shape: tuple[int, ...], epsilon: Fraction, mechanism: str, options: dict[str, Any]
) -> tuple[dict[str, Fraction], bool]:
    """What each step spends: shares of epsilon, for which a small domain is enough; and whether a walk is one."""
    if not isinstance(options.get("partition", ""), str):
        return {"partition": Fraction(0), "measure": epsilon}, False
    small = tuple(min(cells, SMALL[len(shape)]) for cells in shape)
    tried = _run(small, pipeline.asked(None, small), epsilon, mechanism, options)
    return tried.split, tried.buckets.stops is not None


def _known(
    shape: tuple[int, ...], workload: Workload, epsilon: Fraction, mechanism: str, options: dict[str, Any]
) -> list[Expected]:
    """The noise of a mechanism that does not look at the data, exactly."""
    if prod(shape) > MOST_CELLS_PLANNED:
        return []
    found = _run(shape, workload, epsilon, mechanism, options)
    return [_expected(found, workload, len(found.buckets))]


def _by_buckets(
    shape: tuple[int, ...],
    workload: Workload,
    epsilon: Fraction,
    mechanism: str,
    options: dict[str, Any],
    *,
    walked: bool,
) -> list[Expected]:
    """The noise of measuring with this epsilon, over buckets of equal size that cost nothing."""
    size = prod(shape)
    numbers = [number for number in NUMBERS if number < size] + [size] * (size <= MOST_CELLS_PLANNED)
    if not _takes(mechanism, {**options, "partition": "one"}):
        return []
    hasty = {"effort": "fast"} if _takes(mechanism, {"effort": "fast", **options}) else {}
    sample = uniform(size) if workload.closed is not None and size > MOST_CELLS_FOR_ALL_RANGES else workload
    expected = []
    for number in numbers:
        even = {**hasty, **options, "partition": _even(size, number)}
        expected.append(_expected(_run(shape, workload, epsilon, mechanism, even), sample, number, walked=walked))
    return expected


def _takes(mechanism: str, options: dict[str, Any]) -> bool:
    """Whether these options would make a difference."""
    try:
        mechanisms.configured(mechanism, options)
    except OptionError:
        return False
    return True


def _even(size: int, number: int) -> list[int]:
    """The bounds of this number of buckets of nearly equal size."""
    return [size * bucket // number for bucket in range(number + 1)]


def _run(
    shape: tuple[int, ...], workload: Workload, epsilon: Fraction, mechanism: str, options: dict[str, Any]
) -> Estimate:
    """The mechanism's estimate of an empty table."""
    return pipeline.estimate(Counts.none(shape), workload, epsilon=epsilon, mechanism=mechanism, **options)


def _expected(estimate: Estimate, workload: Workload, buckets: int, *, walked: bool = False) -> Expected:
    """The noise of these buckets; if a walk will choose others, it keeps its part of the chance as in a release."""
    rmse = estimate.noise_rmse(workload)
    return Expected(buckets, rmse, margin_factor(noise_chance(1 - CONFIDENCE, walked=walked)) * rmse)
