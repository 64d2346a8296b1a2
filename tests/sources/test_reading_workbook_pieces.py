"""Excel workbooks that nobody's program writes: what is read of them does not depend on the pieces in which it comes.

If it did, a row more would move the end of a piece, and with it many counts.
"""

from collections import Counter
from itertools import pairwise

import pytest

from dawa import Axis, sources
from dawa.sources import packages
from helpers.binning import everything
from helpers.reading import X, check_neighbours, outcome
from helpers.workbook import MAIN, OFFICE, Raw, pack, parts, relations

SHEET, SHARED, RELATED = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/_rels/workbook.xml.rels"
SIZES = ((1, False), (7, False), (64, False), (2**18, False), (7, True))
"""How many stored bytes are read at a time, and whether they are compressed."""
NOTES = Axis.ordered("note", ["a", "b", "z"])
ROWS = [["x", "note"], *[[row % 10, "ab"[row % 2]] for row in range(40)]]
FIVE = '<row><c r="A1"><v>5</v></c><c r="B1" t="str"><v>z</v></c></row>'
"""A row that would be seen if it counted."""
ALL = Counter({cell * 3 + cell % 2: 4 for cell in range(10)})
DAMAGED = ("reading", "SourceError")


def after(text):
    """More after the list of rows."""
    return lambda found: found | {SHEET: found[SHEET].replace("</sheetData>", "</sheetData>" + text)}


def at(part, old, new):
    return lambda found: found | {part: found[part].replace(old, new, 1)}


def second_strings(found):
    more = relations([("rId1", "worksheet", "worksheets/sheet1.xml"), ("rId99", "sharedStrings", "sharedStrings.xml")])
    also = f'<Relationship Id="rId100" Type="{OFFICE}/sharedStrings" Target="others.xml"/></Relationships>'
    others = f'<sst xmlns="{MAIN}">' + "<si><t>z</t></si>" * 10 + "</sst>"
    return found | {RELATED: more.replace("</Relationships>", also), "xl/others.xml": others}


LISTED = f"<sheetData>{FIVE * 50}</sheetData>"
ODD = {
    "a second list of rows": (after(LISTED), ALL),
    "many lists of rows": (after(LISTED * 20), ALL),
    "a second list with a prefix": (after(f'<q:sheetData xmlns:q="{MAIN}">{FIVE}</q:sheetData>'), ALL),
    "a second list inside something else": (after(f"<extLst>{LISTED}</extLst>"), ALL),
    "a second sheet": (after(f"<worksheet>{LISTED}</worksheet>"), ALL),
    "rows after the list": (after(FIVE * 50), ALL),
    "rows before the list": (at(SHEET, "<sheetData>", f"{FIVE * 50}<sheetData>"), ALL),
    "a list inside the list": (at(SHEET, "<row r=", f"{LISTED}<row r="), ALL),
    "a list inside a row": (at(SHEET, "</row>", f"{LISTED}</row>"), ALL),
    "a list inside a cell": (at(SHEET, "</c>", f"{LISTED}</c>"), ALL),
    "a row inside a row": (at(SHEET, "</row>", f"{FIVE}</row>"), ALL),
    "rows inside something else": (at(SHEET, "<row r=", f"<other>{FIVE}</other><row r="), ALL),
    "the list ends inside something else": (at(SHEET, "<row r=", f"<other>{LISTED}{LISTED}</other><row r="), ALL),
    "a row of other people's": (
        at(SHEET, "</sheetData>", f'<q:row xmlns:q="urn:other">{FIVE[5:-6]}</q:row></sheetData>'),
        ALL + Counter({17: 1}),
    ),
    "comments and instructions": (at(SHEET, "<row r=", f"<!-- {LISTED} --><?x {LISTED} ?><row r="), ALL),
    "a list in quotes": (at(SHEET, "<row r=", f"<![CDATA[{LISTED}]]><row r="), ALL),
    "no XML after the list": (after("<a></b>"), DAMAGED),
    "no XML long after the list": (after(" " * 5000 + "&"), DAMAGED),
    "more after the sheet": (lambda found: found | {SHEET: found[SHEET] + LISTED}, DAMAGED),
    "no end": (lambda found: found | {SHEET: found[SHEET].replace("</worksheet>", "")}, DAMAGED),
    "no end of the list": (lambda found: found | {SHEET: found[SHEET].partition("</sheetData>")[0]}, DAMAGED),
    "an empty list before": (at(SHEET, "<sheetData>", "<sheetData/><sheetData>"), ("opening", "AxisError")),
    "a string inside a string": (at(SHARED, "<si>", "<si><si><t>z</t></si>"), ALL),
    "a string inside text": (at(SHARED, "</t>", "<si><t>z</t></si></t>"), ALL),
    "text outside strings": (at(SHARED, "<si>", "<t>z</t><r><t>z</t></r><si>"), ALL),
    "strings inside something else": (at(SHARED, "<si>", "<other><si><t>z</t></si></other><si>"), ALL),
    "how a string is pronounced": (at(SHARED, "</t>", "</t><rPh><t>z</t></rPh><phoneticPr/>"), ALL),
    "strings inside how one is pronounced": (at(SHARED, "</t>", "</t><rPh><si><t>z</t></si></rPh>"), ALL),
    "a string in runs": (at(SHARED, ">a</t>", "></t><r><rPr><t>z</t></rPr><t>a</t></r>"), ALL),
    "no XML after the strings": (lambda found: found | {SHARED: found[SHARED] + "<"}, DAMAGED),
    "a second part with strings": (second_strings, ALL),
}


@pytest.fixture(params=SIZES, ids=str)
def packed(request, monkeypatch):
    """Whether parts are compressed; so many of their bytes are read at a time, whatever is asked for."""
    size, packed = request.param
    original = packages.Package._raw
    monkeypatch.setattr(packages.Package, "_raw", lambda package, info, _: original(package, info, size))
    return packed


@pytest.mark.long_but(8)
@pytest.mark.parametrize("name", ODD)
def test_odd_workbooks_are_read_alike_in_all_pieces(tmp_path, packed, name):
    change, expected = ODD[name]
    path = pack(tmp_path / "x.xlsx", change(parts({"Sheet1": ROWS})), packed=packed)
    if not isinstance(expected, Counter):
        assert outcome(path, X, NOTES)[:2] == expected
        return
    assert everything(path, X, NOTES) == expected
    declared, header = sources.excel(path, header=["x", "note"]), Counter({("missing", "unlisted"): 1})
    assert everything(declared, X, NOTES) == expected + header


@pytest.mark.long_but(5)
@pytest.mark.parametrize("damage", ["check", "longer", "shorter"])
def test_a_part_that_is_not_what_the_directory_says_is_damaged_in_all_pieces(tmp_path, packed, damage):
    """Also if only what comes after the rows is wrong."""
    path = pack(tmp_path / "x.xlsx", after(f"<other>{'a' * 5000}</other>")(parts({"Sheet1": ROWS})), packed=packed)
    data = path.read_bytes()
    info = packages.opened(path).parts[SHEET]
    if damage == "check":
        head, _, tail = data.rpartition(info.CRC.to_bytes(4, "little"))
        data = head + (info.CRC ^ 1).to_bytes(4, "little") + tail
    else:
        other = info.file_size + (1000 if damage == "longer" else -1000)
        head, _, tail = data.rpartition(info.file_size.to_bytes(4, "little"))
        data = head + other.to_bytes(4, "little") + tail
    path.write_bytes(data)
    assert outcome(path, X)[:2] == DAMAGED


def test_rows_after_the_list_never_count_wherever_a_piece_ends(tmp_path):
    """The end of the list walks over the end of a piece, row by row."""
    note = "n" * 100

    def counted(rows, tail):
        inside = Raw(f'<row><c r="A1"><v>1</v></c><c r="B1" t="str"><v>{note}</v></c></row>' * rows)
        found = after(tail)(parts({"Sheet1": [["x", "note"], inside]}))
        return len(found[SHEET].partition("</sheetData>")[0]), outcome(
            pack(tmp_path / "x.xlsx", found, packed=False), X
        )

    start, each = counted(0, "")[0], counted(1, "")[0] - counted(0, "")[0]
    near = (2**18 - start) // each
    came = [counted(rows, LISTED)[1] for rows in range(near - 3, near + 4)]
    assert came == [("counted", Counter({1: rows})) for rows in range(near - 3, near + 4)]
    for fewer, more in pairwise(came):
        check_neighbours(more, fewer)
