"""The compiled loops, each module imported when one of its loops is first used.

``import dawa`` stays fast because numba is loaded only here, on first use; compiled code is cached on disk.
Kernels take and return plain arrays and know nothing of privacy; each has a slow, obvious twin in the tests.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dawa.kernels import (
        bisect,
        boxes,
        bumps,
        deviation,
        draw,
        even_boxes,
        fourier,
        hat_variance,
        hats,
        hilbert,
        least_cost,
        mwem,
        nested,
        records,
        runs,
        structure,
        tree,
        tree_variance,
        walk,
        wavelet,
    )

__all__ = [
    "bisect",
    "boxes",
    "bumps",
    "deviation",
    "draw",
    "even_boxes",
    "fourier",
    "hat_variance",
    "hats",
    "hilbert",
    "least_cost",
    "mwem",
    "nested",
    "records",
    "runs",
    "structure",
    "tree",
    "tree_variance",
    "walk",
    "wavelet",
]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(name)
    return importlib.import_module(f"{__name__}.{name}")
