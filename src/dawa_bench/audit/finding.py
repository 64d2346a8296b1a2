"""What an audit found, and the controls that show that it finds what is wrong."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """What was found about two neighbours.

    Attributes:
        what: What was audited.
        claimed: The ε that it claims.
        loss: The largest loss that was shown. The true one is at least as large, with this confidence.
        estimate: The loss at the same event as it was counted, without allowing for chance.
        event: What tells the neighbours apart, in words.
        confidence: How sure the loss is, over everything that was tried; 1 if it is exact.
        runs: How many outputs of each neighbour were counted.
        seen: How many of them were in the event, for each neighbour.
        fit: The chance that draws from the claimed distribution fit no better; 1 if it was not compared.
    """

    what: str
    claimed: float
    loss: float
    estimate: float
    event: str
    confidence: float = 1.0
    runs: int = 0
    seen: tuple[int, int] = (0, 0)
    fit: float = 1.0

    @property
    def wrong(self) -> bool:
        """Whether the claim does not hold: more is lost, or the draws do not fit.

        >>> Finding("half the noise", 1.0, 1.8, 1.9, "cell 1 at most 3").wrong
        True
        """
        return self.loss > self.claimed or self.fit < 1 - self.confidence


@dataclass(frozen=True)
class Control:
    """Something that is known to be wrong. An audit that does not notice is worth nothing.

    Attributes:
        name: What it is called.
        wrong: What is wrong with it, in a sentence.
        claimed: The ε that it claims.
        audit: Audits it; the finding must be ``wrong``. Takes the seed of all randomness; None takes no seed.
        sound: Audits the same done right, in the same way; must not be ``wrong``. None if there is no such thing.
    """

    name: str
    wrong: str
    claimed: float
    audit: Callable[[int | None], Finding]
    sound: Callable[[int | None], Finding] | None = None
