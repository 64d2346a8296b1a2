"""Differentially private answers to range queries: how many, between here and there, without exposing anyone.

>>> import dawa
>>> ages = [3, 5, 8, 13, 21, 21, 13, 8, 5, 3]
>>> est = dawa.estimate(ages, epsilon=1)
>>> est.answers(dawa.Workload.ranges([2], [6], shape=10)).shape
(1,)
"""

from threading import RLock
from typing import Any

import lazy_loader

# Public names are those of __init__.pyi. Each is imported when it is first used: the command line answers at once.
_imported, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
_ONE_AT_A_TIME = RLock()


def __getattr__(name: str) -> Any:  # noqa: ANN401  whatever it is called
    """Import a public name, in one thread at a time: large libraries cannot be imported by two at once."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with _ONE_AT_A_TIME:
        try:
            return _imported(name)
        except ModuleNotFoundError as error:
            from dawa.host import extras  # noqa: PLC0415  import dawa is quick without it

            raise extras.explained(error) or error from None
