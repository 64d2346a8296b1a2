"""Differentially private answers to range queries: how many, between here and there, without exposing anyone.

>>> import dawa
>>> ages = [3, 5, 8, 13, 21, 21, 13, 8, 5, 3]
>>> est = dawa.estimate(ages, epsilon=1)
>>> est.answer(dawa.Workload.ranges([2], [6], shape=10)).shape
(1,)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dawa import mechanisms, noise, partition, plots, workloads
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
    "plots",
    "release",
    "workloads",
]

_HOMES = {
    "Answer": "answers",
    "Axis": "axis",
    "Counts": "counts",
    "DawaError": "errors",
    "Estimate": "estimates",
    "Release": "releases",
    "Workload": "workload",
    "__version__": "version",
    "estimate": "pipeline",
    "load": "releases",
    "release": "pipeline",
}
"""Where each name lives; a name that is not here is a module."""


def __getattr__(name: str) -> Any:  # noqa: ANN401  whatever it is called
    """Import a name when it is first used: the command line answers at once, without numpy."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(f"{__name__}.{_HOMES.get(name, name)}")
    value = globals()[name] = getattr(home, name) if name in _HOMES else home
    return value


def __dir__() -> list[str]:
    return __all__
