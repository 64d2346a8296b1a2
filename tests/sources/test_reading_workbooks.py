# ruff: noqa: DTZ001  times without a zone are part of it
"""Excel workbooks: one row more moves one count at most, whatever is in its cells and wherever it stands."""

import os
import zipfile
import zlib
from collections import Counter
from datetime import date, datetime, time, timedelta
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.utils.datetime import CALENDAR_MAC_1904

import dawa
from dawa import Axis, ledger, sources
from dawa.errors import DawaError, SourceError
from dawa.sources import packages, sheets
from helpers.binning import found
from helpers.examples import examples
from helpers.reading import CANARY, LETTERS, X, check_neighbours, outcome
from helpers.workbook import MAIN, Raw, pack, parts, write

MANY = 125_000
HEADER = ["x", "note"]
DAYS = Axis.dates("x", "2013-01-01", "2014-01-01", "1 day")
TRUTH = Axis.ordered("x", [False, True])


def odd(inside, kind=None, where="A7"):
    """A cell with anything in it."""
    return Raw(f'<c r="{where}"{"" if kind is None else f" t={kind!r}"}>{inside}</c>')


HOSTILE = {
    "text": ["late", "x"],
    "number in text": ["5", "x"],
    "nothing": [None, "x"],
    "nothing at all": [],
    "truth": [True, False],
    "huge": [odd("<v>1e999</v>")],
    "long": [odd(f"<v>{'9' * 100_000}</v>")],
    "no number": [odd("<v>abc</v>")],
    "date in text": [odd("<v>2013-01-01T00:00:00</v>", "d")],
    "date too late": [odd("<v>2958466</v>")],
    "date before all": [odd("<v>-1</v>")],
    "the day that never was": [odd("<v>60.5</v>")],
    "nan": [odd("<v>NaN</v>")],
    "inf": [odd("<v>-Infinity</v>")],
    "error": [odd("<v>#DIV/0!</v>", "e")],
    "error of the wrong kind": [odd("<v>#DIV/0!</v>", "n")],
    "formula": [odd("<f>1+4</f><v>5</v>")],
    "formula without a result": [odd("<f>NOW()</f>")],
    "formula of text": [odd("<f>A1</f><v>5</v>", "str")],
    "inline": [odd("<is><t>5</t></is>", "inlineStr")],
    "inline in runs": [odd("<is><r><t>1</t></r><r><t>0</t></r><rPh><t>99</t></rPh></is>", "inlineStr")],
    "no such string": [odd("<v>999999999</v>", "s")],
    "negative string": [odd("<v>-1</v>", "s")],
    "string of no number": [odd("<v>x</v>", "s")],
    "endless string number": [odd(f"<v>{'9' * 5000}</v>", "s")],
    "odd truth": [odd("<v>maybe</v>", "b")],
    "unknown kind": [odd("<v>5</v>", "z")],
    "no place": [Raw("<c><v>5</v></c>"), Raw('<c t="s"><v>0</v></c>')],
    "odd place": [odd("<v>5</v>", where="?!"), Raw("<c><v>5</v></c>")],
    "far place": [odd("<v>5</v>", where="ZZZZZZZZ7"), Raw("<c><v>5</v></c>")],
    "twice": [odd("<v>1</v>"), odd("<v>2</v>"), odd("<v>3</v>")],
    "two values": [odd("<v>1</v><v>2</v>")],
    "empty cells": [odd(""), odd("<v/>", where="B7")],
    "escapes": [odd("<is><t>_xD800__x0000__xZZZZ_</t></is>", "inlineStr")],
    "entities": [odd("<is><t>&lt;&amp;&#x41;&quot;</t></is>", "inlineStr")],
    "no text": [odd("<is><t>\U0001f600\ufffe</t></is>".replace("\ufffe", ""), "inlineStr")],
    "long text": ["z" * 300_000, "z"],
    "styled": [Raw('<c r="A7" s="77"><v>5</v></c>')],
    "other elements": [Raw('<c r="A7"><v>5</v><extLst><ext><row r="1"/></ext></extLst></c>')],
    "comment": [odd("<v>5<!-- 6 --></v>")],
    "CDATA": [odd("<v><![CDATA[5]]></v>")],
    "hidden row": Raw('<row r="7" hidden="1"><c r="A7"><v>5</v></c></row>'),
    "row of no number": Raw('<row><c r="A1"><v>5</v></c></row>'),
    "row of an odd number": Raw('<row r="99999999999"><c r="A1"><v>5</v></c></row>'),
    "row of a number that was": Raw('<row r="1"><c r="A1"><v>5</v></c></row>'),
    "row with a prefix": Raw(f'<q:row xmlns:q="{MAIN}"><q:c r="A1"><q:v>5</q:v></q:c></q:row>'),
}


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(4711)
    return [[int(x), f"n{int(y)}"] for x, y in zip(rng.integers(0, 10, MANY), rng.integers(0, 50, MANY), strict=True)]


@pytest.mark.long
@pytest.mark.parametrize("place", [0, MANY // 2, MANY])
def test_one_hostile_row_anywhere(tmp_path, many, place):
    """Many of them in one workbook, which is slow to write: each adds what it adds to an empty one."""
    fewer = outcome(write(tmp_path / "fewer.xlsx", [HEADER, *many]), X)
    assert fewer[1].total() == MANY
    some = list(HOSTILE.values())[{0: 0, MANY // 2: 1, MANY: 2}[place] :: 3]
    more = outcome(write(tmp_path / "more.xlsx", [HEADER, *many[:place], *some, *many[place:]]), X)
    alone = [outcome(write(tmp_path / "one.xlsx", [HEADER, row]), X)[1] for row in some]
    assert more == ("counted", fewer[1] + sum(alone, Counter()))


@pytest.mark.long_but(2)
@pytest.mark.parametrize("name", HOSTILE)
def test_the_law_for_every_hostile_row(tmp_path, name):
    rows, place = [[5, "A"], ["A", "B"], [True, None], [41275.5, "A"]], list(HOSTILE).index(name) % 5
    more = [*rows[:place], HOSTILE[name], *rows[place:]]
    for axis in (X, *LETTERS, DAYS, TRUTH, Axis.ordered("note", ["A", "B"])):
        fewer = outcome(write(tmp_path / "fewer.xlsx", [HEADER, *rows]), axis)
        assert fewer[0] == "counted"
        check_neighbours(outcome(write(tmp_path / "more.xlsx", [HEADER, *more]), axis), fewer)
        declared = [sources.excel(tmp_path / f"{which}.xlsx", header=HEADER) for which in ("fewer", "more")]
        check_neighbours(outcome(declared[1], axis), outcome(declared[0], axis))


@pytest.mark.long_but(3)
@pytest.mark.parametrize("name", HOSTILE)
def test_the_law_for_every_hostile_row_under_a_condition_and_with_a_unit(tmp_path, name):
    rows, place = [[5, "A"], ["A", "B"], [True, None], [41275.5, "A"]], list(HOSTILE).index(name) % 5
    fewer = write(tmp_path / "fewer.xlsx", [HEADER, *rows])
    more = write(tmp_path / "more.xlsx", [HEADER, *rows[:place], HOSTILE[name], *rows[place:]])
    for options in (
        {"where": "x >= '2013-01-01' or x is missing or x < 41289"},
        {"where": "not x = '2013-01-01 12:00'", "unit": "x", "max_rows_per_unit": 9},
    ):
        check_neighbours(outcome(more, DAYS, **options), outcome(fewer, DAYS, **options))


values = (
    st.none() | st.integers(-(10**6), 10**6) | st.booleans() | st.text("AB5.-e_x0é<&", max_size=6) | st.floats(0, 60000)
)


@pytest.mark.long
@examples(40)
@given(st.lists(st.lists(values, max_size=3), max_size=6), st.lists(values, max_size=3), st.data())
def test_the_law_for_rows_that_programs_write(tmp_path_factory, rows, row, data):
    folder, place = tmp_path_factory.mktemp("x"), data.draw(st.integers(0, len(rows)))
    axis = data.draw(st.sampled_from([X, DAYS, TRUTH, *LETTERS]))
    fewer = outcome(write(folder / "fewer.xlsx", [HEADER, *rows]), axis)
    more = outcome(write(folder / "more.xlsx", [HEADER, *rows[:place], row, *rows[place:]]), axis)
    check_neighbours(more, fewer)


EXPECTED = {
    "number in text": 5, "huge": 9, "long": 9, "inf": 0, "date before all": 0, "date too late": 9, "formula": 5,
    "the day that never was": 9, "formula of text": 5, "inline": 5, "inline in runs": 9, "no place": 5, "odd place": 5,
    "twice": 3, "two values": 9, "styled": 5, "comment": 5, "CDATA": 5, "hidden row": 5, "row of no number": 5,
    "row of an odd number": 5, "row of a number that was": 5, "row with a prefix": 5, "other elements": 5,
}  # fmt: skip


@pytest.mark.long_but(8)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_rows_count_as_said(tmp_path, name):
    assert found(write(tmp_path / "x.xlsx", [HEADER, HOSTILE[name]]), X) == (
        {EXPECTED[name]: 1} if name in EXPECTED else {}
    )


# --- as programs write them -----------------------------------------------------------------------------------------


def test_what_openpyxl_writes(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append([" x ", "when", "flag", "name", 2013])
    for day in range(100):
        sheet.append([day % 10, datetime(2013, 1, 1, 8) + timedelta(days=day), day % 2 == 0, "ABé"[day % 3], day])
    sheet.append(["=1/0", date(2013, 1, 1), None, "=A1", "text"])
    sheet.row_dimensions[5].hidden = True
    sheet["A120"] = 7  # after a gap
    book.save(tmp_path / "x.xlsx")
    path = tmp_path / "x.xlsx"
    assert found(path, X) == {cell: 10 + (cell == 7) for cell in range(10)}
    assert found(path, Axis.dates("when", "2013-01-01", "2014-01-01")) == {day: 1 + (day == 0) for day in range(100)}
    assert found(path, Axis.ordered("flag", [False, True])) == {0: 50, 1: 50}
    assert found(path, Axis.ordered("name", ["A", "B", "é"])) == {0: 34, 1: 33, 2: 33}
    assert found(path, Axis("2013", 0, 10, 10, "drop")) == {0: 10}, "a header may be a number"
    assert outcome(path, X, unit="name", max_rows_per_unit=1)[1].total() == 3


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_dates_and_times_in_both_calendars(tmp_path, late, zone):
    book = openpyxl.Workbook()
    if late:
        book.epoch = CALENDAR_MAC_1904
    sheet = book.active
    sheet.append(["x"])
    moments = [datetime(2013, 1, 1) + timedelta(hours=hour) for hour in range(24 * 31)]
    for moment in moments:
        sheet.append([moment])
    sheet.append(["2013-01-01 05:30"])
    sheet.append([time(8, 30)])
    sheet.append([timedelta(days=2)])
    book.save(tmp_path / "x.xlsx")
    hours = Axis.dates("x", "2013-01-01", "2013-02-01", "1 hour", zone, "drop")
    assert found(tmp_path / "x.xlsx", hours) == {hour: 1 + (hour == 5) for hour in range(24 * 31)}


@pytest.mark.long
def test_days_are_counted_as_excel_counts_them(tmp_path):
    """Excel has a 29 February 1900, so its days before that have other numbers than their distance says."""
    days = {
        "0": None, "1": "1900-01-01", "59": "1900-02-28", "59.999999999": "1900-03-01", "60": None, "60.99": None,
        "61": "1900-03-01", "61.5": "1900-03-01", "41275": "2013-01-01", "2958466": None,
        "4.1275E4": "2013-01-01", " 41275 ": "2013-01-01", "-1": None, "1e300": None, "nan": None, "inf": None,
    }  # fmt: skip
    for text, day in days.items():
        rows = [["x"], [odd(f"<v>{text}</v>")]]
        write(tmp_path / "x.xlsx", rows)
        for year in (1900, 2013):
            axis = Axis.dates("x", f"{year}-01-01", f"{year + 1}-01-01", "1 day", None, "drop")
            expected = (
                {} if day is None or int(day[:4]) != year else {(date.fromisoformat(day) - date(year, 1, 1)).days: 1}
            )
            assert found(tmp_path / "x.xlsx", axis) == expected, (text, year)
    write(tmp_path / "x.xlsx", [["x"], [2958465], [2958465.9]])
    assert found(tmp_path / "x.xlsx", DAYS) == {364: 2}, "the last days that Excel has lie outside"
    write(tmp_path / "x.xlsx", [["x"], [odd("<v>39813</v>")], [odd("<v>0</v>")], [odd("<v>2957004</v>")]], late=True)
    assert found(tmp_path / "x.xlsx", Axis.dates("x", "1904-01-01", "2014-01-01", "1 year", None, "drop")) == {
        0: 1,
        109: 1,
    }


def test_text_in_cells_is_read_as_declared(tmp_path):
    rows = [["x"], ["0,5"], [0.5], ["0.5"], ["-99"], [-99], ["02.01.2013"], [41276]]
    path = write(tmp_path / "x.xlsx", rows)
    tenths = Axis("x", 0, 1, "0.1", "drop")
    assert found(path, tenths) == {5: 2}
    assert found(sources.excel(path, decimal=","), tenths) == {5: 2}, "numbers in cells have no mark"
    assert found(sources.excel(path, date_format="%d.%m.%Y"), DAYS) == {0: 1, 1: 2}, "half a day is long ago"
    assert found(sources.excel(path, missing=["-99"]), Axis("x", -100, 0, 1, "drop")) == {}


def test_numbers_keep_the_text_that_they_are_stored_in(tmp_path):
    path = write(
        tmp_path / "x.xlsx", [["x"], [odd("<v>9007199254740993</v>")], [odd("<v>0.1000000000000000055511</v>")]]
    )
    assert found(path, Axis("x", 2**53, 2**53 + 3, 1, "drop")) == {1: 1}


def test_sheets_by_name_and_the_first_that_is_shown(tmp_path):
    found_parts = parts({"a": [["x"], [1]], "b & <c>": [["x"], [2]], "d": [["x"], [3]]}, hidden=["a"])
    path = pack(tmp_path / "x.xlsx", found_parts)
    assert found(path, X) == {2: 1}
    for name, cell in (("a", 1), ("b & <c>", 2), ("d", 3)):
        assert found(sources.excel(path, name), X) == {cell: 1}
    assert "'b & <c>'" in dawa.release(path, X, epsilon=1).privacy.handling[0]


def test_columns_without_a_header_row(tmp_path):
    path = write(tmp_path / "x.xlsx", [[5, "a"], [6, "b"], [None, None, 7]])
    assert found(sources.excel(path, header=["x", "y"]), X) == {5: 1, 6: 1}
    assert found(sources.excel(path, header=["y", "z", "x"]), X) == {7: 1}


def test_the_header_is_the_first_row_that_is_not_empty(tmp_path):
    path = write(tmp_path / "x.xlsx", [[], Raw('<row r="2"><c r="A2" s="5"/></row>'), ["x"], [], [5]])
    assert found(path, X) == {5: 1}


def test_parts_may_be_elsewhere_and_names_may_have_prefixes(tmp_path):
    found_parts = parts({"Sheet1": [["x"], [5]]})
    moved = {name.replace("xl/", "deep/er/"): text.replace("xl/", "/deep/er/") for name, text in found_parts.items()}
    assert found(pack(tmp_path / "x.xlsx", moved), X) == {5: 1}
    prefixed = dict(found_parts)
    name = "xl/worksheets/sheet1.xml"
    prefixed[name] = (
        f'<q:worksheet xmlns:q="{MAIN}"><q:sheetData><q:row><q:c t="inlineStr"><q:is><q:t>x</q:t></q:is></q:c></q:row>'
        "<q:row><q:c><q:v>5</q:v></q:c></q:row></q:sheetData></q:worksheet>"
    )
    assert found(pack(tmp_path / "x.xlsx", prefixed), X) == {5: 1}
    wide = dict(found_parts)
    wide[name] = wide[name].replace("UTF-8", "UTF-16").encode("utf-16")
    assert found(pack(tmp_path / "x.xlsx", wide), X) == {5: 1}


# --- wrong files ----------------------------------------------------------------------------------------------------


def whole(tmp_path):
    return write(tmp_path / "whole.xlsx", [["x"], *[[CANARY + str(row)] for row in range(500)]])


def changed(tmp_path, change):
    """A workbook of which one part was changed."""
    found_parts = parts({"Sheet1": [["x"], [CANARY]]})
    return pack(tmp_path / "x.xlsx", change(found_parts))


def without(name):
    return lambda found_parts: {key: text for key, text in found_parts.items() if key != name}


def replaced(name, old, new):
    return lambda found_parts: {
        key: text.replace(old, new, 1) if key == name else text for key, text in found_parts.items()
    }


def bytes_of(tmp_path, data):
    path = tmp_path / "x.xlsx"
    path.write_bytes(data)
    return path


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {name} "{f"&{other};" * 10}">' for other, name in zip("abcdefgh", "bcdefghi", strict=True)
)
SHEET, SHARED = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"
WRONG = {
    "empty file": (lambda folder: bytes_of(folder, b""), "is not an Excel workbook"),
    "text": (lambda folder: bytes_of(folder, b"x,y\n1,2\n"), "is not an Excel workbook"),
    "encrypted": (lambda folder: bytes_of(folder, packages.COMPOUND + b"\0" * 5000), "is an encrypted workbook"),
    "truncated": (lambda folder: bytes_of(folder, whole(folder).read_bytes()[:-30]), "is not an Excel workbook"),
    "half": (lambda folder: bytes_of(folder, whole(folder).read_bytes()[:2000]), "is not an Excel workbook"),
    "other zip": (lambda folder: changed(folder, lambda _: {"note.txt": CANARY}), "is not an Excel workbook"),
    "no relations": (lambda folder: changed(folder, without("_rels/.rels")), "is not an Excel workbook"),
    "no list": (lambda folder: changed(folder, without("xl/workbook.xml")), "is not an Excel workbook"),
    "no sheet": (lambda folder: changed(folder, without(SHEET)), "is damaged"),
    "binary": (
        lambda folder: changed(folder, replaced("_rels/.rels", "workbook.xml", "workbook.bin")),
        "is not an Excel workbook",
    ),
    "no sheets": (lambda folder: changed(folder, replaced("xl/workbook.xml", "<sheet ", "<other ")), "has no sheet of"),
    "hidden": (
        lambda folder: changed(folder, replaced("xl/workbook.xml", "<sheet ", '<sheet state="hidden" ')),
        "are hidden",
    ),
    "not XML": (lambda folder: changed(folder, replaced(SHEET, "<row", "<row <")), "is damaged"),
    "entities": (lambda folder: changed(folder, replaced(SHEET, "<worksheet", f"{BOMB}]><worksheet")), "document type"),
    "entities of strings": (lambda folder: changed(folder, replaced(SHARED, "<sst", f"{BOMB}]><sst")), "document type"),
    "wrong sheet": (lambda folder: sources.excel(whole(folder), "Sheet2"), "has no sheet 'Sheet2'"),
    "wrong column": (lambda folder: write(folder / "x.xlsx", [["y"], [CANARY]]), "does not name a column 'x'"),
    "no header": (lambda folder: write(folder / "x.xlsx", [[CANARY], [CANARY]]), "does not name a column 'x'"),
    "two columns": (lambda folder: write(folder / "x.xlsx", [["x", "x"], [1, 2]]), "several columns 'x'"),
    "empty sheet": (lambda folder: write(folder / "x.xlsx", []), "does not name a column 'x'"),
    "declared column": (lambda folder: sources.excel(whole(folder), header=["y"]), "does not name a column 'x'"),
    "folder": (sources.excel, "is a folder"),
    "nothing": (lambda folder: folder / "nothing.xlsx", "There is no file"),
    "standard input": (lambda _: sources.excel("-"), "read from a file"),
    "address": (lambda _: "https://user:secret@server/x.xlsx", "read from a file"),
    "old": (lambda folder: [(folder / "x.xls").write_text(CANARY), folder / "x.xls"][1], "an old Excel workbook"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files_cost_nothing_and_tell_nothing(tmp_path, name):
    book = ledger.opened(tmp_path / "ledger.db")
    book.create("rich", cap=10)
    make, says = WRONG[name]
    with pytest.raises(DawaError, match=says) as caught:
        dawa.release(make(tmp_path), X, epsilon=1, ledger=book, dataset="rich")
    assert CANARY not in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "Hint:" in str(caught.value)
    assert book.account("rich").spent == 0


@pytest.mark.long
@pytest.mark.alone
def test_damage_after_the_header_tells_nothing(tmp_path):
    data = whole(tmp_path).read_bytes()
    path = tmp_path / "x.xlsx"
    for place in range(0, len(data), max(len(data) // 80, 1)):
        path.write_bytes(data[:place] + b"\xff\x00\xff" + data[place + 3 :])
        assert CANARY not in str(outcome(path, Axis.ordered("x", ["A", "B"])))
    for change in (
        replaced(SHEET, "</sheetData>", "</sheet>"),
        replaced(SHEET, "</row></sheetData>", "<"),
        lambda found_parts: {**found_parts, SHEET: found_parts[SHEET].partition("</sheetData>")[0]},
        lambda found_parts: {**found_parts, SHARED: found_parts[SHARED].partition("</sst>")[0]},
    ):
        came = outcome(changed(tmp_path, change), X)
        assert came[0] != "counted"
        assert CANARY not in str(came)


def test_a_part_that_is_larger_than_the_directory_says_is_damaged(tmp_path):
    path = write(tmp_path / "x.xlsx", [["x"], *[[5]] * 5000])
    data = path.read_bytes()
    with zipfile.ZipFile(path) as file:
        info = file.getinfo(SHEET)
    size = info.file_size.to_bytes(4, "little")
    assert data.count(size) == 2
    path.write_bytes(data.replace(size, (info.file_size // 2).to_bytes(4, "little")))
    assert outcome(path, X)[:2] == ("reading", "SourceError")


@pytest.mark.long
def test_a_bomb_takes_little_memory(tmp_path, monkeypatch):
    """A gigabyte of nothing in a file of a megabyte: read through, never held."""
    path = tmp_path / "x.xlsx"
    found_parts = parts({"Sheet1": [["x"], [5]]})
    found_parts[SHEET] = found_parts[SHEET].replace("</sheetData>", f"{' ' * 2**28}</sheetData>")
    found_parts[SHARED] = found_parts[SHARED].replace("</sst>", f"<si><t>{'a' * 2**26}</t></si></sst>")
    pack(path, found_parts)
    assert path.stat().st_size < 2**22
    largest, original = [], packages.feed

    def feed(where, made, piece, **options):
        largest.append(len(piece))
        original(where, made, piece, **options)

    monkeypatch.setattr(packages, "feed", feed)
    assert found(path, X) == {5: 1}
    assert max(largest) <= 2**21


def test_strings_that_do_not_fit_in_memory_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sheets, "MOST_SHARED_BYTES", 1000)
    came = outcome(whole(tmp_path), X)
    assert came[:2] == ("reading", "SourceError")
    assert "do not fit in memory" in came[2]


# --- late -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def taken(tmp_path, monkeypatch):
    """The bytes of parts that were read, and whether the ledger had paid by then."""
    book, seen, original = ledger.opened(tmp_path / "ledger.db"), [], packages.Package._raw
    book.create("poor", cap="0.1")
    book.create("rich", cap=10)

    def watched(package, info, size):
        for chunk in original(package, info, size):
            account = book.account("rich")
            seen.append((account.spent + account.reserved > 0, info.filename, chunk))
            yield chunk

    monkeypatch.setattr(packages.Package, "_raw", watched)
    return book, seen


def before(seen, part):
    return b"".join(chunk for paid, name, chunk in seen if not paid and name == part).decode()


@pytest.mark.long
@pytest.mark.parametrize("declared", [False, True])
def test_of_a_sheet_no_byte_after_its_header_is_read_before_paying(tmp_path, taken, declared):
    book, seen = taken
    rows = [["x", "note"], *[[5, f"{CANARY}{row}"] for row in range(1000)]]
    path = write(tmp_path / "x.xlsx", rows[1:] if declared else rows, packed=False)
    table = sources.excel(path, header=["x", "note"]) if declared else path
    with pytest.raises(DawaError, match="Hint:"):
        dawa.release(table, X, epsilon=1, ledger=book, dataset="poor")
    for _ in range(2):
        assert before(seen, SHEET).endswith("<sheetData>" if declared else "</row>")
        assert before(seen, SHEET).count("<row") == (0 if declared else 1)
        assert before(seen, SHARED).count("<si>") == (0 if declared else 2)
        assert CANARY not in before(seen, SHARED)
        assert not any(paid for paid, _, _ in seen)
        assert {name for _, name, _ in seen} <= {
            "_rels/.rels", "xl/workbook.xml", "xl/_rels/workbook.xml.rels", SHEET, SHARED,
        }  # fmt: skip
        if book.account("rich").spent:
            break
        seen.clear()
        dawa.release(table, X, epsilon=1, ledger=book, dataset="rich")
        assert sum(paid for paid, _, _ in seen) > 0
        seen[:] = [one for one in seen if not one[0]]


@pytest.mark.long
def test_of_a_compressed_sheet_little_is_read_before_paying(tmp_path, taken):
    book, seen = taken
    rng = np.random.default_rng(4711)
    rows = [["x"], *[[int(x)] for x in rng.integers(0, 10**9, 50_000)]]
    path = write(tmp_path / "x.xlsx", rows)
    dawa.release(path, X, epsilon=1, ledger=book, dataset="rich")
    early = sum(len(chunk) for paid, name, chunk in seen if not paid and name == SHEET)
    late = sum(len(chunk) for paid, name, chunk in seen if paid and name == SHEET)
    assert late > 100_000
    assert early < 1000
    data = b"".join(chunk for paid, name, chunk in seen if not paid and name == SHEET)
    opened = zlib.decompressobj(-15).decompress(data).decode()
    assert opened.count("<row") <= 3, "as much as one compressed byte more may hold"


@pytest.mark.long
def test_of_a_large_workbook_little_is_read_before_paying(tmp_path, taken):
    place = Path("/proc/self/io")
    if not place.exists():
        pytest.skip("this system does not say how many bytes a process has read (/proc/self/io)")

    def bytes_read():
        return int(place.read_text(encoding="ascii").splitlines()[0].split()[1])

    book, _ = taken
    small = write(tmp_path / "small.xlsx", [["x"], [5]], packed=False)
    large = write(tmp_path / "large.xlsx", [["x"], *[[5]] * 200_000], packed=False)
    assert large.stat().st_size > 7 * 2**20
    used = []
    for path in (small, small, large):
        start = bytes_read()
        with pytest.raises(DawaError):
            dawa.release(path, X, epsilon=1, ledger=book, dataset="poor")
        used.append(bytes_read() - start)
    assert used[2] < used[1] + 2**18
    start = bytes_read()
    dawa.release(large, X, epsilon=1, ledger=book, dataset="rich")
    assert bytes_read() - start > 7 * 2**20


def test_what_is_declared_is_in_the_statement_and_in_the_ledger(tmp_path, taken):
    book, _ = taken
    path = write(tmp_path / "x.xlsx", [["x"], [5]])
    made = dawa.release(sources.excel(path, date_format="%d.%m.%Y"), X, epsilon=1, ledger=book, dataset="rich")
    said = " ".join(made.privacy.handling)
    assert "The sheet 'Sheet1' of an Excel workbook" in said
    assert "%d.%m.%Y" in said
    what = next(entry.what for entry in book.history("rich") if entry.kind == "reserve")
    assert what["format"] == "an Excel workbook"
    assert what["sheet"] == "Sheet1"
    assert set(what["dialect"]) == {"header", "decimal", "date_format", "missing"}


@pytest.mark.parametrize("given", [{"sheet": 5}, {"header": "x"}, {"decimal": ";"}, {"date_format": "x"}])
def test_what_cannot_be_declared_is_refused(given):
    with pytest.raises(SourceError, match="Hint:"):
        sources.excel("x.xlsx", **given)
    with pytest.raises(SourceError, match="Hint:"):
        sources.excel(os.devnull.encode())
