"""The figures that a reader looks for first: quantiles and the mean of a release along one axis, in words."""

from collections.abc import Iterable
from typing import NamedTuple

from dawa.axis import EdgeAxis, NumberAxis
from dawa.axis.written import plain
from dawa.errors import ReleaseError
from dawa.results.quantiles import Quantile
from dawa.results.release import Release

QUANTILES = {"5%": 0.05, "Lower quartile": 0.25, "Median": 0.5, "Upper quartile": 0.75, "95%": 0.95}


class Figure(NamedTuple):
    """A number with its interval, as people read them."""

    name: str
    value: str
    low: str
    high: str


def figures(release: Release, confidence: float) -> list[Figure]:
    """The usual quantiles and, if values add up, the mean; nothing on several axes or without records.

    >>> import dawa
    >>> rel = dawa.release({"age": [30, 31, 32] * 99}, dawa.Axis("age", 0, 100), epsilon=10, seed=0)
    >>> figures(rel, 0.95)[2]
    Figure(name='Median', value='31', low='31', high='31')
    """
    if len(release.axes) > 1:
        return []
    try:
        found = [*of_quantiles(release, release.quantiles(list(QUANTILES.values()), confidence), QUANTILES)]
        if isinstance(release.axis, (NumberAxis, EdgeAxis)):
            found.append(Figure("Mean", *release.mean(confidence).texts))
    except ReleaseError:
        return []
    return found


def of_quantiles(release: Release, found: Iterable[Quantile], names: Iterable[str]) -> list[Figure]:
    """Quantiles as people read them."""
    return [
        Figure(name, *(str(plain(release.axis, value)) for value in (one.value, one.low, one.high)))
        for name, one in zip(names, found, strict=True)
    ]
