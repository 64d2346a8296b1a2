"""What a person sees: tables on stdout, and on stderr a sign of life that says the stage and never a number."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from dawa import progress

WIDE = 200
"""For pipes and files, which have no width of their own."""


def screen() -> Console:
    """Where answers go."""
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=WIDE)


@contextmanager
def working(first: str) -> Iterator[None]:
    """Say on a terminal what is being done, stage by stage; elsewhere say nothing."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(f"{first} …") as status, progress.heard(lambda stage: status.update(f"{stage} …")):
        yield
