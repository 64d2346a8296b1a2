"""The two main calls: estimate counts, and turn a table into a release.

Both check everything that is public first, then hand the private part, unread, to the mechanism.
"""

import math
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from dawa import budget, check, mechanisms, paying, progress, sources
from dawa.arrays import frozen
from dawa.axis import AutoAxis, Axis, AxisLike
from dawa.axis.groups import By, Grouping, groupings
from dawa.bounds import search as bounds
from dawa.budget import Epsilon
from dawa.counts import Counts
from dawa.errors import (
    AxisError,
    BudgetError,
    InvariantError,
    OptionError,
    WorkloadError,
)
from dawa.host import extras
from dawa.limits import MOST_AXES, MOST_CELLS, MOST_CELLS_BESIDE
from dawa.mechanisms import Mechanism, MechanismLike
from dawa.mechanisms.catalogue import Identity
from dawa.noise.randomness import Randomness, randomness_for
from dawa.numerals import told
from dawa.paying import Payment
from dawa.queries.workload import Workload
from dawa.results.about import About
from dawa.results.estimate import Estimate
from dawa.results.grouped import GroupedRelease
from dawa.results.keeping import Keeper
from dawa.results.release import Release
from dawa.results.statement import PrivacyStatement, protected, spent_by_all
from dawa.sources.tables import TableLike, UnitLike
from dawa.sources.where import Where
from dawa.sources.where_text import optional
from dawa.version import __version__
from dawa.workloads import all_ranges, random_rectangles

if TYPE_CHECKING:
    from dawa.ledger import LedgerLike


def estimate(
    counts: ArrayLike | Counts,
    workload: Workload | None = None,
    *,
    epsilon: Epsilon,
    mechanism: MechanismLike = "dawa",
    seed: int | None = None,
    **options: Any,  # noqa: ANN401  each mechanism checks its own
) -> Estimate:
    """Estimate counts under epsilon-differential privacy, as well as possible for a workload.

    Args:
        counts: Records per cell, along one to four axes.
        workload: What will be asked; None stands for all ranges, or for rectangles with evenly drawn corners.
        epsilon: The budget, all of which is spent. Floats are read as they are written: 0.1 is one tenth.
        mechanism: A name from ``dawa.mechanisms.names()``, or a mechanism such as ``dawa.mechanisms.Dawa(…)``.
        seed: For experiments on public data only: makes the run repeatable and voids its privacy.
        options: Options of the mechanism; see ``dawa.mechanisms.describe(name)``.

    Raises:
        DawaError: A subclass of it, on any bad input, before anything private is used.

    >>> import dawa
    >>> counts = [0] * 20 + [50] * 12
    >>> est = dawa.estimate(counts, dawa.workloads.prefixes(32), epsilon=1, seed=0)
    >>> est.cells.shape, est.epsilon
    ((32,), Fraction(1, 1))
    """
    total = budget.exact(epsilon)
    chosen = mechanisms.configured(mechanism, options)
    return _estimate(Counts.of(counts), workload, total, chosen, randomness_for(seed))


def _estimate(
    counts: Counts, workload: Workload | None, epsilon: Fraction, mechanism: Mechanism, randomness: Randomness
) -> Estimate:
    """Run a mechanism, and see that it spent what it was given."""
    found = mechanism.run(counts, asked(workload, counts.shape), epsilon, randomness)
    if found.epsilon != epsilon:
        raise InvariantError(
            f"The mechanism {mechanism.name!r} was given {epsilon} to spend and spent {found.epsilon}."
        )
    return replace(found, mechanism=mechanism.name)


@overload
def release(
    table: TableLike,
    axes: AxisLike,
    *,
    epsilon: Epsilon,
    by: None = None,
    groups: None = None,
    other: bool = False,
    unit: UnitLike | None = None,
    max_rows_per_unit: int | str | None = None,
    where: Where | str | None = None,
    workload: Workload | None = None,
    mechanism: MechanismLike = "dawa",
    about: About | None = None,
    ledger: "LedgerLike | None" = None,
    dataset: str | None = None,
    seed: int | None = None,
    out: str | PathLike[str] | Keeper | None = None,
    **options: Any,  # noqa: ANN401  each mechanism checks its own
) -> Release: ...


@overload
def release(
    table: TableLike,
    axes: AxisLike,
    *,
    epsilon: Epsilon,
    by: By,
    groups: Iterable[Any] | None = None,
    other: bool = False,
    unit: UnitLike | None = None,
    max_rows_per_unit: int | str | None = None,
    where: Where | str | None = None,
    workload: Workload | None = None,
    mechanism: MechanismLike = "dawa",
    about: About | None = None,
    ledger: "LedgerLike | None" = None,
    dataset: str | None = None,
    seed: int | None = None,
    out: str | PathLike[str] | Keeper | None = None,
    **options: Any,  # noqa: ANN401  each mechanism checks its own
) -> GroupedRelease: ...


def release(
    table: TableLike,
    axes: AxisLike,
    *,
    epsilon: Epsilon,
    by: By | None = None,
    groups: Iterable[Any] | None = None,
    other: bool = False,
    unit: UnitLike | None = None,
    max_rows_per_unit: int | str | None = None,
    where: Where | str | None = None,
    workload: Workload | None = None,
    mechanism: MechanismLike = "dawa",
    about: About | None = None,
    ledger: "LedgerLike | None" = None,
    dataset: str | None = None,
    seed: int | None = None,
    out: str | PathLike[str] | Keeper | None = None,
    **options: Any,
) -> Release | GroupedRelease:
    """Release how a table's records lie along axes, under epsilon-differential privacy for each record or person.

    With ``by``, the release has a histogram for each group of records, and still costs epsilon once: a record is in one
    group at most.

    Args:
        table: A path to a CSV, JSON lines, Excel, Parquet or Arrow file, ``"people.sqlite#table"``, ``"-"`` for
            standard input, an open file, a frame, a dict of arrays, ``"postgresql://…/database#table"``, a Spark data
            frame, or an Ibis table.
        axes: The attribute with its public bounds and step, or up to four of them; ``Axis.auto`` finds bounds in the
            data, for a share of epsilon.
        epsilon: The budget, all of which is spent.
        by: The column that puts records into groups, or up to four of them; or their values by column, as in
            ``by={"carrier": ["AA", "UA"]}``.
        groups: The values of that column that are groups; of several columns, one list for each: groups are then all
            combinations. They are public, and never read from the data.
        other: Whether records with a value that is not listed are one more group, called "other"; else they are counted
            apart, as records without a value always are.
        unit: The column that says whose record it is, or several that say it together. Each unit is then protected,
            with all of its records.
        max_rows_per_unit: How many records of one unit are counted, in all groups together, chosen at random; needed
            where there is a unit. ``"auto"`` finds a number that keeps nine tenths of all records, ``"95%"`` one that
            keeps that part, for a twentieth of epsilon.
        where: Which records are counted, such as ``"carrier = 'AA' and year >= 2013"``; None counts all.
        workload: What will be asked most; None stands for all ranges equally.
        mechanism: A name from ``dawa.mechanisms.names(with_error_bars=True)``, or one of them with its options.
        about: Words about the data for those who read the release: title, description, licence and so on.
        ledger: A file, or a database's address, that keeps the dataset's budget; it pays before data is read.
        dataset: The account in the ledger. It must count for this unit of this table.
        seed: For experiments on public data only: repeats the noise and voids its privacy. It does not repeat which
            records of a unit are kept. No ledger books such a run.
        out: A new file to save the release in, before the ledger is told that it was made. From the first private draw
            until then, Ctrl-C waits: what is paid for is not lost.
        options: Options of the mechanism.

    Raises:
        DawaError: A subclass of it, on any bad input, and before anything is spent if no rows are needed to notice.
            An error after a ledger has paid says what was spent and what is left; exceptions of other libraries say it
            in a note.

    >>> import dawa
    >>> rel = dawa.release({"age": [31, 45, 45, 62]}, dawa.Axis("age", 0, 100), epsilon=1)
    >>> rel.answer(40, 50).confidence
    0.95
    >>> table = {"age": [31, 45, 45, 62], "sex": ["f", "m", "f", "m"]}
    >>> rel = dawa.release(table, dawa.Axis("age", 0, 100), epsilon=1, by="sex", groups=["f", "m"])
    >>> rel["f"].answer(40, 50).confidence
    0.95
    """
    one = run(
        table,
        axes,
        epsilon=epsilon,
        by=by,
        groups=groups,
        other=other,
        unit=unit,
        max_rows_per_unit=max_rows_per_unit,
        where=where,
        workload=workload,
        mechanism=mechanism,
        about=about,
        ledger=ledger,
        dataset=dataset,
        seed=seed,
        out=out,
        options=options,
    )
    return paying.paid([one])[0]


def run(
    table: TableLike,
    axes: AxisLike,
    *,
    epsilon: Epsilon,
    by: By | None = None,
    groups: Iterable[Any] | None = None,
    other: bool = False,
    unit: UnitLike | None = None,
    max_rows_per_unit: int | str | None = None,
    where: Where | str | None = None,
    workload: Workload | None = None,
    mechanism: MechanismLike = "dawa",
    about: About | None = None,
    ledger: "LedgerLike | None" = None,
    dataset: str | None = None,
    seed: int | None = None,
    out: str | PathLike[str] | Keeper | None = None,
    options: Mapping[str, Any] | None = None,
) -> paying.Run:
    """A release on its way: nothing happens before ``paying.paid`` runs it, perhaps together with others.

    The arguments are those of ``release``.
    """
    extras.needed("Reading a table", extras.TABLES)
    options = {} if options is None else dict(options)
    paying.check_seed(seed, ledger, dataset)
    listed, grouped = listed_axes(axes), groupings(by, groups, other=other)
    total = budget.exact(epsilon)
    randomness = randomness_for(seed)
    chosen = mechanisms.configured(mechanism, options)
    if not chosen.error_bars:
        raise OptionError(
            f"The mechanism {chosen.name!r} does not know the noise of its answers, so it cannot make a release.",
            "use 'dawa', or dawa.estimate if you need no error bars.",
        )
    owner, condition = sources.unit_columns(unit), optional(where)
    check_groups(grouped, listed, owner)
    _check_about(about)
    if seed is None:
        budget.warn_if_large(total, protected(owner, 1)["unit"])
    known = [axis for axis in listed if isinstance(axis, Axis)]
    if len(known) == len(listed):
        asked(workload, tuple(axis.size for axis in known))
    elif workload is not None:
        raise OptionError(
            "A workload needs axes with bounds, and these are to be found in the data.",
            "name the bounds, or leave the workload out.",
        )
    payment = Payment.of(ledger, dataset, out)
    with payment.accounted():  # from the reservation on, a failure says what it cost
        search = bounds.planned(table, listed, owner, max_rows_per_unit, condition, grouped)
        searched = {what: budget.exact(share * total, what) for what, share in search.shares.items()}
        rest = total - sum(searched.values())
        with ExitStack() as reading:
            query = reading.enter_context(sources.query(table, search.probes, owner, search.most, condition, grouped))
            query.check()
            only = () if condition is None else (condition.describe(),)
            handling = (*query.source.handling, *only, *(grouping.describe() for grouping in grouped))
            domain = _widest(search, rest, workload, chosen, try_it=payment.book is not None or bool(search))
            declared = {**query.source.declared, **({} if condition is None else {"where": str(condition)})}
            asking = {**chosen.changed(), **options}
            what = paying.described(listed, owner, max_rows_per_unit, asking, declared, grouped)
            yield payment.ask(total, query.source, sources.label(table), owner, chosen.name, what)
            if search:
                payment.hold()
                reading.close()
                progress.reached("Looking for bounds")
                along, unseen = search.bounds(table, total, randomness)
                domain = Domain.of(along, search.cap(table, along, total, domain.most, randomness), rest, workload)
                handling = (*handling, *search.describe(), *unseen)
                query = reading.enter_context(sources.query(table, domain.axes, owner, domain.most, condition, grouped))
            check.within(bounds.loss(searched, domain.per_record, domain.most), total, "A unit")
            progress.reached("Reading")
            tally = query.groups() if grouped else query.counts()
        payment.hold()
        made = _made(tally, domain, chosen, randomness)
        first = made.inside[0]
        statement = PrivacyStatement(
            total,
            {**searched, **{step: part * domain.most for step, part in made.split.items()}},
            first.mechanism,
            first.options,
            first.randomness,
            randomness.secure,
            __version__,
            **protected(owner, domain.most),
            handling=(*handling, *(axis.describe() for axis in domain.axes)),
            id=payment.name,
            searched=searched,
            where="" if condition is None else str(condition),
            by=tuple(grouping.column for grouping in grouped),
        )
        return payment.settled(made.release(grouped, domain.axes, statement, about))


def _check_about(about: object) -> None:
    if not isinstance(about, (About, type(None))):
        raise OptionError(f"about={told(about)} is no dawa.About.", 'pass dawa.About(title="Flights"), for example.')


class Made(NamedTuple):
    """What mechanisms made of a table's counts.

    Attributes:
        inside: The histogram of each group; without groups, there is one.
        apart: Of each group, the records that have no cell; None if they are left out.
        none: The records in no group; None if there are no groups.
    """

    inside: tuple[Estimate, ...]
    apart: tuple[Estimate | None, ...]
    none: Estimate | None

    @property
    def split(self) -> dict[str, Fraction]:
        """What each step spent."""
        return spent_by_all([one.split for one in self.inside])

    def release(
        self, by: tuple[Grouping, ...], axes: tuple[Axis, ...], privacy: PrivacyStatement, about: About | None
    ) -> Release | GroupedRelease:
        """All of it, with its statement."""
        if self.none is None:
            return Release(axes, self.inside[0], privacy, self.apart[0], about)
        return GroupedRelease(by, axes, privacy, self.inside, self.apart, self.none, about)


def _made(
    tally: "sources.Tally | sources.Groups", domain: "Domain", mechanism: Mechanism, randomness: Randomness
) -> Made:
    """Run the mechanism on every group, and count the rest apart.

    A record is in one group or in none, and there inside or apart, so each part has all of its budget
    (``sources/reading.md``).
    """
    each, none = (tally.each, tally.none) if isinstance(tally, sources.Groups) else ((tally,), None)
    inside, apart, epsilon = [], [], domain.per_record
    for number, one in enumerate(each, 1):
        with progress.part(f"Group {number} of {len(each)}") if none is not None else nullcontext():
            inside.append(_estimate(one.inside, domain.queries, epsilon, mechanism, randomness))
        apart.append(None if one.apart is None else _counted_apart(one.apart, epsilon, randomness))
    outside = None if none is None else _counted_apart(none, epsilon, randomness)
    return Made(tuple(inside), tuple(apart), outside)


@dataclass(frozen=True)
class Domain:
    """What a mechanism is run on.

    Attributes:
        axes: With bounds.
        most: How many records of a unit are counted at most.
        per_record: The budget that the mechanism has: a unit's, divided by ``most``.
        queries: What will be asked.
    """

    axes: tuple[Axis, ...]
    most: int
    per_record: Fraction
    queries: Workload

    @classmethod
    def of(cls, axes: tuple[Axis, ...], most: int, epsilon: Fraction, workload: Workload | None) -> "Domain":
        """All of it, from the budget of a unit."""
        per_record = budget.exact(epsilon / most, "epsilon / max_rows_per_unit")
        return cls(axes, most, per_record, asked(workload, tuple(axis.size for axis in axes)))


def _widest(
    search: bounds.Search, epsilon: Fraction, workload: Workload | None, mechanism: Mechanism, *, try_it: bool
) -> Domain:
    """The domain with the widest bounds and the largest cap that may be found: the only one, if all is given.

    A mechanism that cannot run on a domain refuses an empty table too, and that costs nothing.
    """

    def tried(most: int) -> Domain:
        domain = Domain.of(search.widest, most, epsilon, workload)
        if try_it:
            none = Counts.none(domain.queries.shape)
            _estimate(none, domain.queries, domain.per_record, mechanism, randomness_for(None))
        return domain

    for most in search.caps[:-1]:
        with suppress(BudgetError):
            return tried(most)
    return tried(search.caps[-1])


def _counted_apart(counts: Counts, epsilon: Fraction, randomness: Randomness) -> Estimate:
    """The records that are in no cell: noise on each number alone, and nothing below 0."""
    with progress.heard(None):  # too short to be a stage
        found = _estimate(counts, None, epsilon, Identity(), randomness)
    return replace(found, totals=frozen(np.maximum(found.unbiased, 0) + 0.0))


def check_groups(by: tuple[Grouping, ...], axes: tuple[Axis | AutoAxis, ...], unit: tuple[str, ...]) -> None:
    """Refuse groups that do not fit the axes or the unit.

    Raises:
        OptionError: If a grouping column is an axis too, or names the unit, or there are too many cells.
    """
    columns = [grouping.column for grouping in by]
    for column in set(columns) & {axis.column for axis in axes}:
        raise OptionError(
            f"{told(column)} is an axis and puts records into groups.", "a histogram of one group would have one cell."
        )
    if unit and set(unit) <= set(columns):
        names = " and ".join(map(told, unit))
        raise OptionError(
            f"The groups are the units: each value of {names} would be listed, and have a histogram of its own.",
            "group by something that many units share, or name another unit.",
        )
    cells = math.prod(axis.size for axis in axes if isinstance(axis, Axis))
    if cells * math.prod(grouping.size for grouping in by) > MOST_CELLS:
        raise OptionError("The groups have more than 2^62 cells altogether.", "choose coarser steps, or fewer groups.")


def listed_axes(axes: AxisLike) -> tuple[Axis | AutoAxis, ...]:
    """One to four axes, with no more cells together than can be numbered."""
    listed: tuple[Any, ...] = tuple(axes) if isinstance(axes, (tuple, list)) else (axes,)
    if not listed or not all(isinstance(axis, (Axis, AutoAxis)) for axis in listed):
        raise AxisError("A release needs an axis with public bounds.", 'pass dawa.Axis("age", 0, 120), for example.')
    if len(listed) > MOST_AXES:
        raise AxisError(f"There are {len(listed)} axes.", f"pass at most {MOST_AXES}.")
    if len({axis.column for axis in listed}) < len(listed):
        raise AxisError("Two axes have the same column.", "name each column once.")
    for axis in listed:
        if len(listed) > 1 and isinstance(axis, Axis) and axis.size > MOST_CELLS_BESIDE:
            raise AxisError(
                f"The axis {told(axis.column)} has {axis.size:,} cells, and beside other axes it may have 2^48.",
                "choose a coarser step: buckets narrower than the noise allows are merged anyway.",
            )
    if math.prod(axis.size for axis in listed if isinstance(axis, Axis)) > MOST_CELLS:
        raise AxisError(
            "The axes have more than 2^62 cells altogether.",
            "choose coarser steps, or fewer axes: buckets narrower than the noise allows are merged anyway.",
        )
    return listed


def asked(workload: Workload | None, shape: tuple[int, ...]) -> Workload:
    """The workload, if it fits these cells; None stands for all ranges, or for rectangles drawn evenly."""
    if workload is None:
        return all_ranges(shape[0]) if len(shape) == 1 else random_rectangles(shape)
    if not isinstance(workload, Workload):
        raise WorkloadError(
            f"The workload is a {type(workload).__name__}, not a Workload.",
            "make one with Workload.ranges or dawa.workloads.",
        )
    if workload.shape != shape:
        raise WorkloadError(
            f"The workload is for {workload.shape} cells, but there are {shape}.",
            f"make the workload with shape={shape[0] if len(shape) == 1 else shape}.",
        )
    return workload
