from . import folder, page, readme, tables

__all__ = ["folder", "page", "readme", "tables"]
