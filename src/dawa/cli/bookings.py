"""The commands of ``dawa ledger`` about entries: spend, take back, recover, and look; ``looks`` says how they look.

``dawa.ledger`` loads a database, so it is reached through ``dawa``, which imports it when it is first used.
"""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import dawa
from dawa.cli import looks
from dawa.cli.options import LEDGER_VARIABLE, USUAL_LEDGER
from dawa.cli.terminal import REFUSED, reported, tell, write_json
from dawa.sources.labels import labelled

if TYPE_CHECKING:  # a database, which --help answers without
    import dawa.ledger.scopes

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
  dawa ledger recover                # says of each entry what was found
  dawa ledger take-back 3 --nothing-was-made --why "The server was down"

\b
This is honest only if the run has ended, and nothing at all of its result
was seen by anyone. That a run failed may itself depend on the data, and so
tell something about it. A release may also lie on a disk that is not here.
So no program takes anything back: a person decides, gives their word with
--nothing-was-made, and the decision stays in the book with its reason. If in
doubt, leave it spent.
"""

RECOVER = """Find the releases of runs that were killed after they had paid, complete and book them.

\b
  dawa ledger recover --dry-run      # only look
  dawa ledger recover

\b
A reservation says where its release was to be written. If a release is there,
it is paid for: its folder is completed and named in the ledger. If none is
found, it may still lie on a disk that was exchanged or unmounted since, or
have been printed; only a person who knows can take it back.
"""

Dataset = Annotated[str, typer.Argument(metavar="DATASET", help="The dataset's name.", show_default=False)]
OneDataset = Annotated[str | None, typer.Argument(metavar="[DATASET]", help="Only this dataset.", show_default=False)]
Where = Annotated[
    str,
    typer.Option("--ledger", metavar="FILE|URL", envvar=LEDGER_VARIABLE, help="A file, or a postgresql:// address."),
]
TheTable = Annotated[
    str | None,
    typer.Option(
        "--table",
        metavar="TABLE",
        help="The table: a file, an address with #table, or memory for frames.",
        show_default=False,
    ),
]
UNIT = "Who loses at most that: record for single rows, or the columns that name the unit, such as person,day."
Who = Annotated[str | None, typer.Option("--who", help="Who does this.", show_default="your user name")]
Json = Annotated[bool, typer.Option("--json", help="JSON for machines, with exact fractions.")]


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
            unit=read_unit(unit) or (),
            table=read_table(table),
        )
        entry = reservation.finalise(release or uuid.uuid4().hex, file)
        account = reservation.account
        answer(
            {"reservation": reservation.entry.to_json(), "release": entry.to_json(), "account": account.to_json()},
            f"Booked as entry {reservation.entry.number}: {account}. {account.whom}",
            json=json,
        )


def take_back(
    entry: Annotated[
        int, typer.Argument(metavar="ENTRY", help="The number of the entry that reserved.", show_default=False)
    ],
    why: Annotated[str, typer.Option("--why", help="How you know that nothing was seen.", show_default=False)],
    *,
    ledger: Where = USUAL_LEDGER,
    who: Who = None,
    nothing_was_made: Annotated[
        bool,
        typer.Option(
            "--nothing-was-made",
            help="Your word that the run has ended and nothing was made, or that nobody has any of it. Always needed.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Undo a reservation."""
    with reported(json):
        book = dawa.ledger.opened(ledger)
        undone = book.take_back(entry, why=why, nothing_was_made=nothing_was_made, who=who)
        account = book.account(undone.dataset)
        answer(
            {"take_back": undone.to_json(), "account": account.to_json()},
            f"Took entry {entry} back, as entry {undone.number}: {account}.",
            json=json,
        )


def recover(
    dataset: OneDataset = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    ended: Annotated[
        bool,
        typer.Option("--ended", help="The runs have surely ended: for disks without locks, where nobody can tell."),
    ] = False,
    ledger: Where = USUAL_LEDGER,
    json: Json = False,
) -> None:
    """Complete and book what was made."""
    with reported(json):
        traces = dawa.publish.recovery.recovered(dawa.ledger.opened(ledger), dataset, dry_run=dry_run, ended=ended)
        if json:
            write_json([trace.to_json() for trace in traces])
        else:
            looks.recovered(traces)
        if any(trace.problem for trace in traces):
            raise typer.Exit(REFUSED)


def show(dataset: OneDataset = None, *, ledger: Where = USUAL_LEDGER, json: Json = False) -> None:
    """Show what is left."""
    with reported(json):
        summary = dawa.ledger.opened(ledger).summary(dataset)
        if json:
            write_json(summary.to_json())
        else:
            looks.show(summary)
        looks.leave_if_edited(summary.broken, json=json)


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
        book.spare({} if out is None else {"file": str(out)})
        with looks.target(out) as target:
            if json or form == "json":
                write_json({"broken": broken, "entries": [entry.to_json() for entry in entries]}, target)
            else:
                looks.write_csv(entries, target)
        looks.leave_if_edited(broken, json=json)


def read_unit(text: str | None) -> tuple[str, ...] | None:
    """A unit as it is typed, if one is; nobody creates, binds or spends for a unit that is unknown."""
    unit = None if text is None else dawa.ledger.scopes.parsed(text)
    if text is not None and unit is None:
        raise dawa.ledger.scopes.unnamed()
    return unit


def read_table(text: str | None) -> str | None:
    """A table as it is typed, by its public name."""
    return None if text is None else labelled(text)


def answer(data: dict[str, Any], sentence: str, *, json: bool) -> None:
    """Say what was done, to a person or to a machine."""
    if json:
        write_json(data)
    else:
        tell(sentence)
