"""Stage 2: noisy sums over buckets. The second of the two steps that see the counts; its proof is in ``measure.md``.

Integers in, integers out: bucket totals times integer weights, plus discrete Laplace noise of one scale.
"""

from dataclasses import dataclass
from fractions import Fraction

from dawa import check
from dawa.arrays import IntArray
from dawa.counts import Counts
from dawa.noise import discrete, gates
from dawa.noise.randomness import Randomness
from dawa.partition.buckets import Buckets
from dawa.strategy.base import RESOLUTION, Strategy


@dataclass(frozen=True, eq=False)
class Measurements:
    """Noisy answers to a strategy's rows: public from here on.

    Attributes:
        answers: One integer per row, in the strategy's order.
        scale: The scale of the discrete Laplace noise in each of them.
    """

    answers: IntArray
    scale: Fraction

    @property
    def unit_variance(self) -> float:
        """The variance of a row's noise after division by ``RESOLUTION``."""
        return discrete.variance(self.scale) / RESOLUTION**2


def measure(
    counts: Counts, partition: Buckets, strategy: Strategy, epsilon: Fraction, randomness: Randomness
) -> Measurements:
    """Answer the strategy's rows so that no record loses more than epsilon, its loss in the partition included."""
    scale = discrete.coarsened(RESOLUTION / (epsilon - partition.spent_least))
    check.within(loss(partition, strategy, scale), epsilon, "Measuring")
    exact = strategy.apply(partition.totals(counts.exposed, counts.shape))
    return Measurements(gates.noisy(exact, scale, randomness), scale)


def loss(partition: Buckets, strategy: Strategy, scale: Fraction) -> Fraction:
    """The most that any record loses to the partition and to measuring, in exact arithmetic.

    A record of bucket b moves the answers by the sum of column b, so it loses that sum divided by the scale.
    """
    sums = strategy.column_sums()
    if partition.spared is None:
        return partition.spent + discrete.loss(int(sums.max()), scale)
    losses = [
        spent + discrete.loss(int(sums[kind].max()), scale)
        for kind, spent in ((partition.spared, partition.spent_least), (~partition.spared, partition.spent))
        if kind.any()
    ]
    return max(losses)
