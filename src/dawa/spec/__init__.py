"""Specs of releases, on a command line or in a TOML file, and ranges, on a command line or in a CSV file."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
