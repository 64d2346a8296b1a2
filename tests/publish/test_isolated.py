"""Names that would turn the text beside them, on pages and in what a folder says."""

import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dawa
from dawa.publish import isolated, page, readme
from helpers.groups import put_together
from helpers.pages import written
from helpers.pictured import drawn, pictured

OVERRIDE, HEBREW = "ag\u202ee", "\u05d2\u05d9\u05dc"
MARKS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066\u2067]")
SETTLED = "document.getElementById('by-group').getAttribute('aria-busy') === 'false'"


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "Cf", "Zs"])))
def test_no_name_turns_what_stands_beside_it(name):
    shown = isolated.isolated(name)
    inner = shown.removeprefix("\u2068").removesuffix("\u2069")
    assert all(unicodedata.bidirectional(c) not in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI"} for c in inner)
    assert not {"\u2068", "\u2069"} & set(inner)
    leftwards = any(unicodedata.bidirectional(c) in {"R", "AL", "AN"} for c in inner)
    assert (shown != inner) or not leftwards


@given(st.text(alphabet=st.characters(categories=["Lu", "Nd", "Po"], max_codepoint=0x24F)))
def test_other_names_stay_as_they_are(name):
    assert isolated.isolated(name) == name


def made(*names):
    rng = np.random.default_rng(0)
    axes = tuple(
        dawa.Axis(name, 0, size, outside="drop", missing="drop") for name, size in zip(names, (9, 6), strict=False)
    )
    shape = tuple(axis.size for axis in axes)
    groups = {OVERRIDE: ["a\u202eb", HEBREW, "c\u2069\u202ed"]}
    return put_together(axes, groups, [rng.poisson(20, shape) for _ in range(3)], seed=1, effort="fast")


@pytest.mark.parametrize("names", [(OVERRIDE,), pytest.param((OVERRIDE, HEBREW), marks=pytest.mark.long)], ids=len)
def test_pages_say_numbers_in_their_order(browser, tmp_path, names):
    release = made(*names)
    with pictured(browser, release.report(tmp_path / "page.html")) as sheet:
        sheet.until(SETTLED)
        sheet.page.select_option("#group", "2")
        text = sheet.page.evaluate("document.title + document.body.innerText")
        lo, hi = sheet.typed()
        ends = (tuple(lo), tuple(hi)) if len(names) > 1 else (lo[0], hi[0])
        assert sheet.shown() == written(release[release.groups[2]].answer(*ends))
        every = [element for element in drawn(sheet, "canvas") for element in element["what"] if "text" in element]
        labels = sheet.page.evaluate("[...document.querySelectorAll('[aria-label]')].map((one) => one.ariaLabel)")
    text += " ".join([*(one["text"] for one in every), *labels])
    assert "ag\\u202ee" in text
    assert not MARKS.search(text)
    assert f"\u2068{HEBREW}\u2069" in text
    assert text.count("\u2068") == text.count("\u2069") == text.count(HEBREW)


def test_what_is_typed_and_downloaded_has_the_names_as_they_are():
    release = made(OVERRIDE)
    assert release.to_json()["axes"][0]["column"] == OVERRIDE
    text = page.html(release)
    assert OVERRIDE not in text.split('<script type="application/json"')[0]


def test_a_folder_says_names_and_numbers_in_their_order():
    text = readme.readme(made(OVERRIDE), ["release.json"])
    assert not MARKS.search(text)
    assert "ag\\u202ee" in text
