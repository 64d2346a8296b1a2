"""From noisy answers to bucket totals and cells: post-processing, free of budget.

Each strategy has its own least squares; the steps that all strategies share are here.
"""

from typing import Literal

import numpy as np

from dawa.arrays import FloatArray, IntArray
from dawa.errors import OptionError

PostProcess = Literal["none", "nonnegative", "rounded"]
POST_PROCESSES = ("none", "nonnegative", "rounded")


def nonnegative(totals: FloatArray) -> FloatArray:
    """Bucket totals without negative numbers, by clipping sums from the top of a binary tree down.

    The grand total is clipped at 0. Then, pair by pair, both halves take half of their parent's change, the left half
    is clipped to what the parent has, and the right half gets the rest. So the sums over many buckets, which are known
    best, change least.
    """
    sums = [totals]
    while len(sums[-1]) > 1:
        sums.append(np.add.reduceat(sums[-1], np.arange(0, len(sums[-1]), 2)))
    kept = np.maximum(sums[-1], 0)
    for level, above in zip(sums[-2::-1], sums[:0:-1], strict=True):
        left = np.clip(level[::2] + (kept - above) / 2, 0, kept)
        left[len(level) // 2 :] = kept[len(level) // 2 :]  # a left half without a right half equals its parent
        kept = np.stack((left, kept - left), axis=1).ravel()[: len(level)]
    return kept


def rounded(totals: FloatArray) -> FloatArray:
    """Whole bucket totals whose running sums are the given ones rounded: no range drifts by more than 1."""
    return np.diff(np.rint(np.cumsum(totals)), prepend=0.0)


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
    return np.interp(borders, bounds, np.concatenate(([0.0], np.cumsum(totals))))
