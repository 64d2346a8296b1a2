"""Words about the data: what may be said, that it is kept as it was said, and that it is nothing but text."""

import json
import re
from dataclasses import replace
from datetime import UTC, date, datetime
from importlib import resources

import jsonschema
import pytest
from hypothesis import given

import dawa
from dawa.errors import OptionError, ReleaseError
from dawa.limits import MOST_DESCRIPTION, MOST_WORDS
from dawa.results.about import NAMES, About, is_link
from helpers.words import FLIGHTS, abouts

AGE = dawa.Axis("age", 0, 100)


@pytest.fixture(scope="module")
def rel():
    return dawa.release({"age": [31, 45, 45, 62]}, AGE, epsilon=1, about=FLIGHTS)


@pytest.fixture(scope="module")
def schema():
    text = resources.files("dawa").joinpath("results/schema/release-2.json").read_text(encoding="utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def load(tmp_path, rel, about):
    path = tmp_path / "release.json"
    path.write_text(json.dumps({**rel.to_json(), "about": about}), encoding="utf-8")
    return dawa.load(path)


# --- there and back -------------------------------------------------------------------------------------------------


@given(about=abouts())
def test_what_was_said_is_read_back(rel, schema, tmp_path_factory, about):
    said = replace(rel, about=about)
    schema.validate(said.to_json())
    again = dawa.load(said.save(tmp_path_factory.getbasetemp() / "about.json"))
    assert again.about == (about if about.to_json() else None)
    assert again.to_json() == said.to_json()


def test_a_release_carries_it_and_its_numbers_do_not_change(tmp_path):
    table = {"age": [31, 45, 45, 62]}
    plain, said = (dawa.release(table, AGE, epsilon=1, seed=0, about=about) for about in (None, FLIGHTS))
    assert plain.about is None
    assert plain.to_json()["about"] is None
    assert said.about == FLIGHTS
    assert said.values().tolist() == plain.values().tolist()
    assert str(said.privacy) == str(plain.privacy)
    assert dawa.load(said.save(tmp_path / "release.json")).about == FLIGHTS


def test_every_field_has_a_name_and_a_place_in_the_schema(schema):
    known = schema.schema["properties"]["about"]["oneOf"][1]["properties"]
    assert set(known) == set(NAMES) == {*FLIGHTS.to_json(), "plural"}
    words = schema.schema["$defs"]["words"]
    assert (words["maxLength"], known["description"]["maxLength"]) == (MOST_WORDS, MOST_DESCRIPTION)


def test_schema_and_python_refuse_the_same_characters(schema):
    """Halves of characters apart: no schema can say them."""
    known = schema.schema["properties"]["about"]["oneOf"][1]["properties"]
    patterns = {"title": schema.schema["$defs"]["words"]["pattern"], "description": known["description"]["pattern"]}
    for name, pattern in patterns.items():
        for text in (f"a{chr(code)}b" for code in (*range(0x2100), 0xD800, 0xDFFF, 0xFEFF, 0xFFFF, 0x1F600)):
            allowed = re.fullmatch(pattern, text) is not None and text.encode("utf-8", "replace").decode() == text
            try:
                found = getattr(About(**{name: text}), name)
            except OptionError:
                found = None
            assert found == (text if allowed else None), (name, text)


# --- what may be said -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"title": ""}, "The title is blank"),
        ({"title": " \n "}, "The title is blank"),
        ({"title": "\u200b \ufeff"}, "The title is blank"),
        ({"title": 5}, "The title is 5, not text"),
        ({"title": b"x"}, "not text"),
        ({"title": "x" * (MOST_WORDS + 1)}, "more than 300 characters"),
        ({"description": "x" * (MOST_DESCRIPTION + 1)}, "more than 5,000 characters"),
        ({"title": "one\ntwo"}, "no text"),
        ({"description": "one\ttwo"}, "no text"),
        ({"description": "one\rtwo"}, "no text"),
        ({"record": "a\x1b[31mflight"}, "no text"),
        ({"publisher": "half \ud800"}, "no text"),
        ({"licence": "\u202elicence"}, "no text"),
        ({"contact": "line\u2028break"}, "no text"),
        ({"data_from": "2013"}, "not a date"),
        ({"data_from": "20130101"}, "not a date"),
        ({"data_from": "2013-W01-1"}, "not a date"),
        ({"data_from": "2013-02-29"}, "not a date"),
        ({"data_from": "2013-01-01T00:00"}, "not a date"),
        ({"data_from": datetime(2013, 1, 1, tzinfo=UTC)}, "not a date"),
        ({"data_from": 2013}, "not a date"),
        ({"data_from": "today"}, "not a date"),
        ({"data_to": "٢٠١٣-01-01"}, "not a date"),
        ({"released": "Today"}, "'today'"),
        ({"data_from": "2013-01-02", "data_to": "2013-01-01"}, "before they begin"),
    ],
)
def test_what_is_no_text_or_no_date_is_refused(words, problem):
    with pytest.raises(OptionError, match=problem):
        About(**words)


def test_space_and_dates_are_written_in_one_way():
    about = About(
        title=" A title ", description="\r\none\r\ntwo\r\n", data_from=date(2013, 1, 1), data_to="2013-01-01 "
    )
    assert about == About(title="A title", description="one\ntwo", data_from="2013-01-01", data_to=date(2013, 1, 1))
    assert about.period == "2013-01-01"
    assert About(data_from="2013-01-01").period == "from 2013-01-01"
    assert About(data_to="2013-01-01").period == "up to 2013-01-01"


def test_the_clock_is_read_only_if_that_is_asked_for():
    about = About(released="today")
    assert about.released == "today"
    before = datetime.now(UTC).date()
    rel = dawa.release({"age": [31]}, AGE, epsilon=1, about=about)
    assert str(before) <= rel.about.released <= str(datetime.now(UTC).date())
    assert dawa.release({"age": [31]}, AGE, epsilon=1, about=About(title="x")).about.released is None


def test_nothing_else_is_taken_for_words():
    with pytest.raises(OptionError, match=r"is no dawa\.About"):
        dawa.release({"age": [31]}, AGE, epsilon=1, about={"title": "x"})
    assert dawa.release({"age": [31]}, AGE, epsilon=1, about=About()).about is None


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("https://example.org", True),
        ("https://example.org:8080/a_b/?q=1&r=(2)#c", True),
        ("mailto:first.last+data@example.org", True),
        ("http://example.org", False),
        ("see https://example.org", False),
        ("https://example.org/ and more", False),
        ("HTTPS://example.org", False),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("https://bank.org@example.org/", False),
        ("https://user:word@example.org/", False),
        ("https:\\\\example.org", False),
        ("https://example.org/\"onclick='x'", False),
        ("https://ex\u0430mple.org", False),
        ("mailto:a@b.org?body=x", False),
        ("answers@example.org", False),
    ],
)
def test_only_plain_addresses_are_links(text, link):
    assert is_link(text) is link


# --- files ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "about",
    [
        "x",
        [],
        7,
        {"title": 5},
        {"title": None},
        {"title": ""},
        {"title": " "},
        {"title": "\u200b"},
        {"title": "a\nb"},
        {"title": "\u202ea"},
        {"title": "x" * 301},
        {"title": "\ud800"},
        {"description": "a\tb"},
        {"description": "x" * 5001},
        {"released": "today"},
        {"released": "2013-02-30"},
        {"data_from": "2013-02-01", "data_to": "2013-01-01"},
    ],
)
def test_damaged_words_are_refused_by_name(tmp_path, rel, about):
    with pytest.raises(ReleaseError, match="damaged: about"):
        load(tmp_path, rel, about)


@pytest.mark.parametrize("about", [None, {}])
def test_no_words_are_no_damage(tmp_path, rel, about):
    assert load(tmp_path, rel, about).about is None


def test_files_without_words_load(tmp_path, rel):
    path = tmp_path / "release.json"
    path.write_text(json.dumps({name: part for name, part in rel.to_json().items() if name != "about"}))
    assert dawa.load(path).about is None


def test_a_field_from_the_future_is_ignored_like_others(tmp_path, rel, schema):
    more = {"title": "x", "keywords": ["a"]}
    schema.validate({**rel.to_json(), "about": more})
    assert load(tmp_path, rel, more).about == About(title="x")
