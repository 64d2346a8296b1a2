"""A quadtree over the cells with budgets that grow from the root to the leaves.

Cormode, Procopiuc, Srivastava, Shen and Yu, *Differentially private spatial decompositions* (ICDE 2012), its
"quad-opt": counts at all levels, a geometric budget, least squares; ``quadtree.md`` says why it is private, and what
differs from the original.

Nodes are stretches of 4, 16, 64, … cells of the Hilbert order: the squares of a quadtree where both sides are the same
power of two, connected patches elsewhere. With d axes a node has 2^d parts; on one axis this is a binary tree with a
geometric budget. ``hybrid-tree`` with ``levels=0`` cuts rectangles of any shape into true halves instead.

Adapts to: nothing; neither data nor workload. Its error is known beforehand.

Cost: O(n) for n cells; no search.

Use it as a yardstick among trees on maps.
"""

from dataclasses import replace
from fractions import Fraction

from dawa.counts import Counts
from dawa.estimates import Estimate
from dawa.mechanisms import two_stage
from dawa.mechanisms.mechanism import Mechanism
from dawa.mechanisms.two_stage import TwoStage
from dawa.noise.source import Source
from dawa.strategy import choose as stage_two
from dawa.workload import Workload


def run(counts: Counts, workload: Workload, epsilon: Fraction, options: TwoStage, source: Source) -> Estimate:
    """Two stages, with as many children per node as a box of the domain has when every axis is halved."""
    if options.branching is None and options.strategy in stage_two.TREES:
        options = replace(options, branching=2 ** len(counts.shape))
    return two_stage.run(counts, workload, epsilon, options, source)


MECHANISM = Mechanism(
    "A quadtree with geometric weights over the cells (Cormode et al. 2012).",
    TwoStage(partition="none", strategy="geometric", postprocess="none"),
    run,
)
