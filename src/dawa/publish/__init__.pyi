from . import bands, figures, files, folder, page, place, readme, recovery, tables

__all__ = ["bands", "figures", "files", "folder", "page", "place", "readme", "recovery", "tables"]
