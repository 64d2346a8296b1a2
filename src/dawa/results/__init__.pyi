from . import about, answers, estimate, file, margins, overview, release, statement, tabled

__all__ = ["about", "answers", "estimate", "file", "margins", "overview", "release", "statement", "tabled"]
