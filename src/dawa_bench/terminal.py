"""A sign of life of long work, on a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(name: str) -> Iterator[Callable[[int, int], object]]:
    """A progress bar on a terminal, nothing elsewhere. Gives what is to be told how much is done, and of how much."""
    from rich.console import Console  # noqa: PLC0415  --help answers without it
    from rich.progress import (  # noqa: PLC0415  likewise
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        shown = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(shown, completed=done, total=total)
