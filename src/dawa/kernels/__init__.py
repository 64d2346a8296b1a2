"""The compiled loops, each module imported when one of its loops is first used.

``import dawa`` stays fast because numba is loaded only here, on first use; compiled code is cached on disk.
Kernels take and return plain arrays and know nothing about privacy; each has a slow, obvious twin in the tests.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
