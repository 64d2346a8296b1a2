"""Categories that people have put in order: grades, sizes, levels of education."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dawa.axis.base import Axis, Missing, Outside, State, is_text, labelled
from dawa.errors import AxisError, OptionError
from dawa.limits import MOST_LABELS
from dawa.numerals import brief, is_number, told

Label = str | int | bool


@dataclass(frozen=True, eq=False)
class OrderedAxis(Axis):
    """Categories from the lowest to the highest, one cell each.

    Attributes:
        column: Where a table holds the attribute.
        labels: The categories in order: all text, all integers, or False and True.
        outside: What happens to values that are not listed: they are counted apart, or left out.
        missing: What happens to missing values.
    """

    kind: ClassVar[str] = "ordered"

    column: str
    labels: tuple[Label, ...]
    outside: Outside = "own"
    missing: Missing = "own"

    if TYPE_CHECKING:

        def __init__(
            self, column: str, labels: Iterable[Label], outside: Outside = "own", missing: Missing = "own"
        ) -> None: ...

    def __post_init__(self) -> None:
        if self.labels is None:
            raise AxisError(
                f"The axis {told(self.column)} lists no values; they are never read from the data, because a rare"
                " value belongs to few people.",
                'list the values that can occur, in order, such as dawa.Axis.ordered("grade", ["A", "B", "C"]).',
            )
        hint = 'pass a list without repetitions, such as ["A", "B", "C"] or [1, 2, 3].'
        listed = () if isinstance(self.labels, str) or not isinstance(self.labels, Iterable) else tuple(self.labels)
        labels = tuple(label.item() if isinstance(label, np.generic) else label for label in listed)
        object.__setattr__(self, "labels", labels)
        self._check()
        if self.outside == "clip":
            raise AxisError(
                f"The ordered axis {told(self.column)} has no ends to clip to.",
                "choose outside='own', which counts values that are not listed apart, or 'drop'.",
            )
        if not 1 <= len(labels) <= MOST_LABELS:
            raise AxisError(
                f"The axis {told(self.column)} lists {len(labels)} values.",
                f"pass a list of at most {MOST_LABELS} values, or number them in the table and use dawa.Axis.",
            )
        kinds = {type(label) for label in labels}
        if len(kinds) > 1 or not kinds <= {str, int, bool}:
            raise AxisError(f"The values of the axis {told(self.column)} are not all text, or all integers.", hint)
        if not all(is_text(label) if isinstance(label, str) else is_number(int(label)) for label in labels):
            raise AxisError(f"A value of the axis {told(self.column)} is too long, or cannot be written.", hint)
        if len(set(labels)) < len(labels):
            raise AxisError(f"The axis {told(self.column)} lists a value twice.", hint)

    @property
    def start(self) -> Label:
        """The lowest category."""
        return self.labels[0]

    @property
    def stop(self) -> Label:
        """The highest category, which is part of the axis."""
        return self.labels[-1]

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.labels)

    @property
    def whole(self) -> bool:
        """Every cell is one category."""
        return True

    def value(self, border: ArrayLike) -> NDArray[np.object_]:
        """The category that begins at a border or lies around it; at the end, the last category."""
        cells = np.clip(np.floor(np.asarray(border)), 0, self.size - 1).astype(np.int64)
        return labelled([self.labels[cell] for cell in cells.reshape(-1).tolist()], cells.shape)

    def value_in(self, cell: int, part: Fraction) -> Label:
        """The category of a cell, whatever the part."""
        del part
        return self.labels[cell]

    def border(self, value: object) -> Fraction:
        """Where a category begins."""
        plain = value.item() if isinstance(value, np.generic) else value
        for place, label in enumerate(self.labels):
            if type(plain) is type(label) and plain == label:
                return Fraction(place)
        written = [str(label).lower() if isinstance(label, bool) else str(label) for label in self.labels]
        if isinstance(plain, str) and not isinstance(self.labels[0], str) and plain.strip().lower() in written:
            return Fraction(written.index(plain.strip().lower()))
        few = ", ".join(map(brief, self.labels[:10])) + (", …" if self.size > 10 else "")
        raise AxisError(f"{told(value)} is not a value of the axis {told(self.column)}.", f"ask for one of {few}.")

    def span(self, lo: object, hi: object) -> tuple[Fraction, Fraction]:
        """The borders of the range from ``lo`` to ``hi``, both included."""
        start, stop = self.border(lo), self.border(hi) + 1
        if start >= stop:
            raise OptionError(f"The range from {brief(lo)} to {brief(hi)} is empty.", "pass the lower category first.")
        return start, stop

    @property
    def beyond(self) -> tuple[State, ...]:
        """A value can only be unlisted."""
        return ("unlisted",)

    def _outside(self) -> str:
        return "that are not listed"

    def _reading(self) -> str:
        few = ", ".join(map(str, self.labels)) if self.size <= 12 else f"{self.start}, …, {self.stop}"
        return f"{self.size} categories in order ({few})"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        rules = {"outside": self.outside, "missing": self.missing}
        return {"kind": self.kind, "column": self.column, "values": list(self.labels), **rules}

    @classmethod
    def read(cls, data: dict[str, Any]) -> "OrderedAxis":
        """The axis that ``to_json`` wrote."""
        return cls(data["column"], data["values"], data["outside"], data.get("missing", "drop"))
