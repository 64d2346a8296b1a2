"""A book of what was spent on each dataset, which cannot be overspent.

An account has a cap on what each unit of a table may lose: each record, or each person with all of their records. It
adds like with like. A release reserves its epsilon in one transaction before any data is read, and finalises the
reservation afterwards. If the run crashes in between, the epsilon stays spent, unless a person takes it back. Entries
are only ever added. ``ledger.md`` proves that what was spent is never under-counted.

>>> import tempfile
>>> from dawa import ledger
>>> folder = tempfile.TemporaryDirectory()
>>> book = ledger.opened(f"{folder.name}/ledger.db")
>>> book.create("hr", cap=2, unit="person").left
Fraction(2, 1)
>>> reservation = book.reserve("hr", 0.1, unit=("person",), what={"columns": ["age"]}, mechanism="dawa")
>>> reservation.account.left
Fraction(19, 10)
>>> reservation.finalise("a-release").number
3
>>> folder.cleanup()
"""

from dawa.ledger.accounts import Account, Part, Relation, Summary
from dawa.ledger.book import Ledger, LedgerLike, Order, opened
from dawa.ledger.entries import Entry
from dawa.ledger.reservation import Reservation
from dawa.ledger.scopes import Scope, UnitLike
from dawa.ledger.upgrade import Upgrade

__all__ = [
    "Account",
    "Entry",
    "Ledger",
    "LedgerLike",
    "Order",
    "Part",
    "Relation",
    "Reservation",
    "Scope",
    "Summary",
    "UnitLike",
    "Upgrade",
    "opened",
]
