"""The two main calls: estimate counts, and turn a table into a release.

Both check everything that is public first, then hand the private part, unread, to the mechanism.
"""

import math
import warnings
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from numpy.typing import ArrayLike

from dawa import budget, check, mechanisms, progress, sources
from dawa.axis import Axis, AxisLike
from dawa.budget import Epsilon
from dawa.counts import Counts
from dawa.errors import (
    AxisError,
    InvariantError,
    LedgerError,
    OptionError,
    TakenBackError,
    UnbookedWarning,
    WorkloadError,
)
from dawa.limits import MOST_AXES, MOST_CELLS
from dawa.mechanisms import MechanismLike
from dawa.noise.randomness import randomness_for
from dawa.queries.workload import Workload
from dawa.results.estimate import Estimate
from dawa.results.release import Release
from dawa.results.statement import PrivacyStatement, protected
from dawa.sources.tables import TableLike
from dawa.version import __version__
from dawa.workloads import all_ranges, random_rectangles

if TYPE_CHECKING:
    from dawa.ledger import Ledger, LedgerLike, Reservation


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
    randomness = randomness_for(seed)
    private = Counts.of(counts)
    found = chosen.run(private, asked(workload, private.shape), total, randomness)
    if found.epsilon != total:
        raise InvariantError(f"The mechanism {chosen.name!r} was given {total} to spend and spent {found.epsilon}.")
    return replace(found, mechanism=chosen.name)


def release(
    table: TableLike,
    axes: AxisLike,
    *,
    epsilon: Epsilon,
    unit: str | None = None,
    max_rows_per_unit: int = 1,
    workload: Workload | None = None,
    mechanism: MechanismLike = "dawa",
    ledger: "LedgerLike | None" = None,
    dataset: str | None = None,
    seed: int | None = None,
    **options: Any,  # noqa: ANN401  each mechanism checks its own
) -> Release:
    """Release how a table's records lie along axes, under epsilon-differential privacy for each record or person.

    Args:
        table: A path to a CSV, JSON lines, Excel, Parquet or Arrow file, ``"-"`` for standard input, an open file, a
            frame, a dict of arrays, ``"postgresql://…/database#table"``, a Spark data frame, or an Ibis table.
        axes: The attribute with its public bounds and step, or up to four of them.
        epsilon: The budget, all of which is spent.
        unit: The column that says whose record it is. Each unit is then protected, with all of its records.
        max_rows_per_unit: How many records of one unit are counted, chosen at random.
        workload: What will be asked most; None stands for all ranges equally.
        mechanism: A name from ``dawa.mechanisms.names(with_error_bars=True)``, or one of them with its options.
        ledger: A file, or a database's address, that keeps the dataset's budget; it pays before data is read.
        dataset: The account in the ledger.
        seed: For experiments on public data only: repeats the noise and voids its privacy. It does not repeat which
            records of a unit are kept.
        options: Options of the mechanism.

    Raises:
        DawaError: A subclass of it, on any bad input, and before anything is spent if no rows are needed to notice.
            An error after a ledger has paid says what was spent and what is left; exceptions of other libraries say it
            in a note.

    >>> import dawa
    >>> rel = dawa.release({"age": [31, 45, 45, 62]}, dawa.Axis("age", 0, 100), epsilon=1)
    >>> rel.answer(40, 50).confidence
    0.95
    """
    listed = listed_axes(axes)
    total = budget.exact(epsilon)
    randomness = randomness_for(seed)
    chosen = mechanisms.configured(mechanism, options)
    if not chosen.error_bars:
        raise OptionError(
            f"The mechanism {chosen.name!r} does not know the noise of its answers, so it cannot make a release.",
            "use 'dawa', or dawa.estimate if you need no error bars.",
        )
    queries = asked(workload, tuple(axis.size for axis in listed))
    most = sources.check_unit(unit, max_rows_per_unit)
    per_record = budget.exact(total / most, "epsilon / max_rows_per_unit")
    check.within(sources.loss(per_record, most), total, "A unit")
    book = _ledger(ledger, dataset)
    name = uuid4().hex
    with ExitStack() as paid:  # from the reservation on, a failure says what it cost
        with sources.query(table, listed, unit, most) as query:
            query.check()
            handling = (*query.source.handling, *(axis.describe() for axis in listed))
            reservation = None
            if book is not None and dataset is not None:
                # A mechanism that cannot run on this domain refuses an empty table too, and that costs nothing.
                estimate(Counts.none(queries.shape), queries, epsilon=per_record, mechanism=chosen)
                what = _what(listed, unit, most, {**chosen.changed(), **options}, query.source.declared)
                reservation = book.reserve(dataset, total, what=what, mechanism=chosen.name)
                paid.enter_context(reservation.accounted())
            progress.reached("Reading")
            counts = query.counts()
        found = estimate(counts, queries, epsilon=per_record, mechanism=chosen, seed=seed)
        statement = PrivacyStatement(
            total,
            {step: part * most for step, part in found.split.items()},
            found.mechanism,
            found.options,
            found.randomness,
            randomness.secure,
            __version__,
            **protected(unit, most),
            handling=handling,
            id=name,
        )
        if reservation is not None:
            _finalised(reservation, name)
    return Release(listed, found, statement)


def listed_axes(axes: AxisLike) -> tuple[Axis, ...]:
    """One to four axes, with no more cells together than can be numbered."""
    listed = tuple(axes) if isinstance(axes, (tuple, list)) else (axes,)
    if not listed or not all(isinstance(axis, Axis) for axis in listed):
        raise AxisError("A release needs an axis with public bounds.", 'pass dawa.Axis("age", 0, 120), for example.')
    if len(listed) > MOST_AXES:
        raise AxisError(f"There are {len(listed)} axes.", f"pass at most {MOST_AXES}.")
    if len({axis.column for axis in listed}) < len(listed):
        raise AxisError("Two axes have the same column.", "name each column once.")
    if math.prod(axis.size for axis in listed) > MOST_CELLS:
        raise AxisError(
            "The axes have more than 2^62 cells altogether.",
            "choose coarser steps, or fewer axes: buckets narrower than the noise allows are merged anyway.",
        )
    return listed


def _ledger(ledger: "LedgerLike | None", dataset: str | None) -> "Ledger | None":
    """The open ledger that pays, or None."""
    if ledger is None and dataset is None:
        return None
    if ledger is None or dataset is None:
        raise OptionError(
            "A ledger and a dataset belong together, and only one of them is named.",
            "pass ledger='ledger.db' and dataset='hr', for example, or neither.",
        )
    from dawa import ledger as ledgers  # noqa: PLC0415  databases are slow to load, and not always needed

    return ledgers.opened(ledger)


def _finalised(reservation: "Reservation", name: str) -> None:
    """Book that the release was made.

    Raises:
        TakenBackError: If the reservation was taken back meanwhile: the release is unpaid, and nobody may have it.
    """
    try:
        reservation.finalise(name)
    except TakenBackError:
        raise
    except LedgerError as error:
        # A release that is paid for is kept even if the ledger fails now: its entry stays spent, and pending.
        warnings.warn(
            f"The release was made, but the ledger could not record it: {error}\n"
            f"Entry {reservation.entry.number} stays spent: do not take it back.",
            UnbookedWarning,
            stacklevel=3,
        )


def _what(
    axes: tuple[Axis, ...],
    unit: str | None,
    max_rows_per_unit: int,
    options: Mapping[str, Any],
    declared: Mapping[str, Any],
) -> dict[str, Any]:
    """What the budget is spent on, for the ledger: public inputs alone."""
    plain = {
        name: value if isinstance(value, (str, int, type(None))) else repr(value) for name, value in options.items()
    }
    return {
        "axes": [axis.to_json() for axis in axes],
        "unit": unit,
        "max_rows_per_unit": max_rows_per_unit,
        "options": plain,
        **declared,
    }


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
