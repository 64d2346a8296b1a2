"""A sheet of an Excel workbook as a table: which sheet it is, what its columns are called, and where its rows are.

Before a release is paid for, only this is read of the workbook: its directory, the list of its sheets, and of the sheet
everything up to the end of the first row that is not empty, with the strings that this row refers to.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dawa.axis import Axis, DateAxis
from dawa.errors import AbsentError, AxisError, SourceError
from dawa.sources import forms, packages, sheets
from dawa.sources.dialect import Dialect
from dawa.sources.packages import Package
from dawa.sources.sheets import Cell
from dawa.sources.streams import Stream, Text
from dawa.sources.tables import STANDARD_INPUT, Workbook, is_address

FEW = 20
"""How many sheets an error lists."""
YES = ("1", "true", "on")


@dataclass(frozen=True)
class Sheet:
    """One of a workbook's sheets.

    Attributes:
        name: What the workbook calls it.
        part: Where it is.
        hidden: Whether it is not shown.
    """

    name: str
    part: str
    hidden: bool


@dataclass(frozen=True)
class Contents:
    """What a workbook holds.

    Attributes:
        sheets: Its sheets of cells, in their order.
        shared: The part that holds the strings of all sheets, if there is one.
        late: Whether days are counted from 1904.
    """

    sheets: tuple[Sheet, ...]
    shared: str | None
    late: bool


def stream(
    book: Workbook, path: Path, columns: list[str], axes: tuple[Axis, ...], compared: Sequence[str] = ()
) -> Stream:
    """The wanted columns of a sheet; only their names are read here.

    Args:
        book: The workbook, and what is declared about it.
        path: Where it is.
        columns: The wanted columns.
        axes: The axes.
        compared: Those of the columns that a condition looks at, perhaps for dates.

    Raises:
        SourceError: If this is not a workbook, or has no such sheet.
        AxisError: If the sheet has no such column.
    """
    _check(path, str(book.path))
    package = packages.opened(path)
    inside = contents(package)
    sheet = _chosen(inside.sheets, book.sheet, path)
    header = book.dialect.header is None
    first = sheets.first(package, sheet.part, header=header)
    names = _names(first, package, inside.shared, book.dialect)
    letters = tuple(_place(names, column, path, sheet.name) for column in columns)
    dated = {*compared, *(axis.column for axis in axes if isinstance(axis, DateAxis))}
    serial = tuple(column in dated for column in columns)
    reader = sheets.Reader(
        package, sheet.part, inside.shared, letters, serial, inside.late, book.dialect.decimal, header
    )
    return Stream(
        {column: Text(book.dialect, serial=column in dated) for column in columns},
        None,
        reader.batches,
        forms.describe(forms.EXCEL, book.dialect, sheet.name),
        {"format": forms.EXCEL, "sheet": sheet.name, "dialect": forms.parts(forms.EXCEL, book.dialect)},
        tuple(names),
    )


def contents(package: Package) -> Contents:
    """The sheets of a workbook, as its parts list them.

    Raises:
        SourceError: If there is no such list.
    """
    kinds = dict(package.related("").values())
    book = kinds.get("officeDocument", "")
    if book.endswith(".bin") or book not in package.parts:
        raise SourceError(f"{package.path} is not an Excel workbook.", "save it as .xlsx or .csv.")
    parts, found, late = package.related(book), [], False

    def start(tag: str, attributes: Mapping[str, str]) -> None:
        nonlocal late
        name = packages.local(tag)
        if name == "sheet":
            reference = next((value for key, value in attributes.items() if packages.local(key) == "id"), "")
            kind, part = parts.get(reference, ("", ""))
            if kind == "worksheet":
                found.append(Sheet(attributes.get("name", ""), part, attributes.get("state", "visible") != "visible"))
        elif name == "workbookPr":
            late = attributes.get("date1904", "").lower() in YES

    packages.parse(package.path, package.whole(book), start)
    shared = next((name for kind, name in parts.values() if kind == "sharedStrings" and name in package.parts), None)
    return Contents(tuple(found), shared, late)


def _check(path: Path, name: str) -> None:
    if name == STANDARD_INPUT or is_address(name) or (path.exists() and not path.is_file() and not path.is_dir()):
        raise SourceError(
            "An Excel workbook is read from a file: its list of parts stands at its end.",
            "write it to a file first, and pass that file.",
        )
    if path.is_dir():
        raise SourceError(f"{path} is a folder.", "name a workbook in it.")
    if not path.exists():
        raise AbsentError(
            f"There is no file {path}.", "check the path; a relative path starts where the program was started."
        )


def _chosen(there: tuple[Sheet, ...], name: str | None, path: Path) -> Sheet:
    """The sheet with a name, or else the first one that is shown."""
    fitting = [sheet for sheet in there if (not sheet.hidden if name is None else sheet.name == name)]
    if fitting:
        return fitting[0]
    if not there:
        raise SourceError(f"{path} has no sheet of cells.", "pass a workbook with a table in it.")
    few = ", ".join(repr(sheet.name) for sheet in there[:FEW]) + (", …" if len(there) > FEW else "")
    if name is None:
        raise SourceError(f"All sheets of {path} are hidden.", f"name one of them: {few}.")
    raise SourceError(f"{path} has no sheet {name!r}.", f"name one of its sheets: {few}.")


def _names(first: Mapping[str, Cell], package: Package, shared: str | None, dialect: Dialect) -> dict[str, list[str]]:
    """The letters of all columns that have a name, by their names."""
    found: dict[str, list[str]] = {}
    plain = {letters: sheets.plain(*cell) for letters, cell in first.items()}
    most = max((one + 1 for one in plain.values() if isinstance(one, int)), default=0)
    strings = sheets.few(package, shared, most)  # also if there is no header: a damaged part is noticed
    if dialect.header is not None:
        return {name: [sheets.column(place)] for place, name in enumerate(dialect.header, 1)}
    for letters, one in plain.items():
        text = (strings[one] if one < len(strings) else None) if isinstance(one, int) else one
        if text is not None:
            found.setdefault(text.strip(), []).append(letters)
    return found


def _place(names: Mapping[str, list[str]], column: str, path: Path, sheet: str) -> str:
    """The letters of the column with a name; the error does not say which names there are."""
    found = names.get(column, [])
    if len(found) == 1:
        return found[0]
    if found:
        raise AxisError(f"The sheet {sheet!r} of {path} has several columns {column!r}.", "rename all but one of them.")
    raise AxisError(
        f"The first row of the sheet {sheet!r} of {path} does not name a column {column!r}.",
        "check its spelling, and the sheet (--sheet chooses another); if the sheet has no header row, name its columns:"
        " --header id,age.",
    )
