from . import entries, model, notation, ranges, toml

__all__ = ["entries", "model", "notation", "ranges", "toml"]
