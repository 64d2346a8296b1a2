"""From a table to counts: files, frames, databases and clusters, all by one expression that runs where the data is."""

import lazy_loader

from dawa.host import extras

# Engines are slow to load, so the modules that use them are imported on first use.
_imported, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = extras.explaining(_imported)
