"""``dawa ledger``: the book of what was spent on each dataset; ``cli/looks.py`` says how it looks on a terminal.

``dawa.ledger`` loads a database, so it is reached through ``dawa``, which imports it when it is first used.
"""

import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import dawa
from dawa.cli import looks
from dawa.cli.options import LEDGER_VARIABLE, USUAL_LEDGER, InOrder
from dawa.cli.terminal import reported, write_json
from dawa.sources.labels import labelled

if TYPE_CHECKING:  # a database, which --help answers without
    import dawa.ledger.scopes

HELP = """The book of what was spent on each dataset. It cannot be overspent.

\b
  dawa ledger create hr --cap 2 --unit person
                                     all releases of hr together may cost a
                                     person 2
  dawa release … --ledger dawa-ledger.db --dataset hr      a release spends
  dawa ledger show                   what is spent, and what is left

The ledger is a file, or a PostgreSQL database for teams.
"""

EPILOG = "Exit codes: 0 done, 1 refused or edited by hand, 2 wrong usage, 3 budget exhausted."

CREATE = """Open an account: a dataset, all that may ever be spent on it, and for whom that counts.

\b
  dawa ledger create hr --cap 2 --unit person --table visits.parquet
  dawa ledger create hr --cap 2 --unit record      # single rows are protected
  dawa ledger create hr --cap 1/3 --ledger postgresql://ada@example.org/privacy

\b
What is not said here is decided by the first release. From then on the account
refuses another unit or another table, unless somebody relates them.
"""

BIND = """Say for whom an account counts, if nobody has, or if nothing is spent on it.

\b
  dawa ledger bind hr --unit person --why "Entries 3 to 9 were for persons"
  dawa ledger bind hr --table visits.parquet --why "hr has always been that file"
"""

RELATE = """Say how many times what is spent for another unit or table counts in an account.

\b
  dawa ledger relate hr --unit record --times 3 \\
      --why "A person has at most 3 rows"
  dawa ledger relate hr --table moved/visits.parquet --unit person --times 1 \\
      --why "The same file, moved on 3 May"

\b
How many times, if the account counts persons:
  single rows        as many times as a person has rows at most
  person,day         as many times as a person has days at most
  persons elsewhere  once, if these are the same persons
and if it counts single rows:
  persons            2 times: one row more may change which rows are kept

\b
The factor counts for what was spent already, too. It can be raised later, and
never lowered. If it is too small, the account bounds nobody's loss.
"""

UPGRADE = """Upgrade a ledger of an earlier dawa, whose accounts added up records and persons.

\b
  dawa ledger upgrade --dry-run      # what would be done; changes nothing
  dawa ledger upgrade

\b
An account whose entries agree on the unit counts for that unit from then on.
Where they do not agree, nothing more is spent until somebody decides: with
dawa ledger bind and dawa ledger relate. No entry is changed. dawa 0.1.0 cannot
read the ledger any more.
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
  dawa ledger spend hr 0.1 --unit person --what "Table 3 of the yearly report"
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
OTHER_UNIT = "The other unit: record, or columns; unknown for entries of old ledgers that do not say it."
UNIT = "Who loses at most that: record for single rows, or the columns that name the unit, such as person,day."
Unit = Annotated[str | None, typer.Option("--unit", metavar="COLUMNS", help=UNIT, show_default=False)]
TheTable = Annotated[
    str | None,
    typer.Option(
        "--table",
        metavar="TABLE",
        help="The table: a file, an address with #table, or memory for frames.",
        show_default=False,
    ),
]
Why = Annotated[str, typer.Option("--why", help="How that is known.", show_default=False)]
Who = Annotated[str | None, typer.Option("--who", help="Who does this.", show_default="your user name")]
Json = Annotated[bool, typer.Option("--json", help="JSON for machines, with exact fractions.")]


@app.command(cls=InOrder, help=CREATE)
def create(
    dataset: Dataset,
    cap: Cap,
    *,
    unit: Unit = None,
    table: TheTable = None,
    ledger: Where = USUAL_LEDGER,
    who: Who = None,
    json: Json = False,
) -> None:
    """Open an account."""
    with reported(json):
        account = dawa.ledger.opened(ledger).create(dataset, cap, who, unit=_unit(unit), table=_table(table))
        _answer(account.to_json(), f"Opened: {account}. {account.whom}", json=json)


@app.command(cls=InOrder, help=BIND)
def bind(
    dataset: Dataset,
    why: Why,
    *,
    unit: Unit = None,
    table: TheTable = None,
    ledger: Where = USUAL_LEDGER,
    who: Who = None,
    json: Json = False,
) -> None:
    """Say for whom an account counts."""
    with reported(json):
        book = dawa.ledger.opened(ledger)
        account = book.bind(dataset, unit=_unit(unit), table=_table(table), why=why, who=who)
        more = f" Hint: {looks.settling(account, book)}." if account.unlike else ""
        _answer(account.to_json(), f"Bound: {account}. {account.whom}{more}", json=json)


@app.command(cls=InOrder, help=RELATE)
def relate(
    dataset: Dataset,
    unit: Annotated[str, typer.Option("--unit", metavar="COLUMNS", help=OTHER_UNIT, show_default=False)],
    times: Annotated[int, typer.Option("--times", metavar="N", help="How many times it counts.", show_default=False)],
    why: Why,
    *,
    table: Annotated[
        str | None,
        typer.Option("--table", metavar="TABLE", help="The other table.", show_default="the account's own"),
    ] = None,
    ledger: Where = USUAL_LEDGER,
    who: Who = None,
    json: Json = False,
) -> None:
    """Say how others count."""
    with reported(json):
        book = dawa.ledger.opened(ledger)
        other = dawa.ledger.scopes.parsed(unit)  # entries of old ledgers may have none
        account = book.relate(dataset, unit=other, times=times, table=_table(table), why=why, who=who)
        _answer(account.to_json(), f"Related: {account}. {looks.counting(account)}", json=json)


@app.command(cls=InOrder, help=UPGRADE)
def upgrade(
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and change nothing.")] = False,
    ledger: Where = USUAL_LEDGER,
    who: Who = None,
    json: Json = False,
) -> None:
    """Upgrade an old ledger."""
    with reported(json):
        book = dawa.ledger.opened(ledger)
        found = book.upgrade(dry_run=dry_run, who=who)
        if json:
            write_json(found.to_json())
        else:
            looks.upgraded(book, found)


@app.command("raise", cls=InOrder, help=RAISE)
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


@app.command(cls=InOrder, help=SPEND)
def spend(
    dataset: Dataset,
    epsilon: Annotated[str, typer.Argument(metavar="EPSILON", help="0.1 or 1/10.", show_default=False)],
    what: Annotated[str, typer.Option("--what", help="What it was spent on.", show_default=False)],
    *,
    unit: Annotated[str, typer.Option("--unit", metavar="COLUMNS", help=UNIT)] = "record",
    table: TheTable = None,
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
        reservation = book.reserve(
            dataset,
            epsilon,
            what={"note": what},
            mechanism=mechanism,
            who=who,
            unit=_unit(unit) or (),
            table=_table(table),
        )
        entry = reservation.finalise(release or uuid.uuid4().hex, file)
        account = reservation.account
        _answer(
            {"reservation": reservation.entry.to_json(), "release": entry.to_json(), "account": account.to_json()},
            f"Booked as entry {reservation.entry.number}: {account}. {account.whom}",
            json=json,
        )


@app.command("take-back", cls=InOrder, help=TAKE_BACK)
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


@app.command(cls=InOrder, help=SHOW)
def show(dataset: OneDataset = None, *, ledger: Where = USUAL_LEDGER, json: Json = False) -> None:
    """Show what is left."""
    with reported(json):
        summary = dawa.ledger.opened(ledger).summary(dataset)
        if json:
            write_json(summary.to_json())
        else:
            looks.show(summary)
        looks.leave_if_edited(summary.broken, json=json)


@app.command(cls=InOrder, help=HISTORY)
def history(dataset: OneDataset = None, *, ledger: Where = USUAL_LEDGER, json: Json = False) -> None:
    """List all entries."""
    with reported(json):
        book = dawa.ledger.opened(ledger)
        broken, entries = book.summary().broken, book.history(dataset)
        if json:
            write_json([entry.to_json() for entry in entries])
        else:
            looks.history(entries)
        looks.leave_if_edited(broken, json=json)


@app.command(cls=InOrder, help=EXPORT)
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
        with looks.target(out) as target:
            if json or form == "json":
                write_json({"broken": broken, "entries": [entry.to_json() for entry in entries]}, target)
            else:
                looks.write_csv(entries, target)
        looks.leave_if_edited(broken, json=json)


def _unit(text: str | None) -> tuple[str, ...] | None:
    """A unit as it is typed, if one is; nobody creates, binds or spends for a unit that is unknown."""
    unit = None if text is None else dawa.ledger.scopes.parsed(text)
    if text is not None and unit is None:
        raise dawa.ledger.scopes.unnamed()
    return unit


def _table(text: str | None) -> str | None:
    """A table as it is typed, by its public name."""
    return None if text is None else labelled(text)


def _answer(data: dict[str, Any], sentence: str, *, json: bool) -> None:
    if json:
        write_json(data)
    else:
        typer.echo(sentence)
