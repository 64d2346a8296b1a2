from . import model, ranges, toml

__all__ = ["model", "ranges", "toml"]
