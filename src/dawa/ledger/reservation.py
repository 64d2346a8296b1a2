"""What was reserved: epsilon that is spent, and waits for the name of its release."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from dawa.errors import DawaError, PublicNote, TakenBackError
from dawa.ledger import decisions, drafts, refusals, store
from dawa.ledger.accounts import Account, closed_by, scope_of
from dawa.ledger.entries import Entry
from dawa.ledger.scopes import Scope
from dawa.results.keys import PrivateKey
from dawa.results.paid import Paid

if TYPE_CHECKING:
    from dawa.ledger.book import Ledger


@dataclass(frozen=True)
class Reservation:
    """Epsilon that is spent and waits for the name of its release.

    Attributes:
        ledger: The ledger that holds it.
        entry: The entry that spent it.
        begun: The hash of the ledger's first entry.
        signer: The key that signs its receipt, if any.
    """

    ledger: "Ledger" = field(repr=False)
    entry: Entry
    begun: str = field(default="", repr=False)
    signer: PrivateKey | None = field(default=None, repr=False, compare=False)

    @property
    def dataset(self) -> str:
        """The dataset on which it was spent."""
        return self.entry.dataset

    @property
    def epsilon(self) -> Fraction:
        """How much was spent, as the release spends it."""
        return self.entry.epsilon or Fraction(0)

    @property
    def account(self) -> Account:
        """The account that paid, as it is now: ``account.left`` is what may still be spent."""
        return self.ledger.account(self.dataset)

    def paid(self, release_id: str) -> Paid | None:
        """The receipt for the release that it pays for; None if it is not known which ledger this is."""
        entry = self.entry
        if not self.begun:
            return None
        return Paid(
            self.begun[:16],
            entry.number,
            entry.hash,
            entry.dataset,
            self.epsilon,
            release_id,
            at=entry.at,
            signer=self.signer,
        )

    @contextmanager
    def accounted(self) -> Iterator[None]:
        """Let every failure in the block say what was spent, what is left, and how to take it back.

        Our errors say so in their text, all others in a note. Both use only the ledger's public state.
        """
        try:
            yield
        except TakenBackError:
            raise  # its text already says everything
        except DawaError as error:
            told = type(error)(*self._cost().after(error.problem, error.hint))
            raise told.with_traceback(error.__traceback__) from None
        except BaseException as error:
            error.add_note(self._cost())
            raise

    def finalise(self, release_id: str, file: str | os.PathLike[str] | None = None, digest: str | None = None) -> Entry:
        """Book the release that was made, where it was written, and the SHA-256 of its file, as far as known.

        Raises:
            TakenBackError: If the reservation was taken back. The release is not paid for, and nobody may have it.
            LedgerError: If a release was already named, or the ledger cannot be written. The epsilon stays spent.
        """
        draft = drafts.finalise(self.entry, release_id, file, digest)

        def decide(pages: store.Pages) -> Entry:
            self._account(pages)
            return decisions.finalise(self.ledger.place, draft, pages)

        try:
            return store.append(self.ledger.place, decide)
        except decisions.AlreadyError as done:
            return done.entry

    def _account(self, pages: store.Pages) -> Account:
        """The account that pays for it, if the ledger can be trusted and still holds the reservation."""
        number = self.entry.number
        known = decisions.trusted(self.ledger.place, pages)
        if self.entry not in pages.entries[number - 1 : number]:
            raise TakenBackError(
                f"The ledger {self.ledger.place.name} no longer has entry {number}: somebody put another or an older"
                " one in its place.",
                "or put the right ledger back, and then: dawa ledger recover.",
            )
        return known[self.dataset]

    def _cost(self) -> PublicNote:
        """What to say about the reservation after a failure."""
        flag = self.ledger.place.flag
        try:
            pages = store.read(self.ledger.place)
            closing = closed_by(pages.entries, self.entry.number)
            return refusals.cost(self.entry, scope_of(self.entry, newest=True), self._account(pages), closing, flag)
        except BaseException:  # noqa: BLE001  even a second Ctrl-C: the first failure is the one to report
            return refusals.cost(self.entry, Scope(), None, None, flag)
