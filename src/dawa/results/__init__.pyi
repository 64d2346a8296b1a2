from . import about, answers, estimate, file, grouped, keeping, margins, overview, release, statement, tabled

__all__ = [
    "about",
    "answers",
    "estimate",
    "file",
    "grouped",
    "keeping",
    "margins",
    "overview",
    "release",
    "statement",
    "tabled",
]
