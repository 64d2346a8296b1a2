from . import bands, figures, files, folder, grouped, page, place, readme, receipts, records, recovery, tables, together

__all__ = [
    "bands",
    "figures",
    "files",
    "folder",
    "grouped",
    "page",
    "place",
    "readme",
    "receipts",
    "records",
    "recovery",
    "tables",
    "together",
]
