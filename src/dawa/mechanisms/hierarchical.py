"""Hierarchical: a binary tree with equal budgets per level (Hay, Rastogi, Miklau, Suciu, PVLDB 2010).

The paper is *Boosting the Accuracy of Differentially Private Histograms Through Consistency*: it counts the records of
every node of a binary tree over the cells, root and leaves included, with the same noise everywhere, then makes the
counts consistent by least squares. Any range is a sum of few nodes.

Adapts to: nothing; neither data nor workload. Its error is known beforehand.

Cost: O(n) for n cells; no search.

Use it as the baseline of all trees. ``hb`` improves its branching, ``greedy-h`` its weights; ``branching=t`` makes it
t-ary.

Why it is private, and what differs from the original: ``hierarchical.md``.
"""

from dawa.mechanisms.two_stage import as_published

MECHANISM = as_published(
    "A binary tree with the same noise on every level, made consistent (Hay et al. 2010).",
    partition="none",
    strategy="uniform",
)
