"""Exact losses on tiny domains: run two neighbours, make them say the same, and compare the chances of saying it.

A mechanism's output is a function of what passed its gates, its transcript, and of public numbers. The chance of a
transcript is a product over the gates, so what it tells of the records is a sum of exact terms. All coins and choices
are enumerated as long as they are few, and drawn after that; noisy numbers are those at which their own loss is
largest, and drawn ones. What is found is a loss that really occurs: the true one is at least as large.

Where two neighbours say the same, what follows must be the same: the next gate, its scale, how many numbers pass, and
the estimate at the end. A difference is an endless loss.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import Any

import numpy as np

from dawa_bench.audit.chances import ENDLESS, lost, most
from dawa_bench.audit.watch import Asking, Given, Interrupted, replaying, watched

Run = Callable[[], Any]
"""A run of a mechanism on one of two neighbours: makes anything that can be compared with ``==``."""

ALL_COINS = 4
"""Up to so many coins at once, every outcome is followed; of more, the likeliest for each neighbour, and drawn ones."""


@dataclass(frozen=True)
class Found:
    """A transcript, and what it tells.

    Attributes:
        loss: ``ln P(transcript | one) - ln P(transcript | two)``.
        gates: How many gates it passed.
        differs: What differed where both said the same, if anything did.
    """

    loss: Decimal
    gates: int
    differs: str = ""


def transcripts(one: Run, two: Run, enough: int, seed: int) -> Iterator[Found]:
    """Up to so many transcripts that both neighbours may produce, with the loss of each.

    Answers that tell most are followed first, then such as are likely.
    """
    rng = np.random.default_rng(seed)
    waiting: list[tuple[tuple[Given, ...], Decimal]] = [((), Decimal(0))]
    found = 0
    while waiting and found < enough:
        # Depth first for every other one, so that transcripts end; otherwise anywhere, so that all parts are seen.
        at = len(waiting) - 1 if found % 2 == 0 else int(rng.integers(len(waiting)))
        waiting[at], waiting[-1] = waiting[-1], waiting[at]
        said, so_far = waiting.pop()
        mine, theirs = _continued(one, said), _continued(two, said)
        if not isinstance(mine, Asking) or not isinstance(theirs, Asking):
            found += 1
            same = not isinstance(mine, Asking) and not isinstance(theirs, Asking) and mine == theirs
            yield Found(so_far, len(said)) if same else Found(ENDLESS, len(said), "the end")
        elif mine.public != theirs.public:
            found += 1
            yield Found(ENDLESS, len(said), f"what is asked at gate {len(said) + 1}")
        else:
            for given in _answers(mine, theirs, rng):
                loss = lost(mine, theirs, given)
                if loss.is_infinite():
                    found += 1
                    yield Found(loss, len(said) + 1)
                else:
                    waiting.append(((*said, given), so_far + loss))


def through_coins(one: Run, two: Run, said: tuple[Given, ...] = (), so_far: Decimal = Decimal(0)) -> Decimal:
    """The largest loss of all outcomes of a few coins, together with the most that the first noise after them tells."""
    mine, theirs = _continued(one, said), _continued(two, said)
    if not isinstance(mine, Asking) or not isinstance(theirs, Asking):
        return abs(so_far) if mine == theirs else ENDLESS
    if mine.gate != "tossed" or mine.public != theirs.public:
        return abs(so_far) + most(mine, theirs)
    losses = [Decimal(0)]
    for coins in product((0, 1), repeat=len(mine.exact)):
        loss = lost(mine, theirs, coins)
        losses.append(ENDLESS if loss.is_infinite() else through_coins(one, two, (*said, coins), so_far + loss))
    return max(losses)


def _continued(run: Run, said: tuple[Given, ...]) -> Any:  # noqa: ANN401  what a run makes, or what it asks next
    """What a run asks after it was made to say this, or what it makes of it."""
    with watched(replaying(list(said))):
        try:
            return run()
        except Interrupted as stopped:
            return stopped.asking


def _answers(one: Asking, two: Asking, rng: np.random.Generator) -> list[Given]:
    """What a gate could give: the last ones are followed first."""
    if one.gate == "chosen":
        return [(pick,) for pick in rng.permutation(len(one.exact)).tolist()]
    if one.gate == "tossed":
        return _coins(one, two, rng)
    loud = [tuple(round(rng.laplace(exact, float(scale))) for exact, scale in _each(one, one.exact)) for _ in range(2)]
    high = tuple(round(exact + 3 * float(scale)) for exact, scale in _each(one, one.exact))
    return list(dict.fromkeys([*loud, high, two.exact, one.exact]))


def _each(asking: Asking, numbers: Given) -> Iterator[tuple[int, Any]]:
    scales = asking.scales * len(numbers) if len(asking.scales) == 1 else asking.scales
    return zip(numbers, scales, strict=True)


def _coins(one: Asking, two: Asking, rng: np.random.Generator) -> list[Given]:
    """All outcomes of a few coins; of many, those that tell most, and likely ones."""
    count = len(one.exact)
    if count <= ALL_COINS:
        every = [tuple(coins) for coins in product((0, 1), repeat=count)]
        rng.shuffle(every)
        return every
    chances = np.array([float(chance) / 2**64 for chance in one.exact])
    drawn = [tuple((rng.random(count) < chances).astype(int).tolist()) for _ in range(4)]
    likely = tuple((chances > 0.5).astype(int).tolist())
    at = [place for place in range(count) if one.exact[place] != two.exact[place]]
    flipped = [tuple(1 - coin if place in at else coin for place, coin in enumerate(each)) for each in [likely, *drawn]]
    return list(dict.fromkeys([*drawn, likely, *flipped]))
