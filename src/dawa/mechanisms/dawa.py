"""DAWA itself: the walk, then the best strategy; or no buckets at all, where that promises more."""

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any

from dawa import check
from dawa.errors import OptionError
from dawa.limits import MOST_CELLS_LISTED
from dawa.mechanisms.two_stage import TwoStage
from dawa.numerals import told
from dawa.partition import choose as stage_one
from dawa.partition.buckets import Buckets, GridMethod, Method
from dawa.partition.choose import PartitionLike
from dawa.partition.walk import Walk

AIMS = ("error", "guarantee")
Aim = Annotated[str, check.Names(AIMS)]

FEW_CELLS = 2**7
"""Cells along one axis up to which measuring every cell promises more than buckets, whatever the data."""

GUARANTEED_CELLS, GUARANTEED_CELLS_ON_MAPS = 2**16, 2**12
"""Cells up to which measuring every cell promises more than buckets do, on most data; ``dawa_bench.guarantee``."""


@dataclass(frozen=True)
class Dawa(TwoStage):
    """DAWA: buckets by the two-phase walk, then the strategy with the least expected error for the workload.

    The two stages of Li, Hay, Miklau and Wang (PVLDB 2014), each made private and better; ``partition/walk.md``.

    Attributes:
        aim: ``"error"`` makes answers that are close to the truth on the whole. ``"guarantee"`` makes intervals that
            promise it narrow: buckets make answers better than can be promised, so it takes none as long as there are
            not too many cells. Along one axis it spends 2% of epsilon on looking whether records lie in few places
            only, where buckets promise more (``partition/filled.md``). On axes with too many cells to list, its
            buckets are those of the walk that compares cells, which are more and narrower (``partition/halves.md``).
    """

    name = "dawa"
    summary = "Two-phase tree walk, then the best strategy for the workload: the default."
    aim: Aim = "error"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.aim, str) or self.aim not in AIMS:
            raise OptionError(f"There is no aim {told(self.aim)}.", f"choose one of {', '.join(AIMS)}.")
        if self.aim == "guarantee" and not _is_default(self.partition):
            raise OptionError("aim='guarantee' chooses the partition itself.", "leave out either aim or the partition.")

    def method(self, shape: tuple[int, ...]) -> Method | GridMethod | Buckets:
        """How buckets are chosen; for the narrowest guarantee, every cell is one as long as there are not too many."""
        return stage_one.method(self.at(shape).partition, shape)

    def at(self, shape: tuple[int, ...]) -> "Dawa":
        """The same for a domain of this shape, with its partition said outright."""
        if self.aim == "error":
            return self
        most = GUARANTEED_CELLS if len(shape) == 1 else GUARANTEED_CELLS_ON_MAPS
        cells = math.prod(shape)
        long = len(shape) == 1 and cells > MOST_CELLS_LISTED
        walk = Walk() if long else self.partition  # by halves, buckets would be fewer and wider
        looks = len(shape) == 1 and cells > FEW_CELLS
        return replace(self, aim="error", partition=walk if cells > most else "filled" if looks else "none")

    def plain(self, method: Method | GridMethod | Buckets) -> dict[str, Any]:
        """Options as JSON can hold them."""
        alone = {"partition": "none"} if self.aim == "guarantee" and isinstance(method, Buckets) else {}
        return {**super().plain(method), **alone, "aim": self.aim}


def _is_default(partition: PartitionLike) -> bool:
    return isinstance(partition, str) and partition == Dawa.partition
