"""The compiled loops, each module imported when one of its loops is first used.

They are written in C (the folder ``c``) and compiled when the package is built, so nothing is compiled when dawa runs.
``native`` finds the library and holds every call to what the loop takes; the modules here make the arrays that a loop
needs. Kernels take and return plain arrays and know nothing about privacy; each has a slow, obvious twin in the tests.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
