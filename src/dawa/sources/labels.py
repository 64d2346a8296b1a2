"""Columns of categories, on an ordered axis."""

import ibis

from dawa.axis import OrderedAxis
from dawa.sources.placed import Expression, Placed, whole


def placed(column: Expression, axis: OrderedAxis) -> Placed:
    """A column of categories on an axis; labels in text stand for integers and booleans too."""
    value = column
    if isinstance(axis.labels[0], str) and not column.type().is_string():
        value = column.cast("string")
    cells = value.cases(*((ibis.literal(label), whole(cell)) for cell, label in enumerate(axis.labels)), else_=whole(0))
    return Placed(column.notnull() & value.isin(axis.labels), cells)
