"""What is known of a value without running anything: whether it is private, and whether it is a float."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Self

DEEPEST = 3
"""Parts of parts beyond this are taken together, so that loops come to an end."""


@dataclass(frozen=True)
class Value:
    """What an expression may be.

    Attributes:
        private: Whether it follows from records by anything but a gate.
        real: Whether it is a float, or holds some.
        refs: What it may be, in full: functions, classes and modules such as ``numpy.cumsum``.
        kinds: The classes of which it may be an instance, or hold instances.
        parts: Its elements, for tuples whose length is known.
        sparse: Whether its length is private too: an array of what the counts hold of occupied cells.
    """

    private: bool = False
    real: bool = False
    refs: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    parts: "tuple[Value, ...] | None" = None
    sparse: bool = False

    @classmethod
    def of(cls, parts: "Iterable[Value]") -> Self:
        """A tuple of these."""
        listed = tuple(part if part.depth < DEEPEST else part.element for part in parts)
        flat = joined(listed).element
        return cls(flat.private, flat.real, flat.refs, flat.kinds, listed)

    @property
    def depth(self) -> int:
        """How many tuples it has inside one another."""
        return 1 + max((part.depth for part in self.parts), default=0) if self.parts is not None else 0

    @property
    def element(self) -> "Value":
        """Any of its elements; of an array or a list, the same is known as of the whole."""
        if self.parts is None:
            return self
        return joined(part.element for part in self.parts)

    def each(self) -> "Value":
        """What a loop over it takes; a tuple of tuples gives tuples."""
        return self if self.parts is None else joined(self.parts)

    def joined(self, other: "Value") -> "Value":
        """What may be either."""
        if other in {self, NOTHING}:
            return self
        if self == NOTHING:
            return other
        parts = None
        if self.parts is not None and other.parts is not None and len(self.parts) == len(other.parts):
            parts = tuple(one.joined(two) for one, two in zip(self.parts, other.parts, strict=True))
        private, real = self.private or other.private, self.real or other.real
        return Value(
            private, real, self.refs | other.refs, self.kinds | other.kinds, parts, self.sparse or other.sparse
        )

    def marked(self) -> "Value":
        """The same, private."""
        parts = None if self.parts is None else tuple(part.marked() for part in self.parts)
        return replace(self, private=True, parts=parts)

    def whole(self) -> "Value":
        """The same, and no float."""
        parts = None if self.parts is None else tuple(part.whole() for part in self.parts)
        return replace(self, real=False, parts=parts)


NOTHING = Value()
"""What is public, and of which nothing else is known."""


def joined(values: Iterable[Value]) -> Value:
    """What may be any of these."""
    return reduce(Value.joined, values, NOTHING)


Env = dict[str, Value]
"""What the names of a function may be."""
