"""``dawa ledger``: accounts of what may be spent on each dataset.

``bookings`` has the commands about entries, ``receipts`` those about receipts and the keys that sign them.
``dawa.ledger`` loads a database, so it is reached through ``dawa``, which imports it when it is first used.
"""

from typing import Annotated

import typer

import dawa
from dawa.cli import bookings, looks, receipts
from dawa.cli.bookings import UNIT, Dataset, Json, TheTable, Where, Who, answer, read_table, read_unit
from dawa.cli.options import USUAL_LEDGER, InOrder
from dawa.cli.terminal import reported, write_json

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

app = typer.Typer(
    help=HELP,
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

Cap = Annotated[
    str, typer.Option("--cap", metavar="EPSILON", help="All that may ever be spent: 2, 0.5 or 1/3.", show_default=False)
]
Unit = Annotated[str | None, typer.Option("--unit", metavar="COLUMNS", help=UNIT, show_default=False)]
Why = Annotated[str, typer.Option("--why", help="How that is known.", show_default=False)]
OTHER_UNIT = "The other unit: record, or columns; unknown for entries of old ledgers that do not say it."


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
        account = dawa.ledger.opened(ledger).create(dataset, cap, who, unit=read_unit(unit), table=read_table(table))
        answer(account.to_json(), f"Opened: {account}. {account.whom}", json=json)


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
        account = book.bind(dataset, unit=read_unit(unit), table=read_table(table), why=why, who=who)
        more = f" Hint: {looks.settling(account, book)}." if account.unlike else ""
        answer(account.to_json(), f"Bound: {account}. {account.whom}{more}", json=json)


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
        account = book.relate(dataset, unit=other, times=times, table=read_table(table), why=why, who=who)
        answer(account.to_json(), f"Related: {account}. {looks.counting(account)}", json=json)


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
        answer(account.to_json(), f"Raised: {account}.", json=json)


for _name, _help, _command in (
    ("spend", bookings.SPEND, bookings.spend),
    ("take-back", bookings.TAKE_BACK, bookings.take_back),
    ("recover", bookings.RECOVER, bookings.recover),
    ("receipt", receipts.RECEIPT, receipts.receipt),
    ("check", receipts.CHECK, receipts.check),
    ("verify", receipts.VERIFY, receipts.verify),
    ("key", receipts.KEY, receipts.key),
    ("show", bookings.SHOW, bookings.show),
    ("history", bookings.HISTORY, bookings.history),
    ("export", bookings.EXPORT, bookings.export),
):
    app.command(_name, cls=InOrder, help=_help)(_command)
