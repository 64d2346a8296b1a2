"""Make a release out of its description: everything public is checked before anything is spent."""

import os
import sys
import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import dawa
from dawa.axis import Axis
from dawa.cli.ledger import DEFAULT
from dawa.cli.terminal import working
from dawa.errors import LedgerError, SpecError, UnbookedWarning
from dawa.publish import folder
from dawa.publish.folder import Written
from dawa.queries.workload import Workload
from dawa.results.release import Release
from dawa.sources import dialect
from dawa.sources.tables import is_address
from dawa.spec import ranges
from dawa.spec.model import Spec, expanded
from dawa.spec.ranges import Asked

if TYPE_CHECKING:
    from dawa.ledger import Account
    from dawa.sources import Table, TextFile

LEDGER = "DAWA_LEDGER"


@dataclass(frozen=True)
class Public:
    """What a description amounts to, checked and without a look at the data.

    Attributes:
        axes: The axes.
        asked: The ranges that matter most, if any were named.
        workload: The same in cells.
        ledger: The ledger that pays, if one does.
    """

    axes: tuple[Axis, ...]
    asked: tuple[Asked, ...]
    workload: Workload | None
    ledger: str | None


def public(spec: Spec) -> Public:
    """Read all that a description names but the data."""
    axes = tuple(axis.axis() for axis in spec.axes)
    asked = () if spec.queries is None else tuple(ranges.listed(spec.queries, axes))
    return Public(axes, asked, ranges.workload(asked, axes) if asked else None, _ledger(spec))


@dataclass(frozen=True)
class Made:
    """What came of a description.

    Attributes:
        release: The release.
        asked: The ranges that were named.
        written: Its folder.
        account: The account that paid, as it is now; None if none did, or if the ledger could not be asked.
    """

    release: Release
    asked: tuple[Asked, ...]
    written: Written
    account: "Account | None"


def made(spec: Spec, *, force: bool) -> Made:
    """Make the release and write its folder."""
    if spec.out is None:
        raise SpecError("The release has no folder to go to.", "name a new one: --out out/.")
    known = public(spec)
    with folder.prepared(spec.out, replace=force) as place, working("Checking"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UnbookedWarning)  # said below, when the ledger is told where the folder is
        release = dawa.release(
            table(spec),
            known.axes if len(known.axes) > 1 else known.axes[0],
            epsilon=spec.epsilon,
            unit=spec.unit,
            workload=known.workload,
            mechanism=spec.mechanism,
            ledger=known.ledger,
            dataset=spec.dataset,
            seed=spec.seed,
            **rows(spec),
            **spec.options,
        )
        written = folder.fill(place, release, known.asked, sys.stdout)
    left = None
    if known.ledger is not None:
        _file(known.ledger, release, written)
        with suppress(LedgerError):  # the release is made and booked: that its ledger fails now is not an error
            left = account(known.ledger, spec)
    return Made(release, known.asked, written, left)


def rows(spec: Spec) -> dict[str, int]:
    """The number of rows that a unit may have, where it is given."""
    return {} if spec.max_rows_per_unit is None else {"max_rows_per_unit": spec.max_rows_per_unit}


def table(spec: Spec) -> "str | Table | TextFile":
    """What to read: a file, or a table of a database."""
    if not is_address(spec.source):
        from dawa.sources import TextFile  # noqa: PLC0415  engines are slow to load

        return spec.source if spec.dialect is None else TextFile(spec.source, spec.dialect)
    if spec.table is None:
        return expanded(spec.source)
    from dawa import sources  # noqa: PLC0415  engines are slow to load

    schema, dot, name = spec.table.partition(".")
    return sources.table(expanded(spec.source), name if dot else schema, schema if dot else None)


def reading(spec: Spec) -> tuple[str, ...]:
    """How a text file would be read, in sentences; other sources say by themselves what they hold."""
    if spec.dialect is not None:
        return spec.dialect.describe()
    return dialect.of(spec.source).describe() if spec.source.lower().endswith(dialect.ENDINGS) else ()


def _ledger(spec: Spec) -> str | None:
    """The ledger that is named, or the usual one where a dataset is."""
    if spec.dataset is None:
        if LEDGER in os.environ:
            raise SpecError(
                f"{LEDGER} names a ledger, but the release names no dataset that pays.",
                f"name it with --dataset, or unset {LEDGER}.",
            )
        return None
    return expanded(spec.ledger or os.environ.get(LEDGER, DEFAULT))


def account(ledger: str, spec: Spec) -> "Account":
    """What the ledger says now; nothing is booked."""
    from dawa.ledger import opened  # noqa: PLC0415  databases are slow to load

    return opened(ledger).account(str(spec.dataset))


def _file(ledger: str, release: Release, written: Written) -> None:
    """Book where the release went."""
    from dawa.ledger import opened  # noqa: PLC0415  databases are slow to load

    try:
        opened(ledger).filed(str(release.id), written.folder.absolute())
    except LedgerError as error:
        raise LedgerError(
            f"The release is in {written.folder}, but the ledger does not know: {error.problem}",
            f"{error.hint.removesuffix('.')}; do not take back what was reserved for it.",
        ) from None
