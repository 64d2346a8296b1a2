"""Differentially private answers to range queries: how many, between here and there, without exposing anyone.

>>> import dawa
>>> ages = [3, 5, 8, 13, 21, 21, 13, 8, 5, 3]
>>> est = dawa.estimate(ages, epsilon=1)
>>> est.answers(dawa.Workload.ranges([2], [6], shape=10)).shape
(1,)
"""

import lazy_loader

# The public names are listed in __init__.pyi. Each is imported on first use, so the command line answers at once.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
