"""Text files: headers, declared or in the first line, before any record is read."""

import codecs
from unittest.mock import patch

import pytest

from dawa import Axis, release, sources
from dawa.errors import AxisError, SourceError
from dawa.sources import delimited, places
from dawa.sources.dialect import Dialect
from helpers.binning import found
from helpers.reading import X, outcome, read


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (b"x,y\n1,2\n", ("x", "y")),
        (b"x,y\r1,2\r", ("x", "y")),
        (b"x,y\r\n1,2\r\n", ("x", "y")),
        (b'"x"," y "\n1,2\n', ("x", "y")),
        (b'"x,1","y""2"\n1,2\n', ("x,1", 'y"2')),
        (b'"x\r\n1",y\n1,2\n', ("x\r\n1", "y")),
        (b"\n\r\n\r\rx,y\n1,2\n", ("x", "y")),
        (b"x,y", ("x", "y")),
        (b" x ,\ty\n1,2", ("x", "y")),
        (b"", ()),
        (b"\n\n\n", ()),
        (codecs.BOM_UTF8 + b'"x",y\n', ("x", "y")),
        ("größe,名前\n".encode(), ("größe", "名前")),
        (b"x,x\n1,2\n", ("x", "x")),
        (b'"x', ("x",)),
    ],
)
def test_headers(tmp_path, data, names):
    path = tmp_path / "x.csv"
    path.write_bytes(data)
    there = delimited.header(places.file(path), Dialect())
    assert there.names == names
    if b"1,2" in data and len(set(names)) == 2:
        assert read(path, Dialect(), list(names)) == [("1", "2")]


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"x,x\n1,2\n", b"canary4711\n5\n", b'"canary4711\n', b"c" * 6000 + b"\n5\n"]
)
def test_headers_that_do_not_name_the_column_once_are_refused_before_rows_are_read(tmp_path, monkeypatch, data):
    monkeypatch.setattr(delimited, "MOST_HEADER_BYTES", 5000)
    path = tmp_path / "x.csv"
    path.write_bytes(data)
    came = outcome(path, X)
    assert came[0] == "opening"
    assert came[1] in {AxisError.__name__, SourceError.__name__}
    assert "canary" not in str(came)


def test_a_header_of_any_length_up_to_its_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "MOST_HEADER_BYTES", 5000)
    path = tmp_path / "x.csv"
    for spare, fits in ((10, True), (-10, False)):
        size = delimited.MOST_HEADER_BYTES - 3 - spare
        path.write_bytes(b"x," + (b"ccccccccc," * size)[:size] + b"\n5,1\n")
        assert (outcome(path, X)[0] == "counted") == fits


def test_nothing_is_read_beyond_a_header(tmp_path):
    """Not even as much as a buffer."""
    path = tmp_path / "x.csv"
    path.write_bytes(b"x,y\n" + b"canary4711,1\n" * 100)
    taken = []
    original = places.File.pieces

    def watched(where, size):
        for chunk in original(where, size):
            taken.append(chunk)
            yield chunk

    with patch.object(places.File, "pieces", watched):
        delimited.header(places.file(path), Dialect())
    assert b"".join(taken) == b"x,y\n"


def test_declared_columns_take_no_line_away(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"5,a\n6,b\n")
    assert found(sources.csv(path, header=["x", "y"]), X) == {5: 1, 6: 1}
    assert outcome(sources.csv(path, header=["y"]), X)[0] == "opening"
    assert found(sources.csv(path, header=["x"]), X) == {}, "records with a surplus are left out"


def test_a_header_with_too_few_names_can_be_seen(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("1,31,5\n" * 500)
    rel = release(sources.csv(path, header=["id", "age"]), Axis("age", 0, 100), epsilon=1, seed=1)
    assert rel.apart()[0].answer.low <= 500 <= rel.apart()[0].answer.high
