"""What all figures share: sizes, colours, text that is only text, and how a figure is saved.

Names of columns and mechanisms may hold anything. They are drawn as they are, never read as formulas, and cannot grow
beyond the figure.
"""

import io
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

import numpy as np

from dawa.arrays import FloatArray
from dawa.errors import OptionError, printable
from dawa.host import atomic, extras
from dawa.limits import MOST_PIXELS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMN, PAGE = 3.5, 7.0
"""Widths in inches: of one column of a paper, and of both."""

LINE, BAND, TRUTH, SHADE = "#0b5cad", "#b7d3ee", "#9a9a9a", "#dddddd"
"""Blue on light blue over greys: everyone can tell them apart, in print too."""

HUES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f")
"""Okabe and Ito's colours, which everyone can tell apart."""

MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""One mark for each colour, so colours are not needed."""


FOOT, FOOT_LETTERS, MOST_LINES = 6, 18, 12
"""Text below a picture: its size in points, how many of its characters fit an inch, and how many lines there may be."""

LONGEST = 48
"""Characters of a name that are drawn."""

INK = "#6b7280"
"""Texts and lines around a picture, which has no background of its own: to be read on white and on black."""

STYLE: Any = {
    "axes.edgecolor": INK,
    "axes.facecolor": "none",
    "axes.labelcolor": INK,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 8,
    "axes.titlecolor": INK,
    "figure.dpi": 160,
    "figure.facecolor": "none",
    "figure.titlesize": 8,
    "font.size": 8,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1,
    "savefig.dpi": 300,
    "text.color": INK,
    "xtick.color": INK,
    "xtick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.color": INK,
    "ytick.labelsize": 7,
    "ytick.major.width": 0.6,
}
FILES: Any = {"pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "dawa"}
"""Text that can be searched, and the same bytes for the same figure."""

UNDATED: Any = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}
"""What a file would say about itself by kind: never when it was made."""


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the house style; other figures do not change."""
    extras.needed("A picture", extras.PICTURES)
    from matplotlib import rc_context  # noqa: PLC0415  slow to load

    with rc_context(STYLE):
        yield


def sheet(width: float, height: float) -> "Figure":
    """An empty figure, independent of windows and other figures; sizes are in inches."""
    extras.needed("A picture", extras.PICTURES)
    from dawa.plots.sheet import Sheet  # noqa: PLC0415  slow to load

    return Sheet(figsize=(width, height), layout="constrained")


def text(value: object) -> str:
    """A name as it is drawn: one line, printable, not too long.

    >>> len(text("x" * 1000))
    48
    """
    shown = printable(str(value)[: LONGEST + 1])
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"


def titled(chart: Any, title: str) -> None:  # noqa: ANN401  Matplotlib's
    """Put a title above the left edge, as text."""
    chart.set_title(title, loc="left", parse_math=False)


def saved(figure: "Figure", path: str | PathLike[str] | None) -> "Figure":
    """Save the figure, if a path is given, and return it.

    Raises:
        OptionError: If the path has no known ending, or cannot be written.
    """
    if path is None:
        return figure
    target = Path(path)
    stream = io.BytesIO()
    _write(figure, stream, _kind(figure, target))
    try:
        atomic.write(target, stream.getvalue())
    except OSError as error:
        raise OptionError(f"The figure cannot be saved: {error.strerror}.", "choose another path.") from None
    return figure


def check_path(path: str | PathLike[str] | None) -> None:
    """Refuse a path before long work whose result could not be drawn there.

    Raises:
        OptionError: If the path has no known ending, or its folder is not there.
    """
    if path is not None:
        _kind(sheet(1, 1), Path(path))
        if not Path(path).absolute().parent.is_dir():
            raise OptionError(f"There is no folder for {Path(path).name!r}.", "make it first, or choose another path.")


def _kind(figure: "Figure", target: Path) -> str:
    """The format that a path's ending names."""
    kind = target.suffix.lstrip(".").lower()
    if kind not in figure.canvas.get_supported_filetypes():
        raise OptionError(
            f"{target.name!r} does not say in which format to draw.", "end the path in .pdf, .svg or .png."
        )
    return kind


def as_svg(figure: "Figure") -> str:
    """The figure as SVG: what saving it writes, in one pass instead of two, the first of which is for the layout alone.

    The figure's own resolution changes, so this is for figures that nobody else has.
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415  slow to load

    stream = io.BytesIO()
    figure.dpi = STYLE["savefig.dpi"]
    with _filed():
        FigureCanvasSVG(figure).print_svg(stream, metadata=UNDATED["svg"])  # type: ignore[no-untyped-call]
    return stream.getvalue().decode("utf-8")


def _write(figure: "Figure", target: io.BytesIO, kind: str) -> None:
    with _filed():
        figure.savefig(target, format=kind, metadata=UNDATED.get(kind))


@contextmanager
def _filed() -> Iterator[None]:
    """Draw in the house style as it is kept in files."""
    from matplotlib import rc_context  # noqa: PLC0415  slow to load

    with rc_context({**STYLE, **FILES}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # readers' fonts may have it
        yield


def coarse(cells: FloatArray, most: int = MOST_PIXELS) -> FloatArray:
    """At most this many pixels along each axis, each the mean of its cells.

    >>> coarse(np.array([1.0, 3.0, 5.0, 7.0]), 2)
    array([2., 6.])
    """
    for axis, size in enumerate(cells.shape):
        if size > most:
            begin = np.linspace(0, size, most + 1).astype(np.int64)[:-1]
            widths = np.diff(np.append(begin, size)).reshape([-1 if at == axis else 1 for at in range(cells.ndim)])
            cells = np.add.reduceat(cells, begin, axis=axis) / widths
    return cells


def magnitudes(most: float, least: float | None = None) -> Any:  # noqa: ANN401  Matplotlib's
    """A scale of colours that is linear near 0, where most cells are, and logarithmic beyond."""
    from matplotlib.colors import SymLogNorm  # noqa: PLC0415  slow to load

    return SymLogNorm(linthresh=max(1.0, most / 1e4), vmin=-most if least is None else least, vmax=most)


def stretch(chart: Any, values: FloatArray, noise: float) -> None:  # noqa: ANN401  Matplotlib's
    """Choose the upward scale: linear, or logarithmic beyond the noise if values differ by orders of magnitude.

    Args:
        chart: Where the values are drawn.
        values: Records per cell.
        noise: How many records per cell noise alone can make.
    """
    most, threshold = float(values.max(initial=0)), max(noise, 1e-9)
    if most > 30 * threshold:
        chart.set_yscale("symlog", linthresh=threshold, linscale=0.5)
        powers = np.arange(np.ceil(np.log10(2 * threshold)), np.floor(np.log10(most)) + 1)
        chart.set_yticks([0, *10.0**powers], ["0", *(f"{10**power:,g}" for power in powers)])
        chart.set_yticks([], minor=True)
    chart.set_ylim(bottom=0)
    chart.margins(x=0)


def flat(chart: Any) -> None:  # noqa: ANN401  Matplotlib's
    """An upward scale from zero on which areas can be compared."""
    chart.set_ylim(bottom=0)
    chart.yaxis.set_major_formatter("{x:,.10g}")
    chart.margins(x=0)


def key(figure: "Figure", **options: Any) -> None:  # noqa: ANN401  Matplotlib's
    """What the colours and marks mean, as text."""
    for name in figure.legend(**options).get_texts():
        name.set_parse_math(False)


def keyed(chart: Any, title: str) -> None:  # noqa: ANN401  Matplotlib's
    """A title above the left edge, and above it what the colours mean: away from the data."""
    titled(chart, title)
    key(chart.figure, loc="outside upper right", ncols=2, borderpad=0, handlelength=1.2)


def wrapped(sentences: Iterable[str], width: float) -> list[str]:
    """Sentences as lines that fit this many inches; the last says if there are more.

    >>> wrapped(["one two three four five six seven eight nine ten"], 1)
    ['one two three four', 'five six seven', 'eight nine ten']
    """
    lines = []
    for sentence in sentences:
        broad = "".join(c + "\0" if east_asian_width(c) in "WF" else c for c in printable(sentence))  # counts twice
        lines += [line.replace("\0", "") for line in textwrap.wrap(broad, round(FOOT_LETTERS * width))]
    return lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], "…"]


def height_of(lines: Sequence[str]) -> float:
    """How many inches lines below a picture need."""
    return 0.12 * len(lines) + 0.03 if lines else 0.0


def footed(figure: "Figure", lines: Sequence[str]) -> None:
    """Put lines of text below a picture."""
    if lines:
        figure.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=FOOT, linespacing=1.25).set_parse_math(False)


def beyond(chart: Any, *corners: tuple[float, float]) -> None:  # noqa: ANN401  Matplotlib's
    """Mark both ends of a side with triangles that point away: the cells there hold values from beyond."""
    (x0, y0), (x1, y1) = corners
    for (x, y), mark in (((x0, y0), "<" if y0 == y1 else "v"), ((x1, y1), ">" if y0 == y1 else "^")):
        chart.plot(
            [x], [y], mark, transform=chart.transAxes, color=LINE, markersize=4, clip_on=False, zorder=5, scalex=False,
            scaley=False,
        )  # fmt: skip


def cell_labels(chart: Any) -> None:  # noqa: ANN401  Matplotlib's
    """Name the axes of a map of which only the cells are known."""
    chart.set(xlabel="cell along the second axis", ylabel="cell along the first axis")
