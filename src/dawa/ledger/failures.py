"""What a failure cost that came after paying, in words that are made of the ledger's public state alone."""

from fractions import Fraction

from dawa.budget import shown
from dawa.errors import PublicNote
from dawa.ledger.accounts import Account
from dawa.ledger.entries import TAKE_BACK, Entry


def cost(reserved: Entry, account: Account | None, closing: Entry | None, flag: str) -> PublicNote:
    """What was spent, what is left, and how to take it back if that can be done.

    Args:
        reserved: The entry that spent.
        account: The account now; None if the ledger could not be asked.
        closing: The entry that named a release or took it back, if there is one.
        flag: How the command line is told of the ledger.
    """
    number, amount = reserved.number, shown(reserved.epsilon or Fraction(0))
    entry = f"on dataset '{reserved.dataset}' all the same (entry {number} of the ledger)"
    if account is None:
        rest = "the ledger could not be asked for what is left."
    else:
        rest = f"{shown(account.left)} of {shown(account.cap)} is left."
    if closing is not None and closing.kind == TAKE_BACK:
        return PublicNote(f"epsilon={amount} was spent {entry}, and taken back in entry {closing.number}; {rest}")
    if closing is not None:
        return PublicNote(f"epsilon={amount} was spent {entry}, and its release is booked; {rest}")
    return PublicNote(
        f"epsilon={amount} was spent {entry}; {rest}\n"
        f"Hint: if nothing was observed, take it back: dawa ledger take-back {number} --why '…' {flag}"
    )
