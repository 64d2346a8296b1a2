"""The spec of a release: everything that describes it, as written on a command line or in a file.

Budgets and bounds are kept the way they are written: ``0.1`` is one tenth. A spec is reviewed and shared, so it holds
no password: addresses take it from the environment, as in ``postgresql://reader:${PGPASSWORD}@server/hr``.
"""

import os
import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import parse_qsl

from dawa import budget, numerals
from dawa.axis import AutoAxis, Axis, NumberAxis
from dawa.axis.groups import Grouping, groupings
from dawa.errors import AxisError, OptionError, SourceError, SpecError
from dawa.limits import MOST_AXES
from dawa.numerals import numeric, told
from dawa.results.about import About
from dawa.sources import dialect as dialects
from dawa.sources import forms, where_text
from dawa.sources.dialect import Dialect
from dawa.sources.labels import public
from dawa.sources.tables import DATABASES, STANDARD_INPUT, Table, addressed, check_address, is_address, is_database

Kind = Literal["numbers", "dates", "addresses", "ordered", "edges", "auto"]
Value = str | int | bool

VARIABLE = re.compile(r"\$\{(\w+)\}")

KEYS: dict[str, tuple[str, ...]] = {
    "numbers": ("start", "stop", "step", "outside", "missing"),
    "dates": ("start", "stop", "step", "zone", "outside", "missing"),
    "addresses": ("within", "prefix", "outside", "missing"),
    "ordered": ("values", "outside", "missing"),
    "edges": ("edges", "outside", "missing"),
    "auto": ("range", "share", "step", "zone", "outside", "missing"),
}
"""The entries of each kind of axis, besides its column."""
OF_AXES = tuple(dict.fromkeys(name for names in KEYS.values() for name in names))

TYPED = (".parquet", ".pq", ".arrow", ".feather", ".ipc", *DATABASES)
"""Endings of the names of files that declare their own types."""

NO_DATABASES = (".parquet", ".pq", ".arrow", ".feather", ".ipc", *(f".{form}" for form in forms.FORMATS))
"""Endings of the names of files that hold one table."""
USUAL: dict[str, Any] = {name: getattr(Dialect(), name) for name in dialects.VALUES}
"""How values are written if nobody declares it."""
SECRET = re.compile("passw|token|sig|key|secret|cred|auth", re.IGNORECASE)
"""Names of parts of a file's address that hold secrets."""

NO_BOUNDS = "bounds are never read from the data: the smallest and the largest value belong to two people"
CHOOSE = (
    "name bounds that are known before looking, such as 0:120 for ages (--range 0:120, or start and stop in a spec);"
    " values outside are counted in the first and the last cell. Or have them found privately, for 5% of epsilon"
    ' (--range auto, or range = "auto").'
)


@dataclass(frozen=True)
class AxisSpec:
    """An axis as it is written down.

    Attributes:
        column: The table's column that holds the attribute.
        kind: ``"numbers"``, ``"dates"``, ``"addresses"``, ``"ordered"``, ``"edges"`` or ``"auto"``; None takes the kind
            that fits the other entries.
        start: The lowest value.
        stop: One step above the highest.
        step: The finest difference that matters, such as ``"0.01"`` or ``"1 hour"``.
        values: Ordered categories, from the lowest to the highest.
        edges: Increasing borders of cells.
        zone: The time zone in which dates are read.
        outside: What happens to values outside: ``"clip"``, ``"drop"`` or ``"own"``.
        missing: What happens to missing values: ``"own"`` or ``"drop"``.
        range: ``"auto"`` if the bounds are to be found in the data, privately.
        share: The part of epsilon that may be spent on it.
        within: The network in which addresses are counted, such as ``"10.0.0.0/8"``.
        prefix: How many leading bits the addresses of a cell share; None means 32, or 64 in IPv6.
    """

    column: str
    kind: Kind | None = None
    start: str | None = None
    stop: str | None = None
    step: str | None = None
    values: tuple[Value, ...] | None = None
    edges: tuple[str, ...] | None = None
    zone: str | None = None
    outside: str | None = None
    missing: str | None = None
    range: str | None = None
    share: str | None = None
    within: str | None = None
    prefix: int | str | None = None

    def __post_init__(self) -> None:
        if self.kind is None:
            object.__setattr__(self, "kind", self._implied())
        if self.kind not in KEYS:
            raise SpecError(
                f"There is no axis of the kind {told(self.kind)}.", f"choose one of {', '.join(get_args(Kind))}."
            )
        for name in OF_AXES:
            if getattr(self, name) is not None and name not in KEYS[self.kind]:
                raise SpecError(
                    f"The axis {told(self.column)} is of the kind {self.kind!r}, where {name!r} would change nothing.",
                    f"leave it out; that kind takes {', '.join(KEYS[self.kind])}.",
                )
        if self.range not in (None, "auto"):
            raise SpecError(
                f"range = {told(self.range)} is not understood.",
                'write range = "auto", or the bounds as start and stop.',
            )
        needed = {"ordered": (self.values,), "edges": (self.edges,), "auto": (self.range,), "addresses": (self.within,)}
        bounds = needed.get(self.kind, (self.start, self.stop))
        if not all(bounds):
            raise AxisError(f"The axis {told(self.column)} has no bounds; {NO_BOUNDS}.", CHOOSE)

    def _implied(self) -> Kind:
        """The kind that fits the other entries."""
        if self.values is not None:
            return "ordered"
        if self.edges is not None:
            return "edges"
        if self.range is not None:
            return "auto"
        if self.within is not None or self.prefix is not None:
            return "addresses"
        written = [text for text in (self.start, self.stop, self.step) if text is not None]
        return "numbers" if self.zone is None and all(map(numeric, written)) else "dates"

    def axis(self) -> Axis | AutoAxis:
        """The axis itself.

        Raises:
            AxisError: If the bounds or the step are not valid.
        """
        names = ("step", "zone", "outside", "missing", "share")
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        if self.kind == "auto":
            return Axis.auto(self.column, **given)
        if self.kind == "ordered":
            return Axis.ordered(self.column, list(self.values or ()), **given)
        if self.kind == "edges":
            return Axis.edges(self.column, list(self.edges or ()), **given)
        if self.kind == "dates":
            return Axis.dates(self.column, self.start, self.stop, **given)
        if self.kind == "addresses":
            return self._addresses(given)
        return NumberAxis(self.column, self.start or "", self.stop or "", **given)

    def _addresses(self, given: dict[str, Any]) -> Axis:
        """Addresses of the version that the network has."""
        prefix: Any = self.prefix
        if isinstance(prefix, str):  # as it was typed
            prefix = numerals.whole(prefix)
        if self.prefix is not None and prefix is None:
            raise AxisError(f"prefix={told(self.prefix)} is not a number of bits.", "write --prefix 24, for example.")
        within = self.within or ""
        return (Axis.ipv6 if ":" in within else Axis.ipv4)(
            self.column, within, **({} if prefix is None else {"prefix": prefix}), **given
        )


@dataclass(frozen=True)
class GroupSpec:
    """A column whose values put records into groups, as it is written down.

    Attributes:
        column: The column.
        values: The values that are groups.
        other: Whether all other values are one more group.
    """

    column: str
    values: tuple[Value, ...]
    other: bool = False


@dataclass(frozen=True)
class Spec:
    """A description of a release.

    Attributes:
        source: A file of records, ``"-"`` for standard input, the address of a file, or that of a database; in an
            address, ``${NAME}`` stands for an environment variable.
        axes: One to four attributes.
        epsilon: The budget, exactly.
        table: The table, where the source is a database or a database's file, and does not name it after a ``#``.
        unit: The columns that say together whose record it is; none protect records.
        max_rows_per_unit: How many records of one unit are kept: a number, ``"auto"``, or a part such as ``"95%"``.
        ledger: The ledger that books the release: a file, or the address of a database.
        dataset: The account in the ledger.
        mechanism: One of ``dawa.mechanisms.names()``.
        options: The mechanism's options.
        queries: A CSV file of ranges to answer, for which the release is made as accurate as possible.
        out: The folder to write.
        seed: For experiments on public data only.
        dialect: How a text file is written; None takes the dialect that its name implies. Of other sources, how
            numbers, dates and missing values are written in columns of text.
        where: Which records are counted, as it is written; None counts all.
        format: What the file is, as the ending of its name would say: ``"csv"``, ``"jsonl"``, ``"xlsx"``, …
        sheet: The sheet of an Excel workbook; None takes the first one.
        about: Words about the data, for those who read the release.
        by: The columns that put records into groups, each of which gets a histogram of its own; none make no groups.
    """

    source: str
    axes: tuple[AxisSpec, ...]
    epsilon: Fraction
    table: str | None = None
    unit: tuple[str, ...] = ()
    max_rows_per_unit: int | str | None = None
    ledger: str | None = None
    dataset: str | None = None
    mechanism: str = "dawa"
    options: dict[str, Any] = field(default_factory=dict)
    queries: str | None = None
    out: str | None = None
    seed: int | None = None
    dialect: Dialect | None = None
    where: str | None = None
    format: str | None = None
    sheet: str | None = None
    about: About | None = None
    by: tuple[GroupSpec, ...] = ()

    def __post_init__(self) -> None:
        if self.epsilon is None:
            raise SpecError(
                "The release has no budget.",
                "say how much it may spend: --epsilon 0.5, or epsilon under [privacy];"
                " smaller is more private, and customary values lie between 0.01 and 10.",
            )
        object.__setattr__(self, "epsilon", budget.exact(self.epsilon))
        if not 1 <= len(self.axes) <= MOST_AXES:
            raise SpecError(
                f"A release has one to {MOST_AXES} axes, not {len(self.axes)}.",
                "name a column and its bounds: --column age --range 0:120, or [[axes]] in a spec.",
            )
        try:
            check_address(self.source)
        except SourceError as error:
            raise SpecError(error.problem, error.hint) from None
        one = self.source == STANDARD_INPUT or self.format is not None or self.source.lower().endswith(NO_DATABASES)
        if self.table is not None and not is_database(self.source) and (one or is_address(self.source)):
            raise SpecError(
                f"The source {public(self.source)} is a file with one table, so it has no table {told(self.table)}.",
                "leave the table out, or pass the address or the file of a database.",
            )
        if self.table is not None and not is_address(self.source) and isinstance(addressed(self.source), Table):
            raise SpecError("A table is named twice.", "name it once: --table people, or people.sqlite#people.")
        if is_database(self.source) and (self.table is None) == ("#" not in self.source):
            raise SpecError(
                "A database needs one table to be named.",
                "name it once: --table people, or people in the schema hr as --table hr.people.",
            )
        self._check_form()
        self._check_groups()
        if self.where is not None:
            where_text.parsed(self.where)
        if self.ledger is not None and self.dataset is None:
            raise SpecError(
                "A ledger is named, but not the dataset that pays.", "name it: --dataset hr, or dataset in [privacy]."
            )
        if self.seed is not None and self.dataset is not None:
            raise SpecError(
                "A run with a seed is not private, so no ledger books it.",
                "leave out the seed to make a private release, or leave out the dataset and the ledger.",
            )

    @property
    def groups(self) -> tuple[Grouping, ...]:
        """The grouping columns themselves."""
        if len({one.column for one in self.by}) < len(self.by):
            raise SpecError("Two grouping columns are the same.", "name each column once.")
        return groupings(self.listed, other=self.other) if self.by else ()

    @property
    def listed(self) -> dict[str, list[Value]]:
        """The values that are groups, by column."""
        return {one.column: list(one.values) for one in self.by}

    @property
    def other(self) -> bool:
        """Whether values that are not listed are a group too."""
        return any(one.other for one in self.by)

    def _check_groups(self) -> None:
        """Refuse groups that no release could have."""
        if len({one.other for one in self.by}) > 1:
            raise SpecError(
                "Values that are not listed are a group of one column, and not of another.",
                "say other = true for every column, or for none.",
            )
        try:
            columns = {grouping.column for grouping in self.groups}
        except OptionError as error:
            raise SpecError(error.problem, error.hint) from None
        for axis in self.axes:
            if axis.column in columns:
                raise SpecError(
                    f"The column {told(axis.column)} is an axis, and puts records into groups too.",
                    "choose one of the two.",
                )

    @property
    def kind(self) -> str | None:
        """What is read value by value from text, one of ``forms.PARTS``; None if the source declares its own types."""
        return kind_of(self.source, self.table, self.format)

    def _check_form(self) -> None:
        """Refuse what a source of this kind does not have."""
        if (is_database(self.source) or self.table is not None) and self.format is not None:
            raise SpecError("A database has no format.", "leave it out.")
        try:
            kind = self.kind
            forms.unfit(kind, self.sheet, None if kind is None else self.dialect)
        except SourceError as error:
            raise SpecError(error.problem, error.hint) from None
        if kind is None and self.dialect is not None and replace(self.dialect, **USUAL) != Dialect():
            raise not_text()


def kind_of(source: str, table: str | None, form: str | None) -> str | None:
    """What is read value by value from text; a text file may have any name that does not say something else.

    Raises:
        SourceError: If there is no such format.
    """
    inside = is_database(source) or table is not None or isinstance(addressed(source), Table)
    if inside or (form is None and source.lower().endswith(TYPED)):
        return None
    return forms.of(source, form) or forms.TEXT


def declared(source: str, table: str | None, form: str | None, written: dict[str, Any]) -> Dialect | None:
    """What is declared about text: all of a text file's dialect, or how values are written in other sources.

    Raises:
        SpecError: If it says something else of a source that is not a text file.
        SourceError: If a part of it does not exist, or there is no such format.
    """
    if not written:
        return None
    if kind_of(source, table, form) is not None:
        return dialects.of(forms.ending(source, form) or source, **written)
    if not set(written) <= set(dialects.VALUES):
        raise not_text()
    return dialects.of("", **written)


def not_text() -> SpecError:
    """The error about a source that is not a text file."""
    return SpecError(
        "The source is not a text file, so it has no delimiter, quote, escape, encoding or header.",
        "leave them out; the decimal mark, the format of dates and words for missing values can be declared.",
    )


def expanded(address: str) -> str:
    """An address with each ``${NAME}`` replaced by the environment variable.

    Raises:
        SpecError: If a variable is not set. Values of variables are never shown.
    """

    def looked_up(match: re.Match[str]) -> str:
        name = match[1]
        if name not in os.environ:
            raise SpecError(f"The environment variable {name} is not set.", f"set it first: export {name}=…")
        return os.environ[name]

    return VARIABLE.sub(looked_up, address)


def without_password(address: str, name: str) -> str:
    """The address, or an error if it holds a password or a signature in plain text."""
    place, _, query = address.partition("?")
    odd = "@" not in re.split(r"(?<![:/])/|[?#]", address, maxsplit=1)[0]  # a password may hold /, ? and # as they are
    server = re.split(r"(?<![:/])/", address, maxsplit=1)[0]
    written = re.findall(r"://[^/@]*?:([^@].*)@", place)
    if odd and not written:
        written = re.findall(r"://[^/@]*?:([^@].*)@", address if is_database(address) else server)
    secret = re.compile("password", re.IGNORECASE) if is_database(address) else SECRET
    written += [value for key, value in parse_qsl(query) if secret.search(key)]
    if any(VARIABLE.sub("", secret) for secret in written):
        raise SpecError(
            f"The {name} holds a password, which does not belong in a file.",
            "take it from the environment: postgresql://user:${PGPASSWORD}@server/database, or https://…?sig=${SIG}.",
        )
    return address


def beside(folder: Path, path: str) -> str:
    """A path that was written relative to a folder, as seen from here."""
    return path if is_address(path) or path == STANDARD_INPUT else str(folder / path)
