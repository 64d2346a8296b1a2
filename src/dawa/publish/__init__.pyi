from . import folder, page, place, readme, recovery, tables

__all__ = ["folder", "page", "place", "readme", "recovery", "tables"]
