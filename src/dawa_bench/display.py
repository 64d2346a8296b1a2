"""How results are shown: tables as Markdown, and panels of a figure.

Everyone can tell the marks and colours apart, and a mechanism has the same ones everywhere. What is NOT PRIVATE is
labelled so, hollow and dashed.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dawa.plots import drawing
from dawa_bench.experiments import Record
from dawa_bench.published import labelled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLES = {
    "dawa": (drawing.HUES[0], "o"),
    "dawa-2014-code": (drawing.HUES[0], "o"),
    "dawa-2014": (drawing.HUES[6], "X"),
    "dawa-2014-all": (drawing.HUES[6], "P"),
    "greedy-h": (drawing.HUES[2], "*"),
    "identity": (drawing.HUES[7], "s"),
    "privelet": (drawing.HUES[2], "^"),
    "mwem": (drawing.HUES[3], "D"),
    "mwem-2012-code": (drawing.HUES[3], "D"),
    "efpa": (drawing.HUES[4], "v"),
    "php": (drawing.HUES[5], "P"),
    "structure-first": (drawing.HUES[1], "*"),
    "hb": (drawing.HUES[1], "X"),
    "quadtree": (drawing.HUES[1], "^"),
    "hybrid-tree": (drawing.HUES[4], "P"),
    "dpcube": (drawing.HUES[5], "v"),
    "ugrid": (drawing.HUES[2], "s"),
    "agrid": (drawing.HUES[2], "D"),
    "privtree": (drawing.HUES[6], "*"),
    "uniform": (drawing.HUES[6], "v"),
    "optimum": (drawing.HUES[6], "s"),
}
"""Colour and mark by mechanism. What is NOT PRIVATE is hollow and dashed."""

SPARE = tuple(zip(drawing.HUES, drawing.MARKS, strict=True))


@dataclass(frozen=True)
class Table:
    """A table as it is shown.

    Attributes:
        title: What it shows.
        columns: Headings.
        rows: One list of cells each, as text.
        note: A sentence below it.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def markdown(self) -> str:
        """The table, titled, as Markdown.

        >>> print(Table("Ratios", ["a", "b"], [["1", "2"]]).markdown())
        **Ratios**
        <BLANKLINE>
        | a | b |
        |---|---|
        | 1 | 2 |
        <BLANKLINE>
        """
        lines = [f"**{self.title}**", "", f"| {' | '.join(self.columns)} |", f"|{'---|' * len(self.columns)}"]
        lines += [f"| {' | '.join(row)} |" for row in self.rows]
        return "\n".join([*lines, "", *([self.note, ""] if self.note else [])])


def means(records: Iterable[Record], by: Callable[[Record], Any], value: str = "error") -> dict[Any, float]:
    """The mean of a value over all records with the same ``by``."""
    groups: dict[Any, list[float]] = defaultdict(list)
    for record in records:
        found = getattr(record.measured, value)
        if found is not None:
            groups[by(record)].append(float(found))
    return {key: math.fsum(found) / len(found) for key, found in groups.items()}


def number(value: float | None) -> str:
    """A number as people write it: three digits, and commas.

    >>> number(1234.5), number(0.0213), number(7.1), number(None)
    ('1,234', '0.0213', '7.10', '')
    """
    if value is None:
        return ""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


def sources(records: Iterable[Record]) -> str:
    """Which data the records are of, in words.

    >>> sources([])
    'no data'
    """
    kinds = sorted({record.task.data for record in records})
    words = {"real": "real data", "generated": "generated stand-ins", "other": "data of your own"}
    return " and ".join(words.get(kind, kind) for kind in kinds) or "no data"


def style(name: str, at: int) -> dict[str, Any]:
    """How a mechanism is drawn; ``at`` chooses a style for mechanisms without their own."""
    hue, mark = STYLES.get(name) or SPARE[at % len(SPARE)]
    hollow = labelled(name) != name
    return {
        "color": hue,
        "marker": mark,
        "markersize": 4,
        "markerfacecolor": "white" if hollow else hue,
        "linestyle": "--" if hollow else "-",
        "linewidth": 0.8,
    }


def panels(
    drawn: Mapping[str, Mapping[str, Sequence[float | None]]],
    places: Sequence[Any],
    label: str,
    columns: int,
    across: str = "",
    *,
    numeric: bool = False,
    shared: bool = False,
) -> "Figure":
    """Panels side by side, on logarithmic scales: one line per mechanism, one mark per place.

    Args:
        drawn: By panel, by mechanism, a value per place; None where a value is missing.
        places: What is along the lower edge: names, or numbers on a logarithmic scale.
        label: What the values are.
        columns: Panels in a row.
        across: What the places are.
        numeric: Whether places are numbers.
        shared: Whether all panels have one scale.
    """
    rows = -(-len(drawn) // columns)
    with drawing.styled():
        figure = drawing.sheet(drawing.PAGE, 0.7 + 2.0 * rows)
        charts = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=shared)
        for at, chart in enumerate(charts.flat):
            if at >= len(drawn):
                chart.set_visible(False)
                continue
            title, lines = list(drawn.items())[at]
            _panel(chart, title, lines, places, numeric=numeric)
            if at + columns >= len(drawn):  # no panel below shows the labels of this edge
                chart.tick_params(labelbottom=True)
            if at % columns == 0:
                chart.set_ylabel(label)
            if across:
                chart.set_xlabel(across)
        handles: dict[str, Any] = {}
        for chart in charts.flat:
            for handle, text in zip(*chart.get_legend_handles_labels(), strict=True):
                handles.setdefault(text, handle)
        figure.legend(
            list(handles.values()),
            list(handles),
            loc="outside upper center",
            ncols=4,
            columnspacing=1.0,
            handlelength=2.2,
        )
    return figure


def _panel(
    chart: Any,  # noqa: ANN401  Matplotlib's
    title: str,
    lines: Mapping[str, Sequence[float | None]],
    places: Sequence[Any],
    *,
    numeric: bool,
) -> None:
    across = list(places) if numeric else list(range(len(places)))
    for at, (name, values) in enumerate(lines.items()):
        known = [(place, value) for place, value in zip(across, values, strict=True) if value is not None and value > 0]
        if known:
            chart.plot(*zip(*known, strict=True), label=labelled(name), **style(name, at))
    chart.set_yscale("log")
    _ticks(chart)
    if numeric:
        chart.set_xscale("log")
    else:
        chart.set_xticks(across, [drawing.text(place) for place in places], rotation=30, ha="right")
        chart.set_xlim(-0.4, len(places) - 0.6)
    chart.grid(color="#e0e0e0", linewidth=0.5)
    chart.set_axisbelow(True)
    drawing.titled(chart, title)


def _ticks(chart: Any) -> None:  # noqa: ANN401  Matplotlib's
    """Numbers as people write them; a scale that spans less has more of them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: PLC0415  slow to load

    low, high = chart.get_ylim()
    steps = (1, 2, 5) if high < 50 * low else (1, 3) if high < 300 * low else (1,)
    chart.yaxis.set_major_locator(LogLocator(subs=steps, numticks=9))
    chart.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:,.6g}" if 1e-3 < value < 1e6 else f"{value:.0e}".replace("e-0", "e-"))
    )
    chart.yaxis.set_minor_formatter(NullFormatter())
