from . import bands, figures, files, folder, grouped, page, place, readme, recovery, tables, together

__all__ = [
    "bands",
    "figures",
    "files",
    "folder",
    "grouped",
    "page",
    "place",
    "readme",
    "recovery",
    "tables",
    "together",
]
