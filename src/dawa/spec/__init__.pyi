from . import entries, groups, model, notation, ranges, toml

__all__ = ["entries", "groups", "model", "notation", "ranges", "toml"]
