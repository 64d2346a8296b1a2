"""``dawa ledger``: the book of what was spent on each dataset.

Databases and tables are imported when a command runs, so that ``--help`` answers at once.
"""

import json as encoder
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import typer

from dawa.cli.errors import REFUSED, reported
from dawa.errors import LedgerError

if TYPE_CHECKING:
    from dawa.ledger import Ledger

DEFAULT = "dawa-ledger.db"

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
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

Dataset = Annotated[str, typer.Argument(metavar="DATASET", help="The dataset's name.", show_default=False)]
OneDataset = Annotated[str | None, typer.Argument(metavar="[DATASET]", help="Only this dataset.", show_default=False)]
Where = Annotated[
    str,
    typer.Option("--ledger", metavar="FILE|URL", envvar="DAWA_LEDGER", help="A file, or a postgresql:// address."),
]
Cap = Annotated[
    str, typer.Option("--cap", metavar="EPSILON", help="All that may ever be spent: 2, 0.5 or 1/3.", show_default=False)
]
Who = Annotated[str | None, typer.Option("--who", help="Who does this.", show_default="your user name")]
Json = Annotated[bool, typer.Option("--json", help="JSON for machines, with exact fractions.")]


@app.command(help=CREATE)
def create(dataset: Dataset, cap: Cap, *, ledger: Where = DEFAULT, who: Who = None, json: Json = False) -> None:
    """Open an account."""
    with reported(json):
        account = _opened(ledger).create(dataset, cap, who)
        _answer(account.to_json(), f"Opened: {account}.", json=json)


@app.command("raise", help=RAISE)
def raise_cap(
    dataset: Dataset,
    cap: Cap,
    why: Annotated[str, typer.Option("--why", help="The decision that allows it.", show_default=False)],
    *,
    ledger: Where = DEFAULT,
    who: Who = None,
    json: Json = False,
) -> None:
    """Raise a cap."""
    with reported(json):
        account = _opened(ledger).raise_cap(dataset, cap, why=why, who=who)
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
    ledger: Where = DEFAULT,
    who: Who = None,
    json: Json = False,
) -> None:
    """Book a release that was made elsewhere."""
    with reported(json):
        book = _opened(ledger)
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
    ledger: Where = DEFAULT,
    who: Who = None,
    json: Json = False,
) -> None:
    """Undo a reservation."""
    with reported(json):
        book = _opened(ledger)
        undone = book.take_back(entry, why=why, who=who)
        account = book.account(undone.dataset)
        _answer(
            {"take_back": undone.to_json(), "account": account.to_json()},
            f"Took entry {entry} back, as entry {undone.number}: {account}.",
            json=json,
        )


@app.command(help=SHOW)
def show(dataset: OneDataset = None, *, ledger: Where = DEFAULT, json: Json = False) -> None:
    """Show what is left."""
    with reported(json):
        summary = _opened(ledger).summary(dataset)
        if json:
            _write_json(summary.to_json(), sys.stdout)
        else:
            from dawa.cli import ledger_tables  # noqa: PLC0415  see the module's docstring

            ledger_tables.show(summary)
        _leave_if_edited(summary.broken, json=json)


@app.command(help=HISTORY)
def history(dataset: OneDataset = None, *, ledger: Where = DEFAULT, json: Json = False) -> None:
    """List all entries."""
    with reported(json):
        book = _opened(ledger)
        broken, entries = book.summary().broken, book.history(dataset)
        if json:
            _write_json([entry.to_json() for entry in entries], sys.stdout)
        else:
            from dawa.cli import ledger_tables  # noqa: PLC0415  see the module's docstring

            ledger_tables.history(entries)
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
    ledger: Where = DEFAULT,
    json: Json = False,
) -> None:
    """Write all entries."""
    if json and form == "csv":
        raise typer.BadParameter("--json and --format csv contradict each other.")
    with reported(json):
        from dawa.cli import ledger_tables  # noqa: PLC0415  see the module's docstring

        book = _opened(ledger)
        broken, entries = book.summary().broken, book.history()
        with _target(out) as target:
            if json or form == "json":
                _write_json({"broken": broken, "entries": [entry.to_json() for entry in entries]}, target)
            else:
                ledger_tables.write_csv(entries, target)
        _leave_if_edited(broken, json=json)


def _opened(ledger: str) -> "Ledger":
    from dawa.ledger import opened  # noqa: PLC0415  see the module's docstring

    return opened(ledger)


def _answer(data: dict[str, Any], sentence: str, *, json: bool) -> None:
    if json:
        _write_json(data, sys.stdout)
    else:
        typer.echo(sentence)


def _write_json(data: object, target: TextIO) -> None:
    target.write(encoder.dumps(data, indent=1) + "\n")


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
