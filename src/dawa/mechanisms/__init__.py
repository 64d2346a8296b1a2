"""Every mechanism by name, behind one call: ``dawa.estimate(counts, workload, epsilon=…, mechanism=name)``.

A mechanism is an entry here: a name, a sentence, its options with their defaults, and a function that runs it.
"""

from dataclasses import replace
from typing import Any

from dawa.errors import OptionError
from dawa.mechanisms import (
    agrid,
    dpcube,
    efpa,
    hb,
    hierarchical,
    hybrid_tree,
    mwem,
    php,
    privelet,
    privtree,
    quadtree,
    structure_first,
    ugrid,
    uniform,
)
from dawa.mechanisms.mechanism import Mechanism, Run
from dawa.mechanisms.two_stage import as_published, two_stages
from dawa.partition.noisy_cost import NoisyCost

__all__ = ["configured", "describe", "names"]

_REGISTRY: dict[str, Mechanism] = {
    "dawa": two_stages("Two-phase tree walk, then the best strategy for the workload: the default."),
    "dawa-2014": as_published(
        "The paper's Algorithm 1 as proven (lengths that are powers of two), then the greedy tree.",
        partition="noisy-cost",
        strategy="greedy",
    ),
    "dawa-2014-all": as_published(
        "The paper's Algorithm 1 as proven, over intervals of all lengths, then the greedy tree.",
        partition=NoisyCost(lengths="all"),
        strategy="greedy",
    ),
    "greedy-h": as_published("No partition; the greedy tree.", partition="none", strategy="greedy"),
    "partition-laplace": as_published("Two-phase tree walk, then noise on every bucket alone.", strategy="leaves"),
    "partition-uniform": as_published("Two-phase tree walk, then a tree with equal weights.", strategy="uniform"),
    "partition-geometric": as_published(
        "Two-phase tree walk, then a tree with geometric weights.", strategy="geometric"
    ),
    "identity": as_published("Noise on every cell alone: the baseline.", partition="none", strategy="leaves"),
    "privelet": privelet.MECHANISM,
    "hierarchical": hierarchical.MECHANISM,
    "hb": hb.MECHANISM,
    "efpa": efpa.MECHANISM,
    "php": php.MECHANISM,
    "structure-first": structure_first.MECHANISM,
    "mwem": mwem.MECHANISM,
    "privtree": privtree.MECHANISM,
    "quadtree": quadtree.MECHANISM,
    "hybrid-tree": hybrid_tree.MECHANISM,
    "ugrid": ugrid.MECHANISM,
    "agrid": agrid.MECHANISM,
    "dpcube": dpcube.MECHANISM,
    "uniform": uniform.MECHANISM,
}


def names(*, with_error_bars: bool = False) -> tuple[str, ...]:
    """Every mechanism, by name; or only those that know the noise of their answers and so can make a release.

    >>> names()[:3]
    ('dawa', 'dawa-2014', 'dawa-2014-all')
    >>> set(names()) - set(names(with_error_bars=True)) == {"agrid", "dpcube", "efpa", "mwem"}
    True
    """
    return tuple(name for name, mechanism in _REGISTRY.items() if mechanism.error_bars or not with_error_bars)


def describe(name: str) -> str:
    """What a mechanism does, and its options with their defaults.

    >>> print(describe("greedy-h").splitlines()[0])
    greedy-h: No partition; the greedy tree.
    """
    mechanism = _find(name)
    options = [f"  {option} = {getattr(mechanism.defaults, option)!r}" for option in mechanism.options]
    return "\n".join([f"{name}: {mechanism.summary}", "options:", *options])


def configured(name: str, options: dict[str, Any]) -> tuple[Run, Any]:
    """The function that runs a mechanism, and its options with the user's put in place of the defaults."""
    mechanism = _find(name)
    for option in options:
        if option not in mechanism.options:
            raise OptionError(
                f"The mechanism {name!r} has no option {option!r}.", f"its options are {', '.join(mechanism.options)}."
            )
    return mechanism.run, replace(mechanism.defaults, **options)


def _find(name: str) -> Mechanism:
    if not isinstance(name, str) or name not in _REGISTRY:
        raise OptionError(f"There is no mechanism {name!r}.", f"choose one of {', '.join(_REGISTRY)}.")
    return _REGISTRY[name]
