"""Words about the data of a release, as their custodian chose them: public, and nothing of it is read from the data."""

import re
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime
from typing import Any
from unicodedata import category

from dawa.errors import OptionError
from dawa.limits import MOST_DESCRIPTION, MOST_PLURAL, MOST_WORDS
from dawa.numerals import told

TODAY = "today"
"""What stands for the day on which a release is made, until it is made."""

NAMES = {
    "title": "title",
    "description": "description",
    "record": "record",
    "plural": "plural",
    "publisher": "publisher",
    "contact": "contact",
    "data_from": "first date of the data",
    "data_to": "last date of the data",
    "released": "date of the release",
    "licence": "licence",
}
"""Each field as sentences call it."""

DATES = ("data_from", "data_to", "released")

UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that are no text: they end lines, move cursors, turn the direction of writing, or are halves."""
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
LINK = re.compile(
    r"https://[A-Za-z0-9.-]+(:[0-9]+)?(/[\w.~!$&'()*+,;=:@%/?#-]*)?|mailto:[\w.+-]+@[A-Za-z0-9.-]+", re.ASCII
)
"""Text that is one whole address which a reader may follow."""


@dataclass(frozen=True, kw_only=True)
class About:
    """What a reader should know about the data: every part is optional, and shown to everybody.

    Space around a text is left out. A date is an ISO date (``"2013-12-31"``) or a ``datetime.date``, and kept as text.

    Attributes:
        title: What the release is called, in a line.
        description: What the data are, in some sentences; line breaks are kept.
        record: What a record is, such as ``"a flight"`` or ``"a lab test"``.
        plural: What several records are called in sentences, such as ``"flights"``; without it, ``"records"``.
        publisher: Who answers for the release.
        contact: Whom to ask about it: an address or a name.
        data_from: The first day that the data are about.
        data_to: The last day that the data are about; of data about one day, the same as ``data_from``.
        released: The day of the release. ``"today"`` is the day on which it is made (UTC), and nothing else looks at
            the clock.
        licence: What readers may do with it: a name or an address.

    Raises:
        OptionError: If a text is blank, too long or no text, or a date is none.

    >>> About(title="Departures from New York", record="a flight", data_from="2013-01-01", data_to="2013-12-31").period
    '2013-01-01 to 2013-12-31'
    """

    title: str | None = None
    description: str | None = None
    record: str | None = None
    plural: str | None = None
    publisher: str | None = None
    contact: str | None = None
    data_from: str | date | None = None
    data_to: str | date | None = None
    released: str | date | None = None
    licence: str | None = None

    def __post_init__(self) -> None:
        for name, what in NAMES.items():
            value = getattr(self, name)
            if value is not None:
                read = _date(value, what, today=name == "released") if name in DATES else _text(value, what)
                object.__setattr__(self, name, read)
        if self.data_from is not None and self.data_to is not None and str(self.data_to) < str(self.data_from):
            raise OptionError(
                f"The data end on {self.data_to}, before they begin on {self.data_from}.", "exchange the two dates."
            )

    @property
    def period(self) -> str:
        """The days that the data are about, in a few words; empty if nobody said."""
        if self.data_from is not None and self.data_to is not None:
            one = self.data_from == self.data_to
            return str(self.data_from) if one else f"{self.data_from} to {self.data_to}"
        return f"from {self.data_from}" if self.data_from else f"up to {self.data_to}" if self.data_to else ""

    def dated(self) -> "About":
        """The same with today's date (UTC) in the place of ``"today"``."""
        return replace(self, released=datetime.now(UTC).date()) if self.released == TODAY else self

    def facts(self) -> dict[str, str]:
        """All but title and description, by what each is called in a list."""
        listed = {
            "A record is": self.record,
            "Published by": self.publisher,
            "Date of the data": self.period,
            "Released on": self.released,
            "Licence": self.licence,
            "Contact": self.contact,
        }
        return {name: str(text) for name, text in listed.items() if text}

    def to_json(self) -> dict[str, str]:
        """What was said, by field."""
        return {one.name: str(value) for one in fields(self) if (value := getattr(self, one.name)) is not None}

    @classmethod
    def from_json(cls, data: dict[str, Any] | None) -> "About | None":
        """The words that ``to_json`` wrote; fields that nobody knows yet are left out, and no words are None."""
        found = {name: data[name] for name in NAMES if name in data} if data else {}
        return cls(**found) if found else None


RECORDS = "records"


def called(about: About | None) -> str:
    """What several records are called in sentences.

    >>> called(About(record="a flight", plural="flights")), called(None)
    ('flights', 'records')
    """
    return RECORDS if about is None or about.plural is None else about.plural


def is_link(text: str) -> bool:
    """Whether a text is one whole address that a page may make a link of: ``https:`` or ``mailto:``, and plain.

    >>> is_link("https://example.org/terms"), is_link("javascript:alert(1)"), is_link("https://bank.org@example.org")
    (True, False, False)
    """
    return LINK.fullmatch(text) is not None


def _text(value: object, what: str) -> str:
    """Text that is not blank, not too long, and nothing but text."""
    if not isinstance(value, str):
        raise OptionError(f"The {what} is {told(value)}, not text.", f"pass the {what} as text, or leave it out.")
    long = what == "description"
    text = (value.replace("\r\n", "\n") if long else value).strip()
    most = {"description": MOST_DESCRIPTION, "plural": MOST_PLURAL}.get(what, MOST_WORDS)
    if all(character.isspace() or category(character) == "Cf" for character in text):
        raise OptionError(f"The {what} is blank.", "write some words, or leave it out.")
    if len(text) > most:
        raise OptionError(f"The {what} has more than {most:,} characters.", "shorten it.")
    if UNSEEN.search(text.replace("\n", "") if long else text):
        breaks = "" if long else ", and no line break"
        raise OptionError(
            f"The {what} has a character in it that is no text.",
            f"write it with letters, digits, marks and spaces{breaks}: no control characters.",
        )
    return text


def _date(value: object, what: str, *, today: bool) -> str:
    """A day of the calendar, as ISO 8601 writes it."""
    if today and isinstance(value, str) and value == TODAY:
        return TODAY
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    text = value.strip() if isinstance(value, str) else ""
    try:
        if DATE.fullmatch(text):
            return date.fromisoformat(text).isoformat()
    except ValueError:
        pass
    also = f", or {TODAY!r}" if today else ""
    raise OptionError(f"The {what} is {told(value)}, which is not a date.", f"write it as 2013-12-31{also}.")
