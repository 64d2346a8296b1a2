"""The hybrid tree: cut at private medians above, in the middle below, and count at every level.

Cormode, Procopiuc, Srivastava, Shen and Yu, *Differentially private spatial decompositions* (ICDE 2012), its
"kd-hybrid"; ``partition/kd_tree.md`` says why it is private, and what differs from the original.

Adapts to: where the records are, by its upper levels. Its lower levels and its budget per level adapt to nothing.

Cost: O(n·levels) for n cells, at most 2^26 of them.

Use it as a yardstick among trees on maps. With ``height=6`` or so it counts in boxes of several cells: good at small
budgets on maps that are much finer than their records, bad where large counts stand alone. ``levels=0`` is a quadtree
that cuts boxes of any shape in the middle.
"""

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, cast

from dawa import infer, progress
from dawa.counts import Counts
from dawa.mechanisms import two_stage
from dawa.mechanisms.base import Mechanism
from dawa.noise.randomness import Randomness
from dawa.partition import choose as stage_one
from dawa.partition.kd_tree import KdTree, TreeBuckets
from dawa.queries.workload import Workload
from dawa.results.estimate import Estimate
from dawa.strategy import nested
from dawa.strategy.base import RESOLUTION


@dataclass(frozen=True)
class HybridTree(KdTree, Mechanism):
    """Options of the hybrid tree: those of its boxes, and the post-processing.

    Attributes:
        postprocess: What becomes of the measured totals: ``"nonnegative"`` evens out what is below zero, ``"rounded"``
            makes them whole besides, ``"none"`` leaves them as they are (unbiased).
    """

    name = "hybrid-tree"
    summary = "Boxes cut at private medians above and in halves below, counted on every level (Cormode et al. 2012)."

    postprocess: infer.PostProcess = "none"

    def __post_init__(self) -> None:
        super().__post_init__()
        infer.check(self.postprocess)

    def run(self, counts: Counts, workload: Workload, epsilon: Fraction, randomness: Randomness) -> Estimate:
        """Choose boxes, measure all nodes of their tree, infer. The workload changes nothing."""
        del workload
        progress.reached("Choosing buckets")
        buckets = cast("TreeBuckets", stage_one.partition(counts, epsilon, self, randomness))
        strategy = nested.geometric(
            buckets.start, buckets.stop, buckets.allowance(epsilon, RESOLUTION), ratio(len(counts.shape))
        )
        return two_stage.finished(counts, buckets, strategy, epsilon, _plain(self), randomness)


def ratio(axes: int) -> float:
    """How much more weight a level has than the level above: the authors' choice for maps, extended to d axes.

    A box of a map cuts about twice as many nodes on every level as on the one above; the cube root of that makes the
    sum of their variances least. With d axes it cuts 2^(d-1) times as many.
    """
    return math.pow(2, max(axes - 1, 1) / 3)


def _plain(options: HybridTree) -> dict[str, Any]:
    """Options as JSON can hold them."""
    return {**asdict(options), "share": str(options.for_medians) if options.levels else None}
