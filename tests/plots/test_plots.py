"""Figures show the numbers they are made from, and names stay text whatever they hold."""

import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from matplotlib import rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg

import dawa
from dawa import limits
from dawa.errors import CountsError, OptionError
from dawa.plots import areas, drawing, rows
from dawa.strategy.base import RESOLUTION

RNG = np.random.default_rng(6)
X = np.concatenate((np.zeros(100, int), RNG.poisson(40, 56), RNG.poisson(3, 100)))
GRID = RNG.poisson(np.outer(np.arange(24), np.arange(17)) / 20)
HOSTILE = [
    "pay $\\frac{$",
    "$x^2$",
    "</text><script>alert(1)</script>",
    "--><script>alert(1)</script>",
    "a\nb\x00c\x1b[2J",
    "\u2028",
    "年齢 🙂",
    "x" * 5000,
    "",
    "_hidden",
    "&amp;",
]


def released(axis, values, **options):
    return dawa.release({axis.column: values}, axis, epsilon=1, **options)


@pytest.fixture(scope="module")
def line():
    return released(dawa.Axis("x", 0, 256), np.repeat(np.arange(256), X))


@pytest.fixture(scope="module")
def grid():
    cell = np.repeat(np.arange(GRID.size), GRID.ravel())
    axes = dawa.Axis("a", 0, 24), dawa.Axis("b", 0, 17)
    return dawa.release({"a": cell // 17, "b": cell % 17}, axes, epsilon=1)


def drawn(figure):
    """The figure's renderer, once all of it is laid out."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return canvas.get_renderer()


def steps(chart, label):
    """The heights, borders and feet of a step curve."""
    (found,) = (patch for patch in chart.patches if patch.get_label() == label)
    return found.get_data()


def test_a_histogram_shows_densities_and_margins(line):
    chart = line.plot().axes[0]
    bounds = line.estimate.buckets.bounds
    found = steps(chart, "release")
    assert found.edges.tolist() == line.bounds.tolist()
    assert found.values == pytest.approx(line.values() / np.diff(bounds))
    answers = line.answers(line.bounds[:-1], line.bounds[1:])
    margin = np.array([answer.noise_margin for answer in answers]) / np.diff(bounds)
    band = steps(chart, "noise, 95%")
    assert band.values == pytest.approx(found.values + margin)
    assert band.baseline == pytest.approx(np.maximum(found.values - margin, 0))
    assert (chart.get_xlabel(), chart.get_ylabel()) == ("x", "records per cell")


def test_narrow_buckets_are_drawn_together_and_stay_right():
    n = 3 * limits.MOST_STEPS_DRAWN
    release = released(dawa.Axis("x", 0, n), np.arange(n) % 1000, mechanism="identity")
    chart = release.plot().axes[0]
    found, band = steps(chart, "release"), steps(chart, "noise, 95%")
    assert len(found.values) == limits.MOST_STEPS_DRAWN
    answers = release.answers(found.edges[:-1], found.edges[1:])
    widths = np.diff(found.edges)
    assert found.values * widths == pytest.approx([answer.value for answer in answers])
    assert (band.values - found.values) * widths == pytest.approx([answer.noise_margin for answer in answers])


def test_a_map_shows_cells_with_the_first_axis_to_the_right(grid):
    figure = grid.plot()
    (image,) = figure.axes[0].images
    assert np.asarray(image.get_array()) == pytest.approx(np.maximum(grid.estimate.cells.T, 0))
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == ("a", "b")
    assert image.origin == "lower"


def test_experiments_say_that_they_are_not_private(line):
    assert not line.plot().axes[0].get_title(loc="left").startswith("NOT PRIVATE")
    seeded = released(dawa.Axis("x", 0, 9), [1, 2, 3], seed=0)
    assert seeded.plot().axes[0].get_title(loc="left").startswith("NOT PRIVATE, ε = 1, ")


def moments(start, step, count, zone=None):
    return [datetime.fromisoformat(start).replace(tzinfo=zone) + timedelta(**{step: i}) for i in range(count)]


AXES = {
    "whole": (dawa.Axis("income", 0, 500_000, step=100), np.arange(0, 500_000, 1000)),
    "decimal": (dawa.Axis("height", 1.2, 2.2, step=0.01), np.linspace(1.2, 2.19, 50)),
    "huge": (dawa.Axis("address", 0, 2**32), np.arange(0, 2**32, 2**24)),
    "tiny": (dawa.Axis("part", -1e-7, 1e-7, step=1e-9), np.linspace(-1e-7, 0.9e-7, 50)),
    "hours": (dawa.Axis.dates("when", "2013-01-01", "2013-02-01", step="1h"), moments("2013-01-01", "hours", 700)),
    "minutes": (
        dawa.Axis.dates("when", "2013-01-01 08:00", "2013-01-01 09:00", step="1 minute"),
        moments("2013-01-01 08:00", "minutes", 60),
    ),
    "months": (dawa.Axis.dates("when", "1990-01-01", "2020-01-01", step="1 month"), moments("1990-01-01", "days", 900)),
    "zoned": (
        dawa.Axis.dates("when", "2013-01-01", "2014-01-01", step="1 day", zone="Europe/Berlin"),
        moments("2013-01-01 12:00", "days", 300, UTC),
    ),
    "antiquity": (dawa.Axis.dates("when", "0002-01-01", "0102-01-01", step="1 year"), moments("0050-01-01", "days", 9)),
    "future": (dawa.Axis.dates("when", "9990-01-01", "9998-01-01", step="1 year"), moments("9991-01-01", "days", 9)),
    "instants": (
        dawa.Axis.dates("when", "2013-01-01", "2013-01-01 00:00:00.000020", step="1 microsecond"),
        moments("2013-01-01", "microseconds", 20),
    ),
    "one day": (dawa.Axis.dates("when", "2013-01-01", "2013-01-02"), moments("2013-01-01", "hours", 20)),
    "categories": (dawa.Axis.ordered("grade", ["low", "middle", "high"]), ["low", "high"] * 9),
    "many": (dawa.Axis.ordered("grade", [f"category {i}" for i in range(40)]), ["category 3"] * 9),
    "one": (dawa.Axis.ordered("grade", ["only"]), ["only"] * 9),
    "long": (dawa.Axis.ordered("grade", ["x" * 90, "y" * 90]), ["x" * 90] * 9),
    "edges": (dawa.Axis.edges("income", [0, 0.5, 20, 1000, 123_456.5]), [1, 2, 3] * 9),
}


@pytest.mark.long_but(1)
@pytest.mark.parametrize("name", AXES)
def test_labels_are_readable_in_a_column(name):
    """They do not run into one another, and stay on the sheet."""
    axis, values = AXES[name]
    figure = released(axis, values).plot()
    renderer, chart = drawn(figure), figure.axes[0]
    boxes = [
        label.get_window_extent(renderer)
        for tick in chart.xaxis.get_major_ticks()
        if chart.get_xlim()[0] <= tick.get_loc() <= chart.get_xlim()[1]
        for label in (tick.label1,)
        if label.get_text()
    ]
    assert boxes
    assert all(left.x1 < right.x0 for left, right in pairwise(sorted(boxes, key=lambda box: box.x0)))
    slack = 0.02 * figure.bbox.width
    assert all(-slack <= box.x0 and box.x1 <= figure.bbox.width + slack for box in boxes if name != "long")
    assert chart.get_position().width > 0.6


@pytest.mark.long
def test_dates_stand_where_they_are():
    axis, values = AXES["months"]
    chart = released(axis, values).plot().axes[0]
    at = dict(zip([label.get_text() for label in chart.get_xticklabels()], chart.get_xticks(), strict=True))
    assert len(at) >= 2
    for text, place in at.items():
        assert axis.border(f"{text}-01-01" if len(text) == 4 else text) == place


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_text(name, line, grid, tmp_path):
    renamed = replace(line, axes=(dawa.Axis(name, 0, 256),))
    mapped = replace(grid, axes=(dawa.Axis(name, 0, 24), dawa.Axis(name, 0, 17)))
    one = {name or "other": {name: 1.0, "set": 2.0}}
    figures = [
        renamed.plot,
        mapped.plot,
        lambda path: dawa.plots.errors(one, path, baseline=name or "other", label=name),
        lambda path: dawa.plots.partition(X, replace(line.estimate, mechanism=name), path),
        lambda path: dawa.plots.maps(GRID, replace(grid.estimate, mechanism=name), path),
    ]
    for ending in ("png", "pdf"):
        renamed.plot(tmp_path / f"figure.{ending}")
    for number, draw in enumerate(figures):
        draw(tmp_path / f"{number}.svg")
        text = (tmp_path / f"{number}.svg").read_text(encoding="utf-8")
        tree = ET.fromstring(text)  # noqa: S314  our own
        assert not [element for element in tree.iter() if element.tag.endswith("script")]
        shown = drawing.text(name)
        assert not shown or shown in "".join(tree.itertext()), "it is there, as it is written"


def test_categories_are_text(tmp_path):
    axis = dawa.Axis.ordered("x", ["$a", "b$", "<c>"])
    released(axis, ["$a"]).plot(tmp_path / "x.svg")
    tree = ET.fromstring((tmp_path / "x.svg").read_text(encoding="utf-8"))  # noqa: S314  our own
    assert {"$a", "b$", "<c>"} <= set(tree.itertext())


@pytest.mark.long
def test_the_same_figure_is_the_same_file(line, grid, tmp_path):
    for release in (line, grid):  # maps are pixels, which vector formats hold too
        for ending in ("svg", "pdf", "png"):
            files = [tmp_path / f"{name}.{ending}" for name in "ab"]
            for file in files:
                release.plot(file)
            assert files[0].read_bytes() == files[1].read_bytes()


def test_what_is_drawn_in_one_pass_is_what_saving_writes(line, grid, tmp_path):
    for release in (line, grid):
        release.plot(tmp_path / "saved.svg")
        assert drawing.as_svg(release.plot()) == (tmp_path / "saved.svg").read_text(encoding="utf-8")


def test_paths_that_cannot_be(line, tmp_path):
    with pytest.raises(OptionError, match="in which format"):
        line.plot(tmp_path / "figure")
    with pytest.raises(OptionError, match="in which format"):
        line.plot(tmp_path / "figure.docx")
    with pytest.raises(OptionError, match="cannot be saved: No such file"):
        line.plot(tmp_path / "none" / "figure.pdf")


@pytest.mark.long
def test_nothing_is_left_behind(line):
    before = dict(rcParams)
    figure = line.plot()
    drawn(figure)
    assert dict(rcParams) == before
    code = (
        "import sys, dawa; from dawa.cli.demo import people; assert 'matplotlib' not in sys.modules;"
        "rel = dawa.release(people(100), dawa.Axis('age', 0, 100), epsilon=1);"
        "dawa.plots; assert 'matplotlib' not in sys.modules;"
        "rel.plot(); assert 'matplotlib' in sys.modules; assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603


def test_three_axes_are_shown_as_histograms_and_maps_of_pairs():
    rng = np.random.default_rng(0)
    axes = (dawa.Axis("a", 0, 12), dawa.Axis.edges("b", [0, 1, 5, 9]), dawa.Axis.ordered("c", ["x", "y"]))
    table = {"a": rng.uniform(0, 12, 900), "b": rng.uniform(0, 9, 900), "c": rng.choice(["x", "y"], 900)}
    release = dawa.release(table, axes, epsilon=1)
    figure = release.plot()
    charts = np.array(figure.axes).reshape(3, 3)
    assert [[chart.get_visible() for chart in row] for row in charts] == np.tri(3, dtype=bool).tolist()
    cells = np.maximum(release.estimate.cells, 0)
    for down, left in ((1, 0), (2, 0), (2, 1)):
        (image,) = charts[down, left].images
        (rest,) = {0, 1, 2} - {down, left}
        pixels = np.asarray(image.get_array()).T
        assert pixels == pytest.approx(areas.image((axes[left], axes[down]), cells.sum(axis=rest), 1024))
    found = steps(charts[1, 1], "release")
    assert found.edges.tolist() == [0, 1, 5, 9]
    expected = [release.answer((0, lo, "x"), (12, hi, "y")).value for lo, hi in ((0, 1), (1, 5), (5, 9))]
    assert found.values * np.diff(found.edges) == pytest.approx(expected)
    assert [charts[2, at].get_xlabel() for at in range(3)] == ["a", "b", "c"]
    assert "<svg" in release._repr_html_()


def test_releases_without_a_picture():
    axes = tuple(dawa.Axis(name, 0, 2**7) for name in "abc")
    release = dawa.release({name: [1, 2, 3] for name in "abc"}, axes, epsilon=1, effort="fast")
    with pytest.raises(OptionError, match="so many cells has no picture"):
        release.plot()
    assert "<svg" not in release._repr_html_()
    assert "differentially private" in release._repr_html_()
    with pytest.raises(OptionError, match="over 3 axes"):
        dawa.plots.partition(np.zeros((4, 4, 4), int), dawa.estimate(np.zeros((4, 4, 4), int), epsilon=1))


def test_edges_are_to_scale_and_the_area_is_the_count():
    release = released(dawa.Axis.edges("age", [0, 1, 5, 18, 65, 110]), RNG.gamma(3, 12, 900).clip(0, 109))
    chart = release.plot().axes[0]
    found = steps(chart, "release")
    assert found.edges.tolist() == [0, 1, 5, 18, 65, 110]
    assert chart.get_ylabel() == "records per 10 of age"
    expected = [release.answer(lo, hi).value for lo, hi in pairwise(found.edges.tolist())]
    assert found.values * np.diff(found.edges) / 10 == pytest.approx(expected)
    assert chart.get_yscale() == "linear"


def test_categories_are_bars_with_all_their_names():
    labels = [f"a long name of category {i}" for i in range(8)]
    release = released(dawa.Axis.ordered("x", labels), [label for i, label in enumerate(labels) for _ in range(9 * i)])
    figure = release.plot()
    chart = figure.axes[0]
    assert [text.get_text() for text in chart.get_xticklabels()] == labels
    assert [bar.get_height() for bar in chart.patches] == pytest.approx(
        [release.answer(label, label).value for label in labels]
    )
    boxes = [text.get_window_extent(drawn(figure)) for text in chart.get_xticklabels()]
    assert all(one.x1 <= other.x0 for one, other in pairwise(boxes))
    assert min(box.y0 for box in boxes) >= 0


def test_a_year_of_hours_is_drawn_by_days():
    axis = dawa.Axis.dates("when", "2013-01-01", "2014-01-01", step="1 hour")
    release = released(axis, moments("2013-01-01", "hours", 8760), partition="none", effort="fast")
    chart = release.plot().axes[0]
    assert len(steps(chart, "release").values) == 365
    assert chart.get_ylabel() == "records per hour"


def test_maps_of_the_world_have_coasts_and_the_shape_of_the_land():
    axes = [dawa.Axis("lon", -10, 30), dawa.Axis("lat", 40, 60)]
    release = dawa.release({"lon": [5, 6], "lat": [50, 51]}, axes, epsilon=1)
    chart = release.plot().axes[0]
    box = chart.get_window_extent(drawn(chart.figure))
    assert box.height / box.width == pytest.approx(0.5 / np.cos(np.radians(50)), rel=0.01)
    assert len(chart.lines) > 20
    assert (chart.get_xlim(), chart.get_ylim()) == ((-10, 30), (40, 60))


def test_pictures_have_no_background_and_can_be_read_on_white_and_on_black(line, tmp_path):
    figure = line.plot(tmp_path / "x.png")
    assert figure.get_facecolor()[3] == figure.axes[0].get_facecolor()[3] == 0
    parts = [int(drawing.INK[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    light = np.dot([0.2126, 0.7152, 0.0722], [((part + 0.055) / 1.055) ** 2.4 for part in parts])
    assert 1.05 / (light + 0.05) >= 4
    assert (light + 0.05) / 0.05 >= 4
    assert "background" not in line._repr_html_()


@pytest.mark.long_but(1)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_notebook_shows_a_picture_and_the_statement(name, line, grid):
    for release in (
        replace(line, axes=(dawa.Axis(name, 0, 256),)),
        replace(grid, axes=(dawa.Axis(name, 0, 24), dawa.Axis("b", 0, 17))),
    ):
        html = release._repr_html_()
        tree = ET.fromstring(html)  # noqa: S314  our own
        kinds = {element.tag.rsplit("}", 1)[-1] for element in tree.iter()}
        assert "svg" in kinds
        assert not kinds & {"script", "style", "text/css", "iframe"}, "nothing runs, and nothing else is restyled"
        text = "".join(tree.itertext())
        assert "differentially private" in text
        assert repr(release) in text


def footed(figure):
    return "" if figure._supxlabel is None else figure._supxlabel.get_text().replace("\n", " ")


def triangles(figure):
    return [mark.get_marker() for mark in figure.axes[0].lines if mark.get_marker() in "<>^v"]


def test_edges_that_hold_more_are_marked_and_others_are_not(line, grid):
    assert triangles(line.plot()) == ["<", ">"]
    assert "with everything below 0 and everything from 256 on" in footed(line.plot())
    assert triangles(grid.plot()) == ["<", ">", "v", "^"]
    assert "on b with everything below 0 and everything from 17 on" in footed(grid.plot())
    for outside in ("own", "drop"):
        figure = released(dawa.Axis("x", 0, 4, outside=outside), [1, 2, 9] * 50).plot()
        assert triangles(figure) == []
        assert "with everything" not in footed(figure)
    assert footed(released(dawa.Axis("x", 0, 4, outside="drop", missing="drop"), [1]).plot()) == ""


def test_records_in_no_range_are_told_below_the_picture():
    release = released(dawa.Axis.ordered("x", ["A", "B"]), ["a"] * 300 + ["A"] * 50)
    below = footed(release.plot())
    assert "In no range: " in below
    assert "x not listed: " in below
    assert "Most records are in no range" in below
    html = release._repr_html_()
    assert "<p>Most records are in no range" in html
    assert "In no range: " in html
    owned = dawa.release(
        {"x": [1] * 9, "who": [1] * 9}, dawa.Axis("x", 0, 4), epsilon=1, unit="who", max_rows_per_unit=3
    )
    assert "of at most 3 records of each value of 'who'" in footed(owned.plot())


@pytest.mark.long_but(1)
@pytest.mark.filterwarnings("ignore:Glyph .* missing from font")
@pytest.mark.parametrize("name", HOSTILE)
def test_what_stands_below_fits_and_stays_text(name, grid, tmp_path):
    axes = tuple(dawa.Axis(column, 0, size) for column, size in ((name, 24), ("b", 17)))
    figure = replace(grid, axes=axes).plot(tmp_path / "figure.svg")
    label = figure._supxlabel
    assert not label.get_parse_math()
    box = label.get_window_extent(drawn(figure))
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width
    assert box.y0 >= 0
    chart = figure.axes[0].get_tightbbox(drawn(figure))
    assert box.y1 <= chart.y0 + 1, "it stands below"


def test_a_notebook_shows_an_estimate(line):
    html = replace(line.estimate, mechanism="<b>")._repr_html_()
    assert "&lt;b&gt;" in html
    assert "Spent: " in html
    assert "<b>" not in html


def test_a_partition_over_its_truth(line):
    chart, ruler = dawa.plots.partition(X, line.estimate).axes
    truth, found = steps(chart, "truth"), steps(chart, "release")
    assert truth.values.tolist() == X.tolist()
    assert found.edges.tolist() == line.estimate.buckets.bounds.tolist()
    assert found.values == pytest.approx(line.values() / np.diff(found.edges))
    (marks,) = ruler.collections
    assert [segment[0][0] for segment in marks.get_segments()] == line.estimate.buckets.bounds.tolist()


def test_many_cells_share_a_column():
    counts = RNG.poisson(5, 5 * limits.MOST_COLUMNS_DRAWN)
    chart, _ = dawa.plots.partition(counts, dawa.estimate(counts, epsilon=1, mechanism="identity")).axes
    truth, found = steps(chart, "truth"), steps(chart, "release")
    assert len(truth.values) == len(found.values) == limits.MOST_COLUMNS_DRAWN
    assert truth.values.tolist() == counts.reshape(-1, 5).max(axis=1).tolist()
    assert truth.baseline.tolist() == counts.reshape(-1, 5).min(axis=1).tolist()


def test_buckets_on_a_map_are_outlined(grid):
    figure = dawa.plots.partition(GRID, grid.estimate)
    (lines,) = figure.axes[0].collections
    found = set()
    for (x0, y0), (x1, y1) in (np.asarray(segment).astype(int).tolist() for segment in lines.get_segments()):
        found |= {((x, y0), (x + 1, y0)) for x in range(x0, x1)} | {((x0, y), (x0, y + 1)) for y in range(y0, y1)}
    label = np.empty(GRID.size, int)
    for bucket, (lo, hi) in enumerate(pairwise(grid.estimate.buckets.bounds)):
        label[grid.estimate.buckets.order((24, 17))[lo:hi]] = bucket
    label, expected = label.reshape(24, 17), set()
    for row in range(24):
        for column in range(17):
            if row < 23 and label[row, column] != label[row + 1, column]:
                expected.add(((column, row + 1), (column + 1, row + 1)))
            if column < 16 and label[row, column] != label[row, column + 1]:
                expected.add(((column + 1, row), (column + 1, row + 1)))
    assert found == expected


def test_truths_that_do_not_fit(line, grid):
    for draw in (dawa.plots.partition, dawa.plots.maps):
        with pytest.raises(CountsError, match="The truth has shape"):
            draw(GRID.T, grid.estimate)
        with pytest.raises(CountsError):
            draw(GRID - 1, grid.estimate)
        with pytest.raises(OptionError, match=r"pass what dawa\.estimate returned"):
            draw(GRID, grid)
    with pytest.raises(OptionError, match="over two axes"):
        dawa.plots.maps(X, line.estimate)


def test_maps_show_truth_release_and_error(grid):
    figure = dawa.plots.maps(GRID, grid.estimate)
    truth, release, error = (np.asarray(chart.images[0].get_array()) for chart in figure.axes[:3])
    assert truth.tolist() == GRID.tolist()
    assert release == pytest.approx(np.maximum(grid.estimate.cells, 0))
    assert error == pytest.approx(grid.estimate.cells - GRID)


RESULTS = {"slow": {"a": 100.0, "b": [10.0, 1000.0]}, "fast": {"a": 10, "b": np.array([10.0])}}


def test_errors_by_mechanism():
    figure = dawa.plots.errors(RESULTS, label="error per query")
    chart = figure.axes[0]
    assert [label.get_text() for label in chart.get_yticklabels()] == ["fast", "slow"], "the best on top"
    assert chart.get_ylim()[0] > chart.get_ylim()[1]
    assert chart.get_xscale() == "log"
    *marks, means = chart.collections
    for mark in marks:
        assert np.asarray(mark.get_offsets()) == pytest.approx(np.array([[10, 0], [100, 1]]))
    assert [segment[0][0] for segment in means.get_segments()] == pytest.approx([10, 100])
    assert [text.get_text() for text in figure.legends[0].texts] == ["a", "b", "geometric mean"]
    assert chart.get_xlabel() == "error per query"


def test_errors_by_ratio():
    chart = dawa.plots.errors(RESULTS, baseline="fast").axes[0]
    assert [segment[0][0] for segment in chart.collections[-1].get_segments()] == pytest.approx([1, 10])
    assert chart.get_xlabel() == "error ÷ that of fast"


def test_errors_without_datasets_and_from_a_frame():
    import pandas as pd  # noqa: PLC0415  one test needs it

    chart = dawa.plots.errors({"one": [1.0, 2.0, 4.0], "two": 8}).axes[0]
    assert np.asarray(chart.collections[0].get_offsets()).tolist() == [[1, 0], [2, 0], [4, 0], [8, 1]]
    assert [segment[0][0] for segment in chart.collections[-1].get_segments()] == pytest.approx([2, 8])
    frame = pd.DataFrame({"one": [1.0, 2.0], "two": [3.0, 4.0]}, index=["adult", "trace"])
    figure = dawa.plots.errors(frame)
    assert [text.get_text() for text in figure.legends[0].texts] == ["adult", "trace", "geometric mean"]


@pytest.mark.parametrize(
    ("results", "match"),
    [
        ({}, "no errors to draw"),
        ([1, 2], "no errors to draw"),
        ({"a": []}, "errors of a are not all positive"),
        ({"a": [1, 0]}, "not all positive"),
        ({"a": [1, float("nan")]}, "not all positive"),
        ({"a": "many"}, "not all positive"),
        ({"a": None}, "not all positive"),
        ({"a": {"x": 1}, "b": {"y": 1}}, "not run on the same datasets"),
        ({"a": {"x": 1}, "b": 1}, "not run on the same datasets"),
        ({"a": {}}, "not run on the same datasets"),
    ],
)
def test_errors_that_are_none(results, match):
    with pytest.raises(OptionError, match=match):
        dawa.plots.errors(results)


def test_a_baseline_that_is_none():
    with pytest.raises(OptionError, match=r"baseline 'other'.*\n.*slow, fast"):
        dawa.plots.errors(RESULTS, baseline="other")


@pytest.mark.long_but(8)
@pytest.mark.parametrize("n", [1, 2, 5, 100, 256])
@pytest.mark.parametrize("mechanism", ["greedy-h", "hierarchical", "hb", "privelet", "identity"])
def test_the_rows_of_levels_add_up_to_the_budget(mechanism, n):
    estimate = dawa.estimate(X[:n], epsilon=1, mechanism=mechanism)
    lanes = rows._levels(estimate.measured)
    sums = sum(np.abs(lane.share) for lane in lanes)
    assert sums == pytest.approx(estimate.measured.column_sums() / RESOLUTION)
    (image,) = dawa.plots.strategy(estimate).axes[0].images
    assert np.asarray(image.get_array()).tolist() == [lane.share.tolist() for lane in lanes]


def test_nested_rows_add_up_to_the_budget():
    estimate = dawa.estimate(GRID, epsilon=1, mechanism="hybrid-tree")
    sums = sum(lane.share for lane in rows._levels(estimate.measured))
    assert sums == pytest.approx(estimate.measured.column_sums() / RESOLUTION)
    assert len(dawa.plots.strategy(estimate).axes) == 2


def test_hats_add_up_to_the_budget():
    estimate = dawa.estimate(RNG.integers(0, 1000, 300), epsilon=2)
    assert estimate.measured.name == "hats"
    chart = dawa.plots.strategy(estimate).axes[0]
    sums = np.array(steps(chart, "each bucket alone")[0])
    for curve in chart.lines:
        at, share = curve.get_data()
        sums[np.asarray(at, float).astype(int)] += share
    assert sums == pytest.approx(estimate.measured.column_sums() / RESOLUTION)


def test_bumps_are_maps(grid):
    figure = dawa.plots.strategy(grid.estimate)
    measured = grid.estimate.measured
    assert measured.name == "bumps"
    titles = [chart.get_title() for chart in figure.axes if chart.images]
    assert titles[0] == "each bucket alone"
    widths = np.diff(grid.estimate.buckets.bounds)
    for chart in figure.axes[1 : len(titles)]:
        number = int(chart.get_title().split()[1]) - 1
        entries = slice(measured.ptr[number], measured.ptr[number + 1])
        expected = (measured.weights[entries] * widths[measured.column[entries]]).sum() / RESOLUTION
        assert np.asarray(chart.images[0].get_array()).sum() == pytest.approx(expected)


def test_products_of_wavelets_are_rows_that_were_measured():
    counts = RNG.poisson(3, (8, 6))
    estimate = dawa.estimate(counts, epsilon=1, mechanism="privelet")
    measured = estimate.measured
    dense = np.stack([measured.apply(unit) for unit in np.eye(48, dtype=np.int64)], axis=1) / RESOLUTION
    shown = [chart.images[0] for chart in dawa.plots.strategy(estimate).axes if chart.images]
    assert len(shown) == 8
    for image in shown:
        cells = np.asarray(image.get_array()).ravel()[estimate.buckets.order((8, 6))]
        assert np.abs(dense - cells).sum(axis=1).min() == pytest.approx(0)


def test_strategies_that_cannot_be_drawn(line):
    with pytest.raises(OptionError, match="does not know how much noise"):
        dawa.plots.strategy(dawa.estimate(X, epsilon=1, mechanism="efpa"))
    with pytest.raises(OptionError, match=r"rel\.estimate"):
        dawa.plots.strategy(line)


def test_a_notebook_shows_a_figure_as_a_picture():
    """Without ``%matplotlib inline``."""
    figure = dawa.plots.strategy(dawa.estimate([3] * 64, epsilon=1, seed=0))
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_three_axes_without_records_count_from_zero_to_one():
    axes = [dawa.Axis("a", 0, 4), dawa.Axis("b", 0, 3), dawa.Axis.ordered("c", ["a category with a long name", "no"])]
    rel = dawa.release({"a": [], "b": [], "c": []}, axes, epsilon=1, seed=1)
    empty = replace(rel, estimate=replace(rel.estimate, totals=np.zeros_like(rel.estimate.totals)))
    figure = empty.plot()
    assert [chart.get_ylim()[1] for chart in figure.axes[::4]] == [1.0] * 3
