"""What a description of a release means: its axes, ranges, table and ledger, checked before anything is spent.

No data is touched here: a table is named, and opened by whoever counts it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import dawa
from dawa.cli.options import LEDGER_VARIABLE, USUAL_LEDGER
from dawa.errors import SpecError
from dawa.sources import dialect
from dawa.sources.tables import is_address

if TYPE_CHECKING:  # --help answers without them
    from dawa.axis import Axis
    from dawa.ledger import Account
    from dawa.queries.workload import Workload
    from dawa.sources import Table, TextFile
    from dawa.spec.model import Spec
    from dawa.spec.ranges import Asked


@dataclass(frozen=True)
class Meaning:
    """What a description amounts to, without a look at the data.

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


def of(spec: Spec) -> Meaning:
    """Read all that a description names but the data."""
    axes = tuple(axis.axis() for axis in spec.axes)
    asked = () if spec.queries is None else tuple(dawa.spec.ranges.listed(spec.queries, axes))
    return Meaning(axes, asked, dawa.spec.ranges.workload(asked, axes) if asked else None, _ledger(spec))


def table(spec: Spec) -> str | Table | TextFile:
    """What to read: a file, or a table of a database."""
    if not is_address(spec.source):
        return spec.source if spec.dialect is None else dawa.sources.TextFile(spec.source, spec.dialect)
    if spec.table is None:
        return dawa.spec.model.expanded(spec.source)
    schema, dot, name = spec.table.partition(".")
    return dawa.sources.table(dawa.spec.model.expanded(spec.source), name if dot else schema, schema if dot else None)


def rows(spec: Spec) -> dict[str, int]:
    """The number of rows that a unit may have, where it is given."""
    return {} if spec.max_rows_per_unit is None else {"max_rows_per_unit": spec.max_rows_per_unit}


def reading(spec: Spec) -> tuple[str, ...]:
    """How a text file would be read, in sentences; other sources say by themselves what they hold."""
    if spec.dialect is not None:
        return spec.dialect.describe()
    return dialect.of(spec.source).describe() if spec.source.lower().endswith(dialect.ENDINGS) else ()


def account(ledger: str, spec: Spec) -> Account:
    """What the ledger says now; nothing is booked."""
    return dawa.ledger.opened(ledger).account(str(spec.dataset))


def _ledger(spec: Spec) -> str | None:
    """The ledger that is named, or the usual one where a dataset is."""
    if spec.dataset is None:
        if LEDGER_VARIABLE in os.environ:
            raise SpecError(
                f"{LEDGER_VARIABLE} names a ledger, but the release names no dataset that pays.",
                f"name it with --dataset, or unset {LEDGER_VARIABLE}.",
            )
        return None
    return dawa.spec.model.expanded(spec.ledger or os.environ.get(LEDGER_VARIABLE, USUAL_LEDGER))
