"""What an experiment is: its tasks, how one is run, and how results are shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dawa_bench.tables import Table
from dawa_bench.tasks import Measured, Record, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Size = Literal["quick", "full"]


@dataclass(frozen=True)
class Experiment:
    """A named experiment.

    Attributes:
        name: What to ask for on the command line.
        title: What it is, in a few words.
        finding: How to read it, in a sentence or two for the page of results.
        tasks: All runs of a size, on the datasets of a folder.
        run: One of them.
        tables: What came of it.
        figure: The same as a picture, if it makes one.
        alone: Whether tasks are timed, so that nothing else may run beside them.
    """

    name: str
    title: str
    finding: str
    tasks: Callable[[Size, Path | None], list[Task]]
    run: Callable[[Task, Path | None], Measured]
    tables: Callable[[Sequence[Record]], list[Table]]
    figure: Callable[[Sequence[Record]], "Figure | None"]
    alone: bool = False
