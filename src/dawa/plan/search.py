"""The least epsilon that makes answers as accurate as they have to be, and how errors fall as epsilon grows.

"Within 500 records" means: 19 of 20 ranges are answered with an error of at most 500, noise and buckets together. This
has to hold on all data that are tried, so on the roughest kind unless a kind is named. It is a prediction, and not what
a release promises: the intervals that a release gives with its answers hold in any case, so they are wider.
"""

from bisect import bisect_left
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import inf, log

from dawa import progress
from dawa.budget import LARGE, shown
from dawa.errors import BudgetError, OptionError
from dawa.numerals import NotANumberError, exact, told
from dawa.plan.prediction import Prediction, Setting
from dawa.plan.trial import Trial

MANTISSAS = tuple(map(Fraction, ("1", "1.2", "1.5", "2", "2.5", "3", "4", "5", "6", "8")))
"""Numbers that people would write, and their tenths, hundredths and so on."""
DECADES = range(-5, 1)
EPSILONS = (*(first * Fraction(10) ** decade for decade in DECADES for first in MANTISSAS), LARGE)
"""What is considered, up to the largest budget that still promises something."""
FIRST = EPSILONS.index(Fraction(1, 10))
"""Where the search begins."""
NEARLY = 0.999
"""Guesses that lie on a listed number by chance are not pushed to the next."""
FACTORS = (Fraction(1, 10), Fraction(1, 5), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(5), Fraction(10))
"""What a table lists: the epsilon in question, and these parts and multiples of it."""
FEWER = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))
"""On maps, which take longer."""
HINT = "pass a number of records such as within=500, or a part of all records such as within='1%'."

Settings = Callable[[Fraction], Setting]
"""What a release with this budget would run."""


@dataclass(frozen=True)
class Within:
    """How accurate answers have to be, and what that takes.

    Attributes:
        records: The largest error that 19 of 20 ranges may have, in records.
        said: The same as somebody wrote it.
        epsilon: The least epsilon that is predicted to be enough.
    """

    records: float
    said: str
    epsilon: Fraction


@dataclass(frozen=True)
class Point:
    """The errors that one epsilon makes.

    Attributes:
        epsilon: The budget.
        predictions: The errors, by kind of data.
    """

    epsilon: Fraction
    predictions: tuple[Prediction, ...]

    @property
    def most(self) -> float:
        """The error that 19 of 20 ranges stay below, on the roughest data."""
        return max(one.most for one in self.predictions)


def target(within: object, records: int) -> tuple[float, str]:
    """A required accuracy in records, and as it was written.

    >>> target("1%", 300_000), target(500, 300_000)
    ((3000.0, '1%'), (500.0, '500'))

    Raises:
        OptionError: If it is not a positive number of records or part of them.
    """
    text = within.strip() if isinstance(within, str) else within
    part = isinstance(text, str) and text.endswith("%")
    try:
        number = exact(text.removesuffix("%").strip() if isinstance(text, str) else text)
    except (NotANumberError, ValueError, TypeError):
        raise OptionError(f"within={told(within)} is not an accuracy.", HINT) from None
    if number <= 0:
        raise OptionError(f"within={told(within)} is not positive.", HINT)
    found = float(number * records / 100 if part else number)
    return found, str(text)


def least(trial: Trial, settings: Settings, within: object) -> tuple[Within, list[Point]]:
    """The least epsilon of ``EPSILONS`` for which all kinds of data are predicted to stay within the target.

    Errors fall as epsilon grows, so each that is tried rules out all above or below it.

    Raises:
        OptionError: If the target is no accuracy, or none of them is enough.
    """
    wanted, said = target(within, trial.records)
    points: dict[int, Point] = {}

    def error(place: int) -> float:
        if place not in points:
            try:
                points[place] = _point(trial, settings, EPSILONS[place])
            except BudgetError:  # too small to be spent at all
                return inf
        return points[place].most

    below, above, place = -1, len(EPSILONS), FIRST
    while above - below > 1:
        if error(place) <= wanted:
            above = place
        else:
            below = place
        if below == len(EPSILONS) - 1:
            raise _hopeless(said, error(below))
        place = _next(below, above, points, wanted)
    return Within(wanted, said, EPSILONS[above]), list(points.values())


def _next(below: int, above: int, points: dict[int, Point], wanted: float) -> int:
    """Where to look next: errors fall about as fast as epsilon grows, or as between the two known places.

    Every fourth look halves what is left, so that there are never many.
    """
    near = above if above in points else below
    if near not in points:  # the budgets below are too small to be spent
        return (below + above) // 2
    slope = -1.0
    if below in points and above in points and points[below].most > points[above].most:
        slope = log(points[above].most / points[below].most) / log(EPSILONS[above] / EPSILONS[below])
    guess = float(EPSILONS[near]) * (wanted / max(points[near].most, 1e-9)) ** (1 / slope)
    place = bisect_left(EPSILONS, guess * NEARLY)
    if len(points) % 4 == 3:
        place = (below + above) // 2
    return min(max(place, below + 1), above - 1)


def _hopeless(said: str, error: float) -> OptionError:
    """What to say if no budget is enough that promises anything."""
    return OptionError(
        f"Not even epsilon = {shown(LARGE)} is predicted to keep 19 of 20 ranges within {said}"
        f"{' of the records' if said.endswith('%') else ' records'}: they stay within {error:,.0f} records.",
        "allow larger errors, choose coarser steps or fewer axes, or name the kind of the data if it is less rough.",
    )


def curve(trial: Trial, settings: Settings, epsilon: Fraction, known: list[Point]) -> tuple[Point, ...]:
    """How errors fall as epsilon grows, around one epsilon."""
    points = {point.epsilon: point for point in known}
    factors = FACTORS if len(settings(epsilon).shape) == 1 else FEWER
    wanted = sorted({_written(factor * epsilon) if factor != 1 else epsilon for factor in factors})
    for value in wanted:
        if value not in points:
            with suppress(BudgetError):  # too small to be spent at all
                points[value] = _point(trial, settings, value)
    return tuple(points[value] for value in wanted if value in points)


def _point(trial: Trial, settings: Settings, epsilon: Fraction) -> Point:
    progress.reached("Trying one epsilon after the other")
    with progress.heard(None):
        return Point(epsilon, trial.predicted(settings(epsilon)))


def _written(epsilon: Fraction) -> Fraction:
    """The nearest of ``EPSILONS``."""
    return min(EPSILONS, key=lambda known: abs(log(known / epsilon)))
