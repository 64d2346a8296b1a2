"""The page in a real browser: small and large screens, colours, paper, screen readers and hostile names."""

import csv
import io

import numpy as np
import pytest

import dawa
from dawa.axis import written as values
from dawa_bench.page import PHONE, WIDE
from helpers.browser import opened
from helpers.pages import answered, downloaded, fragment, ordered, written

HOSTILE = "</script><script>alert(1)</script>"
LABELS = [
    "<img src=x onerror=alert(2)>",
    '"><svg onload=alert(3)>',
    "{{data}} ${alert(4)}",
    "<!-- ]]> \u2028 &lt;b&gt;",
    "=1+1, 'quoted' \"twice\"",
]


@pytest.mark.long_but(1)
@pytest.mark.parametrize("screen", [PHONE, WIDE], ids=["phone", "wide"])
@pytest.mark.parametrize("kind", ["walk with hats", "hours in a zone", "ordered", "map with bumps", "three axes"])
def test_it_fits_small_and_large_screens(browser, made, kind, screen):
    _, path = made(kind)
    with opened(browser, path, **screen) as sheet:
        sheet.page.click("#keep")
        assert sheet.page.evaluate("document.documentElement.scrollWidth") <= screen["viewport"]["width"]
        controls = sheet.page.locator("button:visible, select:visible, #ends input:visible, summary")
        assert controls.count() >= 8
        for control in controls.all():
            control.scroll_into_view_if_needed()
            box = control.bounding_box()
            assert box["height"] >= 44
            assert box["width"] >= 44
            control.click(trial=True)


@pytest.mark.long_but(2)
@pytest.mark.parametrize("kind", ["ordered", "map with bumps", "three axes", "walk with hats"])
def test_on_a_phone_edges_have_room_for_a_finger_and_never_overlap(browser, made, kind):
    release, path = made(kind)
    ranges = [(0, 1), (0, 2), (-1, None), (0, None)]  # the first cell, two, the last, and all
    with opened(browser, path, **PHONE) as sheet:
        for begin, end in ranges:
            asked = [cells(axis, begin % axis.size, end or axis.size) for axis in release.axes]
            sheet.asked([fragment(*[list(side) for side in zip(*asked, strict=True)])])
            for i in range(len(release.axes)):
                low, high = (sheet.page.locator(f"[data-edge={end}{i}]").bounding_box() for end in ("lo", "hi"))
                assert min(box[name] for box in (low, high) for name in ("width", "height")) >= 44 - 0.01, (begin, end)
                apart = max(high["x"] - low["x"] - low["width"], low["y"] - high["y"] - high["height"])
                assert apart >= -0.01, (begin, end)


def cells(axis, lo, hi):
    """Cells of an axis as people write them."""
    return tuple(str(end[0]) for end in values.written(axis, [lo], [hi]))


@pytest.mark.long
def test_on_a_phone_facts_come_below_the_picture_and_on_a_desktop_above(browser, made):
    _, path = made("walk with hats")
    for screen, below in ((PHONE, True), (WIDE, False)):
        with opened(browser, path, **screen) as sheet:
            facts, chart = (sheet.page.locator(name).first.bounding_box() for name in ("header .facts", "#chart"))
            assert (facts["y"] > chart["y"]) == below
            assert sheet.page.locator("h1").bounding_box()["y"] < chart["y"]


def contrast(one, other):
    """How well two colours of a style sheet can be told apart (WCAG 2)."""

    def light(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_can_be_read(browser, made, scheme):
    _, path = made("walk with hats")
    with opened(browser, path, color_scheme=scheme) as sheet:
        names = ("page", "card", "ink", "soft", "accent", "on-accent", "warn", "warn-soft", "bar", "pick", "cut")
        found = sheet.page.evaluate(
            "(names) => names.map((name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name))",
            names,
        )
        colour = dict(zip(names, found, strict=True))
        background = sheet.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, background[4:-1].split(","))) < 200) == (scheme == "dark")
    text = [("ink", "card"), ("ink", "page"), ("soft", "card"), ("soft", "page"), ("accent", "card")]
    for one, other in (*text, ("on-accent", "accent"), ("warn", "warn-soft"), ("warn", "card")):
        assert contrast(colour[one], colour[other]) >= 4.5, (one, other)
    for mark in ("bar", "pick", "cut"):
        assert contrast(colour[mark], colour["card"]) >= 3, mark


@pytest.mark.long
def test_paper_gets_the_answer_and_the_whole_statement(browser, made):
    release, path = made("walk with hats")
    with opened(browser, path, color_scheme="dark") as sheet:
        sheet.page.emulate_media(media="print")
        sheet.until("document.querySelector('details').open")
        assert not sheet.page.locator("#keep").is_visible()
        assert sheet.page.locator("#value").is_visible()
        assert sheet.page.locator(".statement").inner_text() == " ".join(str(release.privacy).split())
        assert sheet.page.evaluate("document.documentElement.dataset.theme") == "light"
        assert sheet.page.pdf()[:4] == b"%PDF"


def test_headings_landmarks_and_names_are_there_for_screen_readers(browser, made):
    _, path = made("map with bumps")
    with opened(browser, path) as sheet:
        assert [sheet.page.locator(tag).count() for tag in ("header", "main", "footer", "h1")] == [1, 1, 1, 1]
        sliders = sheet.page.get_by_role("slider")
        assert sliders.count() == 4
        for element in [*sliders.all(), *sheet.page.locator("button:visible, input:visible, select:visible").all()]:
            named = element.evaluate(
                "e => e.getAttribute('aria-label') || e.textContent.trim() || (e.labels && e.labels.length > 0)"
            )
            assert named, element
        assert sheet.page.get_attribute("#said", "aria-live") == "polite"
        assert sheet.page.get_by_role("alert").count() == 1


@pytest.mark.parametrize("axes", [1, 2])
def test_hostile_names_stay_text(browser, tmp_path, axes):
    release = ordered(LABELS, HOSTILE)
    if axes == 2:
        rng = np.random.default_rng(0)
        table = {HOSTILE: rng.choice(LABELS, 500), "<b>b</b>": rng.uniform(0, 9, 500)}
        both = [dawa.Axis.ordered(HOSTILE, LABELS), dawa.Axis("<b>b</b>", 0, 9)]
        release = dawa.release(table, both, epsilon=1, seed=0)
    path = release.report(tmp_path / "hostile.html")
    with opened(browser, path) as sheet:
        assert sheet.page.locator("h1").text_content().startswith(f"How many, along {HOSTILE}")
        assert sheet.page.title().startswith("How many, along </script>")
        assert sheet.page.locator("#from0 option").all_text_contents() == LABELS
        lo, hi = ([LABELS[1]], [LABELS[3]]) if axes == 1 else ([LABELS[1], "2"], [LABELS[3], "5"])
        assert sheet.asked([fragment(lo, hi)]) == [[*written(answered(release, lo, hi)), ""]]
        sheet.page.click("#keep")
        assert LABELS[1] in sheet.page.locator("#kept tbody tr").text_content()
        sheet.asked([fragment([HOSTILE] * axes, [HOSTILE] * axes)])
        assert HOSTILE in sheet.texts("problem")[0]
        kept = list(csv.reader(io.StringIO(downloaded(sheet, "#save-kept"))))
        assert kept[1][1:3] == [LABELS[1], LABELS[3]]
        assert sheet.page.locator("script").count() == 2
        assert sheet.page.locator("img, svg, b:has-text('b</b>')").count() == 0


@pytest.mark.long
def test_a_seed_is_told_loudly_and_its_absence_is_not(browser, made, tmp_path):
    _, path = made("walk with hats")
    with opened(browser, path) as sheet:
        assert "NOT PRIVATE" in sheet.page.locator("header .warning").text_content()
    private = dawa.release({"x": [1, 2]}, dawa.Axis("x", 0, 9), epsilon=1).report(tmp_path / "private.html")
    with opened(browser, private) as sheet:
        assert sheet.page.locator(".warning").count() == 0
