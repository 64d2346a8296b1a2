"""Whether a reservation may be taken back: only if its run has ended, no release is found, and a person says so.

That no release is found is not enough: it may lie where nobody looked.
"""

from dawa.errors import LedgerError
from dawa.ledger.entries import Entry
from dawa.results import traces
from dawa.results.traces import Trace

DECLARE = "say so: --nothing-was-made, in Python nothing_was_made=True."


def check(entry: Entry, *, declared: bool) -> None:
    """Refuse to take back what a run is still working on, or what has led to a release, or may have.

    Args:
        entry: The reservation.
        declared: A person says that its run has ended and that nothing was made, or that nobody has any of it.

    Raises:
        LedgerError: If there is a release, or something that may be one; else if nobody has declared anything.
    """
    trace = traces.traced(entry, ended=declared)
    number = trace.entry.number
    if trace.state == traces.WORKING:
        raise LedgerError(f"The run that reserved entry {number} is still at work.", "wait until it ends.")
    if trace.state == traces.FOUND:
        raise LedgerError(
            f"The release that entry {number} paid for is in {trace.where}.",
            "complete and book it: dawa ledger recover.",
        )
    if trace.state == traces.UNREADABLE:
        raise LedgerError(
            f"There may be a release that entry {number} paid for in {trace.where}: it cannot be read.",
            "ask whoever can read it: dawa ledger recover; if it is no release, move it away.",
        )
    if not declared:
        raise _undeclared(trace)


def _undeclared(trace: Trace) -> LedgerError:
    """What is known, and what a person has to say before it is taken back."""
    number = trace.entry.number
    if trace.state == traces.ELSEWHERE:
        return LedgerError(
            f"The run that reserved entry {number} was in another folder than the one of {trace.where}, perhaps on"
            " another machine or another disk: whether there is a release cannot be seen from here.",
            f"run dawa ledger recover there; if nothing was made, {DECLARE}",
        )
    if trace.state == traces.UNLOCKED:
        return LedgerError(
            f"Nobody can tell whether the run that reserved entry {number} is still at work: its disk has no locks.",
            f"if it has surely ended: dawa ledger recover --ended; if nothing was made, {DECLARE}",
        )
    if trace.state == traces.UNSEEN:
        return LedgerError(
            f"There may be a release that entry {number} paid for in {trace.where}: it cannot be seen.",
            f"ask whoever may look there: dawa ledger recover; if nothing was made, {DECLARE}",
        )
    if trace.state == traces.UNNAMED:
        return LedgerError(
            f"Entry {number} does not say where its release is, so nobody can look for it.",
            f"ask whoever reserved it; if nothing was made, {DECLARE}",
        )
    return LedgerError(f"For entry {number} {trace.unseen}.", f"look there too; if nothing was made, {DECLARE}")
