from .counting import Query, Tally, check_rows, counted, loss, query, unit_columns
from .dialect import Dialect
from .tables import Table, TableLike, TextFile, UnitLike, csv, label, table

__all__ = [
    "Dialect",
    "Query",
    "Table",
    "TableLike",
    "Tally",
    "TextFile",
    "UnitLike",
    "check_rows",
    "counted",
    "csv",
    "label",
    "loss",
    "query",
    "table",
    "unit_columns",
]
