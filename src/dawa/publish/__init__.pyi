from . import files, folder, grouped, page, place, readme, recovery, tables

__all__ = ["files", "folder", "grouped", "page", "place", "readme", "recovery", "tables"]
