"""UGrid: a grid of equal boxes, as fine as the number of records allows, and noise on every box alone.

Qardaji, Yang and Li, *Differentially private grids for geospatial data* (ICDE 2013); ``partition/uniform_grid.md``
says what was kept, what was changed, and why it is private.

It adapts to how many records there are, not to where they are. It costs O(cells) time. Use it for maps that are
settled alike all over, or as the rival with the fewest parts; where towns and deserts alternate, ``agrid`` and the
walk do better. Its error bars are honest: the grid comes from a count whose noise is used nowhere else.
"""

from dawa.mechanisms.two_stage import as_published
from dawa.partition.uniform_grid import UniformGrid

MECHANISM = as_published(
    "A grid of equal boxes by the number of records, then noise on every box alone (Qardaji et al. 2013).",
    partition=UniformGrid(),
    strategy="leaves",
)
