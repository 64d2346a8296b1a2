"""An Excel workbook of a table, written by hand: cells may hold what no program would write."""

import math
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from dawa_bench.audit.tables import NAMES, Record, Table

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
FIRST = datetime(1899, 12, 30)  # noqa: DTZ001  as Excel counts days
MOMENT = (1980, 1, 1, 0, 0, 0)
"""When a part was written, as far as the file says."""


def write(path: Path, table: Table) -> None:
    """Write a workbook with one sheet. Strings are numbered as they come, so an odd row renumbers those behind it."""
    strings: dict[str, int] = {}

    def cell(place: int, value: Any) -> str:  # noqa: ANN401  values of every type
        if value is None:
            return ""
        where = f'r="{"ABCDE"[place]}1"'  # numbers of rows are not read
        if isinstance(value, str):
            return f'<c {where} t="s"><v>{strings.setdefault(value, len(strings))}</v></c>'
        if isinstance(value, datetime):
            value = (value - FIRST).total_seconds() / 86_400
        return f"<c {where}><v>{value!r}</v></c>" if math.isfinite(value) else f'<c {where} t="e"><v>#NUM!</v></c>'

    def row(record: Record) -> str:
        return f"<row>{''.join(cell(place, value) for place, value in enumerate(record))}</row>"

    odd = [] if table.odd is None else [table.odd.written.decode(), *map(row, table.odd.records)]
    rows = "".join([row(NAMES), *map(row, table.before), *odd, *map(row, table.after)])
    shared = "".join(f'<si><t xml:space="preserve">{escape(text)}</t></si>' for text in strings)
    parts = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": _relations(("officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'{HEAD}<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">'
        '<sheets><sheet name="people" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _relations(("worksheet", "sheet.xml"), ("sharedStrings", "strings.xml")),
        "xl/strings.xml": f'{HEAD}<sst xmlns="{MAIN}">{shared}</sst>',
        "xl/sheet.xml": f'{HEAD}<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>',
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name, text in parts.items():
            package.writestr(zipfile.ZipInfo(name, MOMENT), text.encode(), zipfile.ZIP_DEFLATED)


def _relations(*pairs: tuple[str, str]) -> str:
    found = "".join(
        f'<Relationship Id="rId{number}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(pairs, 1)
    )
    return f'{HEAD}<Relationships xmlns="{PACKAGE}">{found}</Relationships>'
