"""What the page is built from: one file, with everything in it and nothing around it."""

import json
import re
from html.parser import HTMLParser
from importlib import resources

import numpy as np
import pytest

import dawa
from dawa.axis.readings import at, ticks
from dawa.errors import FolderError, OptionError
from dawa.publish import page as report
from dawa.publish.page import build
from dawa.results.margins import margin_factor
from helpers.commands import dawa as run
from helpers.commands import refused

VOID = {"meta", "link", "input", "br", "hr", "img"}


class Elements(HTMLParser):
    """The elements of a page, and whether each is closed where it should be."""

    def __init__(self, text):
        super().__init__()
        self.open, self.found, self.inside = [], [], {}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.inside.setdefault(self.open[-1], []).append(data)


@pytest.fixture(scope="module")
def ages():
    rng = np.random.default_rng(0)
    return dawa.release({"age": rng.normal(40, 12, 3000)}, dawa.Axis("age", 0, 120), epsilon="0.5", seed=0)


def data_of(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


def test_the_page_is_well_formed_and_asks_nobody(ages):
    text = report.html(ages)
    elements = Elements(text)
    assert not elements.open
    policy = next(attrs["content"] for tag, attrs in elements.found if attrs.get("http-equiv"))
    assert policy.startswith("default-src 'none'; ")
    assert "connect-src" not in policy
    addresses = [attrs[name] for _, attrs in elements.found for name in ("src", "href", "action") if name in attrs]
    assert all(address.startswith(("#", "data:")) for address in addresses)
    assert not re.search(r"https?://|\bfetch\(|XMLHttpRequest|WebSocket|innerHTML|insertAdjacentHTML|eval\(", text)
    assert "{{" not in text


def test_it_holds_the_release_and_the_margins_of_python(ages, tmp_path):
    data = data_of(report.html(ages))
    ages.save(tmp_path / "release.json")
    assert data["release"] == json.loads((tmp_path / "release.json").read_text())
    assert [level["confidence"] for level in data["levels"]] == [0.8, 0.9, 0.95, 0.99]
    assert data["levels"][2]["cut"] == margin_factor((1 - 0.95) / 2, 65536 / 0.5)


def test_it_is_small():
    """A thousand buckets stay far below 1.5 MB."""
    counts = np.arange(1000) % 97
    table = {"x": np.repeat(np.arange(1000), counts)}
    release = dawa.release(table, dawa.Axis("x", 0, 1000), epsilon=1, seed=0, partition="none", strategy="hats")
    assert len(release.values()) == 1000
    assert len(report.html(release).encode()) < 360_000


def test_every_script_and_part_is_shipped_and_used():
    files = {file.name for file in resources.files("dawa.publish.page").iterdir()}
    assert {name for name in files if name.endswith(".js")} == set(build.SCRIPTS)
    assert {"page.html", "page.css", "not_private.html"} <= files


def test_no_text_ends_the_data():
    hostile = "</script><!--<script>\u2028&amp;"
    text = build.script({"x": hostile})
    assert not set(text) & set("<>&\u2028")
    assert json.loads(text) == {"x": hostile}


def test_what_is_filled_in_is_not_filled_again():
    assert build._filled("{{a}} {{b}}", a="{{b}}", b="x") == "{{b}} x"
    with pytest.raises(KeyError):
        build._filled("{{nothing}}")


def test_the_statement_and_the_split_are_there(ages):
    text = report.html(ages)
    words = " ".join("".join(Elements(text).inside["p"]).split())
    assert " ".join(str(ages.privacy).split()) in words
    assert "NOT PRIVATE" in text
    assert "<dd>nobody</dd>" in text
    assert "exposed" not in text
    shares = [float(share) for share in re.findall(r"flex-grow:([0-9.]+)", text)]
    assert sum(shares) == pytest.approx(1, abs=1e-5)
    assert len(shares) == len([part for part in ages.privacy.split.values() if part])


def test_a_person_is_named_as_what_is_protected():
    table = {"who": [1, 1, 2], "age": [30, 31, 40]}
    release = dawa.release(table, dawa.Axis("age", 0, 99), epsilon=1, unit="who", max_rows_per_unit=2)
    text = report.html(release)
    assert "each person (one value of who), with up to 2 records counted" in text
    assert "moves them by a factor of 2.72 at most" in text
    assert "NOT PRIVATE" not in text


@pytest.mark.filterwarnings("ignore::dawa.LargeEpsilonWarning")
def test_a_large_epsilon_promises_little():
    usual, large = (dawa.release({"age": [30]}, dawa.Axis("age", 0, 99), epsilon=epsilon) for epsilon in (10, 20))
    assert "promises little" not in report.html(usual)
    assert "moves them by a factor of 22,026 at most" in report.html(usual)
    assert '<p class="warning" role="note" id="weak">ε = 20 promises little' in report.html(large)
    assert "<dd>hardly: each single record</dd>" in report.html(large)


@pytest.mark.parametrize(
    ("zone", "start", "stop", "changes"),
    [
        ("Europe/Berlin", "2013-01-01", "2015-01-01", 4),
        ("UTC", "2013-01-01", "2015-01-01", 0),
        ("America/New_York", "2013-03-10", "2013-03-11", 1),
        ("Australia/Lord_Howe", "2020-01-01", "2021-01-01", 2),
    ],
)
def test_offsets_are_those_of_the_zone(zone, start, stop, changes):
    axis = dawa.Axis.dates("when", start, stop, step="1 day", zone=zone)
    found = [(int(tick), east) for tick, east in build._offsets(axis)]
    assert len(found) == changes + 1
    first, last = ticks(axis.start), ticks(axis.stop)
    for tick in np.linspace(first, last, 4001).astype(np.int64).tolist() + [tick for tick, _ in found]:
        east = [east for begin, east in found if begin <= tick][-1]
        assert east == at(tick, axis.start.tzinfo).utcoffset().total_seconds()


def test_dates_come_as_runs_of_cells():
    axis = dawa.Axis.dates("when", "2013-01-01", "2014-01-01", step="1 month")
    times = build._times(axis)
    assert times["size"] == 12
    assert times["offsets"] is None
    day = 86_400_000_000
    assert [int(width) // day for _, _, width in times["runs"]][:3] == [31, 28, 31]


def test_the_method_writes_the_page(ages, tmp_path):
    written = ages.report(tmp_path / "page.html")
    assert written.read_text(encoding="utf-8") == report.html(ages)


def test_a_file_that_cannot_be_written_is_named(ages, tmp_path):
    with pytest.raises(FolderError, match="cannot be written"):
        ages.report(tmp_path / "missing" / "page.html")


def test_a_release_without_error_bars_has_no_page(ages):
    cells = np.ones(120)
    blind = dawa.Estimate.of_cells((120,), cells, ages.estimate.epsilon, {}, {}, "none")
    with pytest.raises(OptionError, match="does not know how much noise"):
        report.html(dawa.Release(ages.axes, blind, ages.privacy))


def test_the_command_writes_beside_the_release(ages, tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr("webbrowser.open", lambda address: shown.append(address) or True)
    ages.save(tmp_path / "release.json")
    ran = run("explore", tmp_path)
    assert ran.code == 0
    assert ran.out == f"{tmp_path / 'report.html'}\n"
    assert shown == [], "nobody sits at this terminal"
    assert run("explore", tmp_path / "release.json", "--open", "--json").json == {
        "report": str(tmp_path / "report.html"),
        "opened": True,
    }
    assert shown == [(tmp_path / "report.html").as_uri()]
    elsewhere = run("explore", tmp_path, "--out", tmp_path / "x.html", "--no-open")
    assert elsewhere.out == f"{tmp_path / 'x.html'}\n"
    assert data_of((tmp_path / "x.html").read_text(encoding="utf-8"))["shape"] == [120]


def test_the_command_replaces_no_file_of_another_kind(ages, tmp_path):
    ages.save(tmp_path / "release.json")
    (tmp_path / "report.html").write_text("<p>dear</p>")
    refused(run("explore", tmp_path), "is not a page of dawa's", "--out")
    assert (tmp_path / "report.html").read_text() == "<p>dear</p>"
    refused(run("explore", tmp_path, "--out", tmp_path), "is a folder")
    refused(run("explore", tmp_path / "nothing"), "There is no file")
    (tmp_path / "empty").mkdir()
    refused(run("explore", tmp_path / "empty"), "There is no release.json")
