"""Which mechanism for this workload? Ranked by what is known before any data is read, so it costs no budget.

Mechanisms that do not look at the data have an error that is known beforehand, exactly; so they can be ranked without
data. Mechanisms that look at the data, such as the default ``dawa`` with its private partition, do better on most real
data, but how much better is itself private. The ranking says what to beat, and what to fall back on.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import cast

import numpy as np

from dawa import budget
from dawa.budget import Epsilon
from dawa.errors import WorkloadError
from dawa.limits import MOST_CELLS_RANKED
from dawa.measure import Measurements
from dawa.mechanisms.named import configured
from dawa.mechanisms.two_stage import TwoStage
from dawa.noise import discrete
from dawa.partition.buckets import every_cell
from dawa.queries.workload import Workload
from dawa.strategy import choose
from dawa.strategy.base import RESOLUTION

CANDIDATES: dict[str, dict[str, str]] = {
    "identity": {},
    "greedy-h": {},
    "hierarchical": {},
    "hb": {},
    "privelet": {},
    "dawa": {"partition": "none"},
}
"""The mechanisms that do not look at the data, and the options that keep them from looking."""


@dataclass(frozen=True)
class Ranked:
    """A mechanism with its exact expected error.

    Attributes:
        name: What to pass as ``mechanism``.
        rmse: The root of the mean squared error per query, before post-processing.
        strategy: What it would measure.
        options: What to pass besides the name.
    """

    name: str
    rmse: float
    strategy: str
    options: dict[str, str] = field(default_factory=dict)


def recommended(workload: Workload, epsilon: Epsilon = 1, effort: choose.Effort = "best") -> list[Ranked]:
    """The mechanisms that do not look at the data, from the least expected error to the largest.

    Args:
        workload: What will be asked.
        epsilon: The budget. It scales all errors equally, unless it is so large that almost no noise is left.
        effort: How hard ``dawa`` searches for its strategy: "best" or "fast".

    Raises:
        DawaError: If the workload, the budget or the effort is invalid, or the domain is too large.

    >>> from dawa import workloads
    >>> [ranked.name for ranked in recommended(workloads.prefixes(512), effort="fast")][-1]
    'identity'
    """
    if not isinstance(workload, Workload):
        raise WorkloadError(
            f"The workload is a {type(workload).__name__}, not a Workload.",
            "make one with Workload.ranges or dawa.workloads.",
        )
    choose.check_options("best", effort, None)
    if len(workload.shape) > 1:
        raise WorkloadError(
            f"The workload is over {len(workload.shape)} axes; mechanisms are ranked on one.",
            "ask `dawa plan --mechanism NAME` for the expected error of one mechanism at a time.",
        )
    if workload.size > MOST_CELLS_RANKED:
        raise WorkloadError(
            f"{workload.size} cells are too many to be measured one by one.",
            f"compare mechanisms on at most {MOST_CELLS_RANKED} cells, or use 'dawa', which chooses the resolution.",
        )
    total = budget.exact(epsilon)
    ranking = [_ranked(name, workload, total, effort) for name in CANDIDATES]
    return sorted(ranking, key=lambda ranked: ranked.rmse)


def _ranked(name: str, workload: Workload, epsilon: Fraction, effort: choose.Effort) -> Ranked:
    """One mechanism's error: what ``Estimate.noise_rmse`` will report, without an estimate."""
    options = cast("TwoStage", configured(name, dict(CANDIDATES[name])))
    buckets = every_cell(workload.size)
    queries, allowance = workload.on_buckets(buckets.bounds), buckets.allowance(epsilon, RESOLUTION)
    strategy = choose.choose(queries, allowance, options.strategy, effort, options.branching)
    scale = discrete.coarsened(RESOLUTION / epsilon)
    noise = Measurements(np.zeros(0, np.int64), scale).unit_variance
    rmse = float(np.sqrt(noise * strategy.expected_error(queries) / queries.total))
    return Ranked(name, rmse, strategy.name, CANDIDATES[name])
