from .counting import Query, Tally, check_rows, counted, loss, query, unit_columns
from .dialect import Dialect
from .labels import label
from .tables import Table, TableLike, TextFile, UnitLike, Written, csv, table, written
from .where import Where

__all__ = [
    "Dialect",
    "Query",
    "Table",
    "TableLike",
    "Tally",
    "TextFile",
    "UnitLike",
    "Where",
    "Written",
    "check_rows",
    "counted",
    "csv",
    "label",
    "loss",
    "query",
    "table",
    "unit_columns",
    "written",
]
