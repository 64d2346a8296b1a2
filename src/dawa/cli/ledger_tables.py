"""How a ledger looks on a terminal, and in a spreadsheet."""

import csv
import json
from collections.abc import Sequence
from fractions import Fraction
from typing import TextIO

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from dawa.budget import shown
from dawa.ledger import Entry, Summary
from dawa.ledger.entries import COLUMNS, escaped, row

BAR = 20
EMPTY: tuple[object, ...] = (None, "", [], {})


def show(summary: Summary) -> None:
    """Caps, what is spent and left of them, what is pending, and what was taken back."""
    console = Console()
    table = Table("dataset", *(Column(name, justify="right") for name in ("cap", "spent", "left")), "")
    for account in summary.accounts:
        # Rounded up: what is spent must not look unspent.
        filled = min(BAR, -int(-BAR * account.spent // account.cap))
        bar = "█" * filled + "░" * (BAR - filled)
        table.add_row(_text(account.dataset), *map(shown, (account.cap, account.spent, account.left)), bar)
    console.print(table)
    for entry in summary.pending:
        console.print(
            _text(
                f"Pending: entry {entry.number} reserved {_shown(entry.epsilon)} of {entry.dataset} for {entry.who} on"
                f" {_moment(entry)} UTC. It is spent, whether or not a release comes of it."
            )
        )
    for entry in summary.taken_back:
        console.print(
            _text(
                f"Taken back: entry {entry.reservation} of {entry.dataset} by {entry.who} on {_moment(entry)} UTC"
                f" ({_about(entry)})."
            )
        )
    if summary.broken is None:
        console.print(_text(f"{summary.entries} entries, unbroken. Hash of the last: {summary.head}"))


def history(entries: Sequence[Entry]) -> None:
    """What happened, an entry a line."""
    table = Table(Column("entry", justify="right"), "when (UTC)", "who", "dataset", Column("what", overflow="fold"))
    for entry in entries:
        table.add_row(str(entry.number), *map(_text, (_moment(entry), entry.who, entry.dataset, _told(entry))))
    Console().print(table)


def write_csv(entries: Sequence[Entry], target: TextIO) -> None:
    """Every field of every entry, as the database holds it."""
    writer = csv.DictWriter(target, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(row(entry) for entry in entries)


def _told(entry: Entry) -> str:
    filed = f" in {entry.file}" if entry.file else ""
    about = _about(entry)
    return {
        "create": f"opened with a cap of {_shown(entry.cap)}",
        "raise": f"cap raised to {_shown(entry.cap)} ({about})",
        "reserve": f"spent {_shown(entry.epsilon)} by {entry.mechanism} ({about})",
        "finalise": f"entry {entry.reservation} became release {entry.release_id}{filed}",
        "file": f"release {entry.release_id} was written{filed}",
        "take-back": f"entry {entry.reservation} was taken back ({about})",
    }[entry.kind]


def _about(entry: Entry) -> str:
    return ", ".join(f"{name}: {_brief(value)}" for name, value in (entry.what or {}).items() if value not in EMPTY)


def _brief(value: object) -> str:
    """A description's value in a few words: axes by their columns, all else as it is."""
    if isinstance(value, list) and all(isinstance(part, dict) and "column" in part for part in value):
        return " and ".join(str(part["column"]) for part in value)
    return value if isinstance(value, str) else json.dumps(value)


def _moment(entry: Entry) -> str:
    return entry.at[:19].replace("T", " ")


def _shown(value: Fraction | None) -> str:
    return "?" if value is None else shown(value)


def _text(text: str) -> Text:
    """Text as it is: no markup, and nothing that moves a terminal's cursor."""
    return Text(escaped(text))
