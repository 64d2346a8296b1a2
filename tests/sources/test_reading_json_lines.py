"""JSON lines: one line more moves one count at most, whatever is in it and wherever it stands."""

import gzip
import json
import random
from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dawa
from dawa import Axis, ledger, sources
from dawa.errors import DawaError, SourceError
from dawa.sources import json_lines, places
from dawa.sources.dialect import Dialect
from helpers.binning import found
from helpers.examples import examples
from helpers.json_twin import lines
from helpers.reading import CANARY, INTEGERS, LETTERS, NUMBERS, X, check_neighbours, outcome

MANY = 130_000
HOSTILE = [
    b'{"x": "late"}',
    b'{"x": 1e999}',
    b'{"x": -1e-999}',
    b'{"x": ' + b"9" * 50_000 + b"}",
    b'{"x": "2013-01-01"}',
    b'{"x": null}',
    b'{"x": [5]}',
    b'{"x": {"x": 5}}',
    b'{"x": 5, "x": 6, "x": 7}',
    b'{"x": 5, "y": "' + b"z" * 3_000_000 + b'"}',
    b'{"y": 5}',
    b"{}",
    b"[]",
    b"[5]",
    b"5",
    b'"x"',
    b"null",
    b'{"x": 5',
    b'{"x": "open',
    b'{"x": 5}{"x": 6}',
    b'{"x": 5}\r',
    b'\xef\xbb\xbf{"x": 5}',
    b'{"x": "\xff"}',
    b'{"\xff": 5}',
    b'{"x": "\\ud800"}',
    b'{"x": "5\\u0000"}',
    b'{"x": "\x00"}',
    b"\x00" * 5000,
    b"\xff\xfe{\x00}\x00",
    b"[" * 100_000,
    b'{"x":' * 100_000,
    b'{"x": NaN}',
    b'{"x": Infinity}',
    b'{"x": 0.1}',
    b'{"x": true}',
    b'{"x": "NA"}',
    b'{"x": ""}',
    b'{"x.x": 5}',
    b"x,y",
    b"<x>5</x>",
    b"   \t\r",
    b"",
]


@pytest.fixture(scope="module")
def plain_lines():
    rng = np.random.default_rng(4711)
    return [
        b'{"x": %d, "note": "%s"}' % (x, b"y" * int(size))
        for x, size in zip(rng.integers(0, 10, MANY), rng.integers(5, 30, MANY), strict=True)
    ]


@pytest.mark.long
@pytest.mark.parametrize("ending", ["jsonl", "ndjson.gz"])
def test_one_hostile_line_anywhere(tmp_path, plain_lines, ending):
    """At the front, in the middle, and behind 130,000 lines."""
    path, half = tmp_path / f"x.{ending}", MANY // 2
    first, second = (b"\n".join(some) + b"\n" for some in (plain_lines[:half], plain_lines[half:]))

    def came(data):
        path.write_bytes(gzip.compress(data, 1) if ending.endswith("gz") else data)
        return outcome(path, X)

    fewer = came(first + second)
    assert fewer[1].total() == MANY
    for number, line in enumerate(HOSTILE):
        parts = [first, second]
        parts.insert(number % 3 if ending == "jsonl" else 2, line + b"\n")
        check_neighbours(came(b"".join(parts)), fewer)
    check_neighbours(came(first + second + HOSTILE[0]), fewer)  # without an end
    more = came(first + b'{"x": 5}\n' + second)
    assert (more[1] - fewer[1]) == {5: 1}, "the test can see a line"


@pytest.mark.long
@examples(30)
@given(
    st.lists(st.sampled_from(HOSTILE[:9] + HOSTILE[10:]), max_size=8),
    st.sampled_from([*INTEGERS, *NUMBERS, *LETTERS]),
    st.data(),
)
def test_the_law_on_small_files(tmp_path_factory, some, axis, data):
    path = tmp_path_factory.mktemp("x") / "x.jsonl"
    place, line = data.draw(st.integers(0, len(some))), data.draw(st.sampled_from(HOSTILE))

    def came(rows):
        path.write_bytes(b"\n".join(rows))
        return outcome(path, axis)

    check_neighbours(came([*some[:place], line, *some[place:]]), came(some))


def test_blocks_do_not_matter(tmp_path):
    path, rng = tmp_path / "x.jsonl", random.Random(4711)  # noqa: S311  a test
    short = [line for line in HOSTILE if len(line) < 5000]
    data = b"\n".join(rng.choices(short, k=300))
    path.write_bytes(data)
    expected = lines(data, ["x", "y"])
    for block in (1, 2, 3, 7, 64, 4096):
        with patch.object(places, "BLOCK", block):
            rows = []
            for batch in json_lines.batches([places.file(path)], Dialect(), ["x", "y"]):
                rows += zip(*(column.to_pylist() for column in batch.columns), strict=True)
        assert rows == expected, block


@pytest.mark.long_but(1)
@pytest.mark.parametrize("block", [1, 50, 2**21])
def test_a_line_that_is_too_long_is_left_out_in_every_block(tmp_path, monkeypatch, block):
    monkeypatch.setattr(places, "BLOCK", block)
    monkeypatch.setattr(json_lines, "MOST_RECORD_BYTES", 100)
    path = tmp_path / "x.jsonl"
    for size, counted in ((99, 3), (100, 3), (101, 2), (102, 2), (150, 2), (1000, 2)):
        line = b'{"x": 5, "y": "' + b"z" * (size - 17) + b'"}'
        assert len(line) == size
        for data in (
            b'{"x": 1}\n' + line + b'\n{"x": 2}',
            b'{"x": 1}\n{"x": 2}\n' + line + b"\n",
            b'{"x": 1}\n{"x": 2}\n' + line,
            line + b'\n{"x": 1}\n{"x": 2}\n',
        ):
            path.write_bytes(data)
            assert sum(found(path, X).values()) == counted, size


def test_numbers_keep_the_text_that_they_are_written_in(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text(
        '{"x": 9007199254740993}\n{"x": 9007199254740992}\n{"x": "9007199254740993"}\n{"x": 9007199254740993.0}\n'
    )
    assert found(path, Axis("x", 2**53 - 1, 2**53 + 3)) == {1: 1, 2: 3}
    path.write_text('{"x": 0.3}\n{"x": 3e-1}\n{"x": 0.29999999999999999999}\n{"x": "0,3"}\n')
    assert found(path, Axis("x", 0, 1, "0.1")) == {3: 3}
    assert found(sources.jsonl(path, decimal=","), Axis("x", 0, 1, "0.1")) == {3: 4}, "numbers have points nevertheless"


def test_values_are_read_as_the_axis_says(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"x": true}\n{"x": "false"}\n{"x": 1}\n{"x": "A"}\n{"x": "None"}\n')
    assert found(path, Axis.ordered("x", [False, True])) == {0: 1, 1: 2}
    assert found(path, Axis.ordered("x", ["A", "None", "1", "true"])) == {0: 1, 1: 1, 2: 1, 3: 1}
    path.write_text('{"x": "2013-01-01T08:30:00Z"}\n{"x": "02.01.2013"}\n{"x": 2013}\n')
    days = Axis.dates("x", "2013-01-01", "2013-01-04")
    assert found(path, days) == {0: 1}
    assert found(sources.jsonl(path, date_format="%d.%m.%Y"), days) == {1: 1}
    path.write_text('{"x": -99}\n{"x": "-99"}\n{"x": 5}\n')
    assert found(sources.jsonl(path, missing=["-99"]), X) == {5: 1}


def test_columns_are_declared_by_asking_for_them(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text(
        '{"visit": {"age": 5}, "who": {"id": "a"}}\n{"visit": {"age": 7}, "who": {"id": "a"}}\n{"visit.age": 1}\n'
    )
    assert found(path, Axis("visit.age", 0, 10)) == {5: 1, 7: 1, 1: 1}
    assert found(path, Axis("visit.agee", 0, 10)) == {}, "a misspelt name is missing everywhere"
    came = outcome(path, Axis("visit.age", 0, 10), unit="who.id", max_rows_per_unit=1)
    assert came[1].total() == 1, "records without a unit are left out"


def test_several_files_and_any_name(tmp_path):
    for part in range(3):
        (tmp_path / f"{part}.jsonl").write_text(json.dumps({"x": part}))
        (tmp_path / f"{part}.log").write_text(json.dumps({"x": part}))
    (tmp_path / "packed").write_bytes(gzip.compress(b'{"x": 5}'))
    assert found(tmp_path / "*.jsonl", X) == {0: 1, 1: 1, 2: 1}
    assert found(sources.jsonl(tmp_path / "*.log"), X) == {0: 1, 1: 1, 2: 1}
    assert found(sources.jsonl(tmp_path / "packed", gzip=True), X) == {5: 1}


def test_a_unit_never_adds_more_than_its_rows(tmp_path):
    path, rng = tmp_path / "x.jsonl", random.Random(4711)  # noqa: S311  a test
    rows = [{"x": rng.randrange(10), "who": rng.choice(["a", 7, "7", 7.5, None, [1], "b"])} for _ in range(500)]

    def came(some):
        path.write_text("\n".join(map(json.dumps, some)))
        return outcome(path, X, unit="who", max_rows_per_unit=2)

    assert came(rows)[1].total() == 2 * 4, "a, b, 7.5, and 7, which is one unit however it is written"


# --- late, quiet ----------------------------------------------------------------------------------------------------


def test_nothing_is_read_before_it_is_paid_for(tmp_path, monkeypatch):
    book, taken, original = ledger.opened(tmp_path / "ledger.db"), [], places.File.pieces
    book.create("poor", cap="0.1")
    book.create("rich", cap=10)

    def watched(where, size):
        for chunk in original(where, size):
            taken.append((book.account("rich").spent > 0 or book.account("rich").reserved > 0, chunk))
            yield chunk

    monkeypatch.setattr(places.File, "pieces", watched)
    for name, begin in (("x.jsonl", b""), ("x.jsonl.gz", b"\x1f\x8b")):
        path, data = tmp_path / name, b'{"x": 5}\n' * 1000
        path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
        with pytest.raises(DawaError, match="Hint:"):
            dawa.release(path, X, epsilon=1, ledger=book, dataset="poor")
        assert b"".join(chunk for _, chunk in taken) == begin
        taken.clear()
        if not book.account("rich").spent:
            dawa.release(path, X, epsilon=1, ledger=book, dataset="rich")
            assert b"".join(chunk for paid, chunk in taken if not paid) == begin
            assert b"".join(chunk for paid, chunk in taken if paid)
            taken.clear()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda _: None, "There is no file"),
        (lambda path: path.mkdir(), "folder"),
        (lambda path: [path.symlink_to(path)], "no file|could not be read"),
    ],
)
def test_what_cannot_be_opened_costs_nothing(tmp_path, make, says):
    book = ledger.opened(tmp_path / "ledger.db")
    book.create("rich", cap=10)
    path = tmp_path / "x.jsonl"
    make(path)
    with pytest.raises(SourceError, match=says):
        dawa.release(sources.jsonl(path), X, epsilon=1, ledger=book, dataset="rich")
    (tmp_path / "y.jsonl.gz").write_text('{"x": 5}')
    with pytest.raises(SourceError, match="is not a gzip file"):
        dawa.release(tmp_path / "y.jsonl.gz", X, epsilon=1, ledger=book, dataset="rich")
    assert book.account("rich").spent == 0


def test_a_damaged_file_is_refused_without_a_word_of_it(tmp_path):
    path = tmp_path / "x.jsonl.gz"
    whole = gzip.compress("".join(f'{{"x": "{CANARY}{row}"}}\n' for row in range(1000)).encode())
    for damaged in (whole[:-1], whole[: len(whole) // 2], whole[:50] + b"\xff" * 9 + whole[59:]):
        path.write_bytes(damaged)
        came = outcome(path, X)
        assert came[0] == "reading"
        assert CANARY not in str(came)


def test_an_empty_file_is_an_empty_table(tmp_path):
    (tmp_path / "x.jsonl").write_bytes(b"")
    assert outcome(tmp_path / "x.jsonl", X) == ("counted", Counter())


@pytest.mark.parametrize("given", [{"delimiter": ";"}, {"header": ["x"]}, {"encoding": "latin-1"}, {"sheet": "x"}])
def test_json_has_no_other_dialect(given):
    with pytest.raises(TypeError):
        sources.jsonl("x.jsonl", **given)


def test_what_is_declared_is_in_the_statement_and_in_the_ledger(tmp_path):
    path, book = tmp_path / "x.jsonl", ledger.opened(tmp_path / "ledger.db")
    book.create("hr", cap=10)
    path.write_text('{"x": 5}\n')
    made = dawa.release(sources.jsonl(path, date_format="%d.%m.%Y"), X, epsilon=1, ledger=book, dataset="hr")
    said = " ".join(made.privacy.handling)
    assert "JSON lines" in said
    assert "%d.%m.%Y" in said
    what = next(entry.what for entry in book.history("hr") if entry.kind == "reserve")
    assert what["format"] == "JSON lines"
    assert what["dialect"]["date_format"] == "%d.%m.%Y"
    assert set(what["dialect"]) == {"decimal", "date_format", "missing"}
