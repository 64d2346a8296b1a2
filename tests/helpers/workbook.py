"""Excel workbooks by hand, byte by byte, so that cells may hold what no program would write."""

import zipfile
from xml.sax.saxutils import escape, quoteattr

from dawa.sources.sheets import column

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


class Raw(str):
    """A cell, or a row, as it stands in the file."""

    __slots__ = ()


class Strings(list):
    """Strings that cells refer to by number."""

    def place(self, text):
        if text not in self:
            self.append(text)
        return self.index(text)


def cell(value, place, row, strings):
    """One cell; text goes to the shared strings, and None leaves a gap."""
    if value is None or isinstance(value, Raw):
        return value or ""
    where = f'r="{column(place)}{row}"'
    if isinstance(value, bool):
        return f'<c {where} t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str):
        return f'<c {where} t="s"><v>{strings.place(value)}</v></c>'
    return f"<c {where}><v>{value!r}</v></c>"


def sheet(rows, strings, before=""):
    """A sheet; a row is a list of values, or a whole element."""
    parts = []
    for number, row in enumerate(rows, 1):
        if isinstance(row, Raw):
            parts.append(row)
        else:
            inside = "".join(cell(value, place, number, strings) for place, value in enumerate(row, 1))
            parts.append(f'<row r="{number}">{inside}</row>')
    return f'{HEAD}{before}<worksheet xmlns="{MAIN}"><sheetData>{"".join(parts)}</sheetData></worksheet>'


def relations(pairs):
    found = "".join(
        f'<Relationship Id="{name}" Type="{OFFICE}/{kind}" Target={quoteattr(target)}/>' for name, kind, target in pairs
    )
    return f'{HEAD}<Relationships xmlns="{PACKAGE}">{found}</Relationships>'


def parts(sheets, *, late=False, hidden=(), before=""):
    """The parts of a workbook with these sheets, by their names."""
    strings = Strings()
    written = [sheet(rows, strings, before) for rows in sheets.values()]
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{place}" r:id="rId{place}"'
        + (' state="hidden"/>' if name in hidden else "/>")
        for place, name in enumerate(sheets, 1)
    )
    book = (
        f'{HEAD}<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><workbookPr date1904="{int(late)}"/>'
        f"<sheets>{listed}</sheets></workbook>"
    )
    shared = "".join(f'<si><t xml:space="preserve">{escape(text)}</t></si>' for text in strings)
    related = [(f"rId{place}", "worksheet", f"worksheets/sheet{place}.xml") for place in range(1, len(sheets) + 1)]
    return {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relations([("rId1", "officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": book,
        "xl/_rels/workbook.xml.rels": relations([*related, ("rId99", "sharedStrings", "sharedStrings.xml")]),
        "xl/sharedStrings.xml": f'{HEAD}<sst xmlns="{MAIN}">{shared}</sst>',
        **{f"xl/worksheets/sheet{place}.xml": text for place, text in enumerate(written, 1)},
    }


def pack(path, found, *, packed=True):
    """Write parts into a file."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED, compresslevel=1) as file:
        for name, text in found.items():
            file.writestr(name, text)
    return path


def write(path, rows, *, packed=True, **options):
    """A workbook with one sheet."""
    return pack(path, parts({"Sheet1": rows}, **options), packed=packed)
