from . import model, notation, ranges, toml

__all__ = ["model", "notation", "ranges", "toml"]
