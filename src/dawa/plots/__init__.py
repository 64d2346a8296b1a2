"""Figures for papers and notebooks.

``release`` shows what may be published. All other figures are for evaluation on public data: they draw the truth.
Every figure is a plain ``matplotlib.figure.Figure``, is as wide as a column or a page of a paper, and stays readable
without colours.
"""

from dawa.plots.evaluation import errors, maps, partition
from dawa.plots.picture import figure as release
from dawa.plots.rows import strategy

__all__ = ["errors", "maps", "partition", "release", "strategy"]
