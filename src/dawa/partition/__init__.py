"""Stage 1: which cells to count together. One of the two steps that see the counts; proofs are beside the code.

| module | partition | private because |
|---|---|---|
| ``walk`` | the two-phase tree walk, the default | ``walk.md`` |
| ``halves`` | the same by uneven halves, for axes with too many cells to list | ``halves.md`` |
| ``gauge`` | one walk, then noisy unevenness or a second walk | ``gauge.md`` |
| ``filled`` | every cell if much of the domain is filled, else the walk | ``filled.md`` |
| ``noisy_cost`` | the paper's Algorithm 1, as proven there | ``noisy_cost.md`` |
| ``php`` | recursive bisection (Ács et al. 2012) | ``php.md`` |
| ``structure_first`` | bounds drawn one by one (Xu et al. 2013) | ``structure_first.md`` |
| ``privtree`` | dividing intervals that hold many records (Zhang et al. 2016) | ``privtree.md`` |
| ``uniform_grid`` | equal boxes by the number of records (Qardaji et al. 2013) | ``uniform_grid.md`` |
| ``kd_tree`` | boxes cut at medians above, in halves below (Cormode et al. 2012) | ``kd_tree.md`` |
| ``buckets`` | every cell on its own, or bounds that the user names | it never looks at counts |
"""

from dawa.partition.buckets import Buckets, every_cell, given
from dawa.partition.filled import Filled
from dawa.partition.gauge import Gauge
from dawa.partition.halves import Halves
from dawa.partition.kd_tree import KdTree
from dawa.partition.noisy_cost import NoisyCost
from dawa.partition.php import Php
from dawa.partition.privtree import PrivTree
from dawa.partition.structure_first import StructureFirst
from dawa.partition.uniform_grid import UniformGrid
from dawa.partition.walk import Walk

__all__ = [
    "Buckets",
    "Filled",
    "Gauge",
    "Halves",
    "KdTree",
    "NoisyCost",
    "Php",
    "PrivTree",
    "StructureFirst",
    "UniformGrid",
    "Walk",
    "every_cell",
    "given",
]
