"""``dawa ledger``: the book of what was spent on each dataset, and how it looks on a terminal.

``dawa.ledger`` loads a database, so it is reached through ``dawa``, which imports it when it is first used.
"""

import csv
import json as encoder
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

import dawa
from dawa.budget import shown
from dawa.cli.options import LEDGER_VARIABLE, USUAL_LEDGER
from dawa.cli.terminal import REFUSED, reported, write_json
from dawa.errors import LedgerError

if TYPE_CHECKING:  # a database, which --help answers without
    import dawa.ledger.entries
    from dawa.ledger import Entry, Summary

BAR = 20
EMPTY: tuple[object, ...] = (None, "", [], {})

HELP = """The book of what was spent on each dataset. It cannot be overspent.

\b
  dawa ledger create hr --cap 2      all releases of hr together may spend 2
  dawa release … --ledger dawa-ledger.db --dataset hr      a release spends
  dawa ledger show                   what is spent, and what is left

The ledger is a file, or a PostgreSQL database for teams.
"""

EPILOG = "Exit codes: 0 done, 1 refused or edited by hand, 2 wrong usage, 3 budget exhausted."

CREATE = """Open an account: a dataset, and all that may ever be spent on it.

\b
  dawa ledger create hr --cap 2
  dawa ledger create hr --cap 1/3 --ledger postgresql://ada@example.org/privacy
"""

RAISE = """Allow more to be spent on a dataset. What was spent stays spent.

\b
  dawa ledger raise hr --cap 4 --why "Board, 12 May: a second year"
"""

SHOW = """Show what is spent and left of each cap, and whether somebody edited the ledger.

\b
  dawa ledger show
  dawa ledger show hr --json
"""

HISTORY = """List who spent what, when, on what, and which release came of it.

\b
  dawa ledger history
  dawa ledger history hr --json
"""

EXPORT = """Write out every entry with every field, for auditors and for safe keeping.

\b
  dawa ledger export --out ledger-2026.csv
  dawa ledger export --format json
"""

SPEND = """Book a release that was made elsewhere.

\b
  dawa ledger spend hr 0.1 --what "Table 3 of the yearly report"
"""

TAKE_BACK = """Take back what a failed run had reserved, where nothing was seen of its result.

\b
  dawa ledger show                   # lists what is pending, by entry
  dawa ledger take-back 3 --why "The server was down, so nothing was read"

\b
This is honest only if the run has ended, and nothing at all of its result
was seen by anyone. That a run failed may itself depend on the data, and so
tell something about it. So no program takes anything back: a person decides,
and the decision stays in the book with its reason. If in doubt, leave it
spent.
"""

app = typer.Typer(
    help=HELP,
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

Dataset = Annotated[str, typer.Argument(metavar="DATASET", help="The dataset's name.", show_default=False)]
OneDataset = Annotated[str | None, typer.Argument(metavar="[DATASET]", help="Only this dataset.", show_default=False)]
Where = Annotated[
    str,
    typer.Option("--ledger", metavar="FILE|URL", envvar=LEDGER_VARIABLE, help="A file, or a postgresql:// address."),
]
Cap = Annotated[
    str, typer.Option("--cap", metavar="EPSILON", help="All that may ever be spent: 2, 0.5 or 1/3.", show_default=False)
]
Who = Annotated[str | None, typer.Option("--who", help="Who does this.", show_default="your user name")]
Json = Annotated[bool, typer.Option("--json", help="JSON for machines, with exact fractions.")]


@app.command(help=CREATE)
def create(dataset: Dataset, cap: Cap, *, ledger: Where = USUAL_LEDGER, who: Who = None, json: Json = False) -> None:
    """Open an account."""
    with reported(json):
        account = dawa.ledger.opened(ledger).create(dataset, cap, who)
        _answer(account.to_json(), f"Opened: {account}.", json=json)


@app.command("raise", help=RAISE)
def raise_cap(
    dataset: Dataset,
    cap: Cap,
    why: Annotated[str, typer.Option("--why", help="The decision that allows it.", show_default=False)],
    *,
    ledger: Where = USUAL_LEDGER,
    who: Who = None,
    json: Json = False,
) -> None:
    """Raise a cap."""
    with reported(json):
        account = dawa.ledger.opened(ledger).raise_cap(dataset, cap, why=why, who=who)
        _answer(account.to_json(), f"Raised: {account}.", json=json)


@app.command(help=SPEND)
def spend(
    dataset: Dataset,
    epsilon: Annotated[str, typer.Argument(metavar="EPSILON", help="0.1 or 1/10.", show_default=False)],
    what: Annotated[str, typer.Option("--what", help="What it was spent on.", show_default=False)],
    *,
    release: Annotated[
        str | None, typer.Option("--release", metavar="ID", help="The release's name.", show_default="a random one")
    ] = None,
    file: Annotated[str | None, typer.Option("--file", help="Where the release is.", show_default=False)] = None,
    mechanism: Annotated[str, typer.Option("--mechanism", help="What made it.")] = "made elsewhere",
    ledger: Where = USUAL_LEDGER,
    who: Who = None,
    json: Json = False,
) -> None:
    """Book a release that was made elsewhere."""
    with reported(json):
        book = dawa.ledger.opened(ledger)
        reservation = book.reserve(dataset, epsilon, what={"note": what}, mechanism=mechanism, who=who)
        entry = reservation.finalise(release or uuid.uuid4().hex, file)
        account = book.account(dataset)
        _answer(
            {"reservation": reservation.entry.to_json(), "release": entry.to_json(), "account": account.to_json()},
            f"Booked as entry {reservation.entry.number}: {account}.",
            json=json,
        )


@app.command("take-back", help=TAKE_BACK)
def take_back(
    entry: Annotated[
        int, typer.Argument(metavar="ENTRY", help="The number of the entry that reserved.", show_default=False)
    ],
    why: Annotated[str, typer.Option("--why", help="How you know that nothing was seen.", show_default=False)],
    *,
    ledger: Where = USUAL_LEDGER,
    who: Who = None,
    json: Json = False,
) -> None:
    """Undo a reservation."""
    with reported(json):
        book = dawa.ledger.opened(ledger)
        undone = book.take_back(entry, why=why, who=who)
        account = book.account(undone.dataset)
        _answer(
            {"take_back": undone.to_json(), "account": account.to_json()},
            f"Took entry {entry} back, as entry {undone.number}: {account}.",
            json=json,
        )


@app.command(help=SHOW)
def show(dataset: OneDataset = None, *, ledger: Where = USUAL_LEDGER, json: Json = False) -> None:
    """Show what is left."""
    with reported(json):
        summary = dawa.ledger.opened(ledger).summary(dataset)
        if json:
            write_json(summary.to_json())
        else:
            _show(summary)
        _leave_if_edited(summary.broken, json=json)


@app.command(help=HISTORY)
def history(dataset: OneDataset = None, *, ledger: Where = USUAL_LEDGER, json: Json = False) -> None:
    """List all entries."""
    with reported(json):
        book = dawa.ledger.opened(ledger)
        broken, entries = book.summary().broken, book.history(dataset)
        if json:
            write_json([entry.to_json() for entry in entries])
        else:
            _list(entries)
        _leave_if_edited(broken, json=json)


@app.command(help=EXPORT)
def export(
    *,
    form: Annotated[
        Literal["csv", "json"] | None, typer.Option("--format", help="How to write them.", show_default="csv")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="A new file.", show_default="the terminal")
    ] = None,
    ledger: Where = USUAL_LEDGER,
    json: Json = False,
) -> None:
    """Write all entries."""
    if json and form == "csv":
        raise typer.BadParameter("--json and --format csv contradict each other.")
    with reported(json):
        book = dawa.ledger.opened(ledger)
        broken, entries = book.summary().broken, book.history()
        with _target(out) as target:
            if json or form == "json":
                write_json({"broken": broken, "entries": [entry.to_json() for entry in entries]}, target)
            else:
                _write_csv(entries, target)
        _leave_if_edited(broken, json=json)


def _answer(data: dict[str, Any], sentence: str, *, json: bool) -> None:
    if json:
        write_json(data)
    else:
        typer.echo(sentence)


@contextmanager
def _target(out: Path | None) -> Iterator[TextIO]:
    """A new file, or the terminal; what is there is never overwritten, least of all a ledger."""
    if out is None:
        yield sys.stdout
        return
    try:
        with out.open("x", encoding="utf-8", newline="") as file:
            yield file
    except FileExistsError:
        raise LedgerError(f"'{out}' exists already.", "choose another name for the export.") from None
    except OSError as error:
        raise LedgerError(f"'{out}' cannot be written ({error.strerror}).", "choose another place.") from None


def _leave_if_edited(broken: int | None, *, json: bool) -> None:
    if broken is None:
        return
    if not json:
        sys.stdout.flush()
        sys.stderr.write(
            f"EDITED: from number {broken} on, the entries do not follow from each other."
            " Hint: find out what was changed, and restore the ledger from a backup.\n"
        )
    raise typer.Exit(REFUSED)


def _show(summary: "Summary") -> None:
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


def _list(entries: "Sequence[Entry]") -> None:
    """What happened, an entry a line."""
    table = Table(Column("entry", justify="right"), "when (UTC)", "who", "dataset", Column("what", overflow="fold"))
    for entry in entries:
        table.add_row(str(entry.number), *map(_text, (_moment(entry), entry.who, entry.dataset, _told(entry))))
    Console().print(table)


def _write_csv(entries: "Sequence[Entry]", target: TextIO) -> None:
    """Every field of every entry, as the database holds it."""
    writer = csv.DictWriter(target, dawa.ledger.entries.COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(dawa.ledger.entries.row(entry) for entry in entries)


def _told(entry: "Entry") -> str:
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


def _about(entry: "Entry") -> str:
    return ", ".join(f"{name}: {_brief(value)}" for name, value in (entry.what or {}).items() if value not in EMPTY)


def _brief(value: object) -> str:
    """A value of an entry's description in a few words: axes by their columns, all else as it is."""
    if isinstance(value, list) and all(isinstance(part, dict) and "column" in part for part in value):
        return " and ".join(str(part["column"]) for part in value)
    return value if isinstance(value, str) else encoder.dumps(value)


def _moment(entry: "Entry") -> str:
    return entry.at[:19].replace("T", " ")


def _shown(value: Fraction | None) -> str:
    return "?" if value is None else shown(value)


def _text(text: str) -> Text:
    """Text as it is: no markup, and nothing that moves a terminal's cursor."""
    return Text(dawa.ledger.entries.escaped(text))
