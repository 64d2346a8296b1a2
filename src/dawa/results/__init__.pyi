from . import about, answers, estimate, file, grouped, histogram, keeping, margins, overview, release, statement, tabled

__all__ = [
    "about",
    "answers",
    "estimate",
    "file",
    "grouped",
    "histogram",
    "keeping",
    "margins",
    "overview",
    "release",
    "statement",
    "tabled",
]
