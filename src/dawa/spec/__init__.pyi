from . import entries, groups, model, notation, ranges, several, toml

__all__ = ["entries", "groups", "model", "notation", "ranges", "several", "toml"]
