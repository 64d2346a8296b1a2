"""HB: a tree of the best branching, equal budgets per level (Qardaji, Yang, Li, PVLDB 2013).

The paper is *Understanding Hierarchical Methods for Differentially Private Histograms*: a wider tree has fewer levels
to share the budget, but a range then takes more nodes of each. HB picks the branching with the least squared error
over all ranges: 16 at 4,096 cells, and no tree at all up to 42.

Adapts to: the size of the domain. Neither to data nor to workload: its error is known beforehand.

Cost: O(n log n) for n cells: three branchings are compared by their exact errors.

Use it where simplicity counts: of the mechanisms that adapt to nothing it is the best for ranges. ``dawa`` with
``partition="none"`` does better on known workloads, and on most real data ``dawa`` as it is. ``branching=t`` overrides
the choice.

Why it is private, and what differs from the original: ``hb.md``.
"""

from dawa.mechanisms.two_stage import as_published

MECHANISM = as_published(
    "A tree with the same noise on every level and the best branching for ranges (Qardaji et al. 2013).",
    partition="none",
    strategy="hb",
)
