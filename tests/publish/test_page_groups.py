"""A page about groups: every number is that of Python, however a group and a range are chosen."""

import csv
import io
import json
from urllib.parse import urlencode

import numpy as np
import pytest

import dawa
from dawa.counts import Counts
from dawa.errors import OptionError
from dawa.publish import grouped
from dawa.publish import page as report
from dawa.results.overview import of_groups, overview
from dawa.spec import ranges
from dawa_bench.page import PHONE
from helpers.browser import opened
from helpers.groups import put_together
from helpers.pages import downloaded, line, plane, records, written

RNG = np.random.default_rng(11)
CLIPPED = dawa.Axis("x", 0, 200)
MAP = (dawa.Axis("a", 0, 24, outside="drop", missing="drop"), dawa.Axis("b", 0, 16, outside="drop", missing="drop"))
HOSTILE = ["</script><script>alert(1)</script>", "a&b", '"c", d', "=1+1", "", "é\u2028"]
NOTHING = "\N{EN DASH}"
DONE = "document.getElementById('by-group').getAttribute('aria-busy') === 'false'"


def humps(groups, size=200):
    """Counts of groups of very different sizes, with a hill each."""
    places = np.arange(size)
    return [RNG.poisson(400 / (g + 1) * np.exp(-(((places - 30 - 12 * g) / 25) ** 2))) for g in range(groups)]


KINDS = {
    "one column": lambda: put_together(CLIPPED, {"carrier": ["AA", "UA", "DL"]}, humps(3), seed=1, effort="fast"),
    "two columns": lambda: put_together(
        CLIPPED, {"sex": ["f", "m"], "year": [2013, 2014]}, humps(4), seed=2, strategy="greedy"
    ),
    "without a walk": lambda: put_together(CLIPPED, {"g": [True, False]}, humps(2), seed=3, mechanism="hierarchical"),
    "a map": lambda: put_together(
        MAP, {"g": ["a", "b", "c"]}, [one.reshape(24, 16) for one in humps(3, 24 * 16)], seed=4, strategy="greedy"
    ),
    "hostile names": lambda: put_together(CLIPPED, {"</style><b>": HOSTILE}, humps(6), seed=5, effort="fast"),
    "many": lambda: put_together(
        CLIPPED, {"g": [f"group {i:02}" for i in range(40)]}, humps(40), seed=6, effort="fast"
    ),
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


def labels_of(release, group):
    return [str(part) for part in (group if len(release.by) > 1 else (group,))]


def address(release, group, lo, hi, confidence=0.95):
    ends = [pair for both in zip(lo, hi, strict=True) for pair in zip(("from", "to"), both, strict=True)]
    named = [("group", label) for label in labels_of(release, group)]
    return "#" + urlencode([*named, *ends, ("confidence", confidence)])


def go(sheet, fragment):
    """Open an address on the page, and wait until the answers of all groups are there."""
    sheet.page.evaluate(
        """(fragment) => new Promise((go) => {
          addEventListener("hashchange", go, { once: true });
          location.hash = fragment;
        })""",
        fragment,
    )
    sheet.until(DONE)


def lines(sheet, host):
    return sheet.page.evaluate(
        """(host) => [...document.getElementById(host).rows]
          .map((row) => [...row.cells].map((cell) => cell.textContent))""",
        host,
    )


def expected(name, answer, every):
    value, noise, bias, low, high = written(answer)
    share = f"{min(max(answer.value / every.value, 0), 1):.1%}" if every.value > 0 else NOTHING
    return [name, value, f"{low} to {high}", f"± {noise}", bias, share]


def random_range(rng, axes):
    """Ends on cell borders, or anywhere."""
    ends = []
    for axis in axes:
        a, b = np.sort(rng.choice(axis.size + 1, 2, replace=False)).tolist()
        whole = rng.random() < 0.6
        ends.append((str(a), str(b)) if whole else (f"{a + 0.25:.2f}", f"{b - 0.25:.2f}"))
    return [list(side) for side in zip(*ends, strict=True)]


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_every_group_and_all_together_have_the_numbers_of_python(browser, made, kind):
    release, path = made(kind)
    rng = np.random.default_rng(7)
    same_numbers(browser, release, path, [random_range(rng, release.axes) for _ in range(12)])


@pytest.mark.long
def test_groups_whose_walks_compared_halves(browser, tmp_path):
    rng, axis = np.random.default_rng(9), dawa.Axis("x", 0, 2**40)
    cells = [np.unique(rng.integers(0, 2**40, size)) for size in (20_000, 30_000)]
    counts = [Counts.sparse((2**40,), each, np.ones(len(each), np.int64)) for each in cells]
    release = put_together(axis, {"g": ["a", "b"]}, counts, seed=3, effort="fast")
    assert all(one.buckets.stops.halves for one in release.estimates)
    some = [sorted(rng.integers(0, 2**40, 2).tolist()) for _ in range(6)]
    ends = [([str(lo)], [str(hi)]) for lo, hi in (*some, [2**39, 2**39 + 7], [12345, 2**40])]
    same_numbers(browser, release, release.report(tmp_path / "halves.html"), ends)


def same_numbers(browser, release, path, asked):
    several = len(release.axes) > 1
    with opened(browser, path) as sheet:
        for i, (lo, hi) in enumerate(asked):
            confidence, group = (0.8, 0.9, 0.95, 0.99)[i % 4], release.groups[i % len(release)]
            go(sheet, address(release, group, lo, hi, confidence))
            ends = (tuple(lo), tuple(hi)) if several else (lo[0], hi[0])
            every = release.answer(*ends, confidence)
            found = [
                expected(", ".join(labels_of(release, name)), answer, every)
                for name, answer in release.answers_by_group(*ends, confidence)
            ]
            assert lines(sheet, "group-rows") == found
            assert lines(sheet, "group-foot") == [expected("All groups together", every, every)]
            assert sheet.shown() == written(release[group].answer(*ends, confidence)), "the chosen group's"
            assert sheet.texts("problem", "groups-note") == ["", every.remark]
            none = of_groups(release, confidence)
            assert lines(sheet, "none-foot")[0][:4] == [
                "All of them",
                records(none.apart.value),
                f"{records(none.apart.low)} to {records(none.apart.high)}",
                f"± {records(none.apart.noise_margin)}",
            ]
            assert [line[0] for line in lines(sheet, "none-rows")] == [way.label for way in none.ways]
            assert sheet.texts("everything") == [f"{records(none.inside.value)} ± {records(none.inside.noise_margin)}"]


def test_the_share_of_a_group_is_that_of_python(browser, made):
    release, path = made("one column")
    with opened(browser, path, "#from=20&to=80") as sheet:
        sheet.until(DONE)
        shares = [line[-1] for line in lines(sheet, "group-rows")]
        assert shares == [f"{release.share(group, 20, 80).value:.1%}" for group in release]


@pytest.mark.long_but(1)
@pytest.mark.parametrize("kind", ["one column", "a map"])
def test_a_group_is_chosen_in_every_way(browser, made, kind):
    release, path = made(kind)
    groups = [str(group) for group in release.groups]
    with opened(browser, path) as sheet:
        before = sheet.typed()

        def at(number):
            sheet.until(f"new URLSearchParams(location.hash.slice(1)).get('group') === {groups[number]!r}")
            assert sheet.page.input_value("#group") == str(number)
            assert sheet.page.locator('.tile[aria-pressed="true"] b').text_content() == groups[number]
            assert sheet.page.locator("#group-rows tr.chosen .link").text_content() == groups[number]
            assert sheet.texts("asked")[0].startswith(f"{groups[number]}: ")
            assert sheet.typed() == before, "the range stays"
            lo, hi = before
            ends = (lo, hi) if len(lo) > 1 else (lo[0], hi[0])
            assert sheet.shown() == written(release[groups[number]].answer(*ends))

        sheet.page.select_option("#group", "1")
        at(1)
        sheet.page.click("#group-after")
        at(2)
        sheet.page.click("#group-after")
        at(0)
        sheet.page.click("#group-before")
        at(2)
        sheet.page.locator(".tile").nth(1).click()
        at(1)
        sheet.page.locator(".tile").nth(1).focus()
        sheet.page.keyboard.press("ArrowRight")
        sheet.page.keyboard.press("Enter")
        at(2)
        sheet.page.locator("#group-rows .link").nth(0).focus()
        sheet.page.keyboard.press("Enter")
        at(0)


def test_a_released_table_has_each_groups_records_in_no_range(browser, tmp_path):
    table = {
        "x": [None if value > 190 else value for value in RNG.normal(100, 60, 4000).tolist()],
        "g": RNG.choice(["a", "b", "c", "d", None], 4000).tolist(),
    }
    axis = dawa.Axis("x", 0, 200, outside="own")
    release = dawa.release(table, axis, epsilon=1, by="g", groups=["a", "b"], other=True, seed=0, effort="fast")
    with opened(browser, release.report(tmp_path / "page.html"), "#group=other&from=20&to=80") as sheet:
        for name in ("other", "a"):
            sheet.page.select_option("#group", label=name)
            found = overview(release[name])
            assert [line[:2] for line in lines(sheet, "apart-rows")] == [
                [way.label, records(way.answer.value)] for way in found.ways
            ]
            assert sheet.texts("apart-title") == [f"Not in any range of the group {name}"]
            assert sheet.page.locator("#apart-fact").is_hidden(), "the header is about all groups"
        assert [line[0] for line in lines(sheet, "none-rows")] == ["g missing"]
        sheet.page.emulate_media(media="print")
        assert sheet.page.locator("#by-group").is_visible()


def test_three_axes_have_a_table_and_pictures(browser, tmp_path):
    axes = [dawa.Axis(name, 0, size, outside="drop", missing="drop") for name, size in (("a", 8), ("b", 6), ("c", 4))]
    counts = [RNG.poisson(5 * g, (8, 6, 4)) for g in (1, 2)]
    release = put_together(tuple(axes), {"g": ["p", "q"]}, counts, seed=1, effort="fast")
    path = release.report(tmp_path / "page.html")
    with opened(browser, path, address(release, "q", ["1", "1", "0"], ["5", "4", "3"])) as sheet:
        sheet.until(DONE)
        every = release.answer((1, 1, 0), (5, 4, 3))
        assert lines(sheet, "group-foot") == [expected("All groups together", every, every)]
        assert sheet.shown() == written(release["q"].answer((1, 1, 0), (5, 4, 3)))
        assert sheet.page.locator("#tiles .tile").count() == 2
        assert sheet.page.locator(".lane").count() == 3


def test_dragging_asks_all_groups(browser, made):
    release, path = made("one column")
    with opened(browser, path, "#group=UA") as sheet:
        sheet.drag((0.2, 0.5), (0.6, 0.5))
        sheet.until(DONE)
        (lo,), (hi,) = sheet.typed()
        assert sheet.shown() == written(release["UA"].answer(lo, hi))
        every = release.answer(lo, hi)
        assert lines(sheet, "group-foot") == [expected("All groups together", every, every)]
        sheet.until(f"location.hash === '#group=UA&from={lo}&to={hi}'")
        mark = sheet.page.locator(".tile .plot i").first
        assert mark.evaluate("(mark) => parseFloat(mark.style.left)") == pytest.approx(100 * int(lo) / 200)


def test_an_unknown_group_is_explained(browser, made):
    _, path = made("two columns")
    with opened(browser, path, "#" + urlencode([("group", "f"), ("group", "2015")])) as sheet:
        assert sheet.texts("problem") == ["“f, 2015” is not a group. Choose one of f, 2013; f, 2014; m, 2013; m, 2014."]
        assert "…" not in sheet.shown()


@pytest.mark.long
def test_many_groups_are_drawn_on_demand_and_found_by_name(browser, made):
    _, path = made("many")
    with opened(browser, path) as sheet:
        tiles = sheet.page.locator(".tile")
        assert tiles.count() == 24
        assert sheet.texts("tiles-more") == ["Show 16 more of 16"]
        sheet.page.click("#tiles-more")
        assert tiles.count() == 40
        assert sheet.page.locator("#tiles-more").is_hidden()
        sheet.page.fill("#group-filter", "Group 3")
        assert tiles.count() == 10
        assert sheet.page.locator("#group-rows tr:visible").count() == 10
        assert sheet.page.locator("#group option").count() == 11, "and the one that is chosen"
        sheet.page.fill("#group-filter", "nobody")
        assert tiles.count() == 0
        assert sheet.page.locator("#groups-none").is_visible()
        sheet.page.fill("#group-filter", "")
        assert tiles.count() == 24


def test_scales_change_the_small_pictures(browser, made):
    _, path = made("one column")
    picture = "document.querySelectorAll('.tile canvas')[2].toDataURL()"
    with opened(browser, path) as sheet:
        sheet.redrawn(picture)


@pytest.mark.long
def test_downloads_are_the_tables_of_the_folder(browser, made):
    release, path = made("two columns")
    with opened(browser, path, "#from=20&to=80") as sheet:
        sheet.until(DONE)

        def table(rows):
            found = [[str(entry) for entry in row] for row in rows.rows]
            return list(rows.header), found

        header, rows = table(grouped.buckets(release))
        got = list(csv.reader(io.StringIO(downloaded(sheet, "#save-buckets"))))
        assert got[0] == header
        assert [row[:5] for row in got[1:]] == [row[:5] for row in rows]
        numbers = [[float(entry) for entry in row[5:8]] for row in got[1:]]
        np.testing.assert_allclose(numbers, [[float(entry) for entry in row[5:8]] for row in rows], rtol=1e-9)
        asked = [ranges.typed("20:80", release.axes)]
        header, rows = table(grouped.answers(release, asked, grouped.answered(release, asked)))
        got = list(csv.reader(io.StringIO(downloaded(sheet, "#save-groups"))))
        assert got[0] == header
        assert [row[:4] for row in got[1:]] == [row[:4] for row in rows]
        numbers = [[float(entry) for entry in row[4:11]] for row in got[1:]]
        np.testing.assert_allclose(numbers, [[float(entry) for entry in row[4:11]] for row in rows], rtol=1e-9)
        assert json.loads(downloaded(sheet, "#save-release")) == release.to_json()
        sheet.page.click("#keep")
        sheet.page.click("#group-after")
        sheet.page.click("#keep")
        got = list(csv.reader(io.StringIO(downloaded(sheet, "#save-kept"))))
        assert got[0][:5] == ["name", "sex", "year", "from", "to"]
        assert [row[:5] for row in got[1:]] == [
            ["Range 1", "f", "2013", "20", "80"],
            ["Range 2", "f", "2014", "20", "80"],
        ]


@pytest.mark.parametrize("screen", [{}, pytest.param(PHONE, marks=pytest.mark.long)], ids=["desktop", "phone"])
def test_long_names_that_begin_alike_look_different(browser, tmp_path, screen):
    long = "Hospital of the northern region, ward {}, department of internal medicine"
    names = ["short", *(long.format(at) for at in (1, 2, 13))]
    release = put_together(CLIPPED, {"g": names}, humps(4), seed=1, effort="fast")
    with opened(browser, release.report(tmp_path / "long.html"), **screen) as sheet:
        tiles = sheet.page.locator(".tile").all()
        shown = [tile.locator("b").text_content() for tile in tiles]
        assert shown[0] == "short"
        assert len(set(shown)) == 4
        assert all("…" in text for text in shown[1:])
        fits = sheet.page.evaluate(
            "[...document.querySelectorAll('.tile b')].map((one) => one.scrollWidth <= one.clientWidth)"
        )
        assert all(fits), shown
        for name, tile in zip(names, tiles, strict=True):
            assert tile.get_attribute("title") == tile.get_attribute("aria-label") == name
        sheet.page.get_by_role("button", name=names[2]).first.click()
        assert sheet.texts("asked")[0].startswith(f"{names[2]}: ")


def test_a_map_of_groups_has_cells_of_all(browser, made):
    release, path = made("a map")
    with opened(browser, path) as sheet:
        got = list(csv.DictReader(io.StringIO(downloaded(sheet, "#save-buckets"))))
        assert [row["g"] for row in got] == [g for g in "abc" for _ in range(24 * 16)]
        values = np.concatenate([one.cells.ravel() for one in release.estimates])
        np.testing.assert_allclose([float(row["value"]) for row in got], values, atol=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["one column", "a map", "hostile names"])
@pytest.mark.parametrize("screen", [PHONE, {"color_scheme": "dark"}], ids=["phone", "dark"])
def test_it_fits_every_screen(browser, made, kind, screen):
    _, path = made(kind)
    with opened(browser, path, **screen) as sheet:
        sheet.until(DONE)
        assert sheet.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        sheet.page.emulate_media(media="print")
        assert sheet.page.locator("#by-group").is_visible()


# --- several releases on one page -----------------------------------------------------------------------------------


@pytest.mark.long
def test_several_releases_are_shown_one_at_a_time(browser, made, tmp_path):
    rel, _ = made("one column")
    one, two = line(effort="fast"), plane(effort="fast")
    parts = [("Delays", rel), ("Values", one), ("Places & more", two)]
    path = report.save_all(parts, tmp_path / "all.html")
    with opened(browser, path, "#release=Values&from=100&to=300") as sheet:

        def facts():
            return sheet.page.locator("h1").text_content(), sheet.page.locator("#groups").is_visible()

        assert facts() == ("How many, along x", False)
        assert sheet.shown() == written(one.answer(100, 300))
        sheet.page.click("#keep")
        go_to = sheet.page.select_option
        go_to("#part", label="Places & more")
        sheet.until("document.getElementById('noise').textContent !== '…'")
        assert facts() == ("How many, along a and b", False)
        lo, hi = sheet.typed()
        assert sheet.shown() == written(two.answer(lo, hi))
        assert sheet.page.locator("#kept tbody tr").count() == 0
        sheet.drag((0.2, 0.3), (0.5, 0.9))
        lo, hi = sheet.typed()
        assert sheet.shown() == written(two.answer(lo, hi))
        go_to("#part", label="Delays")
        sheet.until(DONE)
        assert facts() == ("How many, along x, by carrier", True)
        sheet.page.select_option("#group", "2")
        (lo,), (hi,) = sheet.typed()
        assert sheet.shown() == written(rel["DL"].answer(lo, hi))
        sheet.until(f"location.hash === '#release=Delays&group=DL&from={lo}&to={hi}'")
        go_to("#part", label="Values")
        assert facts() == ("How many, along x", False)
        assert sheet.page.locator("#none").is_hidden()
        assert sheet.page.locator("#kept tbody tr").count() == 1, "kept ranges are still there"
        sheet.drag((0.2, 0.5), (0.5, 0.5))
        (lo,), (hi,) = sheet.typed()
        assert sheet.shown() == written(one.answer(lo, hi))
        go(sheet, "#release=Delays&group=UA&from=10&to=20")
        assert sheet.shown() == written(rel["UA"].answer(10, 20))
        assert sheet.page.locator("#ends fieldset").count() == 1


def test_releases_on_one_page_have_names_of_their_own():
    one = line(effort="fast")
    with pytest.raises(OptionError, match="no release to show"):
        report.html_of([])
    with pytest.raises(OptionError, match="same name"):
        report.html_of([("a", one), ("a", one)])


# --- size -----------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_page_of_sixteen_groups_is_small():
    """Sixteen groups of a thousand buckets stay below 2 MB."""
    counts = [RNG.poisson(50, 1000) for _ in range(16)]
    by = {"g": [f"g{i}" for i in range(16)]}
    release = put_together(
        dawa.Axis("x", 0, 1000), by, counts, seed=1, partition="none", strategy="hats", effort="fast"
    )
    assert {len(estimate.buckets) for estimate in release.estimates} == {1000}
    assert len(report.html(release).encode()) < 2_000_000
