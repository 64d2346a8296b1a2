"""How pictures write and draw cells: labels that can be read, areas that are counts, one way to write numbers."""

import re
from itertools import pairwise

import numpy as np
import pytest

import dawa
from dawa_bench.page import PHONE
from helpers.browser import Sheet
from helpers.pages import edges
from helpers.pictured import RECORD

CARRIERS = ["United Airlines", "JetBlue", "ExpressJet Airlines", "Delta", "AirTran Airways Corporation", "Hawaiian"]


def categories():
    """Categories whose names need room."""
    values = [CARRIERS[i] for i in np.random.default_rng(0).integers(0, 6, 900)]
    return dawa.release({"carrier": values}, dawa.Axis.ordered("carrier", CARRIERS), epsilon=1, seed=0)


def large():
    """A line whose heights are millions, and a map with named rows."""
    axis = dawa.Axis("income", 0, 200_000, step=50_000)
    return dawa.release({"income": np.repeat([10_000, 60_000], [3_000_000, 400_000])}, axis, epsilon=1, seed=0)


def rows():
    """A map whose rows have names."""
    rng = np.random.default_rng(0)
    table = {"x": rng.uniform(0, 5000, 900), "carrier": [CARRIERS[i] for i in rng.integers(0, 6, 900)]}
    axes = [dawa.Axis("x", 0, 5000, step=100), dawa.Axis.ordered("carrier", CARRIERS)]
    return dawa.release(table, axes, epsilon=1, seed=0)


def year():
    """Every hour of a year."""
    rng = np.random.default_rng(0)
    hours = (24 * rng.integers(0, 365, 50_000) + rng.normal(13, 3, 50_000).clip(0, 23)).astype("m8[h]")
    axis = dawa.Axis.dates("when", "2013-01-01", "2014-01-01", step="1 hour")
    return dawa.release(
        {"when": np.datetime64("2013-01-01") + hours}, axis, epsilon=1, seed=0, effort="fast", partition="none"
    )


def space():
    """Three axes of different kinds."""
    rng = np.random.default_rng(0)
    table = {
        "income": rng.uniform(0, 100_000, 3000),
        "age": rng.gamma(3, 12, 3000).clip(0, 109),
        "carrier": [CARRIERS[i] for i in rng.integers(0, 6, 3000)],
    }
    axes = [
        dawa.Axis("income", 0, 100_000, step=5000),
        dawa.Axis.edges("age", [0, 1, 5, 18, 65, 110]),
        dawa.Axis.ordered("carrier", CARRIERS),
    ]
    return dawa.release(table, axes, epsilon=1, seed=0, effort="fast")


KINDS = {"edges": edges, "categories": categories, "large": large, "rows": rows, "year": year, "space": space}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder, found = tmp_path_factory.mktemp("labels"), {}

    def of(kind):
        if kind not in found:
            release = KINDS[kind]()
            found[kind] = release, release.report(folder / f"{kind}.html")
        return found[kind]

    return of


@pytest.fixture
def pictured(browser, saved):
    """A page that remembers what it draws."""
    contexts = []

    def of(kind, **context):
        release, path = saved(kind)
        contexts.append(browser.new_context(**context))
        page = contexts[-1].new_page()
        page.add_init_script(RECORD)
        sheet = Sheet(page, path)
        page.wait_for_timeout(300)
        return release, sheet

    yield of
    for context in contexts:
        context.close()


def overlap(one, other):
    return all(one["low"][i] < other["high"][i] and other["low"][i] < one["high"][i] for i in (0, 1)) and all(
        side["low"][0] < side["low"][1] for side in (one, other)
    )


@pytest.mark.long_but(1)
@pytest.mark.parametrize("screen", [{}, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("kind", KINDS)
def test_labels_are_whole_and_never_overlap(pictured, kind, screen):
    _, sheet = pictured(kind, **screen)
    pictures = sheet.page.evaluate("pictured('#chart .base')")
    assert pictures
    for picture in pictures:
        texts = [
            # low and high are sides of a box: from [left, right] and [top, bottom]
            {"text": one["text"], "low": [one["low"][0], one["high"][0]], "high": [one["low"][1], one["high"][1]]}
            for one in picture["what"]
            if "text" in one
        ]
        assert len(texts) >= 3
        for one in texts:
            assert "…" not in one["text"]
            assert one["low"][0] >= -1, one
            assert one["low"][1] >= -1, one
            assert one["high"][0] <= picture["width"] + 1, one
            assert one["high"][1] <= picture["height"] + 1, one
        for i, one in enumerate(texts):
            assert not [other["text"] for other in texts[:i] if overlap(one, other)], one["text"]
    sheet.check()


@pytest.mark.long_but(1)
@pytest.mark.parametrize("kind", ["large", "rows"])
def test_thousands_are_separated_everywhere(pictured, kind):
    _, sheet = pictured(kind)
    (picture,) = sheet.page.evaluate("pictured('#chart .base')")
    texts = [one["text"] for one in picture["what"] if "text" in one]
    assert any("," in text for text in texts)
    sheet.type(to0="5000" if kind == "rows" else "200000")
    shown = " ".join([*texts, *sheet.texts("asked", "cuts", "caption"), sheet.page.locator("header").inner_text()])
    assert not re.findall(r"(?<![\d.])\d{4,}", shown)


@pytest.mark.long
def test_years_have_no_comma(browser, tmp_path):
    release = dawa.release({"born": [1950, 1980]}, dawa.Axis("born", 1900, 2020), epsilon=1, seed=0)
    page = browser.new_context().new_page()
    page.add_init_script(RECORD)
    sheet = Sheet(page, release.report(tmp_path / "years.html"), "#from=1950&to=1990")
    texts = [one["text"] for one in page.evaluate("pictured('#chart .base')")[0]["what"] if "text" in one]
    assert {"1900", "1960"} & set(texts)
    assert sheet.texts("asked") == ["1950 to 1990"]
    assert "1900 to 2020" in page.locator("header").inner_text()
    page.context.close()


def bars(sheet):
    """The bars of the picture from left to right."""
    (picture,) = sheet.page.evaluate("pictured('#chart .base')")
    return sorted((one for one in picture["what"] if one.get("alpha") == 0.5), key=lambda one: one["x"])


def test_edges_are_to_scale_and_the_area_of_a_bar_is_its_count(pictured):
    release, sheet = pictured("edges")
    sheet.page.click("#linear")
    found = bars(sheet)
    cuts = [float(cut) for cut in release.axis.cuts]
    widths = np.diff(cuts)
    assert len(found) == len(widths)
    scale = found[-1]["width"] / widths[-1]
    assert [bar["width"] + 1 for bar in found[-4:]] == pytest.approx(scale * widths[-4:] + 1, abs=1.5)
    counts = np.array([release.answer(lo, hi).value for lo, hi in pairwise(cuts)])
    heights = np.array([bar["height"] for bar in found])
    assert heights / heights.max() == pytest.approx(counts / widths / (counts / widths).max(), abs=0.02)
    assert "per 10 of x" in sheet.texts("caption")[0]


def test_categories_are_bars(pictured):
    release, sheet = pictured("categories")
    found = bars(sheet)
    assert len(found) == len(CARRIERS)
    assert len({round(bar["width"], 3) for bar in found}) == 1
    assert all(one["x"] + one["width"] < other["x"] for one, other in pairwise(found)), "with gaps"
    counts = np.array([release.answer(label, label).value for label in CARRIERS])
    assert np.array([bar["height"] for bar in found]) == pytest.approx(counts * found[0]["height"] / counts[0], abs=0.5)


@pytest.mark.long
def test_a_year_of_hours_is_shown_by_days_and_by_hours_when_zoomed(pictured):
    _, sheet = pictured("year")
    assert "A step holds 24 cells together" in sheet.texts("caption")[0]
    for _ in range(6):
        sheet.page.click("#in")
    assert "cells together" not in sheet.texts("caption")[0]
