"""What is written for catalogues is Croissant to its own reader, and says nothing that nobody said."""

import csv
import hashlib
import json
import logging
import warnings

import numpy as np
import pytest

import dawa as library
from dawa.publish import folder
from dawa.publish.records import croissant
from dawa.publish.records.croissant import CROISSANT
from dawa.spec.ranges import Asked

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of the libraries that it loads
    import mlcroissant

TABLE = {
    "age": np.arange(400) % 90,
    "day": np.array(["2020-01-01", "2020-03-01"] * 200, "datetime64[D]"),
    "sex": ["f", "m"] * 200,
}
AGE, DAY = library.Axis("age", 0, 100, 10), library.Axis.dates("day", "2020-01-01", "2020-05-01", "month")
ABOUT = library.About(
    title='Ages, "by hand" é',
    description="Two\nlines.",
    licence="https://creativecommons.org/licenses/by/4.0/",
    publisher="Example Hospital",
    contact="mailto:data@example.org",
    released="2026-05-03",
    data_from="2020-01-01",
    data_to="2020-12-31",
)
ODD = 'a "b", c/ä#?&\\'


def made(tmp_path, axes=AGE, asked=(), table=TABLE, **options):
    with folder.prepared(tmp_path / "out", asked) as keeper:
        release = library.release(table, axes, epsilon="1/2", out=keeper, **options)
    return release, json.loads((tmp_path / "out" / CROISSANT).read_text("utf-8"))


@pytest.fixture
def read(tmp_path, caplog):
    """What the reader of Croissant says of the folder's file."""

    def look():
        with caplog.at_level(logging.CRITICAL), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            dataset = mlcroissant.Dataset(tmp_path / "out" / CROISSANT)
            rows = {records.uuid: list(dataset.records(records.uuid)) for records in dataset.metadata.record_sets}
        return dataset.metadata, rows

    return look


@pytest.mark.parametrize(
    ("axes", "options"),
    [
        (AGE, {}),
        (AGE, {"about": ABOUT}),
        (DAY, {}),
        ([AGE, DAY], {}),
        (AGE, {"by": "sex", "groups": ["f", "m"]}),
        (library.Axis(ODD, 0, 100), {"table": {ODD: [1, 2, 3]}}),
    ],
    ids=["ages", "words", "days", "map", "groups", "odd-name"],
)
def test_its_own_reader_takes_it_and_reads_the_tables(tmp_path, read, axes, options):
    asked = [Asked((18,), (65,), "", ())] if axes is AGE and "by" not in options else []
    made(tmp_path, axes, asked, **options)
    metadata, rows = read()
    assert not metadata.ctx.issues.errors
    tables = {path.stem for path in (tmp_path / "out").glob("*.csv")}
    assert set(rows) == tables
    for name in tables:
        with (tmp_path / "out" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            held = list(csv.DictReader(file))
        assert len(held) == len(rows[name])
        assert [float(row["value"]) for row in held] == [row[f"{name}/value"] for row in rows[name]]


def test_all_that_it_recommends_is_there_or_named(tmp_path, read):
    release, _ = made(tmp_path)
    metadata, _ = read()
    missing = {
        warning.partition('"')[2].partition('"')[0].rpartition("/")[2] for warning in metadata.ctx.issues.warnings
    }
    assert missing == {"license", "datePublished", "version", "citeAs"}
    assert missing <= set(croissant.left(release))


def test_every_other_file_is_listed_with_its_bytes(tmp_path):
    _, data = made(tmp_path)
    files = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir() if path.name != CROISSANT}
    listed = {one["@id"]: one for one in data["distribution"]}
    assert set(listed) == set(files)
    for name, content in files.items():
        assert listed[name]["sha256"] == hashlib.sha256(content).hexdigest()
        assert listed[name]["contentSize"] == f"{len(content)} B"
        assert listed[name]["contentUrl"] == name


def test_schema_org_has_what_it_requires_of_a_dataset(tmp_path):
    """Search engines want a name, and a description of 50 to 5,000 characters."""
    _, data = made(tmp_path)
    assert data["@type"] == "sc:Dataset"
    assert data["name"] == "How many, along age"
    assert 50 <= len(data["description"]) <= 5000
    assert data["@context"]["@vocab"] == "https://schema.org/"


def test_the_custodians_words_are_what_they_said(tmp_path):
    release, data = made(tmp_path, about=ABOUT)
    assert data["name"] == ABOUT.title
    assert data["description"].startswith("Two\nlines.\n\nThis release is 0.5-differentially private for each record")
    assert (data["license"], data["datePublished"]) == (ABOUT.licence, "2026-05-03")
    assert data["publisher"] == {
        "@type": "sc:Organization",
        "name": "Example Hospital",
        "contactPoint": {"@type": "sc:ContactPoint", "email": "data@example.org"},
    }
    assert data["temporalCoverage"] == "2020-01-01/2020-12-31"
    assert data["identifier"] == release.id


@pytest.mark.parametrize(
    ("contact", "said"),
    [("https://example.org/ask", {"url": "https://example.org/ask"}), ("Room 5", {"name": "Room 5"})],
)
def test_a_contact_is_an_address_or_a_name(tmp_path, contact, said):
    about = library.About(publisher="We", contact=contact, data_to="2020-12-31")
    _, data = made(tmp_path, about=about)
    assert data["publisher"]["contactPoint"] == {"@type": "sc:ContactPoint", **said}
    assert data["temporalCoverage"] == "../2020-12-31"


def test_what_is_not_private_says_so(tmp_path):
    _, data = made(tmp_path, seed=1)
    assert data["description"].startswith("NOT PRIVATE")


def test_nothing_is_made_up(tmp_path):
    release, data = made(tmp_path)
    assert not set(croissant.LEFT) & set(data)
    assert set(croissant.left(release)) == set(croissant.LEFT)


@pytest.mark.parametrize("name", ["low", "cells", "from", "confidence"])
def test_groups_are_text_whatever_their_column_is_called(tmp_path, read, name):
    made(tmp_path, table={"age": TABLE["age"], name: TABLE["sex"]}, by=name, groups=["f", "m"])
    rows = read()[1]
    for table in ("buckets", "apart"):
        assert {next(iter(row.values())) for row in rows[table]} >= {b"f", b"m"}
