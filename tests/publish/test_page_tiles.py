"""Small pictures of groups over three and four axes: bars are answers of Python, and a picture chooses its group."""

from itertools import pairwise

import numpy as np
import pytest

import dawa
from dawa_bench.page import PHONE
from helpers.groups import put_together
from helpers.pages import answered, fragment, written
from helpers.pictured import drawn, pictured

RNG = np.random.default_rng(3)
AXES = (
    dawa.Axis("a", 0, 8, outside="drop", missing="drop"),
    dawa.Axis.edges("b", [0, 1, 5, 20], outside="drop", missing="drop"),
    dawa.Axis("c", 0, 4, outside="drop", missing="drop"),
)
CUTS = (range(9), (0, 1, 5, 20), range(5))
SETTLED = "document.getElementById('tiles').getAttribute('aria-busy') === 'false'"
CONFIDENCE = 0.9


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    places = np.arange(8)[:, None, None]
    counts = [RNG.poisson(15 * g * np.exp(-((places - 2 * g) ** 2) / 6) + np.zeros((8, 3, 4))) for g in (1, 2, 3)]
    release = put_together(AXES, {"g": ["p", "q", "r"]}, counts, epsilon=2, seed=1, effort="fast")
    return release, release.report(tmp_path_factory.mktemp("tiles") / "page.html")


def heights(picture):
    """How high bars are, from left to right, and where their intervals end, above the foot of a picture."""
    boxes = sorted((one for one in picture["what"] if "fill" in one), key=lambda one: one["x"])
    foot = picture["height"]
    bars = [one["height"] for one in boxes if one["alpha"] == pytest.approx(0.55)]
    lines = [(foot - one["y"] - one["height"], foot - one["y"]) for one in boxes if one["width"] == 1.2]
    return bars, lines


def expected(release, group, dimension, lo, hi):
    """What the bars along an axis are in Python, in records per cell or unit."""
    found = []
    for from_, to in pairwise(CUTS[dimension]):
        lows, highs = [*lo], [*hi]
        lows[dimension], highs[dimension] = str(from_), str(to)
        answer = answered(release[group], lows, highs, CONFIDENCE)
        found.append([part / (to - from_) for part in (answer.value, answer.low, answer.high)])
    return np.array(found)


def same_bars(sheet, release, dimension, lo, hi):
    sheet.until(SETTLED)
    every = [expected(release, group, dimension, lo, hi) for group in "pqr"]
    most = max(max(min(one[:, 2].max(), 2 * one[:, 0].max()), one[:, 0].max()) for one in every)
    for picture, one in zip(drawn(sheet, "#tiles .tile canvas"), every, strict=True):
        bars, lines = heights(picture)
        scale = (picture["height"] - 3) / most
        assert bars == pytest.approx(scale * one[:, 0], abs=0.01)
        assert np.array(lines) == pytest.approx(np.minimum(scale * one[:, 1:], picture["height"] - 3), abs=0.01)


def test_bars_are_the_answers_of_python_along_every_axis(browser, saved):
    release, path = saved
    lo, hi = ["1", "1", "0"], ["6", "20", "3"]
    with pictured(browser, path, "#" + fragment(lo, hi, CONFIDENCE)) as sheet:
        for dimension in range(3):
            sheet.page.select_option("#tiles-axis", str(dimension))
            same_bars(sheet, release, dimension, lo, hi)
            mark = sheet.page.locator(".tile .plot i").first
            cuts = CUTS[dimension]
            left = (float(lo[dimension]) - cuts[0]) / (cuts[-1] - cuts[0])
            assert mark.evaluate("(mark) => parseFloat(mark.style.left)") == pytest.approx(100 * left)


def test_bars_follow_the_ranges_of_the_other_axes(browser, saved):
    release, path = saved
    with pictured(browser, path, "#" + fragment(["1", "1", "0"], ["6", "20", "3"], CONFIDENCE)) as sheet:
        sheet.type(from2="1", to2="4")
        same_bars(sheet, release, 0, ["1", "1", "1"], ["6", "20", "4"])


def test_a_picture_chooses_its_group_with_the_mouse_and_with_keys(browser, saved):
    release, path = saved
    with pictured(browser, path, "#" + fragment(["1", "1", "0"], ["6", "20", "3"])) as sheet:
        sheet.page.locator(".tile").nth(2).click()
        assert sheet.shown() == written(release["r"].answer(("1", "1", "0"), ("6", "20", "3")))
        sheet.page.keyboard.press("ArrowLeft")
        sheet.page.keyboard.press("Enter")
        assert sheet.shown() == written(release["q"].answer(("1", "1", "0"), ("6", "20", "3")))
        assert sheet.page.locator('.tile[aria-pressed="true"] b').text_content() == "q"


@pytest.mark.long
@pytest.mark.parametrize("screen", [PHONE, {"color_scheme": "dark"}], ids=["phone", "dark"])
def test_scales_and_screens(browser, saved, screen):
    _, path = saved
    picture = "document.querySelectorAll('.tile canvas')[0].toDataURL()"
    with pictured(browser, path, **screen) as sheet:
        sheet.until(SETTLED)
        assert sheet.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        sheet.redrawn(picture)
