from . import files, folder, page, place, readme, recovery, tables, together

__all__ = ["files", "folder", "page", "place", "readme", "recovery", "tables", "together"]
