from .counting import Query, check_unit, counted, loss, query
from .dialect import Dialect
from .tables import Table, TableLike, TextFile, csv, label, table, units

__all__ = [
    "Dialect",
    "Query",
    "Table",
    "TableLike",
    "TextFile",
    "check_unit",
    "counted",
    "csv",
    "label",
    "loss",
    "query",
    "table",
    "units",
]
