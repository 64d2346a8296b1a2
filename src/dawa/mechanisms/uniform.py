"""Uniform: the noisy number of records, spread evenly over the domain.

The floor under all comparisons (Hay et al.: *Principled Evaluation of Differentially Private Algorithms Using DPBench*,
SIGMOD 2016): it learns one number, so whatever cannot beat it has learned nothing worth its noise.

Adapts to: nothing. Its noise is the least there is; its bias is whatever the data are not uniform.

Cost: O(1) beside counting.

Use it as a sanity check, and for tiny budgets or a handful of records, where nothing else can be learned. Its error
bars cover the noise in the total alone: a range that does not end at the domain's bounds has a bias of unknown size.

Why it is private, and what differs from the original: ``uniform.md``.
"""

from dawa.mechanisms.two_stage import as_published

MECHANISM = as_published(
    "The noisy total, spread evenly: the floor of every comparison.", partition="one", strategy="leaves"
)
