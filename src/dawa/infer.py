"""From noisy answers to bucket totals and cells: post-processing, free of budget.

Each strategy has its own least squares; the steps that all strategies share are here.
"""

from typing import Literal

import numpy as np

from dawa import kernels
from dawa.arrays import FloatArray, IntArray, running
from dawa.errors import OptionError

PostProcess = Literal["none", "nonnegative", "rounded"]
POST_PROCESSES = ("none", "nonnegative", "rounded")


def nonnegative(totals: FloatArray) -> FloatArray:
    """Bucket totals without negative numbers, and with the same sum if that is not negative.

    Totals are non-negative if their running sums never fall, so the running sums become the nearest ones that do not:
    where they fall, neighbours are pooled. A range is the difference of two running sums, so answers change little.
    The pools are the same from either end, and totals away from negative ones stay as they are.
    """
    if not (totals < 0).any():
        return totals.copy()
    below = running(totals)[1:]
    total = max(float(below[-1]), 0.0)
    kept = np.append(np.clip(kernels.isotonic.nondecreasing(below[:-1]), 0, total), total)
    moved = np.append(False, kept != below)
    return np.where(moved[:-1] | moved[1:], np.diff(kept, prepend=0.0), np.maximum(totals, 0))


def rounded(totals: FloatArray) -> FloatArray:
    """Whole bucket totals whose running sums are the given ones rounded: no range drifts by more than 1."""
    return np.diff(np.rint(running(totals)))


def postprocessed(totals: FloatArray, how: PostProcess) -> FloatArray:
    """Bucket totals as they are published."""
    check(how)
    if how == "none":
        return totals
    kept = nonnegative(totals)
    return rounded(kept) if how == "rounded" else kept


def check(how: str) -> None:
    """Raise an OptionError for a post-processing that does not exist."""
    if how not in POST_PROCESSES:
        raise OptionError(f"There is no post-processing {how!r}.", f"choose one of {', '.join(POST_PROCESSES)}.")


def expanded(totals: FloatArray, bounds: IntArray) -> FloatArray:
    """Cells from buckets: each bucket's total spread evenly."""
    widths = np.diff(bounds)
    return np.repeat(totals / widths, widths)


def records_before(borders: IntArray | FloatArray, totals: FloatArray, bounds: IntArray) -> FloatArray:
    """The estimated number of records below each border, without expanding buckets into cells."""
    return np.interp(borders, bounds, running(totals))
