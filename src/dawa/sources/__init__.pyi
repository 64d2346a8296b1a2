from .counting import Query, check_unit, counted, loss, query
from .dialect import Dialect
from .tables import Table, TableLike, TextFile, csv, table

__all__ = [
    "Dialect",
    "Query",
    "Table",
    "TableLike",
    "TextFile",
    "check_unit",
    "counted",
    "csv",
    "loss",
    "query",
    "table",
]
