"""Mutants that may survive, each with its reason.

An entry names a file, a function (empty: the module itself) and what is written there instead of what, as the report
shows it; ``*`` stands for all changes of this function or class. An entry that no mutant needs any more is refused.
"""

from collections.abc import Iterable
from typing import NamedTuple

from checks.mutants.mutant import Mutant


class Accepted(NamedTuple):
    """Survivors of a function that have the same reason."""

    path: str
    function: str
    reason: str
    changes: tuple[str, ...]

    def covers(self, mutant: Mutant) -> bool:
        """Whether a mutant is one of these."""
        here = (mutant.path, mutant.function) == (self.path, self.function)
        return here and (mutant.change in self.changes or "*" in self.changes)


def reason(mutant: Mutant, accepted: Iterable[Accepted]) -> str | None:
    """Why a mutant may survive, if it may."""
    return next((one.reason for one in accepted if one.covers(mutant)), None)


def unknown(mutants: Iterable[Mutant], accepted: Iterable[Accepted]) -> list[str]:
    """Entries about modules that were changed, of which no mutant is."""
    everything = list(mutants)
    paths = {one.path for one in everything}
    known = {(one.path, one.function, change) for one in everything for change in (one.change, "*")}
    return [
        f"{one.path} {one.function}: {change}"
        for one in accepted
        if one.path in paths
        for change in one.changes
        if (one.path, one.function, change) not in known
    ]


ACCEPTED: tuple[Accepted, ...] = ()
