"""Stage 1: which cells to count together. One of the two steps that see the counts; proofs are beside the code.

| module | partition | private because |
|---|---|---|
| ``walk`` | the two-phase tree walk, the default | ``walk.md`` |
| ``noisy_cost`` | the paper's Algorithm 1, as proven there | ``noisy_cost.md`` |
| ``php`` | recursive bisection (Ács et al. 2012) | ``php.md`` |
| ``structure_first`` | bounds drawn one by one (Xu et al. 2013) | ``structure_first.md`` |
| ``privtree`` | halving what holds many records (Zhang et al. 2016) | ``privtree.md`` |
| ``fixed`` | none, or one that the user names | it never looks |
| ``optimum`` | the least-cost partition, for evaluation | it is NOT; nothing in the pipeline imports it |
"""

from dawa.partition.buckets import Partition
from dawa.partition.fixed import every_cell, given
from dawa.partition.noisy_cost import NoisyCost
from dawa.partition.php import Php
from dawa.partition.privtree import PrivTree
from dawa.partition.structure_first import StructureFirst
from dawa.partition.walk import Walk

__all__ = ["NoisyCost", "Partition", "Php", "PrivTree", "StructureFirst", "Walk", "every_cell", "given"]
