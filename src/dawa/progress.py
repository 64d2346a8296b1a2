"""Long work tells a listener which stage it has reached: in words, and never a number that follows from records.

How long a stage takes still depends on the data, so progress is for the person who runs the release, and not for
publication.

>>> with heard(print):
...     reached("Reading")
Reading
>>> reached("Measuring")
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str], object]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def reached(stage: str) -> None:
    """Tell the listener, if there is one."""
    listener = _listener.get()
    if listener is not None:
        listener(stage)


@contextmanager
def part(name: str) -> Iterator[None]:
    """Say of every stage in the block which part of the work it is of.

    >>> with heard(print), part("Group 3 of 16"):
    ...     reached("Measuring")
    Group 3 of 16: measuring
    """
    listener = _listener.get()
    with heard(listener and (lambda stage: listener(f"{name}: {stage[:1].lower()}{stage[1:]}"))):
        yield


@contextmanager
def heard(listener: Listener | None) -> Iterator[None]:
    """Tell this listener which stages are reached inside the block; None tells nobody."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
