"""The best of several strategies, by exact expected error: free of budget, because nothing private is read."""

from collections.abc import Callable
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
"""Up to SMALL buckets every tree, up to LARGE the flattest, is cheap enough to optimise level by level."""

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
        effort: How hard to search: "fast" compares strategies without a search, "best" searches for about a second.
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
    candidates = _hats(steering, allowance, effort)
    if name == "best" or not candidates:
        candidates += _trees(steering, allowance, fans, effort)
    return _least(candidates, steering)


def check_options(name: str, effort: str, branching: int | None) -> None:
    """Raise an OptionError for options that ``choose`` would not understand."""
    if name not in NAMES:
        raise OptionError(f"There is no strategy {name!r}.", f"choose one of {', '.join(NAMES)}.")
    if effort not in {"best", "fast"}:
        raise OptionError(f"There is no effort {effort!r}.", "choose 'best' or 'fast'.")
    if branching is not None and not check.is_whole(branching, 2):
        raise OptionError(f"branching={branching!r} does not make a tree.", "pass a whole number of at least 2.")


def _least(candidates: list[Strategy], queries: BucketQueries) -> Strategy:
    """The candidate with the least expected error; a candidate without a valid error is not chosen."""
    errors = [candidate.expected_error(queries) for candidate in candidates]
    return candidates[int(np.nanargmin([error if error > 0 else np.inf for error in errors]))]


def _hats(queries: BucketQueries, allowance: IntArray, effort: Effort) -> list[Strategy]:
    found = [hats.from_table(queries, allowance)]
    if effort == "best":
        found.append(hat_search.search(queries, allowance))
    return [strategy for strategy in found if strategy is not None]


def _trees(queries: BucketQueries, allowance: IntArray, fans: tuple[int, ...], effort: Effort) -> list[Strategy]:
    candidates: list[Strategy] = [tree.leaves_only(allowance, fans[0])]
    candidates += [tree.greedy(queries, allowance, fan) for fan in fans[:2]]
    few = queries if effort == "best" else queries.thinned(HURRIED_QUERIES)
    if len(allowance) <= (LARGE if effort == "best" else SMALL):
        candidates += _level_trees(few, allowance, fans)
    elif len(allowance) <= LARGE:
        candidates += _level_trees(few, allowance, fans[-1:])
    return candidates


def _level_trees(queries: BucketQueries, allowance: IntArray, fans: tuple[int, ...]) -> list[Strategy]:
    return [tree.level_optimised(queries, allowance, fan) for fan in fans]
