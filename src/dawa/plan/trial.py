"""What a plan tries a release on: stand-ins of several kinds, or a public table; the same data and seeds every time."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from dawa import check, progress
from dawa.axis import Axis, DateAxis
from dawa.errors import OptionError
from dawa.limits import MOST_CELLS_PLANNED, MOST_RECORDS
from dawa.numerals import told
from dawa.plan.data import Data
from dawa.plan.prediction import Prediction, Run, Setting
from dawa.plan.standins import KINDS, SEED, standin

DRAWS, DRAWS_ON_MAPS = 5, 2
"""Stand-ins of each kind, with a run on each."""
DAY = 86_400 * 10**6
WEEK = 7 * DAY
"""In microseconds."""


@dataclass(frozen=True)
class Trial:
    """Data of one or several kinds.

    Attributes:
        records: How many records each of them has.
        samples: The data of each kind.
        like: Whether they come from a public table.
    """

    records: int
    samples: dict[str, tuple[Data, ...]]
    like: bool = False

    @classmethod
    def on_standins(cls, axes: Sequence[Axis], records: int, kinds: Sequence[str] = ()) -> "Trial":
        """Stand-ins of these kinds, or of all."""
        shape, periods = tuple(axis.size for axis in axes), tuple(map(_period, axes))
        draws = DRAWS if len(shape) == 1 else DRAWS_ON_MAPS
        samples = {}
        for kind in kinds or KINDS:
            progress.reached(f"Making up {kind} data")
            samples[kind] = tuple(standin(kind, shape, records, number, periods) for number in range(draws))
        return cls(records, samples)

    @classmethod
    def on_table(cls, data: Data, records: int | None = None) -> "Trial":
        """A public table: as it is, or drawn again with another number of records."""
        draws = DRAWS if len(data.shape) == 1 else DRAWS_ON_MAPS
        if records is None:
            return cls(data.records, {data.name: (data,) * draws}, like=True)
        again = tuple(data.drawn(records, SEED + number) for number in range(draws))
        return cls(records, {data.name: again}, like=True)

    def runs(self, setting: Setting) -> dict[str, list[Run]]:
        """Run a mechanism on all of them."""
        found = {}
        for kind, several in self.samples.items():
            progress.reached(f"Trying it on {kind if not self.like else 'the public table'}")
            found[kind] = [setting.run(data, SEED + number) for number, data in enumerate(several)]
        return found

    def predicted(self, setting: Setting) -> tuple[Prediction, ...]:
        """The errors to expect on each kind."""
        return tuple(Prediction.of(kind, runs) for kind, runs in self.runs(setting).items())


def checked_records(records: object) -> int:
    """A number of records, or an error."""
    return check.whole(records, "records", 1, MOST_RECORDS)


def checked_kinds(kinds: str | Sequence[str] | None) -> tuple[str, ...]:
    """Names of kinds, without repetition."""
    if kinds is None:
        return ()
    listed = [kinds] if isinstance(kinds, str) else list(kinds)
    for kind in listed:
        if not isinstance(kind, str) or kind not in KINDS:
            raise OptionError(f"There is no kind of data {told(kind)}.", f"choose some of {', '.join(KINDS)}.")
    return tuple(dict.fromkeys(listed))


def check_size(shape: tuple[int, ...], occupied: int) -> None:
    """Refuse what would take more than seconds: very many cells that may all hold records.

    Raises:
        OptionError: If it would.
    """
    if min(prod(shape), occupied) > MOST_CELLS_PLANNED:
        raise OptionError(
            f"There are {prod(shape):,} cells and {occupied:,} records or occupied cells: too many to be tried.",
            "choose coarser steps for the plan, or leave out the number of records.",
        )


def _period(axis: Axis) -> int:
    """Cells of a day, or of a week if a cell is a day; 0 where the axis says nothing of the kind."""
    if not isinstance(axis, DateAxis):
        return 0
    first, second = (axis.value(border) for border in (0, 1))
    length = second - first  # of numpy's kind, or of Python's where there is a zone
    micro = round((length.item() if isinstance(length, np.timedelta64) else length).total_seconds() * 1e6)
    whole = DAY if micro < DAY else WEEK
    return whole // micro if micro < whole and axis.size > 1 else 0
