"""The page in a real browser: what it says about two ranges is what Python and the command line say."""

import numpy as np
import pytest

import dawa
from helpers.browser import opened
from helpers.pages import KINDS, fragment

SAID = ("difference", "ratio")


def ends(sheet):
    """Both ends that are typed, as Python takes them."""
    lo, hi = sheet.typed()
    return (lo[0], hi[0]) if len(lo) == 1 else (tuple(lo), tuple(hi))


def said(release, first, second, confidence=0.95):
    """What Python says about two ranges."""
    try:
        times = str(release.ratio(first, second, confidence=confidence))
    except dawa.ReleaseError as error:
        times = error.problem
    return [str(release.difference(first, second, confidence=confidence)), times]


def pairs(release, rng):
    """Ranges that overlap, that lie in one another, and the same twice, as texts on every axis."""
    for _ in range(5):
        found = []
        for axis in release.axes:
            lo = int(rng.integers(0, axis.size))
            hi = int(rng.integers(lo + 1, axis.size + 1))
            (low,), (high,) = dawa.axis.written.written(axis, [lo], [hi])
            found.append((str(low), str(high)))
        yield [lo for lo, _ in found], [hi for _, hi in found]


@pytest.mark.long_but(1)
@pytest.mark.parametrize("kind", KINDS)
def test_two_ranges_are_compared_as_in_python(browser, made, kind):
    compared(browser, *made(kind))


@pytest.mark.long
def test_two_ranges_are_compared_where_the_walk_compared_halves(browser, tmp_path):
    values = np.random.default_rng(8).integers(0, 2**40, 30_000)
    release = dawa.release({"x": values}, dawa.Axis("x", 0, 2**40), epsilon=1, seed=0, effort="fast")
    assert release.estimate.buckets.stops.halves
    compared(browser, release, release.report(tmp_path / "halves.html"))


def compared(browser, release, path):
    asked = list(pairs(release, np.random.default_rng(3)))
    with opened(browser, path, f"#{fragment(*asked[0])}") as sheet:
        assert sheet.page.locator("#compared").is_hidden()
        first = ends(sheet)
        sheet.page.click("#pin")
        assert sheet.texts(*SAID) == said(release, first, first)
        for lo, hi in asked[1:]:
            sheet.page.evaluate(f"location.hash = {fragment(lo, hi)!r}")
            sheet.until(f"document.getElementById('from0').value === {lo[0]!r}")
            sheet.page.wait_for_timeout(60)
            assert sheet.texts(*SAID) == said(release, ends(sheet), first)
        sheet.page.select_option("#confidence", "0.8")
        assert sheet.texts(*SAID) == said(release, ends(sheet), first, 0.8)
        assert " compared with " in sheet.texts("compared-with")[0]
        sheet.page.click("#unpin")
        assert sheet.page.locator("#compared").is_hidden()


@pytest.mark.long
def test_months_and_years_are_ends_of_ranges_on_the_page(browser, made):
    release, path = made("days")
    with opened(browser, path) as sheet:
        sheet.type(from0="2013-02", to0="2013-05")
        sheet.page.keyboard.press("Enter")
        expected = release.answer("2013-02", "2013-05")
        assert sheet.texts("value") == [f"{expected.value:,.0f}"]
        assert sheet.texts("asked") == ["2013-02 to 2013-05"]
        sheet.type(from0="2013-13", to0="2014")
        sheet.page.keyboard.press("Enter")
        assert "is not a time" in sheet.texts("problem")[0]
        sheet.type(from0="2013", to0="2014")
        sheet.page.keyboard.press("Enter")
        assert sheet.texts("value") == [f"{release.total.value:,.0f}"]
