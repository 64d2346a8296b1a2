"""A draft for the registry of deployments fits its schema, and says only what the release says."""

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

import dawa as library
from dawa.budget import rounded_up
from dawa.publish.records import registry
from helpers.commands import dawa, refused

SCHEMA = json.loads(Path(__file__).with_name("registry_schema.json").read_text("utf-8"))
VALID = Draft7Validator(SCHEMA, format_checker=Draft7Validator.FORMAT_CHECKER)
AGE = library.Axis("age", 0, 100, 10)
TABLE = {"age": [31, 45, 45, 62], "sex": ["f", "m", "f", "m"], "who": [1, 1, 2, 3]}
ABOUT = library.About(
    title='Ages: "by hand" é # *',
    description="Two\nlines: - a, {b}",
    publisher="Example Hospital",
    released="2026-05-03",
)


def made(**options):
    return library.release(TABLE, AGE, **{"epsilon": "1/3", **options})


def read(release):
    found = yaml.safe_load(registry.as_text(release))
    VALID.validate(found)
    return found


def at(record, path):
    for name in path.split("."):
        record = record.get(name, {}) if isinstance(record, dict) else record
    return record


@pytest.mark.parametrize(
    "options",
    [{}, {"about": ABOUT}, {"by": "sex", "groups": ["f", "m"]}, {"unit": "who", "max_rows_per_unit": 2}],
    ids=["bare", "words", "groups", "persons"],
)
def test_a_draft_fits_the_schema_and_reads_as_it_was_meant(options):
    release = made(**options)
    found = read(release)
    assert found == registry.record(release)
    assert (found["status"], found["tier"]) == ("Draft", 2)


def test_the_guarantee_is_the_releases():
    found = read(made(unit="who", max_rows_per_unit=2))["deployment"]
    assert found["dp_variant"]["variant_name"] == "Pure DP"
    assert found["privacy_loss"]["privacy_unit"] == "person (a value of 'who')"
    assert "At most 2 records of each" in found["privacy_loss"]["privacy_unit_details"]
    assert found["privacy_loss"]["privacy_parameters"] == {"epsilon": rounded_up(Fraction(1, 3))}
    assert "epsilon = 1/3 exactly" in found["privacy_loss"]["privacy_parameters_details"]
    assert "which adds up to 1/3" in found["accounting"]["composition"]


@pytest.mark.parametrize("about", [None, ABOUT])
def test_what_only_people_know_is_named_and_not_made_up(about):
    release = made(about=about)
    found, left = read(release), registry.left(release)
    for path in registry.LEFT:
        value = at(found, path)
        empty = value in ({}, registry.OPEN, [registry.OPEN], registry.NO_DATE)
        assert (path in left) == empty, path
        assert empty <= (value == {} or path in registry.REQUIRED)
    head = registry.as_text(release).split("\nstatus: ", 1)[0]
    assert all(f"# {path}: " in head for path in left)
    assert ("deployment.basic.publication_date" in left) == (about is None)


def test_the_slug_is_what_the_registry_computes():
    """Lower case, letters and digits alone, and the year; its checks look for it where the file begins."""
    text = registry.as_text(made(about=ABOUT))
    assert re.search(r"^url_slug: (.*)", text)[1] == "ages-by-hand-é--example-hospital-2026"


@given(st.text())
def test_any_text_is_read_back(text):
    assert yaml.safe_load(f"a: {registry._scalar(text)}\n") == {"a": text}


def test_a_release_that_is_not_private_has_no_record():
    with pytest.raises(library.OptionError, match="seed"):
        registry.as_text(made(seed=1))


def test_a_record_replaces_nothing(tmp_path):
    file = registry.save(made(), tmp_path / "out.yaml")
    VALID.validate(yaml.safe_load(file.read_text("utf-8")))
    for path, told in ((file, "exists already"), (tmp_path / "no/where.yaml", "cannot be written"), ("a\0b", "name")):
        with pytest.raises(library.FolderError, match=told):
            registry.save(made(), path)


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age\n31\n45\n62\n", encoding="utf-8")
    assert dawa("ledger", "create", "hr", "--cap", "2", "--unit", "record").code == 0
    return ["release", "people.csv", "--column", "age", "--range", "0:100", "--epsilon", "0.5", "--out", "out"]


def test_the_command_writes_a_draft_beside_its_release(people):
    ran = dawa(*people, "--title", "Ages", "--registry", "out.yaml")
    assert ran.code == 0
    assert "12 of its fields are left to you" in " ".join(ran.out.split())
    found = yaml.safe_load(Path("out.yaml").read_text("utf-8"))
    VALID.validate(found)
    assert found["deployment"]["basic"]["name"] == "Ages"
    assert library.load("out/release.json").id in found["deployment"]["administrative"]["notes"]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--registry", "people.csv"], "exists already"),
        (["--registry", "no/where.yaml"], "no such folder"),
        (["--registry", "x" * 300], "cannot be written"),
        (["--registry", "./out"], "named twice"),
        (["--registry", "a.toml", "--save-spec", "a.toml"], "named twice"),
        (["--registry", "dawa-ledger.db-wal"], "SQLite"),
        (["--registry", "out.yaml", "--seed", "1"], "not private"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_is_spent(people, more, told):
    paid = [] if "--seed" in more else ["--dataset", "hr"]
    refused(dawa(*people, *paid, *more), told)
    assert not Path("out").exists()
    assert len(dawa("ledger", "history", "--json").json) == 1


def test_a_draft_that_fails_late_says_where_the_release_is(people, monkeypatch):
    def full(*_):
        raise library.FolderError("It is full.", "make room.")

    monkeypatch.setattr(registry, "save", full)
    late = dawa(*people, "--dataset", "hr", "--registry", "out.yaml")
    refused(late, "It is full. The release itself is in out.")
    assert "do not release again" in " ".join(late.err.split())
    assert library.load("out/release.json").privacy.epsilon == Fraction(1, 2)
