"""What an experiment is, what is stored of it, and every experiment by name.

A task is one run of one mechanism, and a record here is its result. A task's seed is a hash of its key, so a result
depends on its task alone: not on the order of the tasks, the machine, interruptions, or the experiment's module.

The modules of this package hold the experiments; each module is loaded when one of its experiments is asked for.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dawa.errors import OptionError
from dawa.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dawa_bench.display import Table

HOMES = {
    "paper.errors": "errors",
    "paper.optimal-k": "partitions",
    "paper.stages": "stages",
    "paper.partitions": "partitions",
    "paper.scaling": "stages",
    "paper.spatial": "spatial",
    "paper.time": "running_time",
    "paper.rounds": "errors",
    "growth": "running_time",
    "scale": "errors",
}
"""Which module has an experiment among its ``EXPERIMENTS``, in the order of the page of results."""

Size = Literal["quick", "full"]


@dataclass(frozen=True, order=True)
class Task:
    """One run; all fields together are its key.

    Attributes:
        experiment: The experiment's name.
        dataset: The dataset's name.
        data: What the dataset is: ``real``, ``other`` or ``generated``.
        mechanism: The mechanism that is run.
        epsilon: The budget, as it is written.
        workload: The workload's name, with a number if there are several: ``uniform-3``.
        setting: What else is varied, such as ``rounds=10``.
        trial: The number of the repetition.
    """

    experiment: str
    dataset: str
    data: str
    mechanism: str
    epsilon: str = ""
    workload: str = ""
    setting: str = ""
    trial: int = 0

    @property
    def seed(self) -> int:
        """A number of 63 bits that is computed from the key.

        >>> Task("paper.errors", "adult", "real", "dawa", "0.1", "uniform-0").seed
        3230854783247691014
        """
        key = "\n".join(str(getattr(self, field.name)) for field in fields(self))
        return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") >> 1


@dataclass(frozen=True)
class Measured:
    """What a run gave; None where a value does not apply.

    Attributes:
        error: Mean absolute error per query, in records.
        seconds: How long the run took.
        buckets: The buckets of the partition.
        cost: The cost of the partition: the deviation inside its buckets, plus 1/ε2 for each bucket.
        megabytes: Peak memory of a process that does nothing else.
    """

    error: float | None = None
    seconds: float | None = None
    buckets: int | None = None
    cost: float | None = None
    megabytes: float | None = None


@dataclass(frozen=True)
class Record:
    """A task and what it gave, with the version of dawa that ran it."""

    task: Task
    measured: Measured
    version: str = __version__


KEYS = tuple(field.name for field in fields(Task))
VALUES = tuple(field.name for field in fields(Measured))
COLUMNS = (*KEYS, *VALUES, "version")


@dataclass(frozen=True)
class Experiment:
    """A named experiment.

    Attributes:
        name: Its name on the command line.
        title: What it is, in a few words.
        finding: How to read it, in a sentence or two for the page of results.
        tasks: Lists all tasks of a size, on the datasets of a folder.
        run: Runs one task.
        tables: The results as tables.
        figure: The results as a picture; None if tables are enough.
        alone: Whether tasks are timed, so that nothing else may run at the same time.
    """

    name: str
    title: str
    finding: str
    tasks: Callable[[Size, Path | None], list[Task]]
    run: Callable[[Task, Path | None], Measured]
    tables: Callable[[Sequence[Record]], "list[Table]"]
    figure: Callable[[Sequence[Record]], "Figure"] | None = None
    alone: bool = False


def names() -> tuple[str, ...]:
    """Every experiment, by name."""
    return tuple(HOMES)


def find(name: str) -> Experiment:
    """An experiment by name.

    >>> find("paper.errors").title
    'Average error on uniform intervals'

    Raises:
        OptionError: If there is no experiment of that name.
    """
    if name not in HOMES:
        raise OptionError(f"There is no experiment {name!r}.", f"choose one of {', '.join(HOMES)}.")
    home: tuple[Experiment, ...] = import_module(f"{__name__}.{HOMES[name]}").EXPERIMENTS
    return next(one for one in home if one.name == name)
