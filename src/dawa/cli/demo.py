"""``dawa demo``: the main job end to end, on people who do not exist.

The table is generated, so the demonstration may show the truth beside the released answers. Everything else is as in
a real release: exact noise from the operating system, the default mechanism, a release file that is written and read
back.
"""

import shlex
import warnings
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import dawa
from dawa import budget
from dawa.axis import NumberAxis
from dawa.axis.apart import touching
from dawa.cli.terminal import reported, tell
from dawa.errors import FolderError, LargeEpsilonWarning
from dawa.results.grouped import single
from dawa.results.overview import overview
from dawa.results.release import Release

HELP = """Release the incomes of 20,000 generated people, and show the answers beside the truth.

\b
  dawa demo
  dawa query out/demo 20000:60000
"""

PEOPLE = 20_000
INCOME = NumberAxis("income", 0, 200_000, step=100)
RANGES = (
    (0, 12_000),
    (12_000, 25_000),
    (25_000, 40_000),
    (40_000, 60_000),
    (60_000, 100_000),
    (100_000, 200_000),
    (30_500, 30_600),
    (0, 200_000),
)


def people(size: int = PEOPLE) -> dict[str, NDArray[np.int64]]:
    """A table of people with ages and yearly incomes, the same every time.

    Some earn nothing, many exactly the minimum wage, most something around the middle, and a few a lot.

    >>> sorted(people(3))
    ['age', 'income', 'person']
    """
    rng = np.random.default_rng(2014)
    age = np.clip(rng.normal(42, 17, size), 16, 95).astype(np.int64)
    kind = rng.choice(4, size, p=(0.09, 0.12, 0.71, 0.08))
    income = np.choose(
        kind,
        (
            np.zeros(size),
            np.full(size, 30_500.0),
            rng.lognormal(10.5, 0.45, size),
            60_000 + rng.exponential(35_000, size),
        ),
    )
    return {"person": np.arange(size), "age": age, "income": income.astype(np.int64)}


def demo(
    *,
    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="The privacy budget.")] = "0.5",
    out: Annotated[str, typer.Option(metavar="FOLDER", help="Where to write the release.")] = "out/demo",
) -> None:
    """Release the incomes, write the file, read it back, and print answers beside their margins."""
    with reported():
        total = budget.exact(epsilon)
        console = Console()
        table = people()
        console.print(f"[bold]{PEOPLE:,} people[/], income from 0 to 200,000 in steps of 100: {INCOME.size:,} cells.")
        with (
            console.status("Releasing …"),
            warnings.catch_warnings(action="ignore", category=LargeEpsilonWarning),  # the statement says it
        ):
            path = _saved(dawa.release(table, INCOME, epsilon=total), Path(out))
        release = single(dawa.load(path))
        console.print(f"Released {len(release.values())} buckets, chosen privately. {release.privacy}\n")
        console.print(picture(release))
        console.print(answers(release, table["income"]))
        console.print(
            f"Median income {release.quantile(0.5).value:,} (truth {np.median(table['income']):,.0f})."
            f" {overview(release).said()} The release is in {path}; asking it more costs nothing:"
        )
        tell(f"dawa query {shlex.quote(out)} 20000:60000")


def _saved(release: Release, folder: Path) -> Path:
    """Write the release file, in a new folder or over that of an earlier demonstration."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return release.save(folder / "release.json")
    except OSError as error:
        raise FolderError(f"{folder} cannot be written: {error.strerror}.", "choose another folder.") from None


def answers(release: Release, truth: NDArray[np.int64]) -> Table:
    """Released answers beside their margins and, because these people do not exist, the truth."""
    edges = touching(release.axes, [(True, True)])
    caption = f"low and high hold the truth with 95% confidence or more; at the ends, {edges}"
    table = Table(title="How many earn …", caption=caption)
    for column in ("from", "to below", "answer", "noise margin", "bias bound", "low", "high", "truth"):
        table.add_column(column, justify="right", style="dim" if column == "truth" else "")
    inside = np.minimum(truth, int(INCOME.stop) - 1)  # as the axis counts those above it
    for lo, hi in RANGES:
        found = release.answer(lo, hi)
        numbers = (found.value, found.noise_margin, found.bias_bound, found.low, found.high)
        count = int(((inside >= lo) & (inside < hi)).sum())
        table.add_row(f"{lo:,}", f"{hi:,}", *(f"{number:,.0f}" for number in numbers), f"{count:,}")
    return table


def picture(release: Release, columns: int = 60, height: int = 8) -> str:
    """The released density as bars of text."""
    edges = np.linspace(float(release.axis.start), float(release.axis.stop), columns + 1)
    bars = release.values(edges[:-1], edges[1:])
    eighths = np.rint(np.sqrt(bars / bars.max()) * height * 8).astype(int)
    blocks = " ▁▂▃▄▅▆▇█"
    rows = ["".join(blocks[min(max(bar - 8 * row, 0), 8)] for bar in eighths) for row in reversed(range(height))]
    return "\n".join([*rows, f"{'0':<{columns // 2}}{'income, square-root scale of people':>{columns // 2}}"])
