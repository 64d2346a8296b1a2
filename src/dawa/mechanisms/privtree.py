"""PrivTree: divide what holds many records, then noise on every bucket alone.

Zhang, Xiao and Xie, *PrivTree: a differentially private algorithm for hierarchical decompositions* (SIGMOD 2016);
``partition/privtree.md`` has the proof for the numbers used here.

It adapts to where the records are: empty stretches stay whole, crowded ones are cut down to cells, whether they are
even or not. On a line nodes split into halves, on a map into quarters, with d axes into 2^d parts of the Hilbert order;
``partition=PrivTree(fan=…)`` overrides that. It costs O(occupied cells + k·log n) time, so that domains up to 2^62
cells are no problem. Use it for sparse data on a huge domain; where crowded stretches are even, the walk finds that
out and needs fewer buckets.
"""

from dawa.mechanisms.two_stage import as_published
from dawa.partition.privtree import PrivTree

MECHANISM = as_published(
    "Divide what holds many records, then noise on every bucket alone (Zhang et al. 2016).",
    partition=PrivTree(),
    strategy="leaves",
)
