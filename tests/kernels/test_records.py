"""Text is marked and cut as slow twins do it, in every form of the kernels, and nothing beside an array is touched."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa.errors import InvariantError
from dawa.kernels import native, records
from dawa.kernels.native import Kernel
from dawa.kernels.records import NONE, QUOTED, SLACK, SPARE, START
from helpers.examples import examples
from helpers.reading import as_text, cut, fitted, named

PIECES = [
    b'"',
    b'""',
    b",",
    b",,,",
    b"\r",
    b"\n",
    b"\r\n",
    b"\\",
    b"|",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"a",
    b"b" * 9,
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join) | st.binary(max_size=80)
DIALECTS = [{}, {"quote": None}, {"delimiter": "|"}, {"escape": "\\"}, {"escape": "\\", "quote": None}]
FORMS = (False, True) if native.has_wide_registers() else (False,)
CANARY = 0xA5


def signs(dialect):
    return [NONE if mark is None else ord(mark) for mark in (dialect.delimiter, dialect.quote, dialect.escape)]


def array(data):
    return np.frombuffer(data, np.uint8)


@pytest.fixture(autouse=True, params=FORMS, ids=lambda wide: "wide" if wide else "any")
def form(request, monkeypatch):
    """Every test runs with every form that this processor has."""
    for name in ("count_marks", "find_marks", "split"):
        monkeypatch.setattr(records, f"_{name}", Kernel(f"records_{name}", wide=request.param))


def guarded(shape, kind):
    """An array in the middle of a larger one, and a function that says whether its surroundings are as they were."""
    size, beside = int(np.prod(shape)), 64
    whole = np.full((size + 2 * beside) * np.dtype(kind).itemsize, CANARY, np.uint8).view(kind)
    return (
        whole[beside : beside + size].reshape(shape),
        lambda: (
            (whole[:beside].view(np.uint8) == CANARY).all() and (whole[beside + size :].view(np.uint8) == CANARY).all()
        ),
    )


def split(data, dialect, columns, wanted, *, last=True, most=2**24, skip=False, mode=START):
    """The values of the wanted columns, record by record, and where the reading stands."""
    marked = records.marks(array(data), *signs(dialect))
    slot = np.full(columns, -1, np.int64)
    slot[wanted] = np.arange(len(wanted))
    text, text_is_safe = guarded((len(wanted), len(data) + SLACK), np.uint8)
    ends, ends_are_safe = guarded((len(wanted), len(marked) + 2), np.int64)
    rows, *where = records.split(array(data), marked, last, *signs(dialect), mode, skip, most, slot, text, ends)
    assert text_is_safe()
    assert ends_are_safe()
    values = [
        [bytes(line[start:end]) for start, end in pairwise(found[: rows + 1])]
        for line, found in zip(text, ends, strict=True)
    ]
    return list(zip(*values, strict=True)) if wanted else [()] * rows, where


# --- marks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 63, 64, 65, 1023, 1024, 1025, 4096, 4097, 70_001])
@pytest.mark.parametrize("share", [0, 0.01, 0.3, 1])
@pytest.mark.parametrize("marks", [(44, 34, NONE), (44, NONE, NONE), (0, 255, 92)])
def test_marks_are_the_places_of_bytes_that_matter(size, share, marks):
    rng = np.random.default_rng(size)
    mattering = [10, 13, *(mark for mark in marks if mark != NONE)]
    others = np.setdiff1d(np.arange(256), mattering)
    data = np.where(rng.random(size) < share, rng.choice(mattering, size), rng.choice(others, size)).astype(np.uint8)
    found = records.marks(data, *marks)
    assert found.dtype == np.uint32
    assert found.tolist() == np.flatnonzero(np.isin(data, mattering)).tolist()


@pytest.mark.parametrize("size", [1, 64, 1000, 5000])
@pytest.mark.parametrize("share", [0.1, 1])
def test_marks_are_written_where_there_is_room(size, share):
    data = np.where(np.random.default_rng(0).random(size) < share, 44, 97).astype(np.uint8)
    count = int((data == 44).sum())
    found, is_safe = guarded(count + SPARE, np.uint32)
    assert records._count_marks(size, data, 44, NONE, NONE) == count
    assert records._find_marks(size, data, 44, NONE, NONE, found) == count
    assert is_safe()


class Endless:
    """As long as a text may not be."""

    def __len__(self):
        return 2**32


def test_a_text_whose_places_do_not_fit_is_refused():
    with pytest.raises(InvariantError, match="too long"):
        records.marks(Endless(), 44, 34, NONE)


# --- records --------------------------------------------------------------------------------------------------------


@examples(300)
@given(TEXTS, st.sampled_from(DIALECTS), st.integers(1, 5), st.sampled_from([0, 3, 20, 2**24]), st.data())
def test_records_are_those_of_a_slow_automaton(data, marks, columns, most, draw):
    dialect = named(columns, **marks)
    wanted = draw.draw(st.permutations(range(columns)).flatmap(lambda all_: st.sampled_from([all_, all_[:1], []])))
    found, _ = split(data, dialect, columns, wanted, most=most)
    short = [fields for fields, inner, *_ in cut(data, dialect) if len(inner) <= most]
    twin = [tuple(row[column] for column in wanted) for row in fitted(short, columns)]
    assert [tuple(map(as_text, row)) for row in found] == twin


@examples(300)
@given(TEXTS, TEXTS, st.sampled_from(DIALECTS), st.integers(1, 3))
def test_what_is_cut_before_the_end_is_the_beginning_of_all(data, more, marks, columns):
    """And reading goes on where the last whole record ended."""
    dialect, wanted = named(columns, **marks), list(range(columns))
    first, (after, understood, _) = split(data, dialect, columns, wanted, last=False)
    assert 0 <= after <= understood <= len(data)
    rest, _ = split(data[after:] + more, dialect, columns, wanted)
    assert first + rest == split(data + more, dialect, columns, wanted)[0]


@examples(200)
@given(TEXTS, st.sampled_from(DIALECTS), st.booleans(), st.booleans(), st.sampled_from([START, 1, QUOTED]))
def test_a_reading_that_begins_anywhere_stays_inside(data, marks, last, skip, mode):
    _, (after, understood, _) = split(data, named(3, **marks), 3, [2, 0], last=last, skip=skip, mode=mode)
    assert 0 <= after <= understood <= len(data)


def test_the_first_record_can_be_left_out():
    assert split(b'c,d"\ne,f\n', named(2), 2, [0, 1], skip=True)[0] == [(b"e", b"f")]
    assert split(b'c\n",d\ne,f\n', named(2), 2, [0, 1], skip=True, mode=QUOTED)[0] == [(b"e", b"f")]


@pytest.mark.parametrize("size", [3, 8, 40])
def test_values_fill_a_text_to_its_end(size):
    data = b"x" * size
    assert split(data, named(1), 1, [0])[0] == [(data,)]
    assert split(b'"' + data + b'"', named(1), 1, [0])[0] == [(data,)]


def call(data=b"a,b\n", **changed):
    marked = records.marks(array(data), 44, 34, NONE)
    given = {
        "marked": marked,
        "slot": np.array([0, 1]),
        "text": np.empty((2, len(data) + SLACK), np.uint8),
        "ends": np.empty((2, len(marked) + 2), np.int64),
        **changed,
    }
    last, skip, rest = True, False, (given[name] for name in ("slot", "text", "ends"))
    return records.split(array(data), given["marked"], last, 44, 34, NONE, START, skip, 99, *rest)


def test_arrays_without_room_are_refused():
    assert call() == (1, 4, 4, START)
    for wrong in (
        {"slot": np.zeros(0, np.int64)},
        {"slot": np.array([0, 2])},
        {"text": np.empty((2, 4 + SLACK - 1), np.uint8)},
        {"text": np.empty((1, 4 + SLACK), np.uint8)},
        {"ends": np.empty((2, 3), np.int64)},
        {"ends": np.empty((1, 4), np.int64)},
        {"marked": np.array([1, 4], np.uint32)},
    ):
        with pytest.raises(InvariantError):
            call(**wrong)
