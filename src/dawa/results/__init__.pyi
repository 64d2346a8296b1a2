from . import answers, estimate, file, margins, overview, release, statement

__all__ = ["answers", "estimate", "file", "margins", "overview", "release", "statement"]
