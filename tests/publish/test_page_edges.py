"""Maps with uneven cells: places and colours mean the same in the picture, under a pointer and in Python."""

import base64
import io
import re
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

import dawa
from dawa.plots import areas
from dawa_bench.page import PHONE
from helpers.browser import opened
from helpers.groups import put_together
from helpers.pages import answered, written

AGE = dawa.Axis.edges("age", [0, 5, 18, 40, 65, 110], outside="drop", missing="drop")
PAY = dawa.Axis.edges("pay", [0, 1, 10, 100, 100_000], outside="drop", missing="drop")
X = dawa.Axis("x", 0, 20, outside="drop", missing="drop")
CUTS = {"age": [0, 5, 18, 40, 65, 110], "pay": [0, 1, 10, 100, 100_000], "x": list(range(21))}
PLACES = {"age": np.array(CUTS["age"]) / 110, "pay": np.arange(5) / 4, "x": np.arange(21) / 20}
KINDS = {"to the right": (AGE, X), "upwards": (X, AGE), "both ways": (AGE, PAY)}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder, found = tmp_path_factory.mktemp("edges"), {}

    def of(kind):
        if kind not in found:
            axes, rng = KINDS[kind], np.random.default_rng(4)
            table = {"age": rng.gamma(3, 12, 20_000).clip(0, 109), "x": rng.normal(9, 4, 20_000).clip(0, 19.9)}
            table["pay"] = 10 ** rng.uniform(-1, 4.9, 20_000)
            release = dawa.release(table, list(axes), epsilon=1, seed=0, effort="fast")
            found[kind] = release, release.report(folder / f"{len(found)}.html")
        return found[kind]

    return of


def corners(sheet, axes, turn=0):
    """Where the plot of a map lies on the screen, from the sliders of a rectangle that is all of it."""
    sheet.asked(
        ["&".join(f"from={CUTS[axis.column][0]}&to={CUTS[axis.column][-1]}" for axis in axes) + f"&turn={turn}"]
    )
    sheet.page.locator("#chart").scroll_into_view_if_needed()
    across, up = (sheet.page.locator(f"[data-edge={name}]").bounding_box() for name in ("lo1", "lo0"))
    return across["x"], across["x"] + across["width"], up["y"] + up["height"], up["y"]


def pixel(found, across, up):
    left, right, bottom, top = found
    return left + across * (right - left), bottom + up * (top - bottom)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_rectangle_is_dragged_where_the_values_are(browser, saved, kind):
    release, path = saved(kind)
    across, up = release.axes
    rng = np.random.default_rng(1)
    with opened(browser, path) as sheet:
        for turn in range(4):
            picked = [np.sort(rng.choice(axis.size, 2, replace=False)) for axis in (across, up)]
            middles = [
                [(PLACES[axis.column][cell] + PLACES[axis.column][cell + 1]) / 2 for cell in cells]
                for axis, cells in zip((across, up), picked, strict=True)
            ]
            plot = corners(sheet, release.axes, turn)
            drag(sheet, pixel(plot, middles[0][0], middles[1][0]), pixel(plot, middles[0][1], middles[1][1]))
            lo, hi = sheet.typed()
            columns = [across.column, up.column]
            assert lo == [str(CUTS[name][cells[0]]) for name, cells in zip(columns, picked, strict=True)]
            assert hi == [str(CUTS[name][cells[1] + 1]) for name, cells in zip(columns, picked, strict=True)]
            assert sheet.shown() == written(answered(release, lo, hi))


def drag(sheet, start, stop):
    sheet.page.mouse.move(*start)
    sheet.page.mouse.down()
    sheet.page.mouse.move(*stop, steps=4)
    sheet.page.mouse.up()
    sheet.rest()


def test_sliders_lie_at_the_values_and_keys_go_from_edge_to_edge(browser, saved):
    release, path = saved("both ways")
    with opened(browser, path) as sheet:
        left, right, bottom, top = corners(sheet, release.axes)
        for cut, place in zip(CUTS["age"][1:-1], PLACES["age"][1:-1], strict=True):
            sheet.asked([f"from=0&to={cut}&from=0&to=10"])
            box = sheet.page.locator("[data-edge=lo1]").bounding_box()
            assert box["x"] + box["width"] == pytest.approx(left + place * (right - left), abs=0.05)
            box = sheet.page.locator("[data-edge=lo0]").bounding_box()
            assert box["y"] == pytest.approx(bottom + 0.5 * (top - bottom), abs=0.05), "10 is the second of four edges"
        sheet.page.focus("[data-edge=hi0]")
        for key, end in (("ArrowLeft", "40"), ("ArrowLeft", "18"), ("End", "110")):
            sheet.page.keyboard.press(key)
            sheet.rest()
            lo, hi = sheet.typed()
            assert hi[0] == end
            assert sheet.shown() == written(answered(release, lo, hi))


def ramp(path):
    """The 256 colours of a page in light colours."""
    text = path.read_text(encoding="utf-8")
    stops = np.array([
        [int(re.search(rf"--heat{i}: #(\w+);", text)[1][at : at + 2], 16) for at in (0, 2, 4)] for i in range(5)
    ])  # fmt: skip
    at = np.linspace(0, 4, 256)
    return np.stack([np.interp(at, range(5), stops[:, channel]) for channel in range(3)], axis=1)


@pytest.mark.parametrize("kind", ["to the right", pytest.param("upwards", marks=pytest.mark.long)])
def test_colours_are_those_of_the_figure_of_python(browser, saved, kind):
    release, path = saved(kind)
    image = np.maximum(areas.image(release.axes, release.estimate.cells, 600), 0)
    with opened(browser, path) as sheet:
        sheet.page.click("#linear")
        left, right, bottom, top = corners(sheet, release.axes)
        sheet.page.wait_for_timeout(300)
        box = sheet.page.locator("#chart").bounding_box()
        drawn = sheet.page.evaluate("document.querySelector('#chart .base').toDataURL()")
    picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(drawn.split(",")[1]))).convert("RGB")).astype(float)
    colours = ramp(path)
    shares, densities = [], []
    across, up = (PLACES[axis.column] for axis in release.axes)
    for x0, x1 in pairwise(across):
        for y0, y1 in pairwise(up):
            x, y = left + (x0 + x1) / 2 * (right - left), bottom + (y0 + y1) / 2 * (top - bottom)
            found = picture[int(y - box["y"]), int(x - box["x"])]
            shares.append(np.abs(colours - found).sum(axis=1).argmin() / 255)
            densities.append(image[int((x0 + x1) / 2 * image.shape[0]), int((y0 + y1) / 2 * image.shape[1])])
    shares, densities = np.array(shares), np.array(densities)
    inner = (shares < 1) & (shares > 0)
    assert inner.sum() > 40
    most = np.median(densities[inner] / shares[inner])
    assert shares == pytest.approx(np.minimum(densities / most, 1), abs=0.02)


def test_it_says_which_cells_are_to_scale(browser, saved):
    _, path = saved("both ways")
    with opened(browser, path) as sheet:
        caption = sheet.texts("caption")[0]
    assert "records per 10 of age and cell of pay: age to the right, between edges, to scale; " in caption
    assert "pay upwards, between edges, all drawn equally wide." in caption


@pytest.mark.long
def test_a_view_that_is_zoomed_keeps_places_and_values_together(browser, saved):
    release, path = saved("to the right")
    with opened(browser, path) as sheet:
        plot = corners(sheet, release.axes)
        sheet.page.click("#in")
        sheet.page.wait_for_timeout(300)
        # The middle half of the axis is in view: ages from 27.5 to 82.5, and x from 5 to 15.
        drag(sheet, pixel(plot, (30 - 27.5) / 55, 0.05), pixel(plot, (50 - 27.5) / 55, 0.95))
        lo, hi = sheet.typed()
        assert (lo, hi) == (["18", "5"], ["65", "15"])
        assert sheet.shown() == written(answered(release, lo, hi))


@pytest.mark.long
@pytest.mark.parametrize("screen", [{}, PHONE], ids=["desktop", "phone"])
def test_small_pictures_mark_the_range_where_it_lies(browser, tmp_path, screen):
    counts = [np.random.default_rng(g).poisson(30, (5, 20)) for g in range(3)]
    release = put_together((AGE, X), {"g": ["a", "b", "c"]}, counts, seed=1, effort="fast")
    with opened(browser, release.report(tmp_path / "g.html"), "#from=18&to=65&from=5&to=15", **screen) as sheet:
        style = sheet.page.locator(".tile .plot i").first.evaluate(
            "({ style }) => ['left', 'width', 'bottom', 'height'].map((side) => parseFloat(style[side]))"
        )
        assert style == pytest.approx([100 * 18 / 110, 100 * 47 / 110, 25, 50], rel=1e-4)
