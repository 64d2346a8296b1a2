from . import answers, estimate, file, margins, release, statement

__all__ = ["answers", "estimate", "file", "margins", "release", "statement"]
