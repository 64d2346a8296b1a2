"""A class for each mechanism that is a partition followed by measurements.

A class names its defaults, and its docstring says where it comes from, what it adapts to, what it costs and when to use
it. Its proof is that of its partition (``partition/*.md``) and of measuring (``measure.md``), or ``mechanisms/*.md``.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from dawa.counts import Counts
from dawa.errors import OptionError
from dawa.mechanisms import two_stage
from dawa.mechanisms.two_stage import AsPublished, Branching, Partition, StrategyName
from dawa.noise.randomness import Randomness
from dawa.partition import noisy_cost, php, privtree, structure_first, uniform_grid
from dawa.partition.buckets import by_rows
from dawa.queries.workload import Workload
from dawa.results.estimate import Estimate
from dawa.strategy import choose as stage_two
from dawa.strategy.base import RESOLUTION
from dawa.strategy.product import product


@dataclass(frozen=True)
class Dawa2014(AsPublished):
    """The paper's Algorithm 1 as it is proven there, over buckets whose lengths are powers of two."""

    name = "dawa-2014"
    summary = "The paper's Algorithm 1 as proven (lengths that are powers of two), then the greedy tree."
    partition: Partition = "noisy-cost"
    strategy: StrategyName = "greedy"


@dataclass(frozen=True)
class Dawa2014All(AsPublished):
    """The paper's Algorithm 1 as it is proven there, over buckets of all lengths."""

    name = "dawa-2014-all"
    summary = "The paper's Algorithm 1 as proven, over intervals of all lengths, then the greedy tree."
    partition: Partition = noisy_cost.NoisyCost(lengths="all")
    strategy: StrategyName = "greedy"


@dataclass(frozen=True)
class GreedyH(AsPublished):
    """The paper's second stage alone."""

    name = "greedy-h"
    summary = "No partition; the greedy tree."
    partition: Partition = "none"
    strategy: StrategyName = "greedy"


@dataclass(frozen=True)
class PartitionLaplace(AsPublished):
    """The first stage alone: buckets, and noise on each."""

    name = "partition-laplace"
    summary = "Two-phase tree walk, then noise on every bucket alone."
    strategy: StrategyName = "leaves"


@dataclass(frozen=True)
class PartitionUniform(AsPublished):
    """Buckets, and a tree that spends the same on every level."""

    name = "partition-uniform"
    summary = "Two-phase tree walk, then a tree with equal weights."
    strategy: StrategyName = "uniform"


@dataclass(frozen=True)
class PartitionGeometric(AsPublished):
    """Buckets, and a tree that spends more on lower levels."""

    name = "partition-geometric"
    summary = "Two-phase tree walk, then a tree with geometric weights."
    strategy: StrategyName = "geometric"


@dataclass(frozen=True)
class Identity(AsPublished):
    """Noise on every cell: what everything else is compared with."""

    name = "identity"
    summary = "Noise on every cell alone: the baseline."
    partition: Partition = "none"
    strategy: StrategyName = "leaves"


@dataclass(frozen=True)
class Privelet(AsPublished):
    """Privelet: noise on Haar wavelets (Xiao, Wang, Gehrke: *Differential Privacy via Wavelet Transforms*, ICDE 2010).

    It measures the grand total and, at every node of a binary tree over the cells, how much more its left half holds
    than its right half; with several axes, all products of these along the axes. A range cuts two nodes per level at
    most, so its error grows with the logarithm of the domain only, to a power that grows with the number of axes.

    Adapts to: nothing; neither data nor workload. Its error is known beforehand.

    Cost: O(n) for n cells and every axis; no search. With several axes at most 2^26 cells.

    Use it as a yardstick for ranges. It does a little better than a binary tree with consistency (``hierarchical``),
    and less well than wider trees (``hb``) and strategies that know the workload (``greedy-h``, ``dawa``). For
    rectangles with evenly drawn corners noise on every cell alone (``identity``) does better on 256 × 256 cells, and
    worse on 512 × 512.

    Why it is private, and what differs from the original: ``privelet.md``.
    """

    name = "privelet"
    summary = "Noise on Haar wavelets over the cells, along every axis (Xiao et al. 2010)."
    partition: Partition = "none"
    strategy: StrategyName = "wavelet"

    def run(self, counts: Counts, workload: Workload, epsilon: Fraction, randomness: Randomness) -> Estimate:
        """Wavelets along every axis; with the caller's own buckets or strategy, two stages along the line."""
        every_cell = self.partition is None or (isinstance(self.partition, str) and self.partition == "none")
        if len(counts.shape) == 1 or not every_cell or self.strategy != "wavelet":
            return super().run(counts, workload, epsilon, randomness)
        if self.merge:
            raise OptionError("Wavelets along several axes need every cell on its own.", "pass merge=False.")
        buckets = by_rows(counts.shape)
        strategy = product(counts.shape, buckets.allowance(epsilon, RESOLUTION))
        return two_stage.finished(counts, buckets, strategy, epsilon, self.plain(buckets), randomness)


@dataclass(frozen=True)
class Hierarchical(AsPublished):
    """Hierarchical: a binary tree with equal budgets per level (Hay, Rastogi, Miklau, Suciu, PVLDB 2010).

    The paper is *Boosting the Accuracy of Differentially Private Histograms Through Consistency*: it counts the records
    of every node of a binary tree over the cells, root and leaves included, with the same noise everywhere, then makes
    the counts consistent by least squares. Any range is a sum of few nodes.

    Adapts to: nothing; neither data nor workload. Its error is known beforehand.

    Cost: O(n) for n cells; no search.

    Use it as the baseline of all trees. ``hb`` improves its branching, ``greedy-h`` its weights; ``branching=t`` makes
    it t-ary.

    Why it is private, and what differs from the original: ``hierarchical.md``.
    """

    name = "hierarchical"
    summary = "A binary tree with the same noise on every level, made consistent (Hay et al. 2010)."
    partition: Partition = "none"
    strategy: StrategyName = "uniform"


@dataclass(frozen=True)
class Hb(AsPublished):
    """HB: a tree of the best branching, equal budgets per level (Qardaji, Yang, Li, PVLDB 2013).

    The paper is *Understanding Hierarchical Methods for Differentially Private Histograms*: a wider tree has fewer
    levels to share the budget, but a range then takes more nodes of each. HB picks the branching with the least squared
    error over all ranges: 16 at 4,096 cells, and no tree at all up to 42 cells.

    Adapts to: the size of the domain; neither data nor workload. Its error is known beforehand.

    Cost: O(n log n) for n cells: three branchings are compared by their exact errors.

    Use it where simplicity counts: of the mechanisms that adapt to nothing it is the best for ranges. ``dawa`` with
    ``partition="none"`` does better on known workloads, and plain ``dawa`` does better on most real data.
    ``branching=t`` overrides the choice.

    Why it is private, and what differs from the original: ``hb.md``.
    """

    name = "hb"
    summary = "A tree with the same noise on every level and the best branching for ranges (Qardaji et al. 2013)."
    partition: Partition = "none"
    strategy: StrategyName = "hb"


@dataclass(frozen=True)
class Php(AsPublished):
    """P-HP: bisect where the counts change, then noise on every bucket alone.

    Ács, Castelluccia and Chen, *Differentially private histogram publishing through lossy compression* (ICDM 2012);
    ``partition/php.md`` says what was kept, what was changed, and why it is private.

    It adapts to where counts jump: bounds may lie at any cell, not only at dyadic ones. It costs O(n·log² n) time. Use
    it for data with a few wide plateaus, or as the rival that the paper compares with. If there are many narrow
    plateaus, its log2(n) levels of bisection do not reach them; the walk does.
    """

    name = "php"
    summary = "Bisection by the exponential mechanism, then noise on every bucket alone (Ács et al. 2012)."
    partition: Partition = php.Php()
    strategy: StrategyName = "leaves"


@dataclass(frozen=True)
class StructureFirst(AsPublished):
    """StructureFirst: k buckets whose bounds are drawn one by one, then a tree over them.

    Xu, Zhang, Xiao, Yang, Yu and Winslett, *Differentially private histogram publication* (VLDB Journal 2013);
    ``partition/structure_first.md`` says what was kept, what was changed, and why it is private.

    It adapts to where counts jump, if a few dozen buckets can describe the data; if they cannot, it measures every cell
    through a tree of branching 16, as the original does inside its buckets. It costs O(n·marks·log n + k·marks²) time.
    Use it as the rival that the paper compares with.
    """

    name = "structure-first"
    summary = "A few buckets, bounds drawn by the exponential mechanism, or every cell; then a tree (Xu et al. 2013)."
    partition: Partition = structure_first.StructureFirst()
    strategy: StrategyName = "uniform"
    branching: Branching = 16


@dataclass(frozen=True)
class PrivTree(AsPublished):
    """PrivTree: divide intervals that hold many records, then noise on every bucket alone.

    Zhang, Xiao and Xie, *PrivTree: a differentially private algorithm for hierarchical decompositions* (SIGMOD 2016);
    ``partition/privtree.md`` has the proof for the numbers used here.

    It adapts to where the records are: empty stretches stay whole, crowded ones are cut down to cells, whether they are
    even or not. On a line nodes split into halves, on a map into quarters, with d axes into 2^d parts of the Hilbert
    order; ``partition=PrivTree(fan=…)`` overrides that. It costs O(occupied cells + k·log n) time, so domains up to
    2^62 cells are not a problem. Use it for sparse data on a huge domain; if crowded stretches are even, the walk finds
    this out and needs fewer buckets.
    """

    name = "privtree"
    summary = "Divide intervals that hold many records, then noise on every bucket alone (Zhang et al. 2016)."
    partition: Partition = privtree.PrivTree()
    strategy: StrategyName = "leaves"


@dataclass(frozen=True)
class Quadtree(AsPublished):
    """A quadtree over the cells with budgets that grow from the root to the leaves.

    Cormode, Procopiuc, Srivastava, Shen and Yu, *Differentially private spatial decompositions* (ICDE 2012), its
    "quad-opt": counts at all levels, a geometric budget, least squares; ``quadtree.md`` says why it is private, and
    what differs from the original.

    Nodes are stretches of 4, 16, 64, … cells of the Hilbert order: the squares of a quadtree if both sides are the
    same power of two, connected patches otherwise. With d axes a node has 2^d parts; on one axis this is a binary tree
    with a geometric budget. ``hybrid-tree`` with ``levels=0`` cuts rectangles of any shape into true halves instead.

    Adapts to: nothing; neither data nor workload. Its error is known beforehand.

    Cost: O(n) for n cells; no search.

    Use it as a yardstick among trees on maps.
    """

    name = "quadtree"
    summary = "A quadtree with geometric weights over the cells (Cormode et al. 2012)."
    partition: Partition = "none"
    strategy: StrategyName = "geometric"

    def run(self, counts: Counts, workload: Workload, epsilon: Fraction, randomness: Randomness) -> Estimate:
        """Two stages, with as many children per node as a box of the domain has when every axis is halved."""
        if self.branching is None and self.strategy in stage_two.TREES:
            return replace(self, branching=2 ** len(counts.shape)).run(counts, workload, epsilon, randomness)
        return super().run(counts, workload, epsilon, randomness)


@dataclass(frozen=True)
class Ugrid(AsPublished):
    """UGrid: a grid of equal boxes, as fine as the number of records allows, and noise on every box alone.

    Qardaji, Yang and Li, *Differentially private grids for geospatial data* (ICDE 2013); ``partition/uniform_grid.md``
    says what was kept, what was changed, and why it is private.

    It adapts to how many records there are, not to where they are. It costs O(cells) time. Use it for maps that are
    about equally dense everywhere, or as the rival with the fewest parts; where towns and deserts alternate, ``agrid``
    and the walk do better. Its error bars are honest: the grid comes from a count whose noise is used nowhere else.
    """

    name = "ugrid"
    summary = "A grid of equal boxes by the number of records, then noise on every box alone (Qardaji et al. 2013)."
    partition: Partition = uniform_grid.UniformGrid()
    strategy: StrategyName = "leaves"


@dataclass(frozen=True)
class Uniform(AsPublished):
    """Uniform: the noisy number of records, spread evenly over the domain.

    The floor under all comparisons (Hay et al.: *Principled Evaluation of Differentially Private Algorithms Using
    DPBench*, SIGMOD 2016): it learns one number, so a mechanism that does not beat it learned nothing worth its noise.

    Adapts to: nothing. Its noise is the least of all; its bias is how far the data are from uniform.

    Cost: O(1) besides counting.

    Use it as a sanity check, and for tiny budgets or a handful of records, where nothing else can be learned. Its error
    bars cover the noise in the total alone: a range that does not end at the domain's bounds has a bias of unknown
    size.

    Why it is private, and what differs from the original: ``uniform.md``.
    """

    name = "uniform"
    summary = "The noisy total, spread evenly: the floor of every comparison."
    partition: Partition = "one"
    strategy: StrategyName = "leaves"
