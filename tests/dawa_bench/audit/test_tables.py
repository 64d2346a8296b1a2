"""Neighbouring tables, and everything that holds them."""

import contextlib
import gzip
import json

import pyarrow as pa
import pyarrow.parquet
import pytest

import dawa
from dawa.errors import OptionError
from dawa_bench.audit import holders, tables
from dawa_bench.audit.holders import HOLDERS, named
from dawa_bench.audit.tables import ASKED, CAP, FEW, NEW, ODDS, Table, neighbours, odds, ordinary

AXIS = dawa.Axis("n", 0, 10)
EMBEDDED = [holder for holder in HOLDERS if not holder.slow and holder.name != "PostgreSQL"]


def test_neighbours_differ_by_what_is_odd_alone():
    for asked in ASKED:
        for odd in list(odds(frozenset({odd.kind for odd in ODDS}), asked))[:: 9 if asked.rows > FEW else 1]:
            fewer, more = neighbours(asked, odd)
            assert (fewer.before, fewer.after, fewer.odd, more.odd) == (more.before, more.after, None, odd)
            assert len(fewer.records) == asked.rows + CAP + 3
            assert asked.of_persons or len(odd.records) <= 1
            assert not (odd.last and more.after)


def test_no_choice_among_ordinary_rows_shows():
    """Which records of a person are kept is drawn by the engine, and must not be seen in what is compared."""
    rows = ordinary(FEW)
    for person in {row[-1] for row in rows}:
        records = [row for row in rows if row[-1] == person]
        assert len(set(records)) == 1
    assert max(sum(row[-1] == person for row in rows) for person in {row[-1] for row in rows}) > CAP
    assert NEW not in {row[-1] for row in rows}


def test_odd_records_are_of_one_new_person():
    for odd in ODDS:
        assert bool(odd.records) != bool(odd.written)
        assert {record[-1] for record in odd.records} <= {NEW, None}
        assert all(len(record) == len(tables.NAMES) for record in odd.records)
    assert len({(odd.kind, odd.name) for odd in ODDS}) == len(ODDS)


@pytest.mark.parametrize("holder", EMBEDDED, ids=lambda holder: holder.name)
def test_every_holder_holds_the_ordinary_rows(tmp_path, holder):
    """Counted with hardly any noise, they are as they were made."""
    rows = ordinary(FEW)
    table, typed = holder.made(tmp_path, Table(rows, ()), None)
    made = dawa.release(table, AXIS, epsilon="1e4", mechanism="identity", seed=1)
    expected = [sum(row[1] == number for row in rows) for number in range(10)]
    assert made.estimate.cells.round().astype(int).tolist() == expected
    assert typed is None or typed[0].startswith(str(tmp_path))


def test_what_is_odd_is_in_the_file_as_it_is(tmp_path):
    line = next(odd for odd in ODDS if odd.name == "a short line")
    table = Table(ordinary(FEW)[:1], ordinary(FEW)[1:2], line)
    by_name = {holder.name: holder for holder in HOLDERS}
    path, _ = by_name["CSV"].made(tmp_path, table, None)
    assert path.read_bytes().split(b"\n")[2] == line.written.strip()
    packed, _ = by_name["packed CSV"].made(tmp_path, table, None)
    assert gzip.decompress(packed.read_bytes()) == path.read_bytes()
    damaged = next(odd for odd in ODDS if odd.kind == tables.ARROW)
    path, _ = by_name["Parquet"].made(tmp_path, Table((), (), damaged), None)
    words = pyarrow.parquet.read_table(path)["word"].cast(pa.binary()).to_pylist()
    assert words == [b"A\xff"]
    path, _ = by_name["JSON lines"].made(tmp_path, Table(ordinary(FEW), ()), None)
    assert json.loads(path.read_text().split("\n")[0])["who"] == "p0"


def test_holders_by_name():
    assert [holder.name for holder in named(("csv", "SQLITE"))] == ["CSV", "SQLite"]
    assert not any(holder.slow for holder in named())
    assert len({holder.name for holder in HOLDERS}) == len(HOLDERS)
    with pytest.raises(OptionError, match="'Oracle' is not a source"):
        named(("Oracle",))


def test_what_is_not_installed_is_left_out_and_told(monkeypatch):
    nowhere = holders.Holder("nowhere", frozenset(), HOLDERS[0].made, needs=("no_such_package",))
    monkeypatch.setattr(holders, "HOLDERS", (HOLDERS[0], nowhere))
    assert named() == (HOLDERS[0],)
    with pytest.raises(OptionError, match="not installed"):
        named(("nowhere",))


def test_a_rude_value_raises_whatever_is_asked():
    for ask in (str, repr, float, int, bool, len, iter):
        with pytest.raises(ValueError, match="a value"):
            ask(tables.Rude())
    with contextlib.suppress(TypeError):
        hash(tables.Rude())
