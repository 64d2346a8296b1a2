"""Words about the data where they are shown: on the page, in the README, in pictures and notebooks. They stay text."""

from dataclasses import replace
from html import escape
from itertools import pairwise

import pytest
from hypothesis import given
from markdown_it import MarkdownIt

from dawa.publish.readme import readme
from dawa_bench.page import PHONE, WIDE
from helpers.browser import opened
from helpers.pages import answered, fragment, line, written
from helpers.words import FLIGHTS, abouts

HOSTILE = (
    "</title></script><script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "{{data}} {title} ${alert(3)} $x$ %s",
    "<!-- ]]> &lt;b&gt; --> `code` ![x](https://example.org/x.png) **b**",
    "javascript:alert(4)",
    'https://example.org/" onclick="alert(5)',
    "# 1. - > | a | --- | <https://example.org> [x]: y",
)
FIELDS = ("title", "description", "record", "publisher", "contact", "licence")


@pytest.fixture(scope="module")
def rel():
    return line(about=FLIGHTS)


def said(rel, **words):
    return replace(rel, about=replace(FLIGHTS, **words))


# --- the page -------------------------------------------------------------------------------------------------------


def test_a_page_begins_with_what_the_custodian_says(browser, rel, tmp_path):
    with opened(browser, rel.report(tmp_path / "page.html")) as sheet:
        page = sheet.page
        assert page.title() == page.locator("h1").text_content() == FLIGHTS.title
        assert page.locator("header .lines").inner_text() == FLIGHTS.description, "with its line breaks"
        names, facts = (page.locator(f".about {tag}").all_text_contents() for tag in ("dt", "dd"))
        assert dict(zip(names, facts, strict=True)) == {
            **FLIGHTS.facts(),
            "Contact": FLIGHTS.contact.removeprefix("mailto:"),
        }
        links = page.locator(".about a")
        targets, policies = ([link.get_attribute(name) for link in links.all()] for name in ("href", "rel"))
        assert targets == [FLIGHTS.licence, FLIGHTS.contact]
        assert set(policies) == {"noopener noreferrer"}
        assert page.locator("link[rel=preconnect], link[rel=dns-prefetch], link[rel=prefetch]").count() == 0


@pytest.mark.long_but(1)
@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_words_stay_text(browser, rel, tmp_path, hostile):
    hostile_release = said(rel, **dict.fromkeys(FIELDS, hostile))
    with opened(browser, hostile_release.report(tmp_path / "hostile.html")) as sheet:
        page = sheet.page
        assert page.locator("h1").text_content() == hostile
        assert page.title() == " ".join(hostile.split())
        assert page.locator("header .lines").text_content() == hostile
        assert page.locator(".about dd").all_text_contents().count(hostile) == 4
        assert page.locator(".about a, header img, header svg, [onclick], [onerror]").count() == 0
        assert page.locator("script").count() == 2
        assert sheet.asked([fragment(["100"], ["300"])]) == [[*written(answered(rel, ["100"], ["300"])), ""]]


@pytest.mark.long
@pytest.mark.parametrize("screen", [PHONE, WIDE], ids=["phone", "wide"])
@pytest.mark.parametrize("text", ["x" * 300, "\u4e2d" * 300, "\u05d0" * 300, "https://example.org/" + "x" * 280])
def test_long_words_fit_every_screen(browser, rel, tmp_path, screen, text):
    path = said(rel, **dict.fromkeys(FIELDS, text)).report(tmp_path / "long.html")
    with opened(browser, path, **screen) as sheet:
        assert sheet.page.evaluate("document.documentElement.scrollWidth") <= screen["viewport"]["width"]


# --- the README -----------------------------------------------------------------------------------------------------

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def parts(text):
    """The blocks of a README with what they hold, as a reader sees it, and the kinds of all its elements."""
    tokens = MARKDOWN.parse(text)
    shown = []
    for before, token in pairwise(tokens):
        if token.type == "inline":
            inside = (one.content or "\n" * (one.type == "softbreak") for one in token.children)
            shown.append((before.tag, "".join(inside)))
    return shown, {one.type for token in tokens for one in [token, *(token.children or ())]}


def seen(text):
    """Text as Markdown leaves it: lines without space around them, and no empty lines twice."""
    return [part for part in (" ".join(line.split()) for line in text.split("\n")) if part]


@given(about=abouts())
def test_a_readme_says_it_word_by_word(rel, about):
    shown, kinds = parts(readme(replace(rel, about=about), ("release.json", "buckets.csv")))
    texts = [" ".join(text.split()) for _, text in shown]
    heads = [" ".join(text.split()) for tag, text in shown if tag == "h1"]
    assert heads == [" ".join(about.title.split()) if about.title else "How many, along x"]
    if about.description:
        assert " ".join(seen(about.description)) in " ".join(texts)
    for name, fact in about.facts().items():
        assert " ".join(f"{name}: {fact}".split()) in texts
    assert not kinds & {"html_block", "html_inline", "image", "s_open"}


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_readme_reads_nothing_into_it(rel, hostile):
    text = readme(said(rel, **dict.fromkeys(FIELDS, hostile)), ("release.json", "buckets.csv"))
    shown, kinds = parts(text)
    assert [inner for tag, inner in shown if tag == "h1"] == [hostile]
    assert not kinds & {"html_block", "html_inline", "image", "link_open", "s_open", "blockquote_open"}
    assert f"Contact: {hostile}" in [inner for _, inner in shown]


@pytest.mark.parametrize("start", ["===", "---", "- x", "+ x", "1. x", "12) x", "> x", "    x", "```", "| a |\n|---|"])
def test_lines_of_a_description_stay_lines(rel, start):
    plain = parts(readme(said(rel, description="one\ntwo"), ("release.json",)))[1]
    text = readme(said(rel, description=f"one\n{start}\ntwo"), ("release.json",))
    shown, kinds = parts(text)
    assert kinds == plain
    assert any(" ".join(f"one {start} two".split()) == " ".join(inner.split()) for _, inner in shown)


# --- pictures and notebooks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("hostile", [*HOSTILE, "x" * 300, r"$\frac{1}{0}$"])
def test_pictures_and_notebooks_have_the_title_as_text(rel, hostile):
    shown = said(rel, title=hostile)
    title = shown.plot().axes[0].get_title(loc="left").split("\n")
    assert title[0] == (hostile if len(hostile) <= 48 else f"{hostile[:47]}…")
    assert title[1].startswith("NOT PRIVATE, ε = 0.3")
    html = shown._repr_html_()
    assert f"<p><strong>{escape(hostile)}</strong></p>" in html
    assert not {"<script", "<img"} & {html[at : at + 7] for at in range(len(html))}


def test_without_a_title_they_are_as_ever(rel):
    plain = replace(rel, about=None)
    assert "\n" not in plain.plot().axes[0].get_title(loc="left")
    assert "<strong>" not in plain._repr_html_()
    assert 'aria-label="Released records along x"' in plain._repr_html_()
    assert f'aria-label="{FLIGHTS.title}: released records along x"' in rel._repr_html_()


@pytest.mark.long
def test_records_have_the_custodians_name_on_the_page(browser, tmp_path):
    name = "flights & <b>gates</b>"
    rel = line(about=replace(FLIGHTS, plural=name))
    with opened(browser, rel.report(tmp_path / "page.html")) as sheet:
        assert sheet.page.locator(".headline span").text_content() == name
        assert sheet.texts("cumulative-title") == [f"How many {name} lie below a value"]
        assert f"of the {name} in range" in sheet.texts("curve-caption")[0]
        sheet.until(f"document.getElementById('said').textContent.includes({name!r})")
        assert sheet.page.locator("b", has_text="gates").count() == 0
    assert r"how many flights & \<b\>gates\</b\> lie" in readme(rel, ["buckets.csv", "release.json"])
