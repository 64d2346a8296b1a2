"""Three and four axes: rows of bars that filter one another, and the same numbers as ``Release.answer``."""

import re

import numpy as np
import pytest

import dawa
from dawa.axis import written as values
from helpers.browser import opened
from helpers.pages import answered, fragment, records, written

CONFIDENCES = (0.8, 0.9, 0.95, 0.99)
READ = re.compile(r"(?P<where>.*): (?P<value>[\d,.]+) \((?P<low>[\d,.]+) to (?P<high>[\d,.]+)\)")
SETTLED = "document.querySelectorAll('.lane[data-stale]').length === 0"


def boxes(release, seed, count):
    """Random boxes of whole cells, each as two lists of ends that people write."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        ends = []
        for axis in release.axes:
            a, b = np.sort(rng.choice(axis.size + 1, 2, replace=False)).tolist()
            labelled = axis.kind == "ordered"
            ends.append(
                (axis.labels[a], axis.labels[b - 1])
                if labelled
                else [str(end[0]) for end in values.written(axis, [a], [b])]
            )
        yield [list(side) for side in zip(*ends, strict=True)]


@pytest.mark.parametrize("kind", ["three axes", pytest.param("four axes", marks=pytest.mark.long)])
def test_random_boxes_and_every_bar_have_the_same_numbers_as_in_python(browser, made, kind):
    release, path = made(kind)
    for i, (lo, hi) in enumerate(boxes(release, 11, 3)):
        confidence = CONFIDENCES[i]
        with opened(browser, path, "#" + fragment(lo, hi, confidence)) as sheet:
            assert sheet.shown() == written(answered(release, lo, hi, confidence))
            sheet.until(SETTLED)
            for dimension, axis in enumerate(release.axes):
                for told in bars(sheet, dimension, axis):
                    from_, *rest = told["where"].split(" to ")
                    ends = [[*lo], [*hi]]
                    ends[0][dimension], ends[1][dimension] = from_, rest[0] if rest else from_
                    answer = answered(release, *ends, confidence)
                    expected = [records(x) for x in (answer.value, answer.low, answer.high)]
                    assert [told["value"], told["low"], told["high"]] == expected, told["where"]


def bars(sheet, dimension, axis):
    """What a row says of every bar that a pointer meets from left to right."""
    row = sheet.page.locator(".lane").nth(dimension)
    row.scroll_into_view_if_needed()
    box = row.locator(".plotted").bounding_box()
    found = {}
    for at in np.linspace(0.5, 2 * axis.size - 0.5, 2 * axis.size) / (2 * axis.size):
        sheet.page.mouse.move(box["x"] + 58.5 + at * (box["width"] - 73), box["y"] + 30)
        told = READ.fullmatch(row.locator(".read").text_content())
        assert told, "every place has a bar"
        found[told["where"]] = told
    assert len(found) > 1
    return found.values()


def drag(sheet, dimension, start, stop):
    """Drag along a row, between two parts of its width."""
    sheet.page.locator(".lane").nth(dimension).scroll_into_view_if_needed()
    box = sheet.page.locator(".plotted").nth(dimension).bounding_box()
    x0, x1 = (box["x"] + 58 + part * (box["width"] - 72) for part in (start, stop))
    sheet.page.mouse.move(x0, box["y"] + 40)
    sheet.page.mouse.down()
    sheet.page.mouse.move(x1, box["y"] + 40, steps=5)
    sheet.page.mouse.up()
    sheet.rest()


def drawn(sheet):
    """The picture of every row."""
    sheet.until(SETTLED)
    sheet.page.mouse.move(0, 0)
    return sheet.page.evaluate("[...document.querySelectorAll('.lane .base')].map((each) => each.toDataURL())")


def test_a_range_that_is_dragged_on_one_axis_filters_the_others(browser, made):
    release, path = made("three axes")
    with opened(browser, path) as sheet:
        before = drawn(sheet)
        drag(sheet, 1, 0.05, 0.4)
        lo, hi = sheet.typed()
        assert (lo[1], hi[1]) == ("0", "4")
        assert sheet.shown() == written(answered(release, lo, hi))
        after = drawn(sheet)
        assert [one != other for one, other in zip(before, after, strict=True)] == [True, False, True]
        assert "in the picture" not in sheet.texts("cuts")[0]


def test_cells_too_narrow_to_scale_are_equally_wide_as_in_figures(browser, tmp_path):
    rng = np.random.default_rng(4)
    pay = dawa.Axis.edges("pay", [0, 1, 10, 100, 100_000], outside="drop", missing="drop")
    age = dawa.Axis.edges("age", [0, 20, 40, 65, 110], outside="drop", missing="drop")
    x = dawa.Axis("x", 0, 6, outside="drop", missing="drop")
    table = {"pay": 10 ** rng.uniform(-1, 4.9, 5000), "age": rng.uniform(0, 110, 5000), "x": rng.uniform(0, 6, 5000)}
    release = dawa.release(table, [pay, age, x], epsilon=1, seed=0, effort="fast")
    with opened(browser, release.report(tmp_path / "page.html")) as sheet:
        units = sheet.page.locator(".lane .unit").all_text_contents()
        assert units == ["records per cell", "records per 10 of age", "records per cell"]
        drag(sheet, 0, 0.3, 0.7)  # in the second of four cells, and in the third
        lo, hi = sheet.typed()
        assert (lo[0], hi[0]) == ("1", "100")
        assert sheet.shown() == written(answered(release, lo, hi))
        drag(sheet, 1, 0.05, 0.3)  # to scale: 0.3 of 110 is 33
        assert (sheet.typed()[0][1], sheet.typed()[1][1]) == ("0", "40")
        assert sheet.shown() == written(answered(release, *sheet.typed()))


def test_rows_work_with_the_keyboard(browser, made):
    release, path = made("three axes")
    with opened(browser, path, "#" + fragment(["2", "3", "1"], ["8", "6", "5"])) as sheet:
        assert sheet.page.get_by_role("slider").count() == 6
        sheet.page.focus("[data-edge=hi2]")
        for key, ends in (
            ("ArrowRight", [["2", "3", "1"], ["8", "6", "6"]]),
            ("End", [["2", "3", "1"], ["8", "6", "7"]]),
            ("Shift+ArrowLeft", [["2", "3", "0"], ["8", "6", "6"]]),
            ("Control+ArrowLeft", [["2", "3", "0"], ["8", "6", "5"]]),
        ):
            sheet.page.keyboard.press(key)
            sheet.rest()
            assert sheet.typed() == ends
            assert sheet.shown() == written(answered(release, *ends))


@pytest.mark.long
def test_rows_zoom_and_have_both_scales(browser, made):
    _, path = made("four axes")
    with opened(browser, path) as sheet:
        numbers, views = sheet.shown(), [drawn(sheet)]
        for button in ("#in", "#right", "#log"):
            sheet.page.click(button)
            sheet.rest()
            views.append(drawn(sheet))
        assert len({tuple(view) for view in views}) == 4
        sheet.page.click("#reset")
        sheet.page.click("#linear")
        sheet.rest()
        assert drawn(sheet) == views[0]
        assert sheet.shown() == numbers
