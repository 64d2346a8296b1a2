"""Privelet: noise on Haar wavelets (Xiao, Wang, Gehrke: *Differential Privacy via Wavelet Transforms*, ICDE 2010).

It measures the grand total and, at every node of a binary tree over the cells, how much more its left half holds than
its right half; with several axes, all products of these along the axes. A range cuts two nodes per level at most, so
its error grows with the logarithm of the domain only, to a power that grows with the number of axes.

Adapts to: nothing; neither data nor workload. Its error is known beforehand.

Cost: O(n) for n cells and every axis; no search. With several axes at most 2^26 cells.

Use it as a yardstick for ranges. It does a little better than a binary tree with consistency (``hierarchical``), and
less well than wider trees (``hb``) and strategies that know the workload (``greedy-h``, ``dawa``). For rectangles with
evenly drawn corners noise on every cell alone (``identity``) does better on 256 × 256 cells, and worse on 512 × 512.

Why it is private, and what differs from the original: ``privelet.md``.
"""

from fractions import Fraction

from dawa.counts import Counts
from dawa.errors import OptionError
from dawa.estimates import Estimate
from dawa.mechanisms import two_stage
from dawa.mechanisms.mechanism import Mechanism
from dawa.mechanisms.two_stage import TwoStage
from dawa.noise.source import Source
from dawa.partition.row_major import by_rows
from dawa.strategy.product import product
from dawa.strategy.rows import RESOLUTION
from dawa.workload import Workload


def run(counts: Counts, workload: Workload, epsilon: Fraction, options: TwoStage, source: Source) -> Estimate:
    """Wavelets along every axis; with buckets or a strategy of the caller's own, two stages along the line."""
    every_cell = options.partition is None or (isinstance(options.partition, str) and options.partition == "none")
    if len(counts.shape) == 1 or not every_cell or options.strategy != "wavelet":
        return two_stage.run(counts, workload, epsilon, options, source)
    if options.merge:
        raise OptionError("Wavelets along several axes need every cell on its own.", "pass merge=False.")
    buckets = by_rows(counts.shape)
    strategy = product(counts.shape, buckets.allowance(epsilon, RESOLUTION))
    return two_stage.finished(counts, buckets, strategy, epsilon, two_stage.plain(options, buckets), source)


MECHANISM = Mechanism(
    "Noise on Haar wavelets over the cells, along every axis (Xiao et al. 2010).",
    TwoStage(partition="none", strategy="wavelet", postprocess="none"),
    run,
)
