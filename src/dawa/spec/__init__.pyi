from . import forms, model, ranges, toml

__all__ = ["forms", "model", "ranges", "toml"]
