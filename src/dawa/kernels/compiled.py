"""How loops are compiled, and where compiled code is kept.

Numba keeps it beside the source, or in the user's cache folder. An installation that cannot be written, of a user
without a home, has neither: then it is kept in a private folder among the temporary files. If there is none of these
either, it is compiled in every process.
"""

from collections.abc import Callable
from typing import Any

import numba

from dawa.host import scratch


def _cached() -> bool:
    """Whether compiled code can be kept; numba itself says so when it is asked."""
    if _possible():
        return True
    settings: Any = numba.config
    folder = None if settings.CACHE_DIR else scratch.private(scratch.COMPILED)
    if folder is None:
        return False
    settings.CACHE_DIR = str(folder)
    return _possible()


def _possible() -> bool:
    try:
        numba.njit(cache=True)(_nothing)
    except RuntimeError:
        return False
    return True


def _nothing() -> None:
    """A function to ask about."""


CACHED = _cached()


def njit(*, cache: bool = True, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """``numba.njit``, with a cache where there can be one."""
    compile_it: Callable[[Callable[..., Any]], Any] = numba.njit(cache=cache and CACHED, **options)
    return compile_it
