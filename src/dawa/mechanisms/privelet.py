"""Privelet: noise on Haar wavelets (Xiao, Wang, Gehrke: *Differential Privacy via Wavelet Transforms*, ICDE 2010).

It measures the grand total and, at every node of a binary tree over the cells, how much more its left half holds than
its right half. A range cuts two nodes per level at most, so its error grows with the logarithm of the domain only.

Adapts to: nothing; neither data nor workload. Its error is known beforehand.

Cost: O(n) for n cells; no search.

Use it as a yardstick for ranges. It does a little better than a binary tree with consistency (``hierarchical``), and
less well than wider trees (``hb``) and strategies that know the workload (``greedy-h``, ``dawa``).

Why it is private, and what differs from the original: ``privelet.md``.
"""

from dawa.mechanisms.two_stage import as_published

MECHANISM = as_published(
    "Noise on Haar wavelets over the cells (Xiao et al. 2010).", partition="none", strategy="wavelet"
)
