"""Histograms as UHI writes them: dictionaries of its schema, version 1, and what boost-histogram makes of them.

Edges are written one by one, even where they are evenly apart: a library that computes them again may be a digit off,
and put a value beside its bin. UHI knows neither times nor addresses, so their edges are numbers, and metadata says
which.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dawa.arrays import FloatArray
from dawa.axis import AddressAxis, Axis, DateAxis
from dawa.axis.bins import FlowTraits
from dawa.errors import InstallationError
from dawa.version import __version__

Word = float | str | bool
"""What UHI's metadata may hold."""

TAKEN = {"weight", "sample", "threads"}
"""What no axis of ``hist`` may be called: arguments of its methods."""

MOST_NUMBER = 2**31
"""Numbers that name categories lie below this: libraries keep them in 32 bits."""


def document(
    axes: Sequence[Axis], values: FloatArray, variances: FloatArray, metadata: dict[str, Word]
) -> dict[str, Any]:
    """A histogram with weights: values and variances, with the bins below and above that axes say they have."""
    return {
        "uhi_schema": 1,
        "writer_info": {"dawa": {"version": __version__}},
        "axes": [_axis(axis) for axis in axes],
        "storage": {"type": "weighted", "values": np.array(values), "variances": np.array(variances)},
        "metadata": dict(metadata),
    }


def boosted(data: dict[str, Any]) -> Any:  # noqa: ANN401  a library's own type
    """The same as a histogram of boost-histogram.

    Raises:
        InstallationError: If it is not installed.
    """
    try:
        from boost_histogram import Histogram  # noqa: PLC0415  optional
    except ImportError:
        raise InstallationError(
            "boost-histogram is not installed.", "install it: pip install 'dawa[histograms]'."
        ) from None
    return Histogram(data)


def flow_of(axis: Axis) -> tuple[bool, bool]:
    """Whether an axis has a bin below its bins, and one above them."""
    traits = axis.traits
    return (traits.underflow, traits.overflow) if isinstance(traits, FlowTraits) else (False, False)


def edges(axis: Axis, *, flow: bool) -> NDArray[Any]:
    """The edges of bins, or the names of categories."""
    if axis.kind == "ordered":
        named = categories(axis)
        return np.array([*named, None] if flow and flow_of(axis)[1] else named, object)
    under, over = flow_of(axis) if flow else (False, False)
    return np.concatenate(([-np.inf] * under, axis.number(axis.bins), [np.inf] * over))


def categories(axis: Axis) -> list[str] | list[int]:
    """The names of bins, none of them twice: numbers if all are small whole numbers, and text otherwise."""
    found = list(axis)
    if all(isinstance(name, int) and not isinstance(name, bool) and abs(name) < MOST_NUMBER for name in found):
        return found
    distinct: dict[str, None] = {}
    for name in map(str, found):
        free = name
        while free in distinct:
            free += "'"
        distinct[free] = None
    return list(distinct)


def _axis(axis: Axis) -> dict[str, Any]:
    under, over = flow_of(axis)
    about: dict[str, Word] = {"label": axis.column, **units(axis)}
    if axis.column not in TAKEN:
        about["name"] = axis.column
    if axis.kind == "ordered":
        named = categories(axis)
        kind = "category_str" if isinstance(named[0], str) else "category_int"
        return {"type": kind, "categories": named, "flow": over, "metadata": about}
    return {
        "type": "variable",
        "edges": axis.number(axis.bins),
        "underflow": under,
        "overflow": over,
        "circular": False,
        "metadata": about,
    }


def units(axis: Axis) -> dict[str, Word]:
    """What the numbers of an axis are, where that is not plain."""
    if isinstance(axis, DateAxis):
        days = "days since 1970-01-01"
        return {"unit": f"{days} UTC", "zone": axis.zone} if axis.zone else {"unit": days}
    if isinstance(axis, AddressAxis):
        return {"unit": f"IPv{axis.version} address as a number"}
    return {}
