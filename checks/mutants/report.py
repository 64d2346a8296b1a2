"""What the mutants say, as a page."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from checks.mutants.accepted import Accepted, reason
from checks.mutants.trials import Outcome, Verdict

LEAST = 0.9
"""So many of the mutants have to be noticed."""

NORMAL = 1.959963984540054
"""A normal variable lies within so many deviations with a chance of 95%."""


@dataclass(frozen=True)
class Part:
    """The verdicts on a part of the code.

    Attributes:
        name: What it is called.
        verdicts: One for each mutant that was tried.
        all: How many mutants there are.
    """

    name: str
    verdicts: Sequence[Verdict]
    all: int

    @property
    def rate(self) -> float:
        """Which part of the mutants was noticed; those that no test reaches were not."""
        return sum(one.outcome.noticed for one in self.verdicts) / max(len(self.verdicts), 1)

    @property
    def interval(self) -> tuple[float, float]:
        """Between what the rate of all mutants lies, with 95% confidence, as Wilson (1927) computes it."""
        n, p, z = len(self.verdicts), self.rate, NORMAL
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        reach = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return max(middle - reach, 0.0), min(middle + reach, 1.0)

    @property
    def sampled(self) -> bool:
        """Whether not all mutants were tried."""
        return len(self.verdicts) < self.all

    def summary(self) -> str:
        """It in a sentence."""
        number = f"{self.rate:.1%} of {len(self.verdicts):,} mutants were noticed"
        if not self.sampled:
            return f"{number}."
        low, high = self.interval
        return f"{number}, drawn from {self.all:,}: of all, {low:.1%} to {high:.1%} with 95% confidence."


def survivors(verdicts: Iterable[Verdict], accepted: Sequence[Accepted]) -> list[Verdict]:
    """Survivors that nobody accepted, in the order of the code."""
    found = (one for one in verdicts if one.outcome is Outcome.SURVIVED and reason(one.mutant, accepted) is None)
    return sorted(found, key=lambda one: (one.mutant.path, one.mutant.line, one.mutant.change))


def page(parts: Sequence[Part], accepted: Sequence[Accepted], command: str, about: str) -> str:
    """The whole of it in Markdown."""
    lines = [about.strip(), "", f"This page was written by `{command}`.", ""]
    for part in parts:
        lines += [f"## {part.name.capitalize()}", "", part.summary(), "", *_table(part, accepted), ""]
    for title, them in (
        ("Survivors that are accepted", _accepted(parts, accepted)),
        ("Survivors that are not", _open(parts, accepted)),
        ("Not covered", _unreached(parts)),
    ):
        if them:
            lines += [f"## {title}", "", *them, ""]
    return "\n".join(lines).rstrip() + "\n"


def _table(part: Part, accepted: Sequence[Accepted]) -> list[str]:
    """How the mutants of each module ended."""
    rows = ["| module | mutants | killed | timed out | survived, accepted | survived | not covered | noticed |"]
    rows.append("|---|--:|--:|--:|--:|--:|--:|--:|")
    modules: dict[str, list[Verdict]] = {}
    for one in part.verdicts:
        modules.setdefault(one.mutant.path, []).append(one)
    total = sorted(modules.items()) + ([("all", list(part.verdicts))] if len(modules) > 1 else [])
    for path, them in total:
        count = Counter(one.outcome for one in them)
        open_ = len(survivors(them, accepted))
        rate = sum(one.outcome.noticed for one in them) / len(them)
        cells = [
            *(len(them), count[Outcome.KILLED], count[Outcome.STOPPED]),
            *(count[Outcome.SURVIVED] - open_, open_, count[Outcome.UNREACHED]),
        ]
        name = f"`{path.removeprefix('src/')}`" if path != "all" else path
        rows.append(f"| {name} | {' | '.join(f'{cell:,}' for cell in cells)} | {rate:.0%} |")
    return rows


def _all(parts: Sequence[Part], outcome: Outcome) -> list[Verdict]:
    found = {one.mutant: one for part in parts for one in part.verdicts if one.outcome is outcome}
    return sorted(found.values(), key=lambda one: (one.mutant.path, one.mutant.line, one.mutant.change))


def _accepted(parts: Sequence[Part], accepted: Sequence[Accepted]) -> list[str]:
    """By their reasons, in the order of the code."""
    reasons: dict[tuple[str, str], list[Verdict]] = {}
    for one in _all(parts, Outcome.SURVIVED):
        why = reason(one.mutant, accepted)
        if why is not None:
            reasons.setdefault((one.mutant.path, why), []).append(one)
    return [
        line
        for (path, why), them in reasons.items()
        for line in (f"`{path.removeprefix('src/')}`: {why}", "", *_listed(them), "")
    ]


def _open(parts: Sequence[Part], accepted: Sequence[Accepted]) -> list[str]:
    found = survivors(_all(parts, Outcome.SURVIVED), accepted)
    return [f"- `{one.mutant.path.removeprefix('src/')}`, {_line(one)[2:]}" for one in found]


def _unreached(parts: Sequence[Part]) -> list[str]:
    found = _all(parts, Outcome.UNREACHED)
    if not found:
        return []
    functions = Counter((one.mutant.path, one.mutant.function) for one in found)
    return [
        "No test that was asked executes these places:",
        "",
        *(
            f"- `{path.removeprefix('src/')}`, {f'`{function}`' if function else 'the module'}: {number}"
            for (path, function), number in functions.items()
        ),
    ]


def _listed(verdicts: Iterable[Verdict]) -> list[str]:
    return [_line(one) for one in verdicts]


def _line(verdict: Verdict) -> str:
    one = verdict.mutant
    where = f"`{one.function}`, " if one.function else ""
    return f"- {where}line {one.line}: `{one.original}` → `{one.mutated}`"
