"""The page says what no range holds, and what ranges hold besides their own values, in Python's numbers and words."""

import csv
import io
from urllib.parse import urlencode

import numpy as np
import pyarrow as pa
import pytest

import dawa
from dawa.results.overview import overview
from dawa_bench.page import PHONE
from helpers.browser import opened

CONFIDENCES = (0.8, 0.9, 0.95, 0.99)
HOSTILE = "</script><script>alert(1)</script>"


def records(number):
    """A number as the page writes it."""
    return f"{number:,.1f}" if abs(number) < 100 else f"{number:,.0f}"


def line(**options):
    values = [*np.random.default_rng(0).normal(50, 40, 3000), *[None] * 400]
    return dawa.release({"x": values}, dawa.Axis("x", 0, 100, **options), epsilon="0.3", seed=0)


def persons():
    rng = np.random.default_rng(1)
    table = {"x": rng.normal(50, 40, 3000), "who": np.arange(3000) // 4}
    return dawa.release(table, dawa.Axis("x", 0, 100), epsilon=1, unit="who", max_rows_per_unit=3)


def plane():
    rng = np.random.default_rng(2)
    table = {"a": [*rng.normal(20, 20, 3000), None], "b": [*rng.normal(20, 20, 3000), None]}
    axes = [dawa.Axis("a", 0, 40), dawa.Axis("b", 0, 30, outside="own")]
    return dawa.release(table, axes, epsilon=1, seed=0, effort="fast")


def four(names=("a", "b", "c", "d"), **options):
    rng = np.random.default_rng(3)
    table = {name: rng.normal(5, 4, 3000) for name in names}
    axes = [dawa.Axis(name, 0, 10, step=2, outside="own") for name in names]
    return dawa.release(table, axes, epsilon=1, seed=0, effort="fast", **options)


def misspelt():
    values = np.random.default_rng(4).choice(["none", "mild", "severe"], 3000)
    return dawa.release({"grade": values}, dawa.Axis.ordered("grade", ["None", "mild", "Severe"]), epsilon=1)


def days(zone=None, **options):
    when = np.datetime64("2013-01-01", "us") + np.arange(-50, 450).repeat(6) * np.timedelta64(1, "D")
    table = pa.table({"when": pa.array(when, pa.timestamp("us", zone and "UTC"))})
    axis = dawa.Axis.dates("when", "2013-01-01", "2014-01-01", zone=zone, **options)
    return dawa.release(table, axis, epsilon=1, seed=0)


KINDS = {
    "clip": line,
    "own": lambda: line(outside="own"),
    "persons": persons,
    "map": plane,
    "four axes": four,
    "misspelt": misspelt,
    "days": lambda: days(outside="own"),
    "months in a zone": lambda: days(step="1 month", zone="Europe/Berlin"),
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


def listed(sheet, host="apart-rows", *, hidden=True):
    """The lines of a table, as they are written."""
    return sheet.page.evaluate(
        """([host, hidden]) => [...document.getElementById(host).rows]
          .filter((line) => hidden || line.getClientRects().length)
          .map((line) => [...line.cells].map((cell) => cell.textContent))""",
        [host, hidden],
    )


def expected(label, answer, everything):
    between = f"{records(answer.low)} to {records(answer.high)}"
    return [
        label,
        records(answer.value),
        between,
        f"± {records(answer.noise_margin)}",
        f"{answer.value / everything:.1%}",
    ]


@pytest.mark.long_but(1)
@pytest.mark.parametrize("kind", KINDS)
def test_records_in_no_range_have_the_same_numbers_at_every_confidence(browser, made, kind):
    release, path = made(kind)
    with opened(browser, path) as sheet:
        for confidence in CONFIDENCES:
            sheet.page.select_option("#confidence", str(confidence))
            found = overview(release, confidence)
            everything = found.apart.value + found.inside.value
            lines = [expected(way.label, way.answer, everything) for way in found.ways]
            assert listed(sheet) == lines
            if len(lines) > 1:
                assert listed(sheet, "apart-foot") == [expected("All of them", found.apart, everything)]
            else:
                assert listed(sheet, "apart-foot") == []
            total, inside = found.apart, found.inside
            assert sheet.texts("apart-all", "everything", "apart-sure") == [
                f"{records(total.value)} ± {records(total.noise_margin)}",
                f"{records(inside.value)} ± {records(inside.noise_margin)}",
                f"Low to high ({confidence:.0%})",
            ]
        assert sheet.page.locator("#apart").is_visible()
        assert sheet.page.locator("#apart-fact").is_visible()


def test_nothing_is_shown_where_nothing_is_counted_apart(browser, tmp_path):
    axis = dawa.Axis("x", 0, 100, outside="drop", missing="drop")
    release = dawa.release({"x": [5, 7, None, 300]}, axis, epsilon=1)
    with opened(browser, release.report(tmp_path / "silent.html"), "#from=0&to=100") as sheet:
        assert not sheet.page.locator("#apart").is_visible()
        assert not sheet.page.locator("#apart-fact").is_visible()
        assert not sheet.page.locator("#note").is_visible()
        assert "everything" not in sheet.texts("caption")[0]
        assert "they were left out" in sheet.page.locator("main").text_content()


@pytest.mark.long
def test_only_many_records_are_worth_a_warning(browser, made):
    release, path = made("misspelt")
    with opened(browser, path) as sheet:
        assert sheet.texts("much") == [overview(release).warning]
        assert sheet.texts("much")[0].startswith("Most records are in no range")
        assert sheet.page.locator("#apart.much").count() == 1
        border = sheet.page.locator("#apart").evaluate("e => getComputedStyle(e).borderTopColor")
        warn = sheet.page.locator("#much").evaluate("e => getComputedStyle(e).color")
        assert border == warn
    for kind in ("clip", "persons"):
        _, path = made(kind)
        with opened(browser, path) as sheet:
            assert sheet.page.locator("#much").count() == 0
            assert sheet.page.locator("#apart.much").count() == 0


@pytest.mark.long_but(1)
@pytest.mark.parametrize("kind", KINDS)
def test_notes_are_those_of_python(browser, made, kind):
    """Ranges at the start, at the end, at both, at neither, and a hair beside them."""
    release, path = made(kind)
    rng = np.random.default_rng(5)
    choices = []
    for axis in release.axes:
        ends = [str(end) for end in (axis.start, axis.stop)]
        inner = [str(end) for end in axis.value([1, axis.size - 1])]
        if axis.kind == "ordered":
            inner = [str(axis.labels[1])] * 2
        ranges = [(ends[0], inner[1]), (inner[0], ends[1]), tuple(ends), tuple(inner)]
        if axis.kind == "numbers":
            ranges.append((f"0.{'0' * 30}1", f"{int(axis.stop) - 1}.{'9' * 30}"))
        choices.append(ranges)
    with opened(browser, path) as sheet:
        seen = set()
        for turn in range(max(12, 4 * len(choices))):
            picked = [
                ranges[turn % len(ranges) if len(choices) == 1 else rng.integers(len(ranges))] for ranges in choices
            ]
            ends = [pair for lo, hi in picked for pair in (("from", lo), ("to", hi))]
            sheet.asked([urlencode([*ends, ("confidence", CONFIDENCES[turn % 4])])])
            assert sheet.texts("problem") == [""]
            note = release.answer([lo for lo, _ in picked], [hi for _, hi in picked]).remark
            assert sheet.texts("note") == [note]
            assert sheet.page.locator("#note").is_visible() == bool(note)
            seen.add(note)
        clipping = any(axis.outside == "clip" for axis in release.axes)
        assert len(seen) >= 4 if clipping else len(seen) == 1


def test_dragging_and_keys_reach_the_edges_and_say_so(browser, made):
    release, path = made("clip")
    with opened(browser, path, "#from=20&to=60") as sheet:
        assert sheet.texts("note") == [""]
        sheet.drag((0.3, 0.5), (-0.03, 0.5))
        assert sheet.texts("note") == ["with everything below 0"]
        sheet.page.focus("[data-edge=hi0]")
        sheet.page.keyboard.press("End")
        sheet.rest()
        (lo,), (hi,) = sheet.typed()
        assert sheet.texts("note") == [release.answer(lo, hi).remark]
        assert "everything from 100 on" in sheet.texts("note")[0]
        sheet.until("document.getElementById('said').textContent.includes('; with everything below 0 and everything')")


def test_notes_go_with_kept_ranges_and_downloads(browser, made):
    release, path = made("persons")
    with opened(browser, path, "#from=0&to=60") as sheet:
        sheet.page.click("#keep")
        note = release.answer(0, 60).remark
        assert note == "with everything below 0; of at most 3 records of each value of 'who'"
        assert sheet.page.locator("#kept td small").text_content() == note
        with sheet.page.expect_download() as download:
            sheet.page.click("#save-kept")
        (row,) = csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8")))
        assert row["remark"] == note
        assert "of at most 3 records of each value of 'who'" in sheet.texts("apart")[0]


def ink(sheet, chart, left, right, rows=(4, 20)):
    """How many pixels are painted in a strip above the plot, between two parts of its width."""
    return sheet.page.evaluate(
        """([chart, left, right, [top, bottom]]) => {
          const canvas = document.querySelector(`#${chart} .base`);
          const scale = canvas.width / canvas.clientWidth;
          const [from, to] = [left, right].map((part) => Math.round(part * canvas.width));
          const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
          copy.drawImage(canvas, 0, 0);
          const [y, tall] = [top, bottom - top].map((pixels) => Math.round(pixels * scale));
          const { data } = copy.getImageData(from, y, to - from, tall);
          return data.filter((alpha, i) => i % 4 === 3 && alpha > 0).length;
        }""",
        [chart, left, right, rows],
    )


@pytest.mark.long
@pytest.mark.parametrize("screen", [{}, PHONE], ids=["wide", "phone"])
def test_edges_are_marked_above_lines(browser, made, screen):
    for kind, marked in (("clip", True), ("own", False)):
        _, path = made(kind)
        with opened(browser, path, **screen) as sheet:
            sheet.page.wait_for_timeout(300)
            strips = {"chart": (23, 36) if marked else (16, 20), "curve": (4, 20)}  # below what heights count
            for chart, rows in strips.items():
                for left, right in ((0.1, 0.5), (0.55, 1)):
                    assert (ink(sheet, chart, left, right, rows) > 50) == marked
            assert ("The first cell is counted with everything below 0" in sheet.texts("caption")[0]) == marked
    _, path = made("clip")
    with opened(browser, path, **screen) as sheet:
        for _ in range(3):
            sheet.page.click("#in")
        sheet.page.wait_for_timeout(300)
        assert ink(sheet, "chart", 0.1, 1, (23, 36)) == 0, "the edges are out of sight"


@pytest.mark.long
def test_edges_are_marked_on_maps(browser, made, tmp_path):
    _, path = made("map")
    with opened(browser, path) as sheet:
        assert "sides with a triangle also hold values from beyond: a everything below 0" in sheet.texts("caption")[0]
        assert "b everything" not in sheet.texts("caption")[0]
    plain = dawa.release({"a": [1], "b": [2]}, [dawa.Axis(n, 0, 9, outside="drop") for n in "ab"], epsilon=1)
    with opened(browser, plain.report(tmp_path / "plain.html")) as sheet:
        assert "triangle" not in sheet.texts("caption")[0]


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("screen", [{}, PHONE], ids=["wide", "phone"])
def test_many_kinds_are_folded_and_unfold_with_the_keyboard(browser, made, screen, scheme):
    _, path = made("four axes")
    with opened(browser, path, **screen, color_scheme=scheme) as sheet:
        button = sheet.page.locator("#apart-more")
        assert button.text_content() == "Show all 255 kinds"
        assert len(listed(sheet, hidden=False)) == 6
        button.focus()
        sheet.page.keyboard.press("Enter")
        assert button.get_attribute("aria-expanded") == "true"
        assert len(listed(sheet, hidden=False)) == 255
        width = sheet.page.evaluate("document.documentElement.clientWidth")
        assert sheet.page.evaluate("document.documentElement.scrollWidth") <= width
        sheet.page.keyboard.press("Space")
        assert len(listed(sheet, hidden=False)) == 6
        assert button.get_attribute("aria-expanded") == "false"


@pytest.mark.long
def test_the_value_and_its_interval_are_seen_on_a_phone(browser, made):
    """Longer tables scroll sideways; a reader need not, to read a number and how sure it is."""
    _, path = made("misspelt")
    with opened(browser, path, **PHONE) as sheet:
        for line_ in sheet.page.locator("#apart-rows tr").all():
            for cell in line_.locator("th, td").all()[:3]:
                box = cell.bounding_box()
                assert box["x"] + box["width"] <= PHONE["viewport"]["width"]


@pytest.mark.long_but(1)
@pytest.mark.parametrize("count", [1, 2, 4])
def test_hostile_names_stay_text(browser, tmp_path, count):
    names = (HOSTILE, '"><img src=x onerror=alert(2)>', "{{data}}", "<b>d</b>")[:count]
    release = four(names)
    with opened(browser, release.report(tmp_path / "hostile.html")) as sheet:
        ways = [way.label for way in overview(release).ways]
        assert [row[0] for row in listed(sheet)] == ways
        assert any(HOSTILE in label for label in ways)
        if overview(release).warning:
            assert sheet.texts("much") == [overview(release).warning]
        assert sheet.page.locator("script").count() == 2
        assert sheet.page.locator("img, b:has-text('d</b>')").count() == 0


def test_hostile_names_stay_text_in_notes(browser, tmp_path):
    table = {HOSTILE: [1, 2, 3] * 50, "b": [1, 2, 3] * 50, "<i>who</i>": list(range(150))}
    axes = [dawa.Axis(HOSTILE, 0, 4), dawa.Axis("b", 0, 4)]
    release = dawa.release(table, axes, epsilon=1, unit="<i>who</i>", max_rows_per_unit=1)
    with opened(browser, release.report(tmp_path / "hostile.html"), "#from=0&to=2&from=1&to=4") as sheet:
        assert sheet.texts("note") == [release.answer((0, 1), (2, 4)).remark]
        assert HOSTILE in sheet.texts("note")[0]
        assert "<i>who</i>" in sheet.texts("note")[0]
        assert sheet.page.locator("i:has-text('who')").count() == 0


@pytest.mark.long
def test_a_map_without_an_explorer_still_tells(browser, tmp_path):
    axes = [dawa.Axis("a", 0, 2**28), dawa.Axis("b", 0, 2**28)]
    table = {"a": [5] * 100 + [None] * 300, "b": [7] * 400}
    release = dawa.release(table, axes, epsilon=1, seed=0, effort="fast")
    with opened(browser, release.report(tmp_path / "huge.html")) as sheet:
        found = overview(release)
        everything = found.apart.value + found.inside.value
        assert listed(sheet) == [expected(way.label, way.answer, everything) for way in found.ways]
        assert sheet.texts("much") == [found.warning]


@pytest.mark.long
def test_paper_has_it_too(browser, made):
    _, path = made("own")
    with opened(browser, path) as sheet:
        sheet.page.emulate_media(media="print")
        assert sheet.page.locator("#apart").is_visible()
        assert sheet.page.locator("#apart-rows").is_visible()
