from .counting import Query, check_unit, counted, loss, query
from .dialect import Dialect
from .tables import JsonLines, Table, TableLike, TextFile, Workbook, csv, excel, jsonl, table

__all__ = [
    "Dialect",
    "JsonLines",
    "Query",
    "Table",
    "TableLike",
    "TextFile",
    "Workbook",
    "check_unit",
    "counted",
    "csv",
    "excel",
    "jsonl",
    "loss",
    "query",
    "table",
]
