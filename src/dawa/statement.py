"""The privacy statement of a release: what is protected, against whom, and at what cost."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dawa import budget

NEIGHBOURS = "one record added or removed"
UNIT = "record"


@dataclass(frozen=True)
class PrivacyStatement:
    """Everything that a reader needs to judge the guarantee.

    Attributes:
        epsilon: The whole budget, exactly.
        split: What each step spent of it.
        mechanism: Its name.
        options: Its options.
        randomness: Where the noise came from.
        private: False if the noise can be repeated by whoever knows a seed.
        library: The version of this library.
        neighbours: What the guarantee compares.
        unit: Who or what is protected.
    """

    epsilon: Fraction
    split: dict[str, Fraction]
    mechanism: str
    options: dict[str, Any] = field(repr=False)
    randomness: str
    private: bool
    library: str
    neighbours: str = NEIGHBOURS
    unit: str = UNIT

    def __str__(self) -> str:
        epsilon = _shown(self.epsilon)
        parts = " and ".join(f"{_shown(part)} on {step}" for step, part in self.split.items())
        claim = "This release is"
        if not self.private:
            claim = (
                "NOT PRIVATE: the noise was made from a seed, for an experiment."
                " With noise that nobody can repeat, this release would be"
            )
        return (
            f"{claim} {epsilon}-differentially private for each {self.unit}: whatever is published here would have"
            f" been published with nearly the same probability, up to a factor of exp({epsilon}), with"
            f" {self.neighbours}. Spent: {parts}. Mechanism: {self.mechanism} ({_named(self.options)})."
            f" Noise: {self.randomness}."
            f" Made with dawa {self.library}."
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values; exact numbers as fractions in strings."""
        return {
            "epsilon": str(self.epsilon),
            "split": {step: str(part) for step, part in self.split.items()},
            "neighbours": self.neighbours,
            "unit": self.unit,
            "mechanism": self.mechanism,
            "options": self.options,
            "randomness": self.randomness,
            "private": self.private,
            "library": self.library,
            "statement": str(self),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "PrivacyStatement":
        """The statement that ``to_json`` wrote."""
        return cls(
            budget.exact(data["epsilon"]),
            {step: Fraction(part) for step, part in data["split"].items()},
            data["mechanism"],
            data["options"],
            data["randomness"],
            data["private"],
            data["library"],
            data["neighbours"],
            data["unit"],
        )


def _shown(value: Fraction) -> str:
    """A budget in decimals where these are exact, else as a fraction: rounding down would promise too much."""
    decimals = f"{float(value):.12g}"
    return decimals if Fraction(decimals) == value else str(value)


def _named(options: dict[str, Any]) -> str:
    """Options in a line: names of methods, without the numbers inside, which the file holds."""
    shown = {name: value.get("method", value) if isinstance(value, dict) else value for name, value in options.items()}
    return ", ".join(f"{name}: {value}" for name, value in shown.items() if value is not None)
