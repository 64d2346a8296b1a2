"""Figures for papers and notebooks.

``release`` shows what may be published. All other figures are for evaluation on public data: they draw the truth.
Every figure is a plain ``matplotlib.figure.Figure``, is as wide as a column or a page of a paper, and stays readable
without colours.
"""

import logging

from dawa.plots.epsilons import epsilons
from dawa.plots.evaluation import errors, maps, partition
from dawa.plots.picture import figure as release
from dawa.plots.rows import strategy

FOLDERS = ("MPLCONFIGDIR", "mkdir -p failed", "is not a writable directory")
"""Words of remarks about folders."""


def _quiet(record: logging.LogRecord) -> bool:
    """Whether a remark of matplotlib's is about more than where it keeps its own files, for users without a home."""
    return not any(word in str(record.msg) for word in FOLDERS)


logging.getLogger("matplotlib").addFilter(_quiet)

__all__ = ["epsilons", "errors", "maps", "partition", "release", "strategy"]
