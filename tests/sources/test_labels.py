"""Labels: the public names of tables, by which a ledger tells them apart."""

import os
from pathlib import Path

import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dawa import sources
from dawa.errors import SourceError
from dawa.sources.labels import label, labelled

SECRET = "pa55word"  # noqa: S105  for tests


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    for name in ("PGHOST", "PGPORT", "PGUSER", "PGDATABASE"):
        monkeypatch.delenv(name, raising=False)


def test_a_file_is_its_path_however_it_is_named(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "people.csv"
    path.touch()
    (tmp_path / "link.csv").symlink_to(path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    names = [
        path,
        str(path),
        "data/people.csv",
        "data/../data/people.csv",
        "link.csv",
        "~/data/people.csv",
        sources.csv("data/people.csv", delimiter=";"),
    ]
    assert {label(name) for name in names} == {str(path)}
    assert label("data/*.csv") == str(tmp_path / "data" / "*.csv")
    assert label("data") == str(tmp_path / "data")
    assert label("none.csv") == str(tmp_path / "none.csv")
    (tmp_path / "~").mkdir()
    assert label("~") == str(tmp_path / "~")


def test_a_loop_of_links_has_a_label(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert label(tmp_path / "loop") == str(tmp_path / "loop")


@pytest.mark.parametrize(
    ("address", "answer"),
    [
        (f"postgresql://ada:{SECRET}@server/hr#people", "postgresql://server/hr#people"),
        (f"postgres://ada:{SECRET}@SERVER:5432/hr#people", "postgresql://server/hr#people"),
        (f"postgresql+psycopg://server/hr?user=ada&password={SECRET}#people", "postgresql://server/hr#people"),
        ("postgresql://server:5433/hr#late.people", "postgresql://server:5433/hr#late.people"),
        ("postgresql://server/hr#a.b%2Ec", "postgresql://server/hr#a.b%2Ec"),
        ("postgresql://server/hr#a%2Eb.c", "postgresql://server/hr#a%2Eb.c"),
        ("postgresql://ada@/?host=/Run/pg&port=6000&dbname=hr#人", "postgresql://%2FRun%2Fpg:6000/hr#人"),
        ("postgresql://ada@server#people", "postgresql://server/ada#people"),
        ("postgresql://eve@server#people", "postgresql://server/eve#people"),
        ("postgresql://server/hr?options=-csearch_path%3Dlate#people", "postgresql://server/hr#late.people"),
        ("postgresql://server/hr?options=-csearch_path%3Dlate#x.people", "postgresql://server/hr#x.people"),
        (f"postgresql:///hr?service=one&sslpassword={SECRET}#people", "postgresql://service=one,/hr#people"),
        ("postgresql://[::1]:5433/hr#people", "postgresql://[::1]:5433/hr#people"),
        (f"postgresql://ada:x@{SECRET}@server/hr#people", "postgresql://server/hr#people"),
        (f"postgresql://ada:{SECRET}@server:port/hr#people", "postgresql:#people"),
        (f"postgresql://ada:{SECRET}/x@server/hr#people", "postgresql:#people"),
        (f"postgresql://ada:4711?{SECRET}@server/hr#people", "postgresql:#people"),
    ],
)
def test_a_table_of_a_server_has_no_user_and_no_password(address, answer):
    assert label(address) == answer
    assert SECRET not in answer
    if "service" not in answer and answer != "postgresql:#people":
        assert labelled(answer) == answer
    assert label(sources.table(address.split("#")[0], "t")).endswith("t")


def test_what_an_address_leaves_out_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("PGHOST", "server")
    monkeypatch.setenv("PGDATABASE", "hr")
    monkeypatch.setenv("PGPORT", "5433")
    assert label("postgresql://#people") == "postgresql://server:5433/hr#people"


def test_other_addresses_have_no_keys():
    assert label(f"s3://ada:{SECRET}@bucket/people.parquet") == "s3://bucket/people.parquet"
    assert SECRET not in label(f"s3://bucket/people.parquet?key={SECRET}")


@pytest.mark.parametrize(
    "table",
    [
        {"age": [1]},
        pd.DataFrame({"age": [1]}),
        pl.DataFrame({"age": [1]}),
        pl.DataFrame({"age": [1]}).lazy(),
        pa.table({"age": [1]}),
        ibis.memtable(pa.table({"age": [1]})),
        ibis.memtable(pa.table({"age": [1]})).filter(ibis._.age > 0),
    ],
    ids=lambda table: type(table).__name__,
)
def test_what_is_in_memory_has_no_name(table):
    assert label(table) == "memory"


def test_a_password_is_not_typed_into_a_ledger():
    with pytest.raises(SourceError, match=r"cannot be read(?s:.)*Hint: write # and @ in a password") as caught:
        labelled(f"postgresql://ada:x#{SECRET}@server/hr#people")
    assert SECRET not in str(caught.value)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tables_of_engines_have_the_names_that_engines_know():
    connection = ibis.duckdb.connect()
    people = connection.create_table("people", pa.table({"age": [1], "id": [1]}))
    visits = connection.create_table("visits.x", pa.table({"id": [1]}))
    assert label(people) == "ibis:duckdb#memory.main.people"
    assert label(people.filter(people.age > 0)) == "ibis:expression on duckdb#memory.main.people"
    assert label(people.join(visits, "id")) == (
        "ibis:expression on duckdb#memory.main.people, duckdb#memory.main.visits%2Ex"
    )
    assert label(ibis.range(5).unnest().name("x").as_table()) == "ibis:expression"


@pytest.mark.long
def test_spark_tables_by_name_and_frames_without(spark):
    assert label(sources.table(spark, "people", "hr")) == "spark:hr.people"
    assert label(spark.sql("select 1 as x")) == "spark"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_labels_can_be_typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    connection = ibis.duckdb.connect()
    people = connection.create_table("people", pa.table({"age": [1]}))
    for table in ({"age": [1]}, people, "postgresql://ada:x@server/hr#people", "data/people.csv"):
        assert labelled(label(table)) == label(table)
    assert labelled("spark") == "spark"
    assert labelled("./spark") == str(tmp_path / "spark")
    assert labelled("memory.csv") == str(Path(os.fspath(tmp_path)) / "memory.csv")


def test_units_of_a_release():
    assert [sources.unit_columns(unit) for unit in (None, "person", ["person", "day"], ("person",))] == [
        (),
        ("person",),
        ("person", "day"),
        ("person",),
    ]


@pytest.mark.parametrize(
    ("address", "answer"),
    [
        (f"http://ada:{SECRET}@SERVER:8799/a/x.csv", "http://server:8799/a/x.csv"),
        ("http://server:80/x.csv", "http://server/x.csv"),
        ("https://server:443/x.csv#part", "https://server/x.csv"),
        ("https://server:80/x.csv", "https://server:80/x.csv"),
        ("http://[::1]:8799/x.csv", "http://[::1]:8799/x.csv"),
        (f"https://server/x.csv?sig={SECRET}", "https://server/x.csv?sha256:677d7037"),
        (f"s3://key:{SECRET}@bucket/x.parquet", "s3://bucket/x.parquet"),
        ("s3://bucket/x.parquet?region=eu", "s3://bucket/x.parquet?sha256:2405171f"),
        (f"https://ada:{SECRET}/x@server/y.csv", "https://server/y.csv"),
        (f"https://[ada:{SECRET}@server/y.csv", "https://server/y.csv"),
    ],
)
def test_a_file_on_a_server_has_its_port_and_a_hash_of_its_query(address, answer):
    assert label(address) == answer
    assert label(sources.csv(address)) == answer
    assert labelled(answer) == answer, "a label can be typed"


def test_files_on_servers_are_told_apart():
    names = ["http://s/x.csv", "http://s:81/x.csv", "http://s/x.csv?file=1", "http://s/x.csv?file=2", "https://s/x.csv"]
    assert len({label(name) for name in names}) == len(names)
