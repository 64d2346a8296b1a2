from .counting import Query, Tally, check_rows, counted, loss, query, unit_columns
from .dialect import Dialect
from .labels import label
from .tables import (
    JsonLines,
    Table,
    TableLike,
    TextFile,
    UnitLike,
    Workbook,
    Written,
    csv,
    excel,
    jsonl,
    table,
    written,
)
from .where import Where

__all__ = [
    "Dialect",
    "JsonLines",
    "Query",
    "Table",
    "TableLike",
    "Tally",
    "TextFile",
    "UnitLike",
    "Where",
    "Workbook",
    "Written",
    "check_rows",
    "counted",
    "csv",
    "excel",
    "jsonl",
    "label",
    "loss",
    "query",
    "table",
    "unit_columns",
    "written",
]
