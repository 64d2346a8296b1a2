"""A release: the only thing that leaves the room. It answers any range, any number of times, at no further cost."""

import json
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dawa import infer, release_file
from dawa.answers import Answer, answer
from dawa.arrays import FloatArray
from dawa.axis import Axis
from dawa.errors import OptionError, ReleaseError
from dawa.estimates import Estimate
from dawa.statement import PrivacyStatement
from dawa.workload import coordinates


@dataclass(frozen=True, eq=False)
class Release:
    """An estimate with its axes and its privacy statement.

    Attributes:
        axes: The attribute, as one axis.
        estimate: Bucket totals and what is known of their noise.
        privacy: What is protected, and how much was spent.
    """

    axes: tuple[Axis, ...]
    estimate: Estimate
    privacy: PrivacyStatement

    @property
    def axis(self) -> Axis:
        """The one axis of a one-dimensional release."""
        return self.axes[0]

    @property
    def bounds(self) -> FloatArray:
        """Bucket bounds in the attribute's own units."""
        return self.axis.value(self.estimate.buckets.bounds)

    def answer(self, lo: object, hi: object, confidence: float = 0.95) -> Answer:
        """How many records lie from ``lo`` up to but not including ``hi``.

        Args:
            lo: Lower end, in the attribute's own units.
            hi: Upper end.
            confidence: The probability with which the truth lies between ``low`` and ``high``, at least.

        Raises:
            AxisError: If an end lies outside the axis.
            OptionError: If the range is empty, or the confidence cannot be promised.
        """
        start, stop = self._ends(lo, hi)
        (a, b), on_cells = self._coordinates([start, stop]), start.denominator == stop.denominator == 1
        return answer(self.estimate, float(a), float(b), on_cells=on_cells, confidence=confidence)

    def values(self, lo: ArrayLike | None = None, hi: ArrayLike | None = None) -> FloatArray:
        """The estimated number of records in each bucket, or in each of many ranges."""
        return self.estimate.range_totals(*self._runs(lo, hi))

    def variances(self, lo: ArrayLike | None = None, hi: ArrayLike | None = None) -> FloatArray:
        """The variance of the noise in each bucket's total, or in each of many ranges, before post-processing."""
        return self.estimate.range_variances(*self._runs(lo, hi))

    def quantile(self, fraction: float) -> float:
        """The value below which this fraction of all records lies, in the attribute's own units.

        >>> import dawa
        >>> from dawa.demo import people
        >>> rel = dawa.release(people(5000), dawa.Axis("age", 0, 100), epsilon=1, seed=0)
        >>> 30 < rel.quantile(0.5) < 50
        True
        """
        if not isinstance(fraction, (int, float, np.number)) or not 0 <= fraction <= 1:
            raise OptionError(f"{fraction!r} is no fraction.", "pass a number from 0 to 1, such as 0.5.")
        before = self._records_before()
        return float(np.interp(float(fraction) * before[-1], *_steps(before, self.bounds)))

    def sample(self, size: int, seed: int | None = None) -> NDArray[np.float64]:
        """Synthetic values with the released distribution: for tools that want rows, at no further cost.

        On an axis of whole numbers the values are whole; otherwise they lie anywhere in their bucket. Noise is not
        added again, so a seed does no harm here.
        """
        for name, number in (("size", size), ("seed", 0 if seed is None else seed)):
            if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 0:
                raise OptionError(f"{name}={number!r} is no whole number.", f"pass {name}=1000, for example.")
        before = self._records_before()
        drawn = np.random.default_rng(seed).uniform(0, before[-1], size)
        values = np.interp(drawn, *_steps(before, self.bounds))
        return np.floor(values) if self.axis.whole else values

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the release as JSON; ``dawa.load`` reads it back."""
        target = Path(path)
        text = json.dumps(release_file.written(self.axes, self.estimate, self.privacy), indent=1)
        target.write_text(text + "\n", encoding="utf-8")
        return target

    def _ends(self, lo: object, hi: object) -> tuple[Fraction, Fraction]:
        start, stop = self.axis.border(lo), self.axis.border(hi)
        if start >= stop:
            raise OptionError(f"The range from {lo} to {hi} is empty.", "pass the lower end first.")
        return start, stop

    def _coordinates(self, borders: list[Fraction]) -> FloatArray:
        return coordinates(np.array([float(border) for border in borders]), self.estimate.buckets.bounds)

    def _runs(self, lo: ArrayLike | None, hi: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
        """Bucket coordinates of many ranges, or of the buckets themselves."""
        if lo is None or hi is None:
            if lo is not None or hi is not None:
                raise OptionError("Only one end of the ranges is given.", "pass both lo and hi, or neither.")
            bucket = np.arange(len(self.estimate.buckets), dtype=np.float64)
            return bucket, bucket + 1
        lows, highs = np.atleast_1d(np.asarray(lo)), np.atleast_1d(np.asarray(hi))
        if lows.shape != highs.shape or lows.ndim != 1:
            raise OptionError("lo and hi do not have the same length.", "pass one hi for every lo.")
        ends = [self._ends(a, b) for a, b in zip(lows.tolist(), highs.tolist(), strict=True)]
        return self._coordinates([a for a, _ in ends]), self._coordinates([b for _, b in ends])

    def _records_before(self) -> FloatArray:
        """Non-decreasing sums of records at the bucket bounds."""
        before = np.concatenate(([0.0], np.cumsum(infer.nonnegative(self.estimate.totals))))
        if before[-1] <= 0:
            raise ReleaseError(
                "The release holds no records, so it has no distribution.",
                "ask for counts instead; noise exceeds them here.",
            )
        return before

    def __repr__(self) -> str:
        return (
            f"Release({self.axis.column!r} from {self.axis.start} to {self.axis.stop},"
            f" epsilon={self.privacy.epsilon}, {len(self.estimate.buckets)} buckets)"
        )


def load(path: str | PathLike[str]) -> Release:
    """Read a release that ``Release.save`` wrote.

    Raises:
        ReleaseError: If there is no such file, or it is no release that this version can read.
    """
    source = Path(path)
    try:
        data: Any = json.loads(source.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ReleaseError(f"There is no file {source}.", "pass the path of a release.json.") from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError):
        raise ReleaseError(f"{source} is no JSON file.", "pass the path of a release.json.") from None
    return Release(*release_file.read(data))


def _steps(before: FloatArray, bounds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The running sums without empty buckets, for inverting them: both ends of every bucket that holds records."""
    occupied = np.diff(before) > 0
    keep = np.append(occupied, False) | np.append(False, occupied)
    return before[keep], bounds[keep]
