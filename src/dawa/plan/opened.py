"""Whether a table has what a release would ask of it: its names and types are read, and nothing of any record."""

from collections.abc import Sequence
from dataclasses import dataclass

from dawa import sources
from dawa.axis import Axis
from dawa.axis.auto import AutoAxis
from dawa.axis.groups import Grouping
from dawa.bounds import search as bounds
from dawa.errors import AbsentError
from dawa.sources import forms
from dawa.sources.tables import TableLike
from dawa.sources.where import Where


@dataclass(frozen=True)
class Opened:
    """What became of opening a table.

    Attributes:
        fits: Whether its columns, their types and the right to read them were found to fit; False if nobody looked.
        said: The same in a sentence, for people.
        handling: How it would be read, in sentences.
    """

    fits: bool
    said: str
    handling: tuple[str, ...] = ()


def opened(
    table: TableLike,
    axes: Sequence[Axis | AutoAxis],
    unit: tuple[str, ...],
    max_rows_per_unit: int | str | None,
    where: Where | None,
    by: tuple[Grouping, ...] = (),
) -> Opened:
    """Open a table as a release would before it pays; one that is not here is left to the machine that has it.

    Raises:
        DawaError: If it is here and a release would refuse it.
    """
    if forms.once(table):
        return Opened(fits=False, said="The table was not opened, because it can be read only once.")
    try:
        search = bounds.planned(table, axes, unit, max_rows_per_unit, where, by)
        with sources.query(table, search.probes, unit, search.most, where, by) as query:
            query.check()
            return Opened(
                fits=True,
                said="The table was opened: it has these columns, of types that fit. No record was read.",
                handling=query.source.handling,
            )
    except AbsentError as absent:
        return Opened(
            fits=False,
            said=f"The table was NOT opened, so nobody has checked its columns and their types. {absent.problem}",
        )
