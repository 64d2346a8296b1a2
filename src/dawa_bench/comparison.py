"""What the commands that compare errors share: the data, the research code's errors, and how errors are measured.

They measure on every histogram or map of a folder, which are real, or else on a few generated ones. These are not the
stand-ins of ``datasets``: they range from easy to hard, and do not imitate a dataset.
"""

import argparse
import csv
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import dawa
from dawa.arrays import IntArray

DEFAULT_FOLDER = Path(__file__).parents[3] / "shared" / "datasets"
REFERENCE = DEFAULT_FOLDER.parent / "reference" / "peers-1d.csv"
REFERENCE_ON_MAPS = REFERENCE.with_name("peers-2d.csv")
EPSILONS = ("0.01", "0.05", "0.1", "0.5")
"""The epsilons on histograms."""


def folder() -> Path:
    """Where the real histograms are: ``DAWA_DATA``, or a folder beside the project."""
    return Path(os.environ.get("DAWA_DATA", DEFAULT_FOLDER))


def measured_on(axes: int) -> tuple[str, dict[str, IntArray]]:
    """The kind of data, and by name the histograms along one axis or the maps over two."""
    files = sorted((folder() / f"{axes}d").glob("*.npy"))
    if files:
        return "real", {file.stem: np.load(file).astype(np.int64) for file in files}
    made = generated_histograms() if axes == 1 else generated_maps()
    return f"generated (set DAWA_DATA to a folder with {axes}d/*.npy for the real ones)", made


def generated_histograms(n: int = 4096) -> dict[str, IntArray]:
    """Histograms from easy to hard: few spikes, a smooth slope, steps, rough everywhere."""
    rng = np.random.default_rng(2014)
    cell = np.arange(n)
    spikes = np.zeros(n, np.int64)
    spikes[rng.choice(n, 60, replace=False)] = rng.integers(1, 2000, 60)
    return {
        "spikes": spikes,
        "slope": rng.poisson(200 * np.exp(-cell / (n / 6))),
        "steps": rng.poisson(np.repeat(rng.integers(0, 60, 32), n // 32)),
        "rough": rng.poisson(rng.gamma(0.3, 300, n)),
    }


def generated_maps(side: int = 256) -> dict[str, IntArray]:
    """Maps from sparse to full: a few towns, streets between them, a smooth landscape."""
    rng = np.random.default_rng(2014)
    y, x = np.mgrid[:side, :side]
    towns = np.zeros((side, side))
    for cy, cx, size in zip(*rng.integers(0, side, (2, 40)), rng.gamma(0.5, 400, 40), strict=True):
        towns += size * np.exp(-((y - cy) ** 2 + (x - cx) ** 2) / (2 * rng.uniform(1, 8) ** 2))
    streets = np.where((y % 32 == 5) | (x % 24 == 7), rng.gamma(1, 20, (side, side)), 0)
    slope = 30 * np.exp(-(x + y) / side)
    return {"towns": rng.poisson(towns), "streets": rng.poisson(streets), "slope": rng.poisson(slope)}


def reference_errors(path: Path) -> dict[tuple[str, str, str], float]:
    """Errors of the research code by algorithm, dataset and epsilon; empty where the file is absent."""
    if not path.exists():
        return {}
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return {(row["algorithm"], row["dataset"], row["epsilon"]): float(row["mean_abs_error"]) for row in rows}


@dataclass(frozen=True)
class Errors:
    """Mean absolute errors per query, on the queries that were given and on fresh ones of the same kind."""

    given: float
    fresh: float

    @classmethod
    def of(cls, found: dawa.Estimate, counts: IntArray, given: dawa.Workload, fresh: dawa.Workload) -> "Errors":
        """The errors of one estimate."""
        return cls(*(float(np.abs(found.answers(asked) - asked.answers(counts)).mean()) for asked in (given, fresh)))

    @classmethod
    def mean(cls, several: list["Errors"]) -> "Errors":
        """The means of several errors."""
        return cls(
            float(np.mean([errors.given for errors in several])), float(np.mean([errors.fresh for errors in several]))
        )


def geometric(values: Iterable[float]) -> float:
    """The geometric mean, for which twice and half cancel.

    >>> geometric([1, 4])
    2.0
    """
    listed = list(values)
    return math.exp(math.fsum(map(math.log, listed)) / len(listed))


def option(text: str) -> tuple[str, object]:
    """``name=value`` as an option of a mechanism: whole numbers and truth values are read as such."""
    name, _, value = text.partition("=")
    known: dict[str, object] = {"True": True, "False": False, "None": None}
    return name, known[value] if value in known else int(value) if value.isdigit() else value


def parser(described: str | None, reference: Path, trials: int) -> argparse.ArgumentParser:
    """The options of all commands that compare with the research code.

    Args:
        described: What the command says about itself.
        reference: Where errors of the research code are read from by default.
        trials: Runs of each kind by default.
    """
    found = argparse.ArgumentParser(description=described, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("--set", type=option, action="append", default=[], metavar="NAME=VALUE", help="an option")
    found.add_argument("--trials", type=int, default=trials)
    found.add_argument("--reference", type=Path, default=reference)
    return found


def parser_of_many(described: str | None, reference: Path, trials: int) -> argparse.ArgumentParser:
    """The same, for commands that print a line for each mechanism."""
    found = parser(described, reference, trials)
    found.add_argument("mechanisms", nargs="*", help="names (default: all but the slowest)")
    found.add_argument("--against", help="the reference to compare with (default: the one of the same name)")
    return found
