"""P-HP: bisect where the counts change, then noise on every bucket alone.

Ács, Castelluccia and Chen, *Differentially private histogram publishing through lossy compression* (ICDM 2012);
``partition/php.md`` says what was kept, what was changed, and why it is private.

It adapts to where counts jump: bounds may lie at any cell, not only at dyadic ones. It costs O(n·log² n) time. Use it
for data with a few wide plateaus, or as the rival that the paper compares with; where there are many narrow ones,
its log2(n) levels of bisection do not reach them, and the walk does.
"""

from dawa.mechanisms.two_stage import as_published
from dawa.partition.php import Php

MECHANISM = as_published(
    "Bisection by the exponential mechanism, then noise on every bucket alone (Ács et al. 2012).",
    partition=Php(),
    strategy="leaves",
)
