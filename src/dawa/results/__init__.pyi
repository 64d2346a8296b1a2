from . import answers, estimate, file, margins, overview, release, statement, tabled

__all__ = ["answers", "estimate", "file", "margins", "overview", "release", "statement", "tabled"]
