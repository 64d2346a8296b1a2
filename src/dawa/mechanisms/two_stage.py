"""Partition, then measure: the shape of DAWA and of everything that the paper builds from its two stages."""

import math
from dataclasses import asdict, dataclass, is_dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np

from dawa import check, infer, measure, progress
from dawa.arrays import frozen
from dawa.counts import Counts
from dawa.errors import OptionError
from dawa.limits import MOST_BRANCHES, MOST_CELLS_LISTED, MOST_CELLS_SMOOTHED
from dawa.mechanisms.base import Mechanism
from dawa.noise.randomness import Randomness
from dawa.partition import choose as stage_one
from dawa.partition.buckets import Buckets, GridMethod, Method
from dawa.partition.choose import PartitionLike
from dawa.queries.bucket_queries import BucketQueries, Closed
from dawa.queries.workload import Workload
from dawa.results import insides
from dawa.results.estimate import Estimate
from dawa.strategy import choose as stage_two
from dawa.strategy.base import RESOLUTION, Strategy, fitted
from dawa.strategy.bumps import Patches

BRANCHING = check.Whole(2, MOST_BRANCHES)
OWN = "a method with options of its own, or public bucket bounds"

IN_BUCKETS = 1 / 20
"""The part of ends that ``steering`` takes to lie in any bucket. With a million records in 50 clusters in 2^62 cells,
ranges at records have 0.7 of the error that they have without it, and those anywhere the same."""

Partition = Annotated[PartitionLike, check.Names((*stage_one.METHODS, *stage_one.PUBLIC), OWN)]
StrategyName = Annotated[str, check.Names(stage_two.NAMES)]
Branching = Annotated[int | None, BRANCHING]


@dataclass(frozen=True)
class TwoStage(Mechanism):
    """Options of a two-stage mechanism.

    Attributes:
        partition: How to choose buckets: a name (``"walk"``, ``"noisy-cost"``, …; ``"none"`` makes every cell a bucket,
            ``"one"`` makes all cells one bucket), a method with its own options (``dawa.partition.Walk(...)``), or
            public bucket bounds.
        strategy: What to measure: ``"best"`` compares all that suit and takes the one with the least expected error for
            the workload; the others are that one alone, such as a tree (``"greedy"``, ``"uniform"``, …), or every
            bucket by itself (``"leaves"``).
        effort: For strategies that are searched for: ``"best"``, which None stands for, takes about a tenth of a second
            on one axis, and a few seconds on maps; ``"fast"`` takes a strategy that needs no search.
        branching: For trees: children per node; None takes a suitable number.
        merge: For a workload that is declared complete: buckets that none of its queries tells apart are measured as
            one. Any other range then has to guess how the records lie inside such a bucket, and is off by far more.
        postprocess: What becomes of the measured totals: ``"nonnegative"`` evens out what is below zero, ``"rounded"``
            makes them whole besides, ``"none"`` leaves them as they are (unbiased).
        inside: Where the records of a bucket lie, for ranges that cut it: ``"smooth"`` lets the neighbours' totals say
            where they gather, ``"even"`` spreads them evenly. None stands for ``"smooth"`` where no total is negative,
            but for maps with too many cells.
    """

    partition: Partition = "walk"
    strategy: StrategyName = "best"
    effort: stage_two.Effort | None = None
    branching: Branching = None
    merge: bool = False
    postprocess: infer.PostProcess = "nonnegative"
    inside: insides.Inside | None = None

    def __post_init__(self) -> None:
        effort, inside = "best" if self.effort is None else self.effort, self.inside or "even"
        named = {"strategy": self.strategy, "effort": effort, "postprocess": self.postprocess, "inside": inside}
        for name, value in named.items():
            if not isinstance(value, str):
                raise OptionError(f"{name}={value!r} is not a name.", "pass a name, in quotes.")
        stage_two.check_options(self.strategy, effort, self.branching)
        for name, takers in (("effort", stage_two.SEARCHED), ("branching", stage_two.TREES)):
            if getattr(self, name) is not None and self.strategy not in takers:
                raise OptionError(
                    f"{name}={getattr(self, name)!r} would change nothing with the strategy {self.strategy!r}.",
                    f"pass {name}=None, or one of the strategies {', '.join(takers)}.",
                )
        infer.check(self.postprocess)
        insides.check(inside)
        if inside == "smooth" and self.postprocess == "none":
            raise OptionError(
                "inside='smooth' needs totals that are not negative.",
                "pass postprocess='nonnegative', or inside='even'.",
            )
        if self.branching is not None and self.branching > BRANCHING.most:
            raise OptionError(f"branching={self.branching} is too wide.", f"pass {BRANCHING.most} or less.")
        # Plain values: numpy's types cannot go into a release file.
        object.__setattr__(self, "merge", check.flag(self.merge, "merge"))
        object.__setattr__(self, "branching", None if self.branching is None else int(self.branching))

    def run(self, counts: Counts, workload: Workload, epsilon: Fraction, randomness: Randomness) -> Estimate:
        """Partition, choose a strategy, measure, infer."""
        method = self.method(counts.shape)
        if self.inside == "smooth" and len(counts.shape) > 1 and math.prod(counts.shape) > MOST_CELLS_SMOOTHED:
            raise OptionError(
                f"{math.prod(counts.shape):,} cells of a map are too many for inside='smooth'.",
                f"leave it out, or choose steps that make {MOST_CELLS_SMOOTHED:,} cells or fewer.",
            )
        progress.reached("Choosing buckets")
        buckets = stage_one.partition(counts, epsilon, method, randomness)
        if self.merge:
            buckets = buckets.merged(workload)
        progress.reached("Choosing what to measure")
        strategy = stage_two.choose(
            steering(buckets, workload),
            buckets.allowance(epsilon, RESOLUTION),
            self.strategy,
            self.effort or "best",
            self.branching,
            patches(buckets, counts.shape),
        )
        return finished(counts, buckets, strategy, epsilon, self.plain(method), randomness)

    def method(self, shape: tuple[int, ...]) -> Method | GridMethod | Buckets:
        """How buckets are chosen."""
        return stage_one.method(self.partition, shape)

    def plain(self, method: Method | GridMethod | Buckets) -> dict[str, Any]:
        """Options as JSON can hold them."""
        return {
            "partition": _plain_partition(self.partition, method),
            "strategy": self.strategy,
            "effort": self.effort or ("best" if self.strategy in stage_two.SEARCHED else None),
            "branching": self.branching,
            "merge": self.merge,
            "postprocess": self.postprocess,
            "inside": self.inside or ("even" if self.postprocess == "none" else "smooth"),
        }


@dataclass(frozen=True)
class AsPublished(TwoStage):
    """Two stages as in their paper: what was measured is not post-processed."""

    postprocess: infer.PostProcess = "none"
    inside: insides.Inside | None = "even"


def steering(buckets: Buckets, workload: Workload) -> BucketQueries:
    """What a strategy is chosen for: the workload on these buckets.

    All ranges of an axis with too many cells to list end in its widest buckets, nearly all of them, so a strategy for
    them alone would neglect the narrow ones, where records are. There, some of the ends are taken to lie in any bucket.
    """
    queries = buckets.queries(workload)
    if workload.closed is Closed.RANGES and workload.size > MOST_CELLS_LISTED:
        return queries.also_in_buckets(buckets.bounds, IN_BUCKETS)
    return queries


def finished(
    counts: Counts,
    buckets: Buckets,
    strategy: Strategy,
    epsilon: Fraction,
    options: dict[str, Any],
    randomness: Randomness,
) -> Estimate:
    """Measure and infer, once buckets and strategy are known. The options say how to post-process."""
    smooth = options.get("inside") == "smooth" and insides.smoothable(counts.shape, buckets)
    smooth = smooth and len(buckets) < math.prod(counts.shape)
    inside: insides.Inside = "smooth" if smooth else "even"
    progress.reached("Measuring")
    measured = measure.measure(counts, buckets, strategy, epsilon, randomness)
    unbiased = fitted(strategy, measured.answers)
    return Estimate(
        shape=counts.shape,
        epsilon=epsilon,
        buckets=buckets,
        unbiased=frozen(unbiased),
        totals=frozen(infer.postprocessed(unbiased, options["postprocess"])),
        strategy=strategy,
        unit_variance=measured.unit_variance,
        options={**options, "inside": inside} if "inside" in options else options,
        inside=inside,
        split=_split(buckets, epsilon),
        randomness=randomness.description,
    )


def _split(buckets: Buckets, epsilon: Fraction) -> dict[str, Fraction]:
    """What each step spends of epsilon, for the buckets that spend most on the partition."""
    return {"partition": buckets.spent, "measure": epsilon - buckets.spent}


def patches(buckets: Buckets, shape: tuple[int, ...]) -> Patches | None:
    """Where the buckets lie, if they lie on a map that can be listed."""
    if len(shape) == 1 or math.prod(shape) > MOST_CELLS_LISTED:
        return None
    return Patches(shape, buckets.order(shape), buckets.bounds)


def _plain_partition(option: object, method: object) -> Any:  # noqa: ANN401  JSON
    if not isinstance(method, Buckets) and is_dataclass(method) and not isinstance(method, type):
        return {
            "method": type(method).__name__,
            **{k: _plain_value(v) for k, v in asdict(method).items()},
        }
    if option is None or isinstance(option, str):
        return option or "none"
    return {"method": "given", "buckets": len(method) if isinstance(method, Buckets) else None}


def _plain_value(value: Any) -> Any:  # noqa: ANN401  JSON
    if isinstance(value, Fraction):
        return str(value)
    return value.item() if isinstance(value, np.generic) else value
