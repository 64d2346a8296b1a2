from .counting import Query, check_unit, counted, loss, query
from .dialect import Dialect
from .tables import Table, TableLike, TextFile, Written, csv, table, written
from .where import Where

__all__ = [
    "Dialect",
    "Query",
    "Table",
    "TableLike",
    "TextFile",
    "Where",
    "Written",
    "check_unit",
    "counted",
    "csv",
    "loss",
    "query",
    "table",
    "written",
]
