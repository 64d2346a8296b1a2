"""The best of several strategies, by exact expected error: free of budget, because nothing private is read."""

from collections.abc import Callable
from operator import itemgetter
from typing import Literal

import numpy as np

from dawa import check
from dawa.arrays import IntArray
from dawa.errors import OptionError
from dawa.limits import MOST_CELLS_LISTED
from dawa.queries.bucket_queries import BucketQueries
from dawa.strategy import bump_search, hat_search, hats, tree
from dawa.strategy.base import Strategy
from dawa.strategy.bumps import Patches
from dawa.strategy.tree import hb
from dawa.strategy.wavelet import wavelet

Effort = Literal["best", "fast"]

NAMES = ("best", "greedy", "uniform", "geometric", "leaves", "levels", "hats", "bumps", "hb", "wavelet")

SEARCHED = ("best", "hats", "bumps")
"""Strategies for which effort makes a difference."""

TREES = ("best", "greedy", "uniform", "geometric", "levels", "hb")
"""Strategies for which branching makes a difference."""

BRANCHINGS = (2, 4, 8, 16)
SMALL, LARGE = 512, 2**14
"""Up to LARGE buckets a tree can be optimised level by level; above SMALL, a fast choice takes the flattest alone."""

CONTESTED = 1.35
"""Where the greedy tree's squared error is further above the least one than this, no other tree is tried.

Of 90 workloads over 12 to 4,096 buckets, the best tree had 0.64 of its error at least, and hardly ever below 0.75.
"""

BUMP_STEPS: dict[Effort, int] = {"best": 15, "fast": 4}
"""How often the entries of bumps are moved."""

STEERING_QUERIES, HURRIED_QUERIES = 4000, 200
"""How many queries steer a search if there are many more, and how many steer a tree's levels in a hurry."""

_PLAIN: dict[str, Callable[[IntArray, int | None], Strategy]] = {
    "leaves": lambda allowance, branching: tree.leaves_only(allowance, branching or 2),
    "uniform": lambda allowance, branching: tree.uniform(allowance, branching or 2),
    "geometric": lambda allowance, branching: tree.geometric(allowance, branching or 2),
    "hb": hb,
    "wavelet": lambda allowance, _: wavelet(allowance),
}
"""Strategies that are the same for every workload."""

FEW_QUERIES, FEW_BUCKETS = 200, 64
"""With so few, all trees are tried: they cost little, and one may fit these queries by chance."""


def choose(
    queries: BucketQueries,
    allowance: IntArray,
    name: str = "best",
    effort: Effort = "best",
    branching: int | None = None,
    patches: Patches | None = None,
) -> Strategy:
    """A strategy by name, or the best of all.

    Args:
        queries: What will be asked, in bucket coordinates.
        allowance: The column sum that each bucket may have.
        name: One of ``NAMES``.
        effort: How hard to search: "fast" compares strategies without a search, "best" searches as well: for about a
            tenth of a second at most with 4,096 buckets, for a second or two with 65,536.
        branching: Children per node of a tree; None takes a suitable number.
        patches: Where the buckets lie on a map; None on a line.

    Raises:
        OptionError: If there is no such strategy or effort, or the branching is not a whole number above 1.
    """
    check_options(name, effort, branching)
    fans = BRANCHINGS if branching is None else (branching,)
    steering = queries.thinned(STEERING_QUERIES) if len(queries) > 4 * STEERING_QUERIES else queries
    if len(allowance) == 1:
        return tree.leaves_only(allowance, fans[0])
    if name in _PLAIN:
        return _PLAIN[name](allowance, branching)
    if name == "greedy":
        return tree.greedy(queries, allowance, fans[0])
    if name == "levels":
        return _least(_level_trees(steering, allowance, fans), steering)
    if name == "bumps" and patches is None:
        raise OptionError(
            f"Bumps are for maps of at most {MOST_CELLS_LISTED} cells.",
            "use 'hats' on one axis, and 'best' on larger maps.",
        )
    if patches is not None and name != "hats":
        candidates: list[Strategy] = [*bump_search.search(steering, allowance, patches, BUMP_STEPS[effort])]
        if name == "best" or not candidates:
            candidates += [tree.leaves_only(allowance, fans[0]), tree.greedy(steering, allowance, fans[0])]
        return _least(candidates, steering)
    rated = _rated(_hats(steering, allowance, effort), steering)
    if name == "best" or not rated:
        rated += _rated([tree.leaves_only(allowance, fans[0]), tree.greedy(steering, allowance, fans[0])], steering)
        few = len(steering) <= FEW_QUERIES or len(allowance) <= FEW_BUCKETS
        if few or rated[-1][0] <= CONTESTED * min(error for error, _ in rated):
            rated += _rated(_more_trees(steering, allowance, fans, effort), steering)
    return _best(rated)


def check_options(name: str, effort: str, branching: int | None) -> None:
    """Raise an OptionError for options that ``choose`` would not understand."""
    if name not in NAMES:
        raise OptionError(f"There is no strategy {name!r}.", f"choose one of {', '.join(NAMES)}.")
    if effort not in {"best", "fast"}:
        raise OptionError(f"There is no effort {effort!r}.", "choose 'best' or 'fast'.")
    if branching is not None and not check.is_whole(branching, 2):
        raise OptionError(f"branching={branching!r} does not make a tree.", "pass a whole number of at least 2.")


def _least(candidates: list[Strategy], queries: BucketQueries) -> Strategy:
    """The candidate with the least expected error."""
    return _best(_rated(candidates, queries))


def _rated(candidates: list[Strategy], queries: BucketQueries) -> list[tuple[float, Strategy]]:
    """Each candidate after its expected error; one without a valid error comes after all others."""
    errors = [candidate.expected_error(queries) for candidate in candidates]
    return [(error if error > 0 else np.inf, candidate) for error, candidate in zip(errors, candidates, strict=True)]


def _best(rated: list[tuple[float, Strategy]]) -> Strategy:
    return min(rated, key=itemgetter(0))[1]


def _hats(queries: BucketQueries, allowance: IntArray, effort: Effort) -> list[Strategy]:
    found = hat_search.search(queries, allowance) if effort == "best" else hats.from_table(queries, allowance)
    return [] if found is None else [found]


def _more_trees(queries: BucketQueries, allowance: IntArray, fans: tuple[int, ...], effort: Effort) -> list[Strategy]:
    candidates: list[Strategy] = [tree.greedy(queries, allowance, fan) for fan in fans[1:2]]
    if len(allowance) <= LARGE:
        flattest = effort == "fast" and len(allowance) > SMALL
        candidates += _level_trees(queries.thinned(HURRIED_QUERIES), allowance, fans[-1:] if flattest else fans)
    return candidates


def _level_trees(queries: BucketQueries, allowance: IntArray, fans: tuple[int, ...]) -> list[Strategy]:
    return [tree.level_optimised(queries, allowance, fan) for fan in fans]
