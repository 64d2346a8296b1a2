"""Watch what passes the gates, and decide what comes out of them.

All that a mechanism says about records passes through one of five functions, ``dawa.noise.gates``, as whole numbers.
While a run is watched, each of them is replaced: it notes what was to pass, and gives back what the audit wants to see
given. So two runs on neighbouring data can be made to say the same, and what differs between them is what leaks.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from dawa.noise import gates

GATES = ("noisy", "noisy_large", "costs", "chosen", "tossed")
HIDDEN = "costs"
"""What this gate gives is not published: only which of the costs are least."""


@dataclass(frozen=True)
class Asking:
    """What a run wants to make public.

    Attributes:
        gate: By which of ``GATES``.
        exact: The private whole numbers: sums, costs, scores, or chances of coins over 2^64.
        scales: Of the noise, one for each number or one for all; empty for coins.
    """

    gate: str
    exact: tuple[int, ...]
    scales: tuple[Fraction, ...]

    @property
    def public(self) -> tuple[object, ...]:
        """What must be the same for all records."""
        return self.gate, len(self.exact), self.scales


Given = tuple[int, ...]
"""What comes out of a gate: noisy numbers, the index of a choice, or 0 and 1 for coins."""

Answering = Callable[[Asking, Callable[[], Given]], Given]
"""What a gate gives: it is handed what was asked, and a way to draw as the gate itself would."""


@dataclass
class Watched:
    """A run's transcript so far."""

    asked: list[Asking] = field(default_factory=list)
    given: list[Given] = field(default_factory=list)


class Interrupted(BaseException):
    """A run was stopped where its next answer is not known yet. No mechanism catches it."""

    def __init__(self, asking: Asking) -> None:
        super().__init__("A watched run was stopped at a gate.")
        self.asking = asking


@contextmanager
def watched(answering: Answering) -> Iterator[Watched]:
    """Watch everything that passes the gates in this process until the end of the block. Not for threads."""
    seen = Watched()
    own = {name: getattr(gates, name) for name in GATES}

    def pass_through(asking: Asking, draw: Callable[[], Given]) -> Given:
        given = answering(asking, draw)
        seen.asked.append(asking)
        seen.given.append(given)
        return given

    def noisy(exact: Any, scale: Any, randomness: Any) -> Any:  # noqa: ANN401  as the gates
        asking = Asking("noisy", whole(exact), scales_of(scale))
        drawn = pass_through(asking, lambda: whole(own["noisy"](exact, scale, randomness)))
        return np.array(drawn, np.int64)

    def noisy_large(exact: Any, scale: Any, randomness: Any) -> Any:  # noqa: ANN401  as the gates
        asking = Asking("noisy_large", tuple(exact), scales_of(scale))
        return list(pass_through(asking, lambda: tuple(own["noisy_large"](exact, scale, randomness))))

    def costs(exact: Any, scale: Any, centre: Any, randomness: Any) -> Any:  # noqa: ANN401  as the gates
        asking = Asking("costs", whole(exact if centre is None else exact + centre), scales_of(scale))
        drawn = pass_through(asking, lambda: whole(own["costs"](exact, scale, centre, randomness)))
        return np.array(drawn, np.int64)

    def chosen(scores: Any, scale: Any, randomness: Any) -> Any:  # noqa: ANN401  as the gates
        asking = Asking("chosen", whole(scores), scales_of(scale))
        (pick,) = pass_through(asking, lambda: (int(own["chosen"](scores, scale, randomness)),))
        return pick

    def tossed(thresholds: Any, randomness: Any) -> Any:  # noqa: ANN401  as the gates
        asking = Asking("tossed", whole(thresholds), ())
        coins = pass_through(asking, lambda: whole(own["tossed"](thresholds, randomness)))
        return np.array(coins, bool)

    replacements = {each.__name__: each for each in (noisy, noisy_large, costs, chosen, tossed)}
    try:
        for name, replacement in replacements.items():
            setattr(gates, name, replacement)
        yield seen
    finally:
        for name, function in own.items():
            setattr(gates, name, function)


def drawn(_: Asking, draw: Callable[[], Given]) -> Given:
    """Let every gate draw as it would."""
    return draw()


def replaying(given: list[Given]) -> Answering:
    """Give what was given before, and stop the run where that ends."""
    left = iter(given)

    def answer(asking: Asking, _: Callable[[], Given]) -> Given:
        for found in left:
            return found
        raise Interrupted(asking)

    return answer


def whole(numbers: Any) -> Given:  # noqa: ANN401  arrays of whole numbers and of coins
    """Python's whole numbers."""
    return tuple(int(number) for number in numbers)


def scales_of(scale: Any) -> tuple[Fraction, ...]:  # noqa: ANN401  as the gates take them
    """One exact scale, or one for each number."""
    if isinstance(scale, tuple):
        above, below = (np.ravel(np.asarray(part)) for part in scale)
        above, below = np.broadcast_arrays(above, below)
        return tuple(Fraction(int(one), int(other)) for one, other in zip(above, below, strict=True))
    return (Fraction(scale),)
