"""Which tests are long: left out of ``make test``, and run by ``make test-all`` and in continuous integration.

What is slow or statistical is marked ``long``, on a function or on single parameters. A law over very many cases is
marked ``long_but(keep)``: all of its cases but so many, chosen evenly, are long; with ``of="writer"``, all but so many
for each value of that parameter, not the same ones for each.
"""

from collections import defaultdict
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Found:
    """Files that have long tests alone, and fixtures that are used without long tests."""

    files: set
    used: set


FOUND = pytest.StashKey[Found]()


def mark(items):
    """Mark as long all but some cases of each law that says so, and tell what is left."""
    laws = defaultdict(lambda: defaultdict(list))
    for item in items:
        if marker := item.get_closest_marker("long_but"):
            group = repr(item.callspec.params[marker.kwargs["of"]]) if marker.kwargs else ""
            laws[item.nodeid.partition("[")[0]][group].append((item, marker.args[0]))
    for groups in laws.values():
        for shift, cases in enumerate(groups.values()):
            _mark(shift, *zip(*cases, strict=True))
    return _found(items)


def _mark(shift, cases, keeps):
    """Those that are kept begin somewhere else in each group."""
    kept = {(shift + len(cases) * i // keeps[0]) % len(cases) for i in range(keeps[0])}
    for i, case in enumerate(cases):
        if i not in kept:
            case.add_marker(pytest.mark.long)


def _found(items):
    files, used = {True: set(), False: set()}, set()
    for item in items:
        is_long = item.get_closest_marker("long") is not None
        files[is_long].add(str(item.path))
        if not is_long:
            used.update(getattr(item, "fixturenames", ()))
    return Found(files[True] - files[False], used)
