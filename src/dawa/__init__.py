"""Differentially private answers to range queries: how many, between here and there, without exposing anyone.

>>> import dawa
>>> ages = [3, 5, 8, 13, 21, 21, 13, 8, 5, 3]
>>> est = dawa.estimate(ages, epsilon=1)
>>> est.answer(dawa.Workload.ranges([2], [6], shape=10)).shape
(1,)
"""

from dawa import mechanisms, noise, partition, workloads
from dawa.answers import Answer
from dawa.axis import Axis
from dawa.counts import Counts
from dawa.errors import DawaError
from dawa.estimates import Estimate
from dawa.pipeline import estimate, release
from dawa.releases import Release, load
from dawa.version import __version__
from dawa.workload import Workload

__all__ = [
    "Answer",
    "Axis",
    "Counts",
    "DawaError",
    "Estimate",
    "Release",
    "Workload",
    "__version__",
    "estimate",
    "load",
    "mechanisms",
    "noise",
    "partition",
    "release",
    "workloads",
]
