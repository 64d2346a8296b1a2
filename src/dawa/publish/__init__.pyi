from . import files, folder, page, place, readme, recovery, tables

__all__ = ["files", "folder", "page", "place", "readme", "recovery", "tables"]
