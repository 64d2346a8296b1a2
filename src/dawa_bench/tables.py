"""Tables as Markdown, and the few sums that all experiments need."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dawa_bench.tasks import Record


@dataclass(frozen=True)
class Table:
    """A table as it is shown.

    Attributes:
        title: What it shows.
        columns: Headings.
        rows: One list of cells each, as text.
        note: A sentence below it.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def markdown(self) -> str:
        """The table, titled, as Markdown.

        >>> print(Table("Ratios", ["a", "b"], [["1", "2"]]).markdown())
        **Ratios**
        <BLANKLINE>
        | a | b |
        |---|---|
        | 1 | 2 |
        <BLANKLINE>
        """
        lines = [f"**{self.title}**", "", f"| {' | '.join(self.columns)} |", f"|{'---|' * len(self.columns)}"]
        lines += [f"| {' | '.join(row)} |" for row in self.rows]
        return "\n".join([*lines, "", *([self.note, ""] if self.note else [])])


def means(records: Iterable[Record], by: Callable[[Record], Any], value: str = "error") -> dict[Any, float]:
    """The mean of a value over all records that agree in something."""
    groups: dict[Any, list[float]] = defaultdict(list)
    for record in records:
        found = getattr(record.measured, value)
        if found is not None:
            groups[by(record)].append(float(found))
    return {key: math.fsum(found) / len(found) for key, found in groups.items()}


def geometric(values: Iterable[float]) -> float:
    """The mean that treats twice and half alike.

    >>> geometric([1, 4])
    2.0
    """
    listed = list(values)
    return math.exp(math.fsum(map(math.log, listed)) / len(listed))


def number(value: float | None) -> str:
    """A number as people write it: three digits, and commas.

    >>> number(1234.5), number(0.0213), number(7.1), number(None)
    ('1,234', '0.0213', '7.10', '')
    """
    if value is None:
        return ""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


def sources(records: Iterable[Record]) -> str:
    """Which data the records are of, in words.

    >>> sources([])
    'no data'
    """
    kinds = sorted({record.task.data for record in records})
    words = {"real": "real data", "generated": "generated stand-ins", "other": "data of your own"}
    return " and ".join(words.get(kind, kind) for kind in kinds) or "no data"
