"""Whose record a row is, and how many rows of each unit are counted; ``unit.md`` says why that protects the unit."""

from fractions import Fraction

import ibis

from dawa import check
from dawa.axis.base import is_text
from dawa.errors import OptionError
from dawa.limits import MOST_UNIT_COLUMNS
from dawa.sources import columns
from dawa.sources.placed import Expression, one_if
from dawa.sources.tables import Source, UnitLike


def unit_columns(unit: UnitLike | None) -> tuple[str, ...]:
    """The columns that name the unit together; none if every record is protected by itself.

    >>> unit_columns(None), unit_columns("person"), unit_columns(["person", "day"])
    ((), ('person',), ('person', 'day'))

    Raises:
        OptionError: If they are not names, or one of them comes twice.
    """
    names = () if unit is None else (unit,) if isinstance(unit, str) else unit
    if unit is not None and isinstance(names, (tuple, list)) and (not names or "" in names):
        raise OptionError(
            "The unit is empty, or one of its columns is.", "name its columns, or pass None to protect each record."
        )
    if not isinstance(names, (tuple, list)) or not all(isinstance(name, str) and name for name in names):
        raise OptionError(f"unit={unit!r} is not a name.", "pass the name of the column that says whose record it is.")
    if len(set(names)) < len(names):
        raise OptionError("The unit names a column twice.", "name each of its columns once.")
    if len(names) > MOST_UNIT_COLUMNS or not all(map(is_text, names)):
        raise OptionError(
            f"The unit has more than {MOST_UNIT_COLUMNS} columns, or a name that no file can hold.",
            "name fewer columns, or rename them.",
        )
    return tuple(names)


def check_rows(unit: tuple[str, ...], max_rows_per_unit: object) -> int:
    """The number of rows that a unit may have, checked together with the unit.

    Raises:
        OptionError: If it is not a whole number, or there is a unit without it, or it is there without a unit.
    """
    if not unit and max_rows_per_unit is not None:
        raise OptionError(
            f"max_rows_per_unit={max_rows_per_unit} without a unit would change nothing.",
            "name the column that says whose record it is: unit='person_id', for example.",
        )
    if not unit:
        return 1
    if max_rows_per_unit is None:
        raise OptionError(
            f"How many records of each unit may be counted is not said (the unit is {unit[0]!r}"
            f"{', …' if len(unit) > 1 else ''}).",
            "say it with max_rows_per_unit (--max-rows-per-unit), chosen without looking at the data. 1 counts one"
            " record of each, chosen at random, and needs the least noise; c counts up to c of them and needs c times"
            " the noise; 'auto' finds a number that keeps nine tenths of the records, for a twentieth of epsilon.",
        )
    return check.whole(max_rows_per_unit, "max_rows_per_unit", kind="a number of rows")


def truncated(rows: Expression, owner: tuple[str, ...], most: int, apart: Expression) -> Expression:
    """The rows of each ``owner`` with the lowest ``turn``, at most ``most`` of them; those apart come last."""
    last = one_if(apart)
    place = ibis.row_number().over(group_by=[rows[name] for name in owner], order_by=[last, rows.turn])
    numbered = rows.mutate(turn=place)
    return numbered.filter(numbered.turn < most)


def loss(per_record: Fraction, most: int) -> Fraction:
    """The loss of a unit with ``most`` records, from the loss of one record."""
    return per_record * most


def owned(source: Source, unit: tuple[str, ...], kept: list[Expression]) -> tuple[Expression, dict[str, Expression]]:
    """The rows that are counted and belong to somebody, and the columns that say to whom."""
    parts = [columns.unit(source, name) for name in unit]
    rows = source.table.filter([*kept, *(part.present for part in parts)])
    return rows, {f"owner{place}": part.value for place, part in enumerate(parts)}
