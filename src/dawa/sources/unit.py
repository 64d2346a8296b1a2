"""The privacy unit: at most so many records of each person are counted. ``unit.md`` says why that protects them."""

from fractions import Fraction
from typing import Any

import ibis
import numpy as np

from dawa.errors import OptionError
from dawa.sources.placed import Expression


def check(unit: Any, max_rows_per_unit: Any) -> int:  # noqa: ANN401  to be checked
    """The number of rows that a unit may have, if there is such a unit.

    Raises:
        OptionError: If it is no whole number, or the unit no name, or there is a number without a unit.
    """
    if unit is not None and not isinstance(unit, str):
        raise OptionError(f"unit={unit!r} is no name.", "pass the name of the column that says whose record it is.")
    whole = isinstance(max_rows_per_unit, (int, np.integer)) and not isinstance(max_rows_per_unit, bool)
    if not whole or max_rows_per_unit < 1:
        raise OptionError(
            f"max_rows_per_unit={max_rows_per_unit!r} is no number of rows.", "pass a whole number of at least 1."
        )
    if unit is None and max_rows_per_unit != 1:
        raise OptionError(
            f"max_rows_per_unit={max_rows_per_unit} without a unit would change nothing.",
            "name the column that says whose record it is: unit='person_id', for example.",
        )
    return int(max_rows_per_unit)


def truncated(rows: Expression, most: int) -> Expression:
    """The rows of each ``owner`` with the lowest ``turn``, at most so many of them."""
    place = ibis.row_number().over(group_by=rows.owner, order_by=rows.turn)
    numbered = rows.mutate(turn=place)
    return numbered.filter(numbered.turn < most)


def loss(per_record: Fraction, most: int) -> Fraction:
    """What a unit loses if one record loses so much."""
    return per_record * most
