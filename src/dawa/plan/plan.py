"""A release that has not been made: what it would spend, whom it would protect, how accurate it would be."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import floor, isfinite, log10, prod
from typing import Any

from dawa import budget
from dawa.plan.advice import Advice
from dawa.plan.noise import CONFIDENCE, Expected
from dawa.plan.opened import Opened
from dawa.plan.prediction import Prediction
from dawa.plan.search import Point, Within
from dawa.results.statement import listed, protected
from dawa.sources.where import Where


@dataclass(frozen=True)
class Plan:
    """A release that has not been made.

    Attributes:
        axes: What the axes count and what they leave out, in sentences.
        shape: Cells along each axis.
        epsilon: What the release spends, exactly.
        mechanism: The mechanism's name.
        split: How much of epsilon each step spends.
        unit: The columns that say together who is protected; none protect rows.
        max_rows_per_unit: How many rows of each unit are kept.
        queries: How many ranges the release is made for; None stands for all of them.
        looks: Whether the mechanism looks at the data to choose its buckets; its noise then depends on the data.
        expected: The noise of answers, by the number of buckets; one line if the noise is known.
        where: Which records would be counted; None stands for all.
        opened: What became of opening the table; None if no table was named.
        records: How many records are counted, as somebody stated or a public table has them; None if nobody knows.
        predictions: The whole errors of answers, noise and buckets, by kind of data; none if no records were stated.
        like: Whether they come from a public table, and not from stand-ins.
        advice: What would do better.
        within: The accuracy for which epsilon was chosen, if it was.
        curve: How errors fall as epsilon grows, if that was asked for.
    """

    axes: tuple[str, ...]
    shape: tuple[int, ...]
    epsilon: Fraction
    mechanism: str
    split: dict[str, Fraction]
    unit: tuple[str, ...]
    max_rows_per_unit: int | str
    queries: int | None
    looks: bool
    expected: tuple[Expected, ...]
    where: Where | None = None
    opened: Opened | None = None
    records: int | None = None
    predictions: tuple[Prediction, ...] = ()
    like: bool = False
    advice: tuple[Advice, ...] = ()
    within: Within | None = None
    curve: tuple[Point, ...] = ()

    @property
    def filtered(self) -> tuple[str, ...]:
        """Which records would be counted, in a sentence, if not all."""
        if self.where is None:
            return ()
        return (f"Only records with {self.where} would be counted, where that is known.",)

    @property
    def protected(self) -> str:
        """Whom the release protects, in a sentence."""
        if not self.unit:
            return "Each row is protected; a person with several rows is protected that many times less."
        names, most = listed(self.unit), self.max_rows_per_unit
        who = f"Whoever {names} names" if len(self.unit) == 1 else f"Each combination of {names}"
        rows = "one" if most == 1 else most
        if isinstance(most, str):
            return f"{who} is protected with all their rows; how many of them will be counted is found in the data."
        return f"{who} is protected with all their rows, of which at most {rows} will be counted."

    @property
    def caution(self) -> str:
        """What everybody has to be told if epsilon is so large that it promises little; otherwise empty."""
        return budget.caution(self.epsilon, protected(self.unit, 1)["unit"])

    @property
    def accuracy(self) -> str:
        """What to expect of answers, in a sentence or two."""
        if not self.expected:
            return "How accurate answers will be depends on the data."
        last = self.expected[-1]
        if not self.looks:
            cut = " Ranges that cut one of its buckets may be off by more." if last.buckets < prod(self.shape) else ""
            return f"Expect answers to be off by about ±{last.margin:,.0f} records from noise at 95%.{cut}"
        first = self.expected[min(1, len(self.expected) - 1)]
        most = (
            f", and by about ±{last.margin:,.0f} at most, if every bucket is a single cell"
            if last.buckets == prod(self.shape) and last is not first
            else ""
        )
        return (
            f"Expect answers to be off by about ±{first.margin:,.0f} records from noise at 95% if the data support"
            f" {first.buckets:,} buckets{most}. How many they support, and how much further off"
            " ranges that cut a bucket are, depends on the data and is not known beforehand; each answer will say."
        )

    @property
    def predicted(self) -> str:
        """What the errors of answers are predicted to be, in a sentence or two; empty if they are not."""
        if not self.predictions or self.records is None:
            return ""
        several = len(self.predictions) > 1
        errors = [one.mean for one in self.predictions]
        errors += [] if several else [self.predictions[0].least, self.predictions[0].largest]
        mean, most = between(errors), span([one.most for one in self.predictions])
        part = between([100 * error / self.records for error in errors], "%")
        rough = ", depending on how rough the data are" * several
        like = "the public table" if self.like else f"{self.predictions[0].kind} stand-ins"
        return (
            f"With {self.records:,} records{f', if they are like {like}' * (not several)}, answers would be off by"
            f" {mean} records on average ({part} of all records){rough}; 19 of 20 of them by at most {most}. This"
            f" is noise and buckets together, as found on {'a public table' if self.like else 'made-up data'}: a"
            " prediction, and no promise."
        )

    @property
    def chosen(self) -> str:
        """Why this epsilon, in a sentence; empty if somebody chose it."""
        if self.within is None:
            return ""
        wanted = f"{self.within.said} of all records" if self.within.said.endswith("%") else f"{self.within.said}"
        exact = f" ({self.within.records:,.0f})" if self.within.said.endswith("%") else " records"
        on = "the public table" if self.like else "the kinds of data below"
        return (
            f"Epsilon = {budget.shown(self.within.epsilon)} is the least that is predicted to keep 19 of 20 ranges"
            f" within {wanted}{exact} of the truth, on {on}."
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values; exact numbers as fractions in strings."""
        return {
            "axes": list(self.axes),
            "shape": list(self.shape),
            "epsilon": str(self.epsilon),
            "mechanism": self.mechanism,
            "split": {step: str(part) for step, part in self.split.items()},
            "unit": list(self.unit),
            "max_rows_per_unit": self.max_rows_per_unit,
            "where": None if self.where is None else str(self.where),
            "queries": self.queries,
            "depends_on_data": self.looks,
            "confidence": CONFIDENCE,
            "expected": [vars(line) for line in self.expected],
            "protected": self.protected,
            "caution": self.caution or None,
            "accuracy": self.accuracy,
            "source": None if self.opened is None else asdict(self.opened),
            "records": self.records,
            "like": self.like,
            "predictions": [asdict(one) for one in self.predictions],
            "predicted": self.predicted or None,
            "advice": [{**asdict(one), "said": str(one)} for one in self.advice],
            "within": None
            if self.within is None
            else {**asdict(self.within), "epsilon": str(self.within.epsilon), "chosen": self.chosen},
            "curve": [
                {"epsilon": str(point.epsilon), "predictions": [asdict(one) for one in point.predictions]}
                for point in self.curve
            ],
        }


def between(numbers: Sequence[float], unit: str = "") -> str:
    """The smallest and the largest, with two digits that mean something.

    >>> between([12.34, 87.6]), between([5.0, 5.0]), between([0.00123], "%")
    ('between 12 and 88', '5', '0.0012%')
    """
    low, high = (rounded(number) for number in (min(numbers), max(numbers)))
    return f"{low}{unit}" if low == high else f"between {low}{unit} and {high}{unit}"


def span(numbers: Sequence[float]) -> str:
    """The same in a table: from the smallest to the largest."""
    low, high = (rounded(number) for number in (min(numbers), max(numbers)))
    return low if low == high else f"{low} to {high}"


def rounded(number: float) -> str:
    """A number with two digits that mean something.

    >>> rounded(1234.5), rounded(0.0123), rounded(7.77), rounded(0)
    ('1,200', '0.012', '7.8', '0')
    """
    if number == 0 or not isfinite(number):
        return f"{number:g}"
    digits = 1 - floor(log10(abs(number)))
    near = round(number, digits)
    return f"{near:,.{max(digits, 0)}f}".rstrip("0").rstrip(".") if digits > 0 else f"{near:,.0f}"
