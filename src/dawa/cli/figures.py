"""Quantiles, means, shares and comparisons for ``dawa query``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

import dawa
from dawa import numerals
from dawa.cli.terminal import text
from dawa.errors import OptionError
from dawa.limits import MOST_QUANTILES_ASKED
from dawa.numerals import NotANumberError, told
from dawa.results.about import called

if TYPE_CHECKING:  # --help answers without them
    from dawa.publish.figures import Figure
    from dawa.results.bands import Band as Limits
    from dawa.results.ends import Range
    from dawa.results.release import Release
    from dawa.spec.ranges import Asked

PANEL = "Figures"

MOST_BOUNDS = 40
"""Bounds of a band that a screen shows."""

Quantiles = Annotated[
    str | None,
    typer.Option(
        "--quantile",
        metavar="Q[,Q…]",
        help="Up to which values these parts of the records lie: 0.5 is the median.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
Mean = Annotated[bool, typer.Option("--mean", help="The mean of the values, on one axis.", rich_help_panel=PANEL)]
Sum = Annotated[bool, typer.Option("--sum", help="The sum of the values, on one axis.", rich_help_panel=PANEL)]
Band = Annotated[
    bool,
    typer.Option("--band", help="How many lie up to every bound, with limits for all at once.", rich_help_panel=PANEL),
]
Share = Annotated[bool, typer.Option("--share", help="Each range as a part of all records.", rich_help_panel=PANEL)]
Difference = Annotated[
    bool, typer.Option("--difference", help="How many more in the first of two ranges.", rich_help_panel=PANEL)
]
Ratio = Annotated[
    bool, typer.Option("--ratio", help="How many times as many in the first of two ranges.", rich_help_panel=PANEL)
]
Other = Annotated[
    str | None,
    typer.Option(
        "--with",
        metavar="RELEASE",
        help="Another release, of which the second range is; or the only one, if there is one.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Wanted:
    """Which figures are wanted.

    Attributes:
        quantiles: Fractions, as typed.
        mean: The mean.
        sum: The sum.
        share: The share of every range.
        difference: The difference of two ranges.
        ratio: Their ratio.
        other: Where the release of the second range is.
    """

    quantiles: str | None
    mean: bool
    sum: bool
    share: bool
    difference: bool
    ratio: bool
    other: str | None

    def __bool__(self) -> bool:
        return bool(self.quantiles is not None or self.mean or self.sum or self.share or self.difference or self.ratio)

    @property
    def compares(self) -> bool:
        """Whether two ranges are compared."""
        return self.difference or self.ratio

    def found(self, release: Release, asked: Sequence[Asked], confidence: float) -> list[Figure]:
        """The figures, in the order of their options in the help.

        Raises:
            DawaError: If something cannot be asked of this release, or there are not as many ranges as it takes.
        """
        kind = dawa.publish.figures.Figure
        figures = [
            kind.of_quantile(one, release.axis)
            for one in (() if self.quantiles is None else release.quantiles(_fractions(self.quantiles), confidence))
        ]
        figures += [kind.of_statistic(release.mean(confidence))] if self.mean else []
        figures += [kind.of_statistic(release.sum(confidence))] if self.sum else []
        if self.share:
            figures += [_share(release, one, confidence) for one in _some(asked)]
        if self.compares:
            figures += self._compared(release, asked, confidence)
        elif self.other is not None:
            raise OptionError("--with names a release to compare with.", "add --difference or --ratio.")
        return figures

    def _compared(self, release: Release, asked: Sequence[Asked], confidence: float) -> list[Figure]:
        other = release if self.other is None else dawa.publish.folder.opened(self.other)
        pair = list(asked) * (2 if self.other is not None and len(asked) == 1 else 1)
        if len(pair) != 2:
            raise OptionError(
                f"A comparison takes two ranges, and there {'is' if len(pair) == 1 else 'are'} {len(pair)}.",
                "type two ranges, or one range and --with another release.",
            )
        first, second = _ends(pair[0], release), _ends(pair[1], other)
        name = f"{_said(pair[0])} and {_said(pair[1])}{'' if self.other is None else f' of {self.other}'}"
        kind, found = dawa.publish.figures.Figure, []
        if self.difference:
            less = release.difference(first, second, other, confidence)
            found.append(kind.of_statistic(less, f"difference of {name}"))
        if self.ratio:
            times = release.ratio(first, second, other, confidence)
            found.append(kind.of_statistic(times, f"ratio of {name}"))
        return found


def table(figures: Sequence[Figure]) -> Table:
    """Figures as a table for people."""
    sure = f"{100 * figures[0].confidence:.10g}%"
    shown = Table(caption=f"low to high holds the true figure with {sure} confidence or more")
    shown.add_column("figure")
    for name in ("value", "low", "high"):
        shown.add_column(name, justify="right")
    remarks = any(figure.remark for figure in figures)
    if remarks:
        shown.add_column("remark")
    for figure in figures:
        beside = [text(figure.remark)] if remarks else []
        shown.add_row(text(figure.name), *(text(part) for part in figure.texts), *beside)
    return shown


def band_table(release: Release, found: Limits) -> tuple[Table, str]:
    """A band as a table for people, and what it promises; of many bounds, some."""
    chosen, all_of_them = found.thinned(MOST_BOUNDS + 1)[1:], len(found) - 1
    few = f" {len(chosen)} of {all_of_them:,} bounds; --csv lists all." if len(chosen) < all_of_them else ""
    remark = f" Numbers of records {found.remark}." if found.remark else ""
    shown = Table()
    shown.add_column(text(f"{release.axis.column} {'up to' if release.axis.kind == 'ordered' else 'below'}"))
    for name in (called(release.about), "low", "high", "share", "low", "high"):
        shown.add_column(text(name), justify="right")
    for line in dawa.publish.bands.lines(release, found, chosen):
        shown.add_row(*(text(part) for part in dawa.publish.bands.texts(line)))
    return shown, f"{found.said}{few}{remark}"


def _fractions(typed: str) -> list[float]:
    """Fractions that were typed, with commas in between."""
    found = []
    for part in typed.split(","):
        try:
            found.append(numerals.real(part.strip()))
        except NotANumberError as error:
            raise OptionError(f"{told(part)} {error}.", "write fractions such as 0.25,0.5,0.75.") from None
    if len(found) > MOST_QUANTILES_ASKED:
        raise OptionError(f"There are {len(found)} quantiles.", f"ask for at most {MOST_QUANTILES_ASKED} at a time.")
    return found


def _some(asked: Sequence[Asked]) -> Sequence[Asked]:
    if not asked:
        raise OptionError("--share takes ranges, and there are none.", "type a range, such as 20:60.")
    return asked


def _share(release: Release, one: Asked, confidence: float) -> Figure:
    found = release.share(*_ends(one, release), confidence)
    return dawa.publish.figures.Figure.of_statistic(found, f"share of {_said(one)}")


def _ends(one: Asked, release: Release) -> Range:
    """A range as Python takes it, after it was read."""
    dawa.spec.ranges.spans(one, release.axes)
    return (one.lo, one.hi) if len(release.axes) > 1 else (one.lo[0], one.hi[0])


def _said(one: Asked) -> str:
    return ", ".join(f"{lo} to {hi}" for lo, hi in zip(one.lo, one.hi, strict=True))
