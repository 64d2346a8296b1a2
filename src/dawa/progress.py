"""Long work tells a listener which stage it has reached: a word, and never a number.

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
def heard(listener: Listener | None) -> Iterator[None]:
    """Tell this listener which stages are reached inside the block; None tells nobody."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
