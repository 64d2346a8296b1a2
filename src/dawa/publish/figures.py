"""Figures that follow from a release, as people read them and as tables hold them: quantiles, means, shares, ratios."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dawa.axis import Axis, EdgeAxis, NumberAxis
from dawa.axis.written import plain
from dawa.errors import ReleaseError
from dawa.results.quantiles import Quantile
from dawa.results.release import Release
from dawa.results.statistics import Statistic
from dawa.spec.groups import Named

QUANTILES = {"5%": 0.05, "Lower quartile": 0.25, "Median": 0.5, "Upper quartile": 0.75, "95%": 0.95}
"""The quantiles that a page shows, by name."""

COLUMNS = ("value", "low", "high", "confidence", "remark")


@dataclass(frozen=True)
class Figure:
    """A figure with its interval.

    Attributes:
        name: What it is, in words.
        texts: Value, low and high as people read them.
        value: The best guess: a number, a category, or a time as text.
        low: The lower end of an interval that holds the true one.
        high: The upper end; infinite if there is none.
        confidence: The probability, at least, that it does.
        remark: What was counted and how, in words.
        group: Which group of records it is about, by column; empty where there are no groups.
    """

    name: str
    texts: tuple[str, str, str]
    value: Any
    low: Any
    high: Any
    confidence: float
    remark: str
    group: Named = ()

    @classmethod
    def of_quantile(cls, found: Quantile, axis: Axis, name: str = "") -> "Figure":
        """A quantile."""
        value, low, high = (plain(axis, value) for value in (found.value, found.low, found.high))
        texts = (str(value), str(low), str(high))
        return cls(name or f"quantile {found.fraction!r}", texts, value, low, high, found.confidence, found.remark)

    @classmethod
    def of_statistic(cls, found: Statistic, name: str = "") -> "Figure":
        """A mean, a share and the like."""
        shown = found.texts
        return cls(name or found.name, shown, found.value, found.low, found.high, found.confidence, found.remark)

    def row(self) -> dict[str, Any]:
        """What JSON lists of it; where there is no upper end, it has none."""
        endless = isinstance(self.high, float) and math.isinf(self.high)
        return {
            **({"group": dict(self.group)} if self.group else {}),
            "name": self.name,
            **{name: getattr(self, name) for name in COLUMNS},
            **({"high": None} if endless else {}),
        }


def usual(release: Release, confidence: float) -> list[Figure]:
    """The usual quantiles and, if values add up, the mean; nothing on several axes or without records.

    >>> import dawa
    >>> rel = dawa.release({"age": [30, 31, 32] * 99}, dawa.Axis("age", 0, 100), epsilon=10, seed=0)
    >>> [(figure.name, *figure.texts) for figure in usual(rel, 0.95)][2]
    ('Median', '31', '31', '31')
    """
    if len(release.axes) > 1:
        return []
    try:
        quantiles = release.quantiles(list(QUANTILES.values()), confidence)
        found = [Figure.of_quantile(one, release.axis, name) for one, name in zip(quantiles, QUANTILES, strict=True)]
        if isinstance(release.axis, (NumberAxis, EdgeAxis)):
            found.append(Figure.of_statistic(release.mean(confidence), "Mean"))
    except ReleaseError:
        return []
    return found


def alike(figures: Sequence[Figure]) -> bool:
    """Whether all of them are numbers, so that a column of numbers can hold them."""
    return all(isinstance(figure.value, (int, float)) and not isinstance(figure.value, bool) for figure in figures)
