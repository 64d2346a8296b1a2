"""How a plan is made: from public inputs, stand-ins and, if somebody names one, a public table.

The noise of a mechanism that does not look at the data is known beforehand, exactly. The default mechanism looks at the
data, privately, to choose buckets, so its noise depends on how many buckets the data support, and its whole error on
how rough they are. A plan gives the noise for several numbers of buckets. If the number of records is stated, it also
tries the mechanism on stand-ins of several kinds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dawa import budget, mechanisms, pipeline, sources
from dawa.axis import Axis, AxisLike
from dawa.axis.auto import AutoAxis
from dawa.axis.groups import Grouping
from dawa.bounds import search as bounds
from dawa.budget import Epsilon
from dawa.errors import BudgetError, OptionError
from dawa.mechanisms import Dawa, MechanismLike
from dawa.plan import advice, data, noise, search, trial
from dawa.plan.opened import opened
from dawa.plan.plan import Plan
from dawa.plan.prediction import Prediction, Setting, hasty
from dawa.plan.trial import Trial
from dawa.queries.workload import Workload
from dawa.results.statement import protected
from dawa.sources.tables import TableLike
from dawa.sources.where import Where
from dawa.sources.where_text import optional


def planned(
    axes: AxisLike,
    *,
    epsilon: Epsilon | None = None,
    within: str | float | Fraction | None = None,
    records: int | None = None,
    kind: str | Sequence[str] | None = None,
    like: TableLike | None = None,
    curve: bool = False,
    table: TableLike | None = None,
    by: tuple[Grouping, ...] = (),
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

    Args:
        axes: As for ``dawa.release``, like all that is not named here.
        epsilon: The budget; leave it out if ``within`` shall choose it.
        within: How accurate answers have to be: a number of records, or a part of all records such as ``"1%"``. The
            plan is then made for the least epsilon for which 19 of 20 ranges are predicted to be that accurate.
        records: About how many records will be counted; the plan then predicts whole errors, noise and buckets.
        kind: What the data are like, out of ``dawa.plan.KINDS``, where that is known; None tries all kinds.
        like: A PUBLIC table with the same columns, to be tried in place of stand-ins. It is read without any privacy.
        curve: Whether to find out, too, how errors fall as epsilon grows.
        table: The table that will be released. It is opened to see whether it fits, and none of its records is read.
        by: Grouping columns that the table has to have; the plan itself is that of one group.
        unit: The columns that say who is protected.
        max_rows_per_unit: How many rows of each unit are counted.
        where: Which records are counted.
        workload: What will be asked most.
        mechanism: How it is done.
        options: Options of the mechanism.

    Raises:
        DawaError: If ``dawa.release`` would not accept them.
    """
    if epsilon is None and within is None:
        raise BudgetError("The plan has no epsilon.", "name it, or the accuracy that is needed: within=500.")
    if epsilon is not None and within is not None:
        raise OptionError("Epsilon is both given and to be found.", "leave out either epsilon or within.")
    total = None if epsilon is None else budget.exact(epsilon)
    chosen = mechanisms.configured(mechanism, options)
    name, options = chosen.name, {**chosen.changed(), **options}
    owner, condition = sources.unit_columns(unit), optional(where)
    if total is not None:
        budget.warn_if_large(total, protected(owner, 1)["unit"])
    along = pipeline.listed_axes(axes)
    known = tuple(axis for axis in along if isinstance(axis, Axis))
    asked = _Asked(along, owner, max_rows_per_unit, condition, workload, name, options)
    seen = None if table is None else opened(table, along, owner, max_rows_per_unit, condition, by)
    if records is None and like is None:
        for option, given in (("within", within), ("kind", kind), ("curve", curve or None)):
            if given is not None:
                raise OptionError(
                    f"{option}= needs the number of records, and the plan does not know it.",
                    "pass about how many records will be counted, such as records=300_000, or like= a public table.",
                )
        return replace(asked.plan(total or Fraction(1)), opened=seen)
    if asked.keep is not None or len(known) < len(along):
        raise OptionError(
            "Errors cannot be predicted while bounds, or the rows of a unit, are still to be found in the data.",
            "name the bounds and the cap, or leave out the number of records.",
        )
    tried = _tried(known, records, kind, like, condition)
    found, points = (None, []) if within is None else search.least(tried, asked.setting, within)
    total = total if total is not None else found.epsilon if found is not None else Fraction(1)
    plan = asked.plan(total)
    setting = asked.setting(total)
    runs = tried.runs(setting)
    return replace(
        plan,
        opened=seen,
        records=tried.records,
        like=tried.like,
        predictions=tuple(Prediction.of(one, several) for one, several in runs.items()),
        advice=advice.advised(tried, setting, runs),
        within=found,
        curve=search.curve(tried, asked.setting, total, points) if curve or found is not None else (),
    )


def _tried(
    axes: tuple[Axis, ...],
    records: int | None,
    kind: str | Sequence[str] | None,
    like: TableLike | None,
    where: Where | None,
) -> Trial:
    """What the mechanism is tried on."""
    kinds = trial.checked_kinds(kind)
    many = None if records is None else trial.checked_records(records)
    if like is None:
        if many is None:
            raise OptionError("The number of records is not known.", "pass records=300_000, for example.")
        trial.check_size(tuple(axis.size for axis in axes), many)
        return Trial.on_standins(axes, many, kinds)
    if kinds:
        raise OptionError("The kind of the data is given, and a public table, too.", "leave out either kind or like.")
    known = data.read(like, axes, where=where)
    trial.check_size(known.shape, len(known.cells))
    return Trial.on_table(known, many)


@dataclass(frozen=True)
class _Asked:
    """What a release would be asked for: all but its budget."""

    axes: tuple[Axis | AutoAxis, ...]
    unit: tuple[str, ...]
    max_rows_per_unit: int | str | None
    where: Where | None
    workload: Workload | None
    mechanism: str
    options: dict[str, Any]

    @property
    def known(self) -> tuple[Axis, ...]:
        """The axes that have bounds."""
        return tuple(axis for axis in self.axes if isinstance(axis, Axis))

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells along the axes that have bounds."""
        return tuple(axis.size for axis in self.known)

    @property
    def keep(self) -> Fraction | None:
        """The part of all rows that a cap shall keep, if the cap is to be found."""
        return bounds.kept(self.unit, self.max_rows_per_unit)

    def share(self, epsilon: Fraction) -> Fraction:
        """The budget of a record."""
        most = sources.check_rows(self.unit, self.max_rows_per_unit)
        return budget.exact(epsilon / most, "epsilon / max_rows_per_unit")

    def setting(self, epsilon: Fraction) -> Setting:
        """What is tried: the release itself, without a search for the last hundredth."""
        options = hasty(self.mechanism, self.options)
        return Setting.of(self.shape, self.share(epsilon), self.mechanism, options, self.workload)

    def plan(self, total: Fraction) -> Plan:
        """What is known without trying anything."""
        told = tuple(axis.describe() for axis in self.axes)
        if self.keep is not None or len(self.known) < len(self.axes):
            return self._searching(total, told)
        most = sources.check_rows(self.unit, self.max_rows_per_unit)
        share, shape, name, options = self.share(total), self.shape, self.mechanism, self.options
        asked = pipeline.asked(self.workload, shape)
        chosen = mechanisms.configured(name, options)
        if isinstance(chosen, Dawa):  # what it does on few cells is not what it does on many
            options = chosen.at(shape).changed()
        split, walked = noise.split(shape, share, name, options)
        looks = split.get("partition", Fraction(0)) > 0
        if looks:
            left = share - split["partition"]
            expected = noise.by_buckets(shape, asked, left, name, options, walked=walked)
        else:
            expected = noise.known(shape, asked, share, name, options)
        queries = None if self.workload is None else len(self.workload)
        whole = {step: part * most for step, part in split.items()}
        return Plan(told, shape, total, name, whole, self.unit, most, queries, looks, tuple(expected), self.where)

    def _searching(self, total: Fraction, told: tuple[str, ...]) -> Plan:
        """The same where bounds or a cap are to be found."""
        searched = {what: part * total for what, part in bounds.shares(self.axes, self.unit, self.keep).items()}
        split = {**searched, "the release itself": total - sum(searched.values())}
        rows = self.max_rows_per_unit
        most = sources.check_rows(self.unit, rows) if self.keep is None else rows or 1
        cells = self.shape if len(self.known) == len(self.axes) else ()
        return Plan(
            told, cells, total, self.mechanism, split, self.unit, most, None, looks=True, expected=(), where=self.where
        )
