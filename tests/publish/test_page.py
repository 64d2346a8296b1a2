"""The page in a real browser: the same numbers as ``Release.answer``, however they are asked for."""

from dataclasses import replace
from urllib.parse import urlencode

import numpy as np
import pytest

import dawa
from dawa.axis import written as values
from dawa_bench.page import PHONE
from helpers.browser import opened
from helpers.pages import KINDS, answered, fragment, written

CONFIDENCES = (0.8, 0.9, 0.95, 0.99)


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
    if axis.kind == "addresses":
        return tuple(axis.value(np.sort(rng.uniform(0, axis.size, 2))))
    low, high = float(axis.start), float(axis.stop)
    return tuple(f"{x:.4f}" for x in np.sort(rng.uniform(low, high, 2)))


@pytest.mark.long_but(1)
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


@pytest.mark.long
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


@pytest.mark.long_but(1)
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


@pytest.mark.long_but(1)
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
        assert f"{bounds[wide]:,} to {bounds[wide + 1]:,} (" in sheet.texts("cuts")[0]
        inside = 1 - 1 / (bounds[wide + 1] - bounds[wide])
        assert f"({100 * inside:.1f}% of it inside)" in sheet.texts("cuts")[0]


@pytest.mark.long
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


@pytest.mark.long
@pytest.mark.parametrize("bits", [32, 50])
def test_a_line_whose_walk_compared_halves(browser, tmp_path, bits):
    """Ranges anywhere, within one bucket, and that end in the middle of one."""
    rng, size = np.random.default_rng(bits), 2**bits - 12345  # so that some nodes are clipped
    values = np.append(rng.integers(0, size, 60_000), rng.integers(0, size // 9, 20_000))
    release = dawa.release({"x": values}, dawa.Axis("x", 0, size), epsilon="0.5", seed=2, effort="fast")
    buckets = release.estimate.buckets
    assert buckets.stops.halves
    assert len(buckets) > 10
    bucket = rng.integers(0, len(buckets), 20)
    start, width = buckets.bounds[bucket], np.diff(buckets.bounds)[bucket]
    anywhere, narrow = rng.integers(0, size, (2, 30)), start + (width * rng.random((2, 20))).astype(np.int64)
    middle = start + width // 2 + rng.integers(-1, 2, (2, 20))
    last = np.array([[3, buckets.bounds[-2] + 5], [size - 9, size - 2]])
    lo, hi = np.sort(np.concatenate((anywhere, narrow, middle, last), axis=1), axis=0)
    ends = [(str(low), str(high + 1)) for low, high in zip(lo.tolist(), hi.tolist(), strict=True)]
    with opened(browser, release.report(tmp_path / "halves.html")) as sheet:
        found = sheet.asked([fragment([low], [high], CONFIDENCES[i % 4]) for i, (low, high) in enumerate(ends)])
    expected = [release.answer(low, high, CONFIDENCES[i % 4]) for i, (low, high) in enumerate(ends)]
    assert found == [[*written(one), ""] for one in expected]
    unruled = replace(release, estimate=replace(release.estimate, buckets=replace(buckets, stops=None)))
    wide = [unruled.answer(low, high, CONFIDENCES[i % 4]).bias_bound for i, (low, high) in enumerate(ends)]
    assert sum(one.bias_bound < 0.9 * other for one, other in zip(expected, wide, strict=True)) > 20


def test_networks_are_typed_as_they_are_in_python(browser, made):
    release, path = made("addresses")
    with opened(browser, path) as sheet:
        for lo, hi in (("10.64.0.0/10", "10.64.0.0/10"), ("10.1.2.0/24", "10.9.0.0"), ("10.0.0.7", "10.0.0.9")):
            assert sheet.asked([fragment([lo], [hi])]) == [[*written(release.answer(lo, hi)), ""]]
    assert release.answer("10.64.0.0/10").value == release.answer("10.64.0.0/10", "10.64.0.0/10").value


def test_a_line_of_more_cells_than_numbers_says_so(browser, tmp_path):
    axis = dawa.Axis("x", 0, 2**62)
    release = dawa.release({"x": [2**60 + 5] * 900 + list(range(900))}, axis, epsilon=1, seed=0, effort="fast")
    with opened(browser, release.report(tmp_path / "huge.html")) as sheet:
        assert "dawa query" in sheet.texts("explore")[0]
        assert "ε = 1" in sheet.page.locator("header").text_content()


@pytest.mark.long
def test_a_map_of_more_cells_than_numbers_says_so(browser, tmp_path):
    axes = [dawa.Axis("a", 0, 2**28), dawa.Axis("b", 0, 2**28)]
    release = dawa.release({"a": [5], "b": [7]}, axes, epsilon=1, seed=0, effort="fast")
    with opened(browser, release.report(tmp_path / "huge.html")) as sheet:
        assert "dawa query" in sheet.texts("explore")[0]
        assert "ε = 1" in sheet.page.locator("header").text_content()
