"""How a ledger looks on a terminal: accounts, entries, what an upgrade finds, and what was verified."""

import csv
import io
import json as encoder
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import typer
from rich.console import Console
from rich.table import Column, Table

import dawa
from dawa.budget import shown
from dawa.cli.terminal import REFUSED, text
from dawa.errors import LedgerError, printable
from dawa.host import atomic

if TYPE_CHECKING:  # a database, which --help answers without
    import dawa.ledger.entries
    import dawa.ledger.refusals
    import dawa.ledger.scopes
    from dawa.ledger import Account, Entry, Ledger, Summary, Upgrade
    from dawa.ledger.upgrade import Old
    from dawa.publish.receipts import Beside, Checked
    from dawa.results.keys import PublicKey
    from dawa.results.paid import Paid
    from dawa.results.traces import Trace

BAR = 20
FEW = 12
EMPTY: tuple[object, ...] = (None, "", [], {})

OLD = (
    "An earlier dawa made this ledger: its accounts add up what was spent for records and for persons, and nothing more"
    " is spent in it before an upgrade. See what it would do: dawa ledger upgrade --dry-run"
)


DECLARED = " If you know that nothing was made, say so: dawa ledger take-back {entry} --nothing-was-made --why '…'"

RECOVERED = {
    "working": "its run is still at work, and will write to {where}.",
    "unreadable": "there is something in {where} that cannot be read. Ask whoever can read it to recover it.",
    "unseen": "it may be in {where}, where it cannot be seen: nobody here may look, or something is mounted over it."
    " Ask whoever can look there to recover it." + DECLARED,
    "found": "its release is in {where}, and the ledger does not know.",
    "booked": "its release is in {where}, and now the ledger knows.",
    "nothing": "{unseen}." + DECLARED,
    "elsewhere": "there is no release in {where}, but this is not the folder in which its run was: that is on another"
    " machine, in another container, on a disk that is not mounted, or was moved. Recover it there." + DECLARED,
    "unlocked": "nobody can tell whether its run is still at work: the disk has no locks. Leave {where} as it is; if"
    " the run has surely ended: dawa ledger recover --ended",
    "unnamed": "it does not say where its release is, so none was looked for." + DECLARED,
}
"""What ``dawa ledger recover`` says, by the states of ``publish.recovery``."""

SIGNED = {None: "", True: " Its receipt is signed.", False: " Its receipt is not signed."}

UNKNOWN_FILE = (
    "The ledger knows the release by its name alone: nobody can tell whether this file was changed. It has no SHA-256"
    " of releases that were made before dawa 0.2, or with no out=."
)


def show(summary: "Summary") -> None:
    """Caps, what is spent and left of them, what is pending, and what was taken back."""
    console = Console()
    table = Table("dataset", *(Column(name, justify="right") for name in ("cap", "spent", "left")), "")
    for account in summary.accounts:
        # Rounded up: what is spent must not look unspent.
        filled = min(BAR, -int(-BAR * account.spent // account.cap))
        bar = "█" * filled + "░" * (BAR - filled)
        table.add_row(text(account.dataset), *map(shown, (account.cap, account.spent, account.left)), bar)
    console.print(table)
    if summary.version < dawa.ledger.entries.NEWEST:
        console.print(text(OLD))
    else:
        for account in summary.accounts:
            console.print(text(f"{account.dataset}: {counting(account)}"))
    for entry in summary.pending:
        console.print(
            text(
                f"Pending: entry {entry.number} reserved {_shown(entry.epsilon)} of {entry.dataset} for {entry.who} on"
                f" {_moment(entry)} UTC. It is spent, whether or not a release comes of it."
            )
        )
    for entry in summary.taken_back:
        console.print(
            text(
                f"Taken back: entry {entry.reservation} of {entry.dataset} by {entry.who} on {_moment(entry)} UTC"
                f" ({_about(entry)})."
            )
        )
    if summary.broken is None:
        console.print(text(f"{summary.entries} entries, unbroken. Hash of the last: {summary.head}"))


def history(entries: "Sequence[Entry]") -> None:
    """What happened, an entry a line."""
    table = Table(Column("entry", justify="right"), "when (UTC)", "who", "dataset", Column("what", overflow="fold"))
    for entry in entries:
        table.add_row(str(entry.number), *map(text, (_moment(entry), entry.who, entry.dataset, _told(entry))))
    Console().print(table)


def counting(account: "Account") -> str:
    """For whom an account counts, and how often others do."""
    others = [
        f" What {dawa.ledger.scopes.told(relation.scope)} loses counts {relation.times} times."
        if relation.times > 1
        else f" What {dawa.ledger.scopes.told(relation.scope)} loses counts once."
        for relation in account.relations
    ]
    return account.whom + "".join(others)


def settling(account: "Account", book: "Ledger") -> str:
    """What a person does next about an account that mixes units."""
    return dawa.ledger.refusals.settling(account, book.place.flag)


def upgraded(book: "Ledger", found: "Upgrade") -> None:
    """What an upgrade found, and what it did or would do."""
    console = Console()
    for line in _upgraded(book, found):
        console.print(text(line), soft_wrap=True)


def _upgraded(book: "Ledger", found: "Upgrade") -> Iterator[str]:
    newest = dawa.ledger.entries.NEWEST
    if found.version == newest:
        yield f"The ledger {book.place.name} has version {newest} already: there is nothing to upgrade."
        return
    done = found.entry is not None
    yield f"The ledger {book.place.name} {'had' if done else 'has'} version {found.version}."
    for account in found.accounts:
        yield f"{account.dataset}: {_becomes(account)}"
    yield (
        "Earlier entries do not say which table they were spent on. They are taken to be about the account's own table,"
        " which the next release names, or dawa ledger bind."
    )
    for names in found.same_names:
        yield f"These names differ in case alone, and have to be written exactly: {', '.join(names)}."
    if found.pending:
        yield (
            f"Pending: {', '.join(map(str, found.pending))}. If their runs are at work in an earlier dawa, they cannot"
            " be finalised after the upgrade."
        )
    yield (
        f"Upgraded to version {newest}, as entry {found.entry.number}."
        if found.entry is not None
        else "Nothing was changed. Leave out --dry-run to upgrade."
    )


def _becomes(account: "Old") -> str:
    """What an upgrade makes of an account."""
    if not account.spent:
        return "nothing is spent; its first release decides for whom it counts."
    parts = [
        f"{shown(one.epsilon)} for {dawa.ledger.scopes.each(one.scope.unit)}"
        f" (entries {', '.join(map(str, one.entries))}{_released(one.columns)})"
        for one in account.spent
    ]
    if account.mixed:
        return (
            f"MIXED, {'; '.join(parts)}. Nothing more is spent on it until somebody says for whom it counts (dawa"
            " ledger bind) and how often the others count (dawa ledger relate)."
        )
    return f"counts what {dawa.ledger.scopes.each(account.scope.unit)} loses: {parts[0]}."


def _released(columns: Sequence[str]) -> str:
    return f", of {' and '.join(columns)}" if columns else ""


def recovered(traces: "Sequence[Trace]") -> None:
    """What became of each pending reservation."""
    console = Console()
    for trace in traces:
        entry = trace.entry
        words = RECOVERED[trace.state].format(where=trace.where, unseen=trace.unseen, entry=entry.number)
        told = f" {trace.problem}" if trace.problem else SIGNED[trace.signed]
        console.print(
            text(f"Entry {entry.number} reserved {_shown(entry.epsilon)} of {entry.dataset}: {words}{told}"),
            soft_wrap=True,
        )
    if not traces:
        console.print(text("Every reservation has its release, or was taken back."))


def verified(found: "Checked") -> str:
    """What is known of how a release was paid for, in sentences."""
    receipt, booked = found.receipt, found.booked
    told = [_signed(receipt, found.key, alone=booked is None)] if receipt is not None else []
    if booked is not None:
        entry = booked.reserved
        same = "It is that release, and so says its receipt." if booked.receipt else "It is that release."
        paid = (
            f"Paid for: entry {entry.number} spent {_shown(entry.epsilon)} on dataset '{entry.dataset}'"
            f" for release {found.release}. {same if booked.file else UNKNOWN_FILE}"
        )
        told = [paid, *told]
    return " ".join([*filter(None, told), *([] if found.files is None else _beside(found.files))])


def _signed(receipt: "Paid", key: "PublicKey | None", *, alone: bool) -> str:
    """What is known of a receipt by its signature, and whether that is all that is known."""
    signature = receipt.signature
    if key is None:
        unchecked = " names a key that signed it, and nobody checked the signature: --key FILE.pub does."
        return "" if signature is None else f"The receipt{unchecked}"
    if not alone:
        return f"The receipt is signed with the key {key.fingerprint}."
    dataset, release = printable(receipt.dataset), printable(receipt.release)
    return (
        f"Signed with the key {key.fingerprint}: entry {receipt.entry} of the ledger {receipt.ledger} spent"
        f" {_shown(receipt.epsilon)} on dataset '{dataset}' for release {release}. It is that release. No ledger was"
        " asked."
    )


def _beside(files: "Beside") -> list[str]:
    """What became of the files beside a release."""
    told = {
        "As they were: {}.": files.same,
        "Somebody edited the words in {}.": files.edited,
        "Not there: {}.": files.missing,
        "Added by somebody: {}.": files.added,
    }
    return [sentence.format(_few(names)) for sentence, names in told.items() if names]


def _few(names: "Sequence[str]") -> str:
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(names[:FEW]) + more


def leave_if_edited(broken: int | None, *, json: bool) -> None:
    """Say that somebody edited the ledger, and leave with an exit code that says so too."""
    if broken is None:
        return
    if not json:
        sys.stdout.flush()
        sys.stderr.write(
            f"EDITED: from number {broken} on, the entries do not follow from each other."
            " Hint: find out what was changed, and restore the ledger from a backup.\n"
        )
    raise typer.Exit(REFUSED)


@contextmanager
def target(out: Path | None) -> Iterator[TextIO]:
    """A new file, or the terminal; what is there is never overwritten, least of all a ledger."""
    if out is None:
        yield sys.stdout
        return
    held = io.StringIO(newline="")
    yield held
    try:
        atomic.write(out, held.getvalue(), new=True)
    except FileExistsError:
        raise LedgerError(f"'{out}' exists already.", "choose another name for the export.") from None
    except OSError as error:
        raise LedgerError(f"'{out}' cannot be written ({error.strerror}).", "choose another place.") from None


def write_csv(entries: "Sequence[Entry]", target: TextIO) -> None:
    """Every field of every entry, as the database holds it."""
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(dawa.ledger.entries.COLUMNS)
    writer.writerows(dawa.ledger.entries.row(entry) for entry in entries)


def _told(entry: "Entry") -> str:
    filed = f" in {entry.file}" if entry.file else ""
    about = _about(entry)
    whom = _whom(entry)
    times = (entry.what or {}).get("times")
    return {
        "create": f"opened with a cap of {_shown(entry.cap)}{whom}",
        "raise": f"cap raised to {_shown(entry.cap)} ({about})",
        "reserve": f"spent {_shown(entry.epsilon)}{whom} by {entry.mechanism} ({about})",
        "finalise": f"entry {entry.reservation} became release {entry.release_id}{filed}",
        "file": f"release {entry.release_id} was written{filed}",
        "take-back": f"entry {entry.reservation} was taken back ({about})",
        "bind": f"counts{whom} ({about})",
        "relate": f"what is spent{whom} counts {times} times ({about})",
        "upgrade": f"upgraded from version {(entry.what or {}).get('from')}",
    }[entry.kind]


def _about(entry: "Entry") -> str:
    told = {name: value for name, value in (entry.what or {}).items() if value not in EMPTY}
    if _whom(entry):
        told = {name: value for name, value in told.items() if name not in {"for", "times"}}
    return ", ".join(f"{name}: {_brief(value)}" for name, value in told.items())


def _whom(entry: "Entry") -> str:
    """For whom something was spent or counts, if the entry says so; entries of old ledgers do not."""
    what = entry.what or {}
    try:
        said = dawa.ledger.scopes.Scope.from_json(what if entry.kind == "create" else what["for"])
    except (LookupError, TypeError, ValueError):
        return ""
    if said.unit is None:
        return "" if said.table is None else f" for {said.table}"
    return f" for {dawa.ledger.scopes.told(said)}"


def _brief(value: object) -> str:
    """A value of an entry's description in a few words: axes by their columns, all else as it is."""
    if isinstance(value, list) and all(isinstance(part, dict) and "column" in part for part in value):
        return " and ".join(str(part["column"]) for part in value)
    return value if isinstance(value, str) else encoder.dumps(value)


def _moment(entry: "Entry") -> str:
    return entry.at[:19].replace("T", " ")


def _shown(value: Fraction | None) -> str:
    return "?" if value is None else shown(value)
