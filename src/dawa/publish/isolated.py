r"""Names in texts that people read: none turns the direction of what stands beside it.

A name may hold marks that turn directions, such as U+202E, and then numbers beside it would read backwards. They are
written out. A name from right to left keeps its order, and is set apart from what surrounds it. The scripts of a page
do the same (``names.js``).
"""

from dataclasses import replace
from typing import Any, TypeVar

from dawa.plots.names import isolated
from dawa.results.grouped import AnyRelease, GroupedRelease

OneOf = TypeVar("OneOf", bound=AnyRelease)


def named(release: OneOf) -> OneOf:
    """A release whose columns are called as texts call them, for sentences alone."""
    axes = tuple(replace(axis, column=isolated(axis.column)) for axis in release.axes)  # type: ignore[type-var]
    units = tuple(isolated(column) for column in release.privacy.unit_columns)
    changed: dict[str, Any] = {"axes": axes, "privacy": replace(release.privacy, unit_columns=units)}
    if isinstance(release, GroupedRelease):
        changed["by"] = tuple(replace(one, axis=replace(one.axis, column=isolated(one.column))) for one in release.by)
    return replace(release, **changed)


__all__ = ["isolated", "named"]
