"""Whether the noise that a release states is the noise that its budget gives.

Both are in the file, and error bars follow from the one, the guarantee from the other. A reader who is told that little
was spent and that answers are exact would believe something that no mechanism can do.
"""

from fractions import Fraction

from dawa.noise import discrete
from dawa.partition.buckets import StopRule
from dawa.results.conform import damaged
from dawa.results.statement import PrivacyStatement
from dawa.strategy.base import RESOLUTION

COARSER = 1 + Fraction(1, 2**20)
"""How much larger than it need be a scale is at most, so that it can be drawn (``discrete.coarsened``)."""

ROUNDING = 1e-9
"""How far the logarithms of two machines may lead variances apart, relatively."""


def check_measured(variance: float, privacy: PrivacyStatement, heaviest: int, stops: StopRule | None) -> None:
    """Refuse a variance of measured rows that the budget does not give.

    A record whose bucket is spared the second walk has more left for measuring than others have, and the noise is
    scaled to what it has. The file does not say which buckets these are, so the variance lies between two ends; they
    are the same where no partition was paid for.

    Args:
        variance: What the file says.
        privacy: The budget, and what was spent on the partition.
        heaviest: The largest sum of a column of the strategy.
        stops: The second walk, if there was one.

    Raises:
        ReleaseError: If it lies outside these ends.
    """
    epsilon = privacy.mechanism_epsilon
    spent = privacy.mechanism_split.get("partition", Fraction(0))
    if epsilon - spent < Fraction(RESOLUTION, discrete.LIMIT):
        raise damaged("privacy.split", "leaves nothing for measuring")
    spared = Fraction(0) if stops is None else max(Fraction(0), spent - stops.table.epsilon)
    least = max(RESOLUTION / epsilon, heaviest / (epsilon - spared))
    _check(variance, least, RESOLUTION / (epsilon - spent), "noise.unit_variance")


def check_apart(variance: float, privacy: PrivacyStatement) -> None:
    """Refuse a variance of the numbers of records apart that is not the one that the budget gives.

    Raises:
        ReleaseError: If it is another.
    """
    scale = RESOLUTION / privacy.mechanism_epsilon
    _check(variance, scale, scale, "apart.unit_variance")


def _check(variance: float, least: Fraction, most: Fraction, where: str) -> None:
    """Hold a variance against those of two scales."""
    if not variance_of(least) * (1 - ROUNDING) <= variance <= variance_of(most * COARSER) * (1 + ROUNDING):
        raise damaged(where, "is not what the budget in privacy gives")


def variance_of(scale: Fraction) -> float:
    """The variance of a row's answer with noise of this scale, after division by the resolution."""
    return discrete.variance(scale) / RESOLUTION**2
