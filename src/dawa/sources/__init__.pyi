from .counting import Groups, Query, Tally, counted, query
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
from .units import check_rows, loss, unit_columns
from .where import Where

__all__ = [
    "Dialect",
    "Groups",
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
