"""From a table to counts: files, frames, databases and clusters, all by one expression that runs where the data is."""

from dawa.sources.counting import Query, counted, opened
from dawa.sources.tables import Table, TextFile, csv, table
from dawa.sources.unit import check as check_unit

__all__ = ["Query", "Table", "TextFile", "check_unit", "counted", "csv", "opened", "table"]
