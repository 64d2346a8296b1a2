from . import entries, model, notation, ranges, several, toml

__all__ = ["entries", "model", "notation", "ranges", "several", "toml"]
