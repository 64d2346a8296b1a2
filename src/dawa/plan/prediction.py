"""The whole error of a mechanism, noise and buckets, found by running it on data that may be looked at."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dawa import mechanisms, pipeline, progress
from dawa.arrays import FloatArray
from dawa.errors import OptionError
from dawa.plan.data import Data
from dawa.queries.workload import Workload
from dawa.results.answers import Ranged, answers
from dawa.results.ends import border_cells
from dawa.results.estimate import Estimate
from dawa.workloads import random_rectangles, uniform

QUERIES = 1000
"""Ranges that are asked in a run, unless the release is made for fewer."""
QUERIES_ON_MAPS = 200
MARGINS = 100
"""Ranges whose intervals are looked at."""
CONFIDENCE = 0.95
OTHER_QUERIES = 4711
"""A seed: the ranges that are asked are not those that a mechanism is told to prepare for."""


@dataclass(frozen=True)
class Run:
    """One run of a mechanism on known data.

    Attributes:
        mean: The mean absolute error over the ranges, in records.
        rms: The root of the mean squared error.
        most: The absolute error that 95% of the ranges stay below.
        interval: Half the length of the intervals that a release would give, on average; NaN if it has none.
        typical: The mean of the true answers.
    """

    mean: float
    rms: float
    most: float
    interval: float
    typical: float


@dataclass(frozen=True)
class Setting:
    """What is run: everything but the data.

    Attributes:
        shape: Cells along each axis.
        epsilon: The budget of a record.
        mechanism: The mechanism's name.
        options: Its options.
        workload: What it is made for.
        asked: The ranges that it is asked.
    """

    shape: tuple[int, ...]
    epsilon: Fraction
    mechanism: str
    options: dict[str, Any]
    workload: Workload
    asked: Workload

    @classmethod
    def of(
        cls,
        shape: tuple[int, ...],
        epsilon: Fraction,
        mechanism: str,
        options: dict[str, Any],
        workload: Workload | None = None,
    ) -> "Setting":
        """With ranges to ask: the workload's own, or random ones."""
        prepared = pipeline.asked(workload, shape)
        if workload is None and len(shape) > 1:
            prepared = random_rectangles(shape, QUERIES_ON_MAPS)  # more of them change little and take long
        return cls(shape, epsilon, mechanism, options, prepared, asked_of(workload, shape))

    def run(self, data: Data, seed: int) -> Run:
        """Run the mechanism once, and compare with the truth."""
        with progress.heard(None):
            found = pipeline.estimate(
                data.counts, self.workload, epsilon=self.epsilon, mechanism=self.mechanism, seed=seed, **self.options
            )
        truth = data.answers(self.asked)
        errors = np.abs(found.answers(self.asked) - truth)
        return Run(
            float(errors.mean()),
            float(np.sqrt((errors**2).mean())),
            float(np.quantile(errors, CONFIDENCE)),
            _interval(found, self.asked),
            float(np.abs(truth).mean()),
        )


@dataclass(frozen=True)
class Prediction:
    """Errors over several runs on data of one kind.

    Attributes:
        kind: The kind of the data.
        runs: How many runs these are means of.
        mean: The mean absolute error, in records.
        rms: The root of the mean squared error.
        most: The absolute error that 95% of the ranges stay below.
        interval: Half the length of the intervals that a release would give, on average; None if it has none.
        typical: The mean of the true answers.
        least: The smallest mean absolute error of a run.
        largest: The largest.
        spread: The standard error of ``mean``.
    """

    kind: str
    runs: int
    mean: float
    rms: float
    most: float
    interval: float | None
    typical: float
    least: float
    largest: float
    spread: float

    @classmethod
    def of(cls, kind: str, runs: Sequence[Run]) -> "Prediction":
        """The means of several runs."""
        table = np.array([[run.mean, run.rms, run.most, run.interval, run.typical] for run in runs])
        mean, _, most, interval, typical = table.mean(axis=0).tolist()
        errors: FloatArray = table[:, 0]
        spread = float(errors.std(ddof=1) / len(runs) ** 0.5) if len(runs) > 1 else 0.0
        return cls(
            kind,
            len(runs),
            mean,
            float(np.sqrt((table[:, 1] ** 2).mean())),
            most,
            interval if np.isfinite(interval) else None,
            typical,
            float(errors.min()),
            float(errors.max()),
            spread,
        )


def hasty(mechanism: str, options: dict[str, Any]) -> dict[str, Any]:
    """The same options, with a strategy that needs no search where there is a choice."""
    if "effort" in options:
        return options
    try:
        mechanisms.configured(mechanism, {**options, "effort": "fast"})
    except OptionError:
        return options
    return {**options, "effort": "fast"}


def asked_of(workload: Workload | None, shape: tuple[int, ...]) -> Workload:
    """The ranges to ask: a workload's own if it lists few, or so many of them; else random ones."""
    if workload is not None and workload.closed is None:
        return _thinned(workload)
    if len(shape) == 1:
        return uniform(shape[0], QUERIES, seed=OTHER_QUERIES)
    return random_rectangles(shape, QUERIES_ON_MAPS, seed=OTHER_QUERIES)


def _thinned(workload: Workload) -> Workload:
    """At most so many queries of a workload, evenly."""
    most, count = QUERIES if len(workload.shape) == 1 else QUERIES_ON_MAPS, len(workload)
    if count <= most:
        return workload
    some = np.linspace(0, count - 1, most).astype(np.int64)
    if workload.boxes is not None:
        return Workload.rectangles(workload.boxes[0][some], workload.boxes[1][some], workload.shape)
    first, lengths = workload.first, np.diff(workload.first)[some]
    begin = np.concatenate(([0], np.cumsum(lengths)))
    entries = np.repeat(first[some] - begin[:-1], lengths) + np.arange(begin[-1])
    return Workload.runs(begin, workload.lo[entries], workload.hi[entries], workload.weight[entries], workload.shape)


def _interval(found: Estimate, asked: Workload) -> float:
    """Half the length of the intervals of some ranges; NaN where the mechanism or the queries have none."""
    if found.strategy is None:
        return float("nan")
    if asked.boxes is not None:
        lo, hi = (ends[:MARGINS] for ends in asked.boxes)
    elif len(asked.lo) == len(asked) and (asked.weight == 1).all():
        lo, hi = (ends[:MARGINS, None].astype(np.float64) for ends in (asked.lo, asked.hi))
    else:
        return float("nan")
    several = len(found.shape) > 1 or asked.boxes is not None
    some = (
        Workload.rectangles(lo, hi, found.shape)
        if several
        else Workload.ranges(lo[:, 0].astype(np.int64), hi[:, 0].astype(np.int64), found.shape)
    )
    whole = ((lo == np.floor(lo)) & (hi == np.floor(hi))).all(axis=1)
    border = border_cells(lo, hi, found.shape)
    given = answers([Ranged(found, found.buckets.queries(some), border, whole)], CONFIDENCE)
    return float(np.mean([(answer.high - answer.low) / 2 for answer in given]))
