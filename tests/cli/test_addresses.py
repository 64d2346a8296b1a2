"""Addresses on the command line and in specs: networks are ranges there, too."""

import pytest

import dawa as library
from dawa import spec
from helpers.commands import dawa, refused


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("clients") / "clients.csv"
    lines = ["client"] + [f"10.{i % 4}.0.{i % 256}" for i in range(2000)] + ["010.0.0.1", "192.168.0.1", ""]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_release_and_query(table, tmp_path):
    given = ("--network", "10.0.0.0/8", "--prefix", 24, "--outside", "own", "--epsilon", 10, "--out", tmp_path / "out")
    made = dawa("release", table, "--column", "client", *given)
    assert made.code == 0, made.err
    release = library.load(tmp_path / "out" / "release.json")
    assert release.axis == library.Axis.ipv4("client", "10.0.0.0/8", prefix=24, outside="own")
    found = dawa("query", tmp_path / "out", "10.1.0.0/16", "10.0.0.0:10.1.0.0", "*", "--json").json["answers"]
    assert [one["range"]["client"] for one in found] == [
        ["10.1.0.0", "10.2.0.0"],
        ["10.0.0.0", "10.1.0.0"],
        ["10.0.0.0", "11.0.0.0"],
    ]
    assert abs(found[0]["value"] - 500) < 20
    assert "10.1.0.0" in (tmp_path / "out" / "buckets.csv").read_text(encoding="utf-8")
    refused(dawa("query", tmp_path / "out", "11.0.0.0/8"), "10.0.0.0/8")
    assert dawa("query", tmp_path / "out", "10.1.0.0/16", "--out", tmp_path / "answers.parquet").code == 0
    drawn = dawa("sample", tmp_path / "out", "--rows", 5, "--seed", 1)
    assert drawn.code == 0
    assert "10." in drawn.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--network", "10.0.0.1/8"), "10.0.0.0/8"),
        (("--network", "10.0.0.0/8", "--prefix", "x"), "number of bits"),
        (("--network", "::/0"), "prefix=62"),
        (("--network", "10.0.0.0/8", "--step", "1"), "would change nothing"),
        (("--prefix", "24"), "no bounds"),
    ],
)
def test_what_is_refused(table, tmp_path, options, words):
    refused(dawa("release", table, "--column", "client", *options, "--epsilon", 1, "--out", tmp_path / "x"), words)


def test_a_spec_says_the_same(table, tmp_path):
    path = tmp_path / "spec.toml"
    text = f'[source]\nfile = "{table}"\n[privacy]\nepsilon = 1\n[[axes]]\ncolumn = "client"\nwithin = "10.0.0.0/8"\n'
    path.write_text(text + "prefix = 16\n", encoding="utf-8")
    read = spec.toml.read(path)
    assert read.axes[0].axis() == library.Axis.ipv4("client", "10.0.0.0/8", prefix=16)
    again = tmp_path / "again.toml"
    again.write_text(spec.toml.written(read, tmp_path), encoding="utf-8")
    assert spec.toml.read(again).axes == read.axes
