"""Records that have no cell: in which ways, and what each way is called.

A record whose value is missing, outside the bounds or not listed can be counted apart, in a cell of its own. On several
axes it may lack a cell on some of them and not on others; every combination is a cell of its own.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Protocol

from dawa.axis.base import Axis, State
from dawa.axis.written import written


class Parted(Protocol):
    """An axis, or a column that puts records into groups."""

    @property
    def apart(self) -> tuple[State, ...]:
        """The ways of having no cell, or no group, that are counted apart."""
        ...


def patterns(axes: Sequence[Parted]) -> tuple[tuple[State, ...], ...]:
    """The ways of having no cell that are counted apart, one state for each axis; the last axis changes fastest.

    >>> patterns([Axis("age", 0, 120, outside="own")])
    (('below',), ('above',), ('missing',))
    >>> patterns([Axis("age", 0, 120), Axis.ordered("sex", ["f", "m"], outside="drop")])
    (('inside', 'missing'), ('missing', 'inside'), ('missing', 'missing'))
    """
    every = product(*(("inside", *axis.apart) for axis in axes))
    return tuple(every)[1:]  # the first is a cell of the axes


def named(axes: Sequence[Axis], pattern: Sequence[State]) -> str:
    """A way of having no cell, in words.

    >>> named([Axis("age", 0, 120, outside="own")], ("above",))
    'age from 120 on'
    >>> named([Axis("age", 0, 120), Axis.ordered("sex", ["f", "m"])], ("inside", "unlisted"))
    'sex not listed'
    """
    return " and ".join(_state(axis, state) for axis, state in zip(axes, pattern, strict=True) if state != "inside")


def clipped(axis: Axis, *, first: bool, last: bool) -> str:
    """What the edge cells of an axis hold besides their own values, in words; empty if they hold nothing else.

    Args:
        axis: The axis.
        first: Whether the first cell is meant.
        last: Whether the last cell is meant.

    >>> clipped(Axis("age", 0, 120), first=True, last=False)
    'everything below 0'
    """
    if axis.outside != "clip":
        return ""
    sides: tuple[tuple[State, Callable[[Axis], str], bool], ...] = (("below", lowest, first), ("above", highest, last))
    ends = [end(axis) for state, end, meant in sides if meant and state in axis.beyond]
    return " and ".join(f"everything {end}" for end in ends)


def touching(axes: Sequence[Axis], ends: Iterable[tuple[bool, bool]]) -> str:
    """What a range holds besides its own values, in words; empty if it holds nothing else.

    Args:
        axes: The axes.
        ends: For each axis, whether the range holds its first cell, and whether it holds its last.

    >>> touching([Axis("age", 0, 120)], [(True, True)])
    'with everything below 0 and everything from 120 on'
    >>> touching([Axis("age", 0, 120), Axis("pay", 0, 9)], [(True, False), (False, True)])
    'on age with everything below 0; on pay with everything from 9 on'
    """
    held = ((axis, clipped(axis, first=first, last=last)) for axis, (first, last) in zip(axes, ends, strict=True))
    return "; ".join(f"{'' if len(axes) == 1 else f'on {axis.column} '}with {what}" for axis, what in held if what)


def lowest(axis: Axis) -> str:
    """Where the axis begins, for values that lie before."""
    return f"{'before' if axis.kind == 'dates' else 'below'} {written(axis, [0], [1])[0][0]}"


def highest(axis: Axis) -> str:
    """Where the axis ends, for values that lie there or beyond."""
    return f"from {written(axis, [axis.size - 1], [axis.size])[1][0]} on"


def _state(axis: Axis, state: State) -> str:
    if state == "below":
        return f"{axis.column} {lowest(axis)}"
    if state == "above":
        return f"{axis.column} {highest(axis)}"
    return f"{axis.column} {'not listed' if state == 'unlisted' else 'missing'}"
