"""StructureFirst: k buckets whose bounds are drawn one by one, then a tree over them.

Xu, Zhang, Xiao, Yang, Yu and Winslett, *Differentially private histogram publication* (VLDB Journal 2013);
``partition/structure_first.md`` says what was kept, what was changed, and why it is private.

It adapts to where counts jump, if a few dozen buckets can describe the data; if they cannot, it measures every cell
through a tree of branching 16, as the original does inside its buckets. It costs O(n·marks·log n + k·marks²) time. Use
it as the rival that the paper compares with.
"""

from dawa.mechanisms.two_stage import as_published
from dawa.partition.structure_first import StructureFirst

MECHANISM = as_published(
    "A few buckets, bounds drawn by the exponential mechanism, or else none; then a tree (Xu et al. 2013).",
    partition=StructureFirst(),
    strategy="uniform",
    branching=16,
)
