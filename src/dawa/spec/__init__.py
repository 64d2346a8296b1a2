"""A release as people describe it: on a command line, in a TOML file, as ranges in a CSV file."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
