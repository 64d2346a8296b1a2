"""Bands in tables, files, over HTTP and on the page: the same numbers as Python's, in the same words."""

import csv
import io
import json

import numpy as np
import pyarrow.parquet
import pytest

import dawa as library
from dawa.publish import bands
from dawa.server import app
from helpers.asgi import Client
from helpers.browser import opened
from helpers.commands import dawa, names, refused
from helpers.pages import KINDS


@pytest.fixture(scope="module")
def folder(made, tmp_path_factory):
    """Releases of several kinds as files."""
    place = tmp_path_factory.mktemp("bands")
    for kind in ("walk with hats", "ordered", "days", "map with a tree"):
        made(kind)[0].save(place / f"{kind.replace(' ', '-')}.json")
    return place


@pytest.mark.long_but(1)
@pytest.mark.parametrize("kind", ["walk with hats", "ordered", "days"])
def test_every_way_tells_the_same_limits(folder, made, kind):
    release, file = made(kind)[0], folder / f"{kind.replace(' ', '-')}.json"
    band = release.band(0.9)
    typed = dawa("query", file, "--band", "--confidence", "0.9", "--json").json["band"]
    heard = Client(app(folder)).get(f"/releases/{file.stem}/band?confidence=0.9").json()
    read = list(csv.DictReader(io.StringIO(dawa("query", file, "--band", "--confidence", "0.9", "--csv").out)))
    assert heard["total"] == len(typed["bounds"]) == len(read) == len(band) - 1
    assert heard["bounds"] == typed["bounds"]
    assert (heard["confidence"], heard["said"]) == (0.9, band.said)
    assert typed["confidence"] == 0.9
    for name in bands.COLUMNS:
        expected = getattr(band, name)[1:].tolist()
        assert [line[name] for line in heard["bounds"]] == expected
        assert [float(line[name]) for line in read] == expected
    assert [line["to"] for line in read] == [str(line["to"]) for line in heard["bounds"]]
    if kind == "ordered":
        assert heard["bounds"][-1]["to"] == release.axis.labels[-1]


def test_a_screen_shows_some_bounds_and_says_so(folder, made):
    shown = dawa("query", folder / "days.json", "--band")
    many = made("days")[0].band()
    assert len(many) > 42
    assert many.said.removesuffix(".") in shown.out
    assert f"40 of {len(many) - 1} bounds" in shown.out
    few = dawa("query", folder / "ordered.json", "--band").out
    assert "level up to" in few
    assert "bounds;" not in few


def test_some_of_a_band_over_http(folder):
    client = Client(app(folder))
    every = client.get("/releases/days/band").json()
    part = client.get("/releases/days/band?first=5&count=3").json()
    assert part["bounds"] == every["bounds"][5:8]
    assert client.get("/releases/days/band?first=100000").json()["bounds"] == []
    assert "along one axis" in client.get("/releases/map-with-a-tree/band").json()["problem"]


def test_a_band_is_a_table_of_its_own(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "a band of" in dawa("query", folder / "days.json", "--band", "--out", "band.parquet").out
    table = pyarrow.parquet.read_table("band.parquet")
    assert table.column_names == ["to", *bands.COLUMNS, "confidence", "remark"]
    assert str(table.schema.field("to").type) == "timestamp[us]"
    dawa("query", folder / "days.json", "--band", "--out", "band.json")
    assert len(json.loads((tmp_path / "band.json").read_text())["band"]["bounds"]) == table.num_rows
    refused(dawa("query", folder / "walk-with-hats.json", "--band", "--mean", "--csv"), "table of its own")
    refused(dawa("query", folder / "map-with-a-tree.json", "--band"), "2 axes")
    assert names(tmp_path) == {"band.parquet", "band.json"}
    beside = dawa("query", folder / "walk-with-hats.json", "0:500", "--band", "--json").json
    assert len(beside["answers"]) == 1
    assert beside["band"]["confidence"] == 0.95


# --- the page --------------------------------------------------------------------------------------------------------


def test_what_a_page_draws_holds_what_python_promises():
    rng = np.random.default_rng(0)
    rel = library.release(
        {"x": rng.uniform(0, 1000, 5000)}, library.Axis("x", 0, 1000), epsilon=1, partition="none", seed=0
    )
    few, band = bands.for_page(rel, 0.95), rel.band()
    assert len(few["at"]) == bands.MOST_ON_PAGE
    assert (few["at"][0], few["at"][-1]) == (0, 1000)
    for at, low, high in zip(few["at"], few["low"], few["high"], strict=True):
        assert 0 <= band.share_low[at] - low <= 10.0**-bands.DIGITS
        assert 0 <= high - band.share_high[at] <= 10.0**-bands.DIGITS
    assert bands.for_page(KINDS["map with a tree"](), 0.95) is None


def percent(share):
    return f"{100 * share:.1f}%"


@pytest.mark.long_but(1)
@pytest.mark.parametrize("kind", ["walk with hats", "ordered", "days"])
def test_a_page_shows_it_when_it_is_asked_to(browser, made, kind):
    release, path = made(kind)
    few, caption = bands.for_page(release, 0.9), "#curve-caption"
    with opened(browser, path) as sheet:
        before = sheet.page.locator(caption).text_content()
        picture = "document.querySelector('#curve canvas').toDataURL()"
        drawn = sheet.page.evaluate(picture)
        assert " to " not in before
        sheet.page.check("#band")
        assert sheet.texts("band-said") == [release.band(0.95).said]
        sheet.page.select_option("#confidence", "0.9")
        assert sheet.texts("band-said") == [release.band(0.9).said]
        assert sheet.page.evaluate(picture) != drawn
        whole = sheet.typed()
        lo, hi = (release.axis.span(*(ends[0] for ends in whole))[end] for end in (0, 1))
        for end in (lo, hi):
            left = max(i for i, at in enumerate(few["at"]) if at <= end)
            right = min(i for i, at in enumerate(few["at"]) if at >= end)
            limits = f"({percent(few['low'][left])} to {percent(few['high'][right])})"
            assert limits in sheet.page.locator(caption).text_content()
        sheet.page.uncheck("#band")
        assert sheet.texts("band-said") == [""]
        sheet.page.select_option("#confidence", "0.95")
        assert sheet.page.evaluate(picture) == drawn
