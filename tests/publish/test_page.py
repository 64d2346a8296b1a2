"""The page in a real browser: the same numbers as ``Release.answer``, however they are asked for."""

import csv
import io
import json
import math
from datetime import UTC
from urllib.parse import urlencode

import numpy as np
import pyarrow as pa
import pytest

import dawa
from dawa.axis import written as values
from dawa.publish import tables
from dawa.server import asking
from dawa_bench.page import PHONE, WIDE
from helpers.browser import opened

CONFIDENCES = (0.8, 0.9, 0.95, 0.99)
HOSTILE = "</script><script>alert(1)</script>"
LABELS = [
    "<img src=x onerror=alert(2)>",
    '"><svg onload=alert(3)>',
    "{{data}} ${alert(4)}",
    "<!-- ]]> \u2028 &lt;b&gt;",
    "=1+1, 'quoted' \"twice\"",
]


def peaks(rng, size, top):
    """Values with a hill and a plain."""
    return np.concatenate((rng.normal(0.3 * top, 0.06 * top, size), rng.uniform(0, top, size // 3))).clip(
        0, top * 0.999
    )


def line(**options):
    values = peaks(np.random.default_rng(0), 9000, 1000)
    return dawa.release({"x": values}, dawa.Axis("x", 0, 1000), epsilon="0.3", seed=0, **options)


def plane(**options):
    rng = np.random.default_rng(1)
    table = {"a": peaks(rng, 9000, 60), "b": peaks(rng, 9000, 45)}
    return dawa.release(table, [dawa.Axis("a", 0, 60), dawa.Axis("b", 0, 45)], epsilon="0.3", seed=0, **options)


def box(**options):
    rng = np.random.default_rng(2)
    table = {name: peaks(rng, 5000, top) for name, top in (("a", 12), ("b", 9), ("c", 7))}
    axes = [dawa.Axis("a", 0, 12), dawa.Axis("b", 0, 9), dawa.Axis("c", 0, 7)]
    return dawa.release(table, axes, epsilon="0.5", seed=0, **options)


def fractions():
    values = peaks(np.random.default_rng(3), 5000, 3)
    return dawa.release({"x": values - 1}, dawa.Axis("x", -1, 2, step="1/30"), epsilon="0.5", seed=0, effort="fast")


def edges():
    cuts = [-5, 0, "0.5", 2, 10, 100, "250.25", 300, 1000]
    values = peaks(np.random.default_rng(3), 5000, 1000)
    return dawa.release({"x": values}, dawa.Axis.edges("x", cuts), epsilon="0.5", seed=0)


def dates(step, zone=None, **options):
    rng = np.random.default_rng(4)
    when = np.datetime64("2013-01-01", "us") + (peaks(rng, 5000, 365) * 86_400_000_000).astype("m8[us]")
    axis = dawa.Axis.dates("when", "2013-01-01", "2014-01-01", step=step, zone=zone)
    table = pa.table({"when": pa.array(when, pa.timestamp("us", zone and "UTC"))})
    return dawa.release(table, axis, epsilon="0.5", seed=0, effort="fast", **options)


def ordered(labels=("none", "primary", "secondary", "bachelor", "master", "doctor"), column="level"):
    values = [labels[i] for i in np.random.default_rng(5).binomial(len(labels) - 1, 0.4, 900)]
    return dawa.release({column: values}, dawa.Axis.ordered(column, labels), epsilon="0.5", seed=0)


KINDS = {
    "walk with hats": lambda: line(strategy="hats"),
    "walk with a tree": lambda: line(strategy="greedy", branching=4),
    "hats on every cell": lambda: line(partition="none", strategy="hats", effort="fast"),
    "tree on every cell": lambda: line(mechanism="hierarchical"),
    "wavelet": lambda: line(partition="walk", strategy="wavelet"),
    "privelet": lambda: line(mechanism="privelet"),
    "without post-processing": lambda: line(postprocess="none", effort="fast"),
    "fractions": fractions,
    "edges": edges,
    "days": lambda: dates("1 day"),
    "hours": lambda: dates("6 hours"),
    "months": lambda: dates("1 month"),
    "hours in a zone": lambda: dates("1 hour", "America/New_York"),
    "every hour in a zone": lambda: dates("1 hour", "America/New_York", partition="none"),
    "days in a zone": lambda: dates("1 day", "Europe/Berlin"),
    "ordered": ordered,
    "map with bumps": lambda: plane(effort="fast"),
    "map of cells with bumps": lambda: plane(partition="none", strategy="bumps", effort="fast"),
    "map with a tree": lambda: plane(strategy="greedy"),
    "map with hats": lambda: plane(strategy="hats", effort="fast"),
    "map with wavelets": lambda: plane(strategy="wavelet"),
    "map of boxes": lambda: plane(mechanism="ugrid"),
    "map of nested boxes": lambda: plane(mechanism="hybrid-tree"),
    "map of rows": lambda: plane(mechanism="privelet"),
    "three axes": lambda: box(effort="fast"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Releases by kind with their pages, made when they are first asked for."""
    folder, found = tmp_path_factory.mktemp("pages"), {}

    def of(kind):
        if kind not in found:
            release = KINDS[kind]()
            found[kind] = release, release.report(folder / f"{len(found)}.html")
        return found[kind]

    return of


def records(number):
    """A number as the page writes it."""
    if math.isinf(number):
        return "unbounded"
    text = f"{abs(number):,.1f}" if abs(number) < 100 else f"{abs(number):,.0f}"
    return f"−{text}" if number < 0 and text.strip("0.,") else text


def written(answer):
    return [records(x) for x in (answer.value, answer.noise_margin, answer.bias_bound, answer.low, answer.high)]


def random_ends(rng, axis, *, whole):
    """Two ends on an axis as people write them: on cell borders, or anywhere."""
    a, b = np.sort(rng.choice(axis.size + 1, 2, replace=False)).tolist()
    if axis.kind == "ordered":
        return axis.labels[a], axis.labels[b - 1]
    if whole:
        return tuple(str(end[0]) for end in values.written(axis, [a], [b]))
    if axis.kind == "dates":
        span = axis.stop.replace(tzinfo=None) - axis.start.replace(tzinfo=None)
        moments = sorted(axis.start.replace(tzinfo=None) + span * x for x in rng.uniform(0.01, 0.99, 2))
        return tuple(f"{moment:%Y-%m-%d %H:%M:%S}" for moment in moments)
    low, high = float(axis.start), float(axis.stop)
    return tuple(f"{x:.4f}" for x in np.sort(rng.uniform(low, high, 2)))


def fragment(lo, hi, confidence=0.95):
    ends = [pair for both in zip(lo, hi, strict=True) for pair in zip(("from", "to"), both, strict=True)]
    return urlencode([*ends, ("confidence", confidence)])


def answered(release, lo, hi, confidence=0.95):
    ends = (tuple(lo), tuple(hi)) if len(lo) > 1 else (lo[0], hi[0])
    return release.answer(*ends, confidence=confidence)


@pytest.mark.parametrize("kind", KINDS)
def test_two_hundred_ranges_have_the_same_numbers(browser, made, kind):
    release, path = made(kind)
    rng = np.random.default_rng(6)
    asked, expected = [], []
    for i in range(200):
        ends = [random_ends(rng, axis, whole=i % 2 == 0) for axis in release.axes]
        lo, hi = [list(side) for side in zip(*ends, strict=True)]
        asked.append(fragment(lo, hi, CONFIDENCES[i % 4]))
        expected.append([*written(answered(release, lo, hi, CONFIDENCES[i % 4])), ""])
    with opened(browser, path) as sheet:
        assert sheet.asked(asked) == expected
    assert len({tuple(numbers) for numbers in expected}) > 10, "the ranges differ"


@pytest.mark.parametrize("kind", ["walk with hats", "edges", "hours in a zone", "ordered"])
def test_dragging_along_a_line(browser, made, kind):
    release, path = made(kind)
    with opened(browser, path) as sheet:
        seen = set()
        for start, stop in ((0.2, 0.5), (0.9, 0.35), (0.05, 0.98), (0.4, 0.42)):
            sheet.drag((start, 0.5), (stop, 0.6))
            lo, hi = sheet.typed()
            assert sheet.shown() == written(answered(release, lo, hi))
            seen.add((*lo, *hi))
        assert len(seen) >= 3
        sheet.until(f"location.hash === {('#' + urlencode([('from', lo[0]), ('to', hi[0])]))!r}")


@pytest.mark.parametrize("kind", ["map with bumps", "map of boxes", "map of rows"])
def test_dragging_a_rectangle(browser, made, kind):
    release, path = made(kind)
    with opened(browser, path) as sheet:
        seen = set()
        for start, stop in (((0.2, 0.3), (0.5, 0.9)), ((0.9, 0.8), (0.45, 0.2)), ((0.02, 0.02), (0.97, 0.97))):
            sheet.drag(start, stop)
            lo, hi = sheet.typed()
            assert sheet.shown() == written(answered(release, lo, hi))
            seen.add((*lo, *hi))
        assert len(seen) == 3


def test_an_edge_can_be_dragged_and_goes_past_the_other(browser, made):
    release, path = made("walk with hats")
    with opened(browser, path, "#from=200&to=400") as sheet:
        box = sheet.page.locator("#chart").bounding_box()
        edge = sheet.page.locator("[data-edge=hi0]").bounding_box()
        x, y = edge["x"] + edge["width"] / 2, box["y"] + 60
        sheet.page.mouse.move(x, y)
        assert sheet.page.evaluate("document.getElementById('chart').style.cursor") == "ew-resize"
        sheet.page.mouse.down()
        sheet.page.mouse.move(x + 120, y, steps=4)
        sheet.rest()
        (lo,), (hi,) = sheet.typed()
        assert lo == "200"
        assert int(hi) > 450
        sheet.page.mouse.move(box["x"] + 90, y, steps=4)
        sheet.page.mouse.up()
        sheet.rest()
        (lo,), (hi,) = sheet.typed()
        assert hi == "200"
        assert int(lo) < 100
        assert sheet.shown() == written(release.answer(lo, hi))


def touched(sheet, *points):
    """Move one finger over the page."""
    remote = sheet.context.new_cdp_session(sheet.page)
    for i, (x, y) in enumerate(points):
        kind = "touchMove" if i else "touchStart"
        remote.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    remote.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    sheet.rest()


@pytest.mark.parametrize("kind", ["walk with hats", "map with bumps"])
def test_a_finger_chooses_on_a_phone(browser, made, kind):
    release, path = made(kind)
    with opened(browser, path, **PHONE) as sheet:
        before = sheet.typed()
        (x0, y0), (x1, y1) = sheet.place(0.55, 0.4), sheet.place(0.95, 0.6)
        touched(sheet, (x0, y0), ((x0 + x1) / 2, y0 + 1), (x1, y1))
        lo, hi = sheet.typed()
        assert [lo, hi] != before
        assert sheet.shown() == written(answered(release, lo, hi))


def test_typed_ends_are_answered_and_wrong_ones_explained(browser, made):
    release, path = made("walk with hats")
    with opened(browser, path) as sheet:
        sheet.type(from0="12.5", to0="1e2")
        assert sheet.shown() == written(release.answer("12.5", "1e2"))
        kept = sheet.shown()
        for ends, part in (
            ({"from0": "many"}, "“many” is not a number"),
            ({"from0": "12.5", "to0": "1001"}, "1001 lies outside x. Ask between 0 and 1000."),
            ({"to0": "12.5"}, "empty"),
        ):
            sheet.type(**ends)
            assert part in sheet.texts("problem")[0]
            assert sheet.page.get_attribute("#from0", "aria-invalid") == "true"
            assert sheet.shown() == kept
        sheet.type(from0="5", to0="9")
        assert sheet.texts("problem") == [""]
        assert sheet.shown() == written(release.answer(5, 9))


def test_an_address_that_makes_no_sense_is_explained(browser, made):
    _, path = made("map with a tree")
    with opened(browser, path, "#from=3&to=9") as sheet:
        assert "for each axis" in sheet.texts("problem")[0]
        assert "…" not in sheet.shown()


def test_times_are_read_as_python_reads_them_where_clocks_change(browser, made):
    release, path = made("hours in a zone")
    times = (
        "2013-03-10 01:59", "2013-03-10 02:30", "2013-03-10 03:00", "2013-11-03 01:30", "2013-11-03 01:30-05:00",
        "2013-11-03T01:30:00.25-04:00", "2013-06-01 00:00Z",
    )  # fmt: skip
    with opened(browser, path) as sheet:
        found = sheet.asked([fragment([time], ["2013-12-01"]) for time in times])
        assert found == [[*written(release.answer(time, "2013-12-01")), ""] for time in times]


def test_a_range_from_dragging_means_the_same_when_it_is_typed(browser, made):
    """Each hour of the night when clocks go back is told apart, also the one that comes twice."""
    release, path = made("every hour in a zone")
    with opened(browser, path) as sheet:
        sheet.asked([fragment(["2013-11-02 23:00"], ["2013-11-04"])])
        sheet.page.focus("[data-edge=lo0]")
        starts = []
        for _ in range(6):
            sheet.page.keyboard.press("Control+ArrowRight")
            sheet.rest()
            (lo,), (hi,) = sheet.typed()
            starts.append(release.axis.border(lo))
            assert sheet.shown() == written(release.answer(lo, hi))
        assert [start - starts[0] for start in starts] == list(range(6))


def test_everything_works_with_the_keyboard_alone(browser, made):
    release, path = made("walk with hats")
    with opened(browser, path, "#from=200&to=400") as sheet:
        press = sheet.page.keyboard.press

        def tab_to(selector):
            for _ in range(60):
                press("Tab")
                if sheet.page.evaluate(f"document.activeElement.matches({selector!r})"):
                    return
            raise AssertionError(selector)

        tab_to("[data-edge=lo0]")
        outline = sheet.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid", "focus is seen"
        for key, ends in (
            ("ArrowRight", ("205", "400")),
            ("ArrowDown", ("200", "400")),
            ("PageUp", ("250", "400")),
            ("Shift+ArrowRight", ("255", "405")),
            ("Home", ("0", "405")),
            ("Shift+PageDown", ("0", "405")),
        ):
            press(key)
            sheet.rest()
            assert tuple(end for (end,) in sheet.typed()) == ends
            assert sheet.shown() == written(release.answer(*ends))
        tab_to("[data-edge=hi0]")
        press("End")
        press("Control+ArrowLeft")
        sheet.rest()
        (_,), (hi,) = sheet.typed()
        assert int(hi) == release.estimate.buckets.bounds[-2]
        assert sheet.page.get_attribute("[data-edge=hi0]", "aria-valuetext") == hi
        sheet.until("document.getElementById('said').textContent.includes('confidence')")
        tab_to("#keep")
        press("Enter")
        assert sheet.page.locator("#kept tbody tr").count() == 1
        tab_to("#kept button")
        press("Space")
        assert sheet.page.locator("#kept tbody tr").count() == 0


def test_a_rectangle_moves_with_the_keyboard(browser, made):
    release, path = made("map with bumps")
    with opened(browser, path, "#" + fragment(["10", "10"], ["20", "30"])) as sheet:
        sheet.page.focus("[data-edge=hi1]")
        for key, ends in (
            ("ArrowUp", [["10", "10"], ["20", "31"]]),
            ("Shift+ArrowLeft", [["9", "10"], ["19", "31"]]),
            ("Shift+ArrowDown", [["9", "9"], ["19", "30"]]),
            ("End", [["9", "9"], ["19", "45"]]),
        ):
            sheet.page.keyboard.press(key)
            sheet.rest()
            assert sheet.typed() == ends
            assert sheet.shown() == written(answered(release, *ends))


def test_cut_buckets_are_named(browser, made):
    release, path = made("walk with hats")
    bounds = release.estimate.buckets.bounds.tolist()
    wide = next(b for b in range(len(bounds) - 1) if bounds[b + 1] - bounds[b] > 1)
    with opened(browser, path) as sheet:
        sheet.asked([fragment([str(bounds[wide])], [str(bounds[wide + 1])])])
        assert "No bucket is cut" in sheet.texts("cuts")[0]
        sheet.asked([fragment([str(bounds[wide] + 1)], ["1000"])])
        assert f"{bounds[wide]} to {bounds[wide + 1]} (" in sheet.texts("cuts")[0]
        inside = 1 - 1 / (bounds[wide + 1] - bounds[wide])
        assert f"({100 * inside:.1f}% of it inside)" in sheet.texts("cuts")[0]


def spread(axis, **options):
    """A release of numbers all along an axis."""
    low, high = float(axis.start), float(axis.stop)
    values = low + peaks(np.random.default_rng(7), 4000, 1) * (high - low)
    return dawa.release({axis.column: values}, axis, epsilon="0.5", seed=0, effort="fast", **options)


def moments(start, stop, step, zone=None):
    """A release of times all along an axis."""
    axis = dawa.Axis.dates("when", start, stop, step=step, zone=zone)
    length = (axis.stop - axis.start) / np.timedelta64(1, "us").item()
    first = np.datetime64(axis.start.astimezone(UTC).replace(tzinfo=None) if zone else axis.start, "us")
    when = first + (peaks(np.random.default_rng(8), 4000, 0.999) * length).astype("m8[us]")
    table = pa.table({"when": pa.array(when, pa.timestamp("us", zone and "UTC"))})
    return dawa.release(table, axis, epsilon="0.5", seed=0, effort="fast")


def even(axis):
    """One bucket of 1,000 records exactly, so that quantiles fall on the ends of cells."""
    values = float(axis.start) + np.arange(1000) % axis.size * float(axis.stop - axis.start) / axis.size
    options = {"partition": [0, axis.size], "postprocess": "rounded"}
    return dawa.release({axis.column: values}, axis, epsilon=1000, seed=0, **options)


def midnight_twice():
    """At 00:01 clocks go back to 23:01; the lower quartile lies in the hour after that, which is of the next day."""
    axis = dawa.Axis.dates("when", "2010-11-06", "2010-11-08", step="1 day", zone="America/St_Johns")
    when = np.repeat(np.array(["2010-11-06T12", "2010-11-07T12"], "M8[us]"), [240, 760])
    table = pa.table({"when": pa.array(when, pa.timestamp("us", "UTC"))})
    return dawa.release(table, axis, epsilon=1000, seed=0, partition="none", postprocess="rounded")


QUANTILES = {
    "midnight twice": midnight_twice,
    "ends of whole numbers": lambda: even(dawa.Axis("x", 0, 20)),
    "ends of hundreds": lambda: even(dawa.Axis("x", 0, 2000, 100)),
    "ends of edges": lambda: even(dawa.Axis.edges("x", range(21))),
    "negative numbers": lambda: spread(dawa.Axis("x", -900, 100)),
    "hundreds": lambda: spread(dawa.Axis("x", -50_000, 50_000, 100)),
    "hundredths": lambda: spread(dawa.Axis("x", -1, 1, "0.01")),
    "sevens": lambda: spread(dawa.Axis("x", "0.5", "70.5", "0.07")),
    "quarters": lambda: spread(dawa.Axis("x", -10, 10, "0.25")),
    "thirds": lambda: spread(dawa.Axis("x", 0, 100, "1/3")),
    "many cells": lambda: spread(dawa.Axis("x", 0, 2**48)),
    "tiny numbers": lambda: spread(dawa.Axis("x", 0, "0.00001", "0.00000001")),
    "edges from tiny to huge": lambda: spread(
        dawa.Axis.edges("x", ["-1e22", "-1e16", "-1e-7", 0, "1e-5", "1e-3", "1/3", 1, 10**15, 10**16, "1.5e22"])
    ),
    "minutes in a zone": lambda: moments("2013-03-31", "2013-04-01", "1 minute", "Europe/Berlin"),
    "the hour that comes twice": lambda: moments("2013-10-27 00:30", "2013-10-27 05:30", "15 minutes", "Europe/Berlin"),
    "seconds": lambda: moments("2013-01-01 00:00:30", "2013-01-01 00:20:30", "1 second"),
    "milliseconds": lambda: moments("2013-01-01", "2013-01-01 00:00:01", "1 ms"),
    "days from six": lambda: moments("2013-01-01 06:00", "2013-12-01 06:00", "1 day"),
    "weeks in a zone": lambda: moments("2018-10-01", "2019-03-04", "1 week", "America/Sao_Paulo"),
    "quarters of a year": lambda: moments("1950-01-01", "1990-01-01", "1 quarter"),
    "years in a zone": lambda: moments("1890-01-01", "1990-01-01", "1 year", "Europe/Amsterdam"),
    "flags": lambda: ordered((False, True)),
    "integers in order": lambda: ordered((5, 3, 8, 1)),
} | {kind: KINDS[kind] for kind in KINDS if "map" not in kind and kind != "three axes"}


@pytest.mark.parametrize("kind", QUANTILES)
def test_page_server_and_python_write_the_same_quantiles(browser, made, tmp_path, kind):
    release, path = made(kind) if kind in KINDS else (QUANTILES[kind](), tmp_path / "report.html")
    with opened(browser, path if kind in KINDS else release.report(path)) as sheet:
        shown = sheet.page.locator("#quantiles dd").all_text_contents()
    found = [release.quantile(fraction) for fraction in (0.05, 0.25, 0.5, 0.75, 0.95)]
    told = [asking.quantile(release, fraction).model_dump_json() for fraction in (0.05, 0.25, 0.5, 0.75, 0.95)]
    assert shown == [str(values.plain(release.axis, value)) for value in found]
    assert shown == [str(json.loads(line)["value"]) for line in told]
    if release.axis.kind != "dates":
        assert shown == [str(value) for value in found]
    assert len(set(shown)) > 1, "the example has something to tell apart"


def test_kept_ranges_become_a_table_and_a_file(browser, made):
    release, path = made("map with a tree")
    asked = [(["3", "4"], ["30", "40"]), (["0.5", "1"], ["7", "9"])]
    with opened(browser, path) as sheet:
        for lo, hi in asked:
            sheet.asked([fragment(lo, hi, 0.9)])
            sheet.page.click("#keep")
        sheet.page.fill("#kept tr:nth-child(2) input", 'second, "odd"')
        row = sheet.page.locator("#kept tbody tr").nth(1).locator("td").all_text_contents()
        assert row[1] == "a 0.5 to 7, b 1 to 9"
        assert row[2] == written(answered(release, *asked[1], 0.9))[0]
        with sheet.page.expect_download() as download:
            sheet.page.click("#save-kept")
        lines = list(csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8"))))
    assert [line["name"] for line in lines] == ["Range 1", 'second, "odd"']
    for line_, (lo, hi) in zip(lines, asked, strict=True):
        assert [line_["a_from"], line_["a_to"], line_["b_from"], line_["b_to"]] == [lo[0], hi[0], lo[1], hi[1]]
        expected = vars(answered(release, lo, hi, 0.9))
        assert line_["remark"] == expected.pop("remark")
        for name, number in expected.items():
            assert float(line_[name]) == pytest.approx(number, rel=1e-9)


def downloaded(sheet, button):
    with sheet.page.expect_download() as download:
        sheet.page.click(button)
    return download.value.path().read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["walk with hats", "days", "ordered", "edges"])
def test_buckets_can_be_taken_away(browser, made, kind):
    release, path = made(kind)
    with opened(browser, path) as sheet:
        lines = list(csv.reader(io.StringIO(downloaded(sheet, "#save-buckets"))))
    expected = tables.buckets(release)
    assert lines[0] == list(expected.header)
    for line_, row in zip(lines[1:], expected.rows, strict=True):
        assert [float(entry) for entry in line_[2:6]] == pytest.approx([float(entry) for entry in row[2:6]], rel=1e-9)
        assert line_[6:] == list(row[6:])
        assert release.axis.span(*line_[:2]) == release.axis.span(*row[:2])


@pytest.mark.parametrize("kind", ["map with bumps", "map of boxes", "map of rows"])
def test_cells_can_be_taken_away(browser, made, kind):
    release, path = made(kind)
    with opened(browser, path) as sheet:
        lines = list(csv.reader(io.StringIO(downloaded(sheet, "#save-buckets"))))
    expected = tables.cells(release)
    assert lines[0] == list(expected.header)
    rows = list(expected.rows)
    found = np.array([line_[:-1] for line_ in lines[1:]], float)
    assert found == pytest.approx(np.array([list(map(float, row[:-1])) for row in rows]), abs=1e-9)
    assert [line_[-1] for line_ in lines[1:]] == [row[-1] for row in rows]
    assert len({row[-1] for row in rows}) == 9, "the inside, four sides and four corners"


def test_the_release_can_be_taken_away(browser, made, tmp_path):
    release, path = made("map with bumps")
    with opened(browser, path) as sheet:
        text = downloaded(sheet, "#save-release")
    (tmp_path / "release.json").write_text(text, encoding="utf-8")
    assert dawa.load(tmp_path / "release.json").answer((3, 4), (9, 30)) == release.answer((3, 4), (9, 30))


def test_zooming_shows_more_and_changes_no_answer(browser, made):
    _, path = made("hats on every cell")
    picture = "document.querySelector('#chart .base').toDataURL()"
    with opened(browser, path) as sheet:
        numbers, views = sheet.shown(), []

        def seen():
            sheet.page.wait_for_timeout(400)
            views.append(sheet.page.evaluate(picture))

        seen()
        sheet.page.mouse.move(*sheet.place(0.3, 0.5))
        sheet.page.mouse.wheel(0, -240)
        seen()
        for button in ("#in", "#right", "#log", "#linear"):
            sheet.page.click(button)
            seen()
        assert len(set(views)) >= 5
        sheet.page.mouse.dblclick(*sheet.place(0.5, 0.5))
        seen()
        assert views[-1] == views[0]
        assert sheet.shown() == numbers


@pytest.mark.parametrize("screen", [PHONE, WIDE], ids=["phone", "wide"])
@pytest.mark.parametrize("kind", ["walk with hats", "hours in a zone", "ordered", "map with bumps", "three axes"])
def test_it_fits_small_and_large_screens(browser, made, kind, screen):
    _, path = made(kind)
    with opened(browser, path, **screen) as sheet:
        sheet.page.click("#keep")
        assert sheet.page.evaluate("document.documentElement.scrollWidth") <= screen["viewport"]["width"]
        controls = sheet.page.locator("button:visible, select:visible, #ends input:visible, summary")
        assert controls.count() >= 8
        for control in controls.all():
            control.scroll_into_view_if_needed()
            box = control.bounding_box()
            assert box["height"] >= 44
            assert box["width"] >= 44
            control.click(trial=True)


def contrast(one, other):
    """How well two colours of a style sheet can be told apart (WCAG 2)."""

    def light(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_can_be_read(browser, made, scheme):
    _, path = made("walk with hats")
    with opened(browser, path, color_scheme=scheme) as sheet:
        names = ("page", "card", "ink", "soft", "accent", "on-accent", "warn", "warn-soft", "bar", "pick", "cut")
        found = sheet.page.evaluate(
            "(names) => names.map((name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name))",
            names,
        )
        colour = dict(zip(names, found, strict=True))
        background = sheet.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, background[4:-1].split(","))) < 200) == (scheme == "dark")
    text = [("ink", "card"), ("ink", "page"), ("soft", "card"), ("soft", "page"), ("accent", "card")]
    for one, other in (*text, ("on-accent", "accent"), ("warn", "warn-soft"), ("warn", "card")):
        assert contrast(colour[one], colour[other]) >= 4.5, (one, other)
    for mark in ("bar", "pick", "cut"):
        assert contrast(colour[mark], colour["card"]) >= 3, mark


def test_paper_gets_the_answer_and_the_whole_statement(browser, made):
    release, path = made("walk with hats")
    with opened(browser, path, color_scheme="dark") as sheet:
        sheet.page.emulate_media(media="print")
        sheet.until("document.querySelector('details').open")
        assert not sheet.page.locator("#keep").is_visible()
        assert sheet.page.locator("#value").is_visible()
        assert sheet.page.locator(".statement").inner_text() == " ".join(str(release.privacy).split())
        assert sheet.page.evaluate("document.documentElement.dataset.theme") == "light"
        assert sheet.page.pdf()[:4] == b"%PDF"


def test_headings_landmarks_and_names_are_there_for_screen_readers(browser, made):
    _, path = made("map with bumps")
    with opened(browser, path) as sheet:
        assert [sheet.page.locator(tag).count() for tag in ("header", "main", "footer", "h1")] == [1, 1, 1, 1]
        sliders = sheet.page.get_by_role("slider")
        assert sliders.count() == 4
        for element in [*sliders.all(), *sheet.page.locator("button:visible, input:visible, select:visible").all()]:
            named = element.evaluate(
                "e => e.getAttribute('aria-label') || e.textContent.trim() || (e.labels && e.labels.length > 0)"
            )
            assert named, element
        assert sheet.page.get_attribute("#said", "aria-live") == "polite"
        assert sheet.page.get_by_role("alert").count() == 1


@pytest.mark.parametrize("axes", [1, 2])
def test_hostile_names_stay_text(browser, tmp_path, axes):
    release = ordered(LABELS, HOSTILE)
    if axes == 2:
        rng = np.random.default_rng(0)
        table = {HOSTILE: rng.choice(LABELS, 500), "<b>b</b>": rng.uniform(0, 9, 500)}
        both = [dawa.Axis.ordered(HOSTILE, LABELS), dawa.Axis("<b>b</b>", 0, 9)]
        release = dawa.release(table, both, epsilon=1, seed=0)
    path = release.report(tmp_path / "hostile.html")
    with opened(browser, path) as sheet:
        assert sheet.page.locator("h1").text_content().startswith(f"How many, along {HOSTILE}")
        assert sheet.page.title().startswith("How many, along </script>")
        assert sheet.page.locator("#from0 option").all_text_contents() == LABELS
        lo, hi = ([LABELS[1]], [LABELS[3]]) if axes == 1 else ([LABELS[1], "2"], [LABELS[3], "5"])
        assert sheet.asked([fragment(lo, hi)]) == [[*written(answered(release, lo, hi)), ""]]
        sheet.page.click("#keep")
        assert LABELS[1] in sheet.page.locator("#kept tbody tr").text_content()
        sheet.asked([fragment([HOSTILE] * axes, [HOSTILE] * axes)])
        assert HOSTILE in sheet.texts("problem")[0]
        kept = list(csv.reader(io.StringIO(downloaded(sheet, "#save-kept"))))
        assert kept[1][1:3] == [LABELS[1], LABELS[3]]
        assert sheet.page.locator("script").count() == 2
        assert sheet.page.locator("img, svg, b:has-text('b</b>')").count() == 0


def test_a_seed_is_told_loudly_and_its_absence_is_not(browser, made, tmp_path):
    _, path = made("walk with hats")
    with opened(browser, path) as sheet:
        assert "NOT PRIVATE" in sheet.page.locator("header .warning").text_content()
    private = dawa.release({"x": [1, 2]}, dawa.Axis("x", 0, 9), epsilon=1).report(tmp_path / "private.html")
    with opened(browser, private) as sheet:
        assert sheet.page.locator(".warning").count() == 0


def test_a_release_without_records_and_one_of_a_single_bucket_are_shown(browser, tmp_path):
    empty = dawa.release({"x": []}, dawa.Axis("x", 0, 50), epsilon=1, seed=1, partition="one", postprocess="none")
    path = empty.report(tmp_path / "empty.html")
    with opened(browser, path, "#from=1&to=7") as sheet:
        assert sheet.shown() == written(empty.answer(1, 7))


def test_a_line_of_many_cells(browser, tmp_path):
    """All addresses of the internet, some of them cut."""
    addresses = np.random.default_rng(0).integers(0, 2**32, 4000) // 7
    release = dawa.release({"ip": addresses}, dawa.Axis("ip", 0, 2**32), epsilon=1, seed=0, effort="fast")
    ends = [("0", "4294967296"), ("123456789", "613566756"), ("1", "2"), ("0.25", "613566756.75")]
    with opened(browser, release.report(tmp_path / "many.html")) as sheet:
        found = sheet.asked([fragment([lo], [hi]) for lo, hi in ends])
        assert found == [[*written(release.answer(lo, hi)), ""] for lo, hi in ends]


def test_a_map_of_more_cells_than_numbers_says_so(browser, tmp_path):
    axes = [dawa.Axis("a", 0, 2**28), dawa.Axis("b", 0, 2**28)]
    release = dawa.release({"a": [5], "b": [7]}, axes, epsilon=1, seed=0, effort="fast")
    with opened(browser, release.report(tmp_path / "huge.html")) as sheet:
        assert "dawa query" in sheet.texts("explore")[0]
        assert "ε = 1" in sheet.page.locator("header").text_content()
