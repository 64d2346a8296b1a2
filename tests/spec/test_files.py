"""Specs of all kinds of files: what is declared about them is written down, read back, checked and planned."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from dawa import sources
from dawa.cli import specs
from dawa.errors import SpecError
from dawa.sources.dialect import Dialect
from dawa.spec import toml
from dawa.spec.model import AxisSpec, Spec, without_password
from helpers.commands import dawa, refused
from helpers.workbook import pack, parts

AGE = AxisSpec("age", start="0", stop="120")
ASKED = ("--column", "age", "--range", "0:120", "--epsilon", "1000")


def spec(source, **given):
    return Spec(source, (AGE,), Fraction(1, 2), **given)


@pytest.mark.parametrize(
    "made",
    [
        spec("-"),
        spec("-", format="jsonl"),
        spec("-", format="tsv.gz", dialect=Dialect(delimiter="\t", decimal=",")),
        spec("x.jsonl", dialect=Dialect(date_format="%d.%m.%Y")),
        spec("data.log", format="ndjson"),
        spec("x.xlsx", sheet="Visits & more", dialect=Dialect(header=("age", "id"))),
        spec("x.bin", format="xlsx", sheet="1"),
        spec("/dev/fd/63"),
        spec("https://server/x.csv"),
        spec("https://ann:${PASSWORD}@server/x.csv?sig=${SIG}", dialect=Dialect(delimiter=";")),
        spec("https://server/x", format="jsonl"),
        spec("s3://bucket/x.parquet"),
    ],
    ids=lambda made: f"{made.source} {made.format}",
)
def test_what_is_written_reads_back_the_same(tmp_path, made):
    path = toml.save(made, tmp_path / "spec.toml")
    read = toml.read(path)
    away = made.source.startswith(("http", "s3", "-", "/dev"))
    source = made.source if away else str(tmp_path / made.source)
    assert read.source == (source if away else str(Path(made.source).absolute()))
    assert (read.format, read.sheet, read.dialect) == (made.format, made.sheet, made.dialect)
    assert toml.written(read, tmp_path) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("source", "given", "says"),
    [
        ("x.csv", {"sheet": "a"}, "Only Excel workbooks have sheets"),
        ("x.parquet", {"sheet": "a"}, "Only Excel workbooks have sheets"),
        ("x.jsonl", {"dialect": Dialect(delimiter=";")}, "JSON lines have no delimiter"),
        ("x.xlsx", {"dialect": Dialect(encoding="cp1252")}, "An Excel workbook has no encoding"),
        ("x.csv", {"format": "xls"}, "no format 'xls'"),
        ("postgresql://server/hr", {"table": "a", "format": "csv"}, "A database has no format"),
        ("postgresql://server/hr", {"table": "a", "sheet": "b"}, "Only Excel workbooks have sheets"),
        ("https://server/x.csv", {"table": "a"}, "has no table 'a'"),
        ("-", {"table": "a"}, "has no table 'a'"),
    ],
)
def test_what_does_not_fit_is_refused(source, given, says):
    with pytest.raises(SpecError, match=says):
        spec(source, **given)


@pytest.mark.parametrize(
    "address",
    [
        "https://ann:secret@server/x.csv",
        "https://server/x.csv?sig=secret",
        "https://server/x.csv?a=1&X-Amz-Signature=secret",
        "https://server/x.csv?access_token=secret",
        "https://server/x.csv?rlkey=secret",
        "s3://key:secret@bucket/x.csv",
        "s3://bucket/x.csv?secret_key=secret",
    ],
)
def test_no_secret_is_written_down(tmp_path, address):
    with pytest.raises(SpecError, match="holds a password") as caught:
        toml.save(spec(address), tmp_path / "spec.toml")
    assert "=secret" not in str(caught.value)
    assert not (tmp_path / "spec.toml").exists()
    with pytest.raises(SpecError, match="holds a password"):
        toml.parsed(f'[source]\nurl = "{address}"\n[[axes]]\ncolumn = "x"\nstart = 0\nstop = 1\n[privacy]\nepsilon = 1')


def test_other_parts_of_addresses_may_be_written_down():
    for address in ("https://server/x.csv?version=2&format=csv", "postgresql://u@server/hr?sslkey=/home/u/key.pem"):
        assert without_password(address, "source") == address


def test_a_spec_becomes_a_table(monkeypatch):
    monkeypatch.setenv("SIG", "s3cret")
    assert specs.table(spec("https://server/x.csv?sig=${SIG}")).path == "https://server/x.csv?sig=s3cret"
    assert specs.table(spec("x.parquet")) == "x.parquet"
    assert specs.table(spec("x.xlsx", sheet="a")) == sources.excel("x.xlsx", "a")
    assert specs.table(spec("x.jsonl")).path == "x.jsonl"


# --- the command line -----------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pack(tmp_path / "x.xlsx", parts({"Empty": [], "Visits": [["age"], *[[30]] * 500]}))
    records = [{"age": 30, "visit": {"age": 40}}] * 500
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, records)))
    (tmp_path / "x.log").write_text("\n".join(map(json.dumps, records)))
    return tmp_path


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (("x.xlsx", "--sheet", "Visits"), "The sheet 'Visits' of an Excel workbook"),
        (("x.xlsx",), "The first sheet of an Excel workbook"),
        (("x.jsonl",), "JSON lines"),
        (("x.log", "--format", "jsonl", "--date-format", "%d.%m.%Y"), "%d.%m.%Y"),
        (("https://server/x.csv",), "commas between fields"),
        (("-",), "commas between fields"),
        (("-", "--format", "tsv"), "tabs between fields"),
    ],
)
def test_plans_say_how_a_file_would_be_read(source, said):
    ran = dawa("plan", *source, *ASKED)
    assert ran.code == 0, ran.err
    assert said in ran.out


@pytest.mark.long
def test_releases_of_all_kinds_of_files(folder):
    for number, source in enumerate(
        (("x.xlsx", "--sheet", "Visits"), ("x.jsonl",), ("x.log", "--format", "jsonl"), ("x.xlsx", "--sheet=Visits")), 1
    ):
        ran = dawa("release", *source, *ASKED, "--out", f"out{number}", "--save-spec", f"spec{number}.toml")
        assert ran.code == 0, ran.err
        again = dawa("release", f"spec{number}.toml", "--out", f"again{number}", "--json")
        assert again.code == 0, again.err
        assert any("Excel" in said or "JSON lines" in said for said in again.json["privacy"]["handling"])
        answer = dawa("query", f"again{number}", "30:31", "--json").json["answers"][0]
        assert abs(answer["value"] - 500) < 5
    nested = dawa("release", "x.jsonl", "--column", "visit.age", *ASKED[2:], "--out", "nested")
    assert nested.code == 0, nested.err
    assert 'sheet = "Visits"' in (folder / "spec1.toml").read_text()


@pytest.mark.usefixtures("folder")
def test_wrong_steps():
    out, asked = ("--out", "out"), (*ASKED[:-1], "1")
    refused(dawa("release", "x.xlsx", *asked, *out), "the sheet 'Empty'", "--sheet chooses another")
    refused(dawa("release", "x.xlsx", "--sheet", "visits", *asked, *out), "no sheet 'visits'", "'Visits'")
    refused(dawa("release", "x.log", *asked, *out), "does not name a format", "--format csv")
    refused(dawa("release", "x.jsonl", "--sheet", "a", *asked, *out), "Only Excel workbooks have sheets")
    refused(dawa("release", "x.jsonl", "--header", "age", *asked, *out), "JSON lines have no header")
    refused(dawa("release", "x.xlsx", "--delimiter", ";", *asked, *out), "An Excel workbook has no delimiter")
    refused(dawa("release", "x.ods", *asked, *out), "There is no file")
    refused(dawa("release", "ftp://server/x.csv", *asked, *out), "does not read from ftp:")
    refused(dawa("release", "http://[server/x.csv", *asked, *out), "could not be opened")
