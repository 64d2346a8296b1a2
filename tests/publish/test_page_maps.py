"""Maps of longitude and latitude: in the shape of the land, with coasts; all other maps as they were."""

import json
import re

import numpy as np
import pytest

import dawa
from helpers.browser import opened
from helpers.pages import answered, written

PIXELS = "document.querySelector('#chart .base').toDataURL()"


def released(names, bounds, **options):
    """A map of two columns with these names and bounds."""
    rng = np.random.default_rng(0)
    table = {name: rng.uniform(lo, hi, 400) for name, (lo, hi) in zip(names, bounds, strict=True)}
    axes = [dawa.Axis(name, lo, hi, **options) for name, (lo, hi) in zip(names, bounds, strict=True)]
    return dawa.release(table, axes, epsilon=1, seed=0, effort="fast")


def geography(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])[
        "geography"
    ]


def test_a_map_of_the_world_has_the_shape_of_the_land_and_coasts(browser, tmp_path):
    bounds = [(-10, 30), (40, 60)]
    world = released(["lon", "lat"], bounds).report(tmp_path / "world.html")
    plain = released(["x", "y"], bounds).report(tmp_path / "plain.html")
    found = geography(world)
    assert found["aspect"] == pytest.approx(0.5 / np.cos(np.radians(50)))
    assert len(found["lines"]) > 20
    assert geography(plain) is None
    pictures = []
    for path in (world, plain):
        with opened(browser, path) as sheet:
            sheet.page.wait_for_timeout(300)
            left, right, up, down = edges(sheet)
            pictures.append((sheet.page.evaluate(PIXELS), (down - up) / (right - left)))
    assert pictures[0][0] != pictures[1][0]
    assert pictures[0][1] == pytest.approx(found["aspect"], rel=0.02)


def edges(sheet):
    """Where the plot of a map ends, from the sliders of a rectangle that is all of it."""
    sheet.asked(["from=-10&to=30&from=40&to=60"])
    box = {name: sheet.page.locator(f"[data-edge={name}]").bounding_box() for name in ("lo0", "hi0", "lo1", "hi1")}
    return (
        box["lo1"]["x"],
        box["lo1"]["x"] + box["lo1"]["width"],
        box["lo0"]["y"],
        box["lo0"]["y"] + box["lo0"]["height"],
    )


def test_dragging_on_a_map_of_the_world_gives_the_numbers_of_python(browser, tmp_path):
    release = released(["longitude", "latitude"], [(-20, 20), (-10, 10)])
    with opened(browser, release.report(tmp_path / "world.html")) as sheet:
        sheet.drag((0.2, 0.8), (0.6, 0.3))
        lo, hi = sheet.typed()
        assert sheet.shown() == written(answered(release, lo, hi))
        assert (lo, hi) != (["-10", "-5"], ["10", "5"]), "another rectangle than at first"


@pytest.mark.long
def test_a_city_has_no_coasts(tmp_path):
    found = geography(released(["lon", "lat"], [(2, 3), (48, 49)], step="0.05").report(tmp_path / "city.html"))
    assert found["lines"] == []
    assert found["aspect"] > 1
