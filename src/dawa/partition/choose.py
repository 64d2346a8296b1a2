"""Run the partition step that the options ask for: where counts enter stage 1."""

from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

from numpy.typing import ArrayLike

from dawa import budget
from dawa.arrays import frozen
from dawa.counts import Counts
from dawa.errors import BudgetError, OptionError
from dawa.noise.source import Source
from dawa.partition.buckets import Partition
from dawa.partition.fixed import every_cell, given
from dawa.partition.noisy_cost import NoisyCost, noisy_cost
from dawa.partition.walk import Walk, two_phase

Method = Walk | NoisyCost | Partition | None
"""How to choose buckets: privately, or not at all: None means one bucket per cell."""

NAMES: dict[str, Walk | NoisyCost | None] = {"walk": Walk(), "noisy-cost": NoisyCost(), "none": None}


def method(option: "Method | str | ArrayLike", size: int) -> Method:
    """Read the ``partition`` option: a name, a method with its own options, or public bucket bounds."""
    if option is None:
        return None
    if isinstance(option, (Walk, NoisyCost)):
        return _with_exact_shares(option)
    if isinstance(option, Partition):
        given(option.bounds, size)
        return option
    if isinstance(option, str):
        if option not in NAMES:
            raise OptionError(
                f"There is no partition {option!r}.",
                f"choose one of {', '.join(NAMES)}, or pass public bucket bounds.",
            )
        return NAMES[option]
    return given(option, size)


def _with_exact_shares(option: Walk | NoisyCost) -> Walk | NoisyCost:
    """Shares of the budget as they were written, so that 0.25 is a quarter."""
    shares = [field.name for field in fields(option) if "share" in field.name]
    exact: dict[str, Any] = {name: budget.share(getattr(option, name), name) for name in shares}
    return replace(option, **exact)


def partition(counts: Counts, epsilon: Fraction, chosen: Method, source: Source) -> Partition:
    """Choose buckets. A record loses ``Partition.spent`` out of epsilon, or less."""
    if chosen is None:
        return every_cell(counts.size)
    if isinstance(chosen, Partition):
        if max(chosen.spent, chosen.spent_least) >= epsilon:
            raise BudgetError(
                f"The partition has spent {chosen.spent} already, which leaves nothing of {epsilon}.",
                "raise epsilon, which counts the partition's share too.",
            )
        return chosen
    if isinstance(chosen, Walk):
        return two_phase(counts.exposed, counts.size, epsilon, chosen, source)
    spent = chosen.share * epsilon
    bounds = noisy_cost(counts.exposed, counts.size, spent, epsilon - spent, chosen, source)
    return Partition(frozen(bounds), spent, spent)
