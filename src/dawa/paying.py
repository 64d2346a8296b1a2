"""How a release pays: which ledger, what is booked, and the way from a paid release to one that is kept.

The order is: reserve, compute, write and sync, then finalise. A run that dies before it has written leaves a
reservation that a person may take back. One that dies later leaves a release that ``dawa ledger recover`` finds, by
what was booked about it. Between the first private draw and the end of writing, signals wait.
"""

import inspect
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from dawa import progress
from dawa.axis import AutoAxis, Axis
from dawa.axis.groups import Grouping
from dawa.budget import shown
from dawa.errors import InvariantError, LedgerError, OptionError, PublicNote, SourceError, TakenBackError
from dawa.host import interrupts, scratch
from dawa.numerals import told
from dawa.results.grouped import AnyRelease
from dawa.results.keeping import KEPT, FileKeeper, Keeper, Kept, warned
from dawa.sources.tables import Source

if TYPE_CHECKING:
    from dawa.ledger import Ledger, LedgerLike, Order, Reservation

WAITING = "Finishing first: this is paid for. Ask again to give it up"


@dataclass
class Payment:
    """What a ledger knows about one release, and what becomes of the release.

    Attributes:
        book: The ledger that pays; None if none does.
        dataset: The account in it.
        keeper: Puts the release where it stays; None leaves it in memory.
        name: What the release is called.
        order: What it asks the ledger for, once all is known that needs no rows; None if no ledger pays.
        reservation: What was paid.
        kept: Where the release is, once it is kept.
    """

    book: "Ledger | None"
    dataset: str | None
    keeper: Keeper | None
    name: str = field(default_factory=lambda: uuid4().hex)
    order: "Order | None" = None
    reservation: "Reservation | None" = None
    kept: Kept | None = None
    _hold: interrupts.Hold | None = field(default=None, repr=False)
    _paid: ExitStack = field(default_factory=ExitStack, repr=False)
    _place: ExitStack = field(default_factory=ExitStack, repr=False)

    @classmethod
    def of(
        cls, ledger: "LedgerLike | None", dataset: str | None, out: "str | PathLike[str] | Keeper | None"
    ) -> "Payment":
        """The payment for a release, of which nothing is paid yet.

        Raises:
            DawaError: If the ledger or the account is not named, or nothing can be written where the release should go.
        """
        named = isinstance(out, (str, PathLike)) and isinstance(os.fspath(out), str)
        if not (named or out is None or hasattr(out, "keep")):
            raise OptionError(f"out={told(out)} is not the name of a file.", "pass the path of a new file, as text.")
        if out is not None and not isinstance(out, (str, PathLike)):
            _check_keeper(out.keep)
        payment = cls(_ledger(ledger, dataset), dataset, None if isinstance(out, (str, PathLike)) else out)
        if isinstance(out, (str, PathLike)):
            payment.keeper = payment._place.enter_context(FileKeeper.at(out))
        return payment

    @contextmanager
    def accounted(self) -> Iterator[None]:
        """Let a failure in the block say what was paid; a signal that had to wait takes effect afterwards."""
        with self._place, self._paid:
            yield
        if self._hold is not None and self._hold.asked:
            self._stop(self._hold.asked[0])

    def _stop(self, number: int) -> None:
        """Let a signal that had to wait take effect, unless that would lose a release that is in memory alone.

        Signals wait for a release that is to be kept, and nothing failed: there is a release.
        """
        if self.kept is None:
            warned("The run was asked to stop, but its release is paid for, and saved nowhere: save what you get.")
            return
        paid = ""
        if self.reservation is not None:
            spent, entry = shown(self.reservation.epsilon), self.reservation.entry
            paid = f" epsilon={spent} was spent on dataset '{entry.dataset}' for it (entry {entry.number})."
        stopped = interrupts.Interrupted(number)
        stopped.add_note(
            PublicNote(f"The release was finished first, as it is paid for: it is in {self.kept.path}.{paid}")
        )
        raise stopped

    def ask(
        self, epsilon: Fraction, source: Source, table: str, unit: tuple[str, ...], mechanism: str, what: dict[str, Any]
    ) -> "Payment":
        """Say what the release will cost, if a ledger pays; ``paid`` spends it, before its data is read."""
        if self.book is None or self.dataset is None:
            return self
        from dawa.ledger import Order  # noqa: PLC0415  databases are slow to load, and not always needed

        _check_case(unit, source)
        where = {}
        if self.keeper is not None:
            self.book.spare(self.keeper.where)
            where = {KEPT: {**self.keeper.where, "release": self.name, "host": scratch.here(self.keeper.parent)}}
        self.order = Order(self.dataset, epsilon, {**what, **where}, mechanism, unit, table)
        return self

    def booked(self, reservation: "Reservation") -> None:
        """Know what was paid: from here on, a failure says what it cost."""
        self.reservation = reservation
        self._paid.enter_context(reservation.accounted())

    def hold(self) -> None:
        """Put off signals until the release is kept, if it is to be kept: the first private draw comes next."""
        if self.keeper is not None:
            self._held()

    def _held(self) -> interrupts.Hold:
        """What happens to signals, from the first call on."""
        if self._hold is None:
            self._hold = self._paid.enter_context(interrupts.held(lambda: progress.reached(WAITING)))
        return self._hold

    def settled(self, release: AnyRelease) -> AnyRelease:
        """Keep the release, then tell the ledger that it was made.

        Raises:
            TakenBackError: If the reservation was taken back meanwhile: the release is unpaid, and nobody may have it.
        """
        if self.keeper is not None:
            self._held().close()
            paid = None if self.reservation is None else self.reservation.paid(self.name)
            self.kept = self.keeper.keep(release, paid)
        if self.reservation is not None:
            self._finalise(self.reservation)
        return release

    def _finalise(self, reservation: "Reservation") -> None:
        try:
            if self.kept is None:
                reservation.finalise(self.name)
            else:
                reservation.finalise(self.name, self.kept.path, self.kept.digest)
        except TakenBackError as error:
            if self.keeper is None or self.kept is None:
                raise
            hidden = self.keeper.withdraw(self.kept)
            where = f"is in {hidden}" if hidden is not None else f"was moved away from {self.kept.path} meanwhile"
            raise TakenBackError(
                f"{error.problem} What was computed {where}, and is not paid for.",
                f"delete it without looking at it; {error.hint}",
            ) from None
        except (LedgerError, KeyboardInterrupt) as error:
            # A release that is paid for is kept even if the ledger fails now: its entry stays spent, and pending.
            why = error.problem if isinstance(error, LedgerError) else "it was interrupted."
            again = "" if self.kept is None else f" The release is in {self.kept.path}: dawa ledger recover books it."
            warned(
                f"The release was made, but the ledger could not record it: {why}\n"
                f"Entry {reservation.entry.number} stays spent: do not take it back.{again}"
            )


Run = Generator[Payment, None, AnyRelease]
"""A release on its way: it checks all that needs no rows, and yields its payment; once that is booked, it goes on."""


def paid(runs: Sequence[Run]) -> list[AnyRelease]:
    """Make releases that are paid together: all are booked in one transaction, or none, once nothing refuses any.

    What is paid for is made, even if another release fails: the first failure is raised when the others are made. If
    the run is asked to stop, those that are not begun stay paid, and the error says how to take each of them back.
    """
    with ExitStack() as begun:
        for run in runs:
            begun.callback(run.close)
        payments = [next(run) for run in runs]
        book, orders = payments[0].book, [payment.order for payment in payments if payment.order is not None]
        if any(payment.book != book for payment in payments):
            raise OptionError(
                "These releases are not paid by one ledger.", "make those of another ledger by themselves."
            )
        if book is not None:
            with interrupts.held() as hold:  # whoever stops the run from here on is told which entries were paid
                for payment, reservation in zip(payments, book.reserve_all(orders), strict=True):
                    payment.booked(reservation)
            if hold.asked:
                raise _told(interrupts.Interrupted(hold.asked[0]), runs)
        made: list[AnyRelease] = []
        failed: list[Exception] = []
        for place, run in enumerate(runs):
            try:
                made.append(_finished(run))
            except Exception as error:  # noqa: BLE001  raised below, once the others are made
                failed.append(error)
            except BaseException as stopped:
                _told(stopped, runs[place + 1 :])
                raise
    if failed:
        raise failed[0]
    return made


def _told(stopped: BaseException, runs: Sequence[Run]) -> BaseException:
    """Let runs that are paid for and not begun say what they cost, in notes of what stops them."""
    for run in runs:
        with suppress(BaseException):
            run.throw(stopped)
    return stopped


def _finished(run: Run) -> AnyRelease:
    """The release that a run makes, once it is paid for."""
    try:
        next(run)
    except StopIteration as end:
        release: AnyRelease = end.value
        return release
    raise InvariantError("A release was to be paid for twice.")


def check_seed(seed: int | None, ledger: "LedgerLike | None", dataset: str | None) -> None:
    """Refuse to book a run whose noise anybody can repeat: what it spends bounds nobody's loss."""
    if seed is not None and not (ledger is None and dataset is None):
        raise OptionError(
            "A run with a seed is not private, so no ledger books it.",
            "leave out the seed to make a private release, or leave out the ledger and the dataset.",
        )


def _check_keeper(keep: Callable[..., object]) -> None:
    """Refuse a keeper that could not be called once the release is paid for."""
    try:
        inspect.signature(keep).bind(None, None)
    except TypeError:
        raise OptionError(
            "The keeper that was passed as out= takes a release alone.",
            "let its keep take a second argument: how the release was paid for, or None.",
        ) from None


def _ledger(ledger: "LedgerLike | None", dataset: str | None) -> "Ledger | None":
    """The open ledger that pays, or None."""
    if ledger is None and dataset is None:
        return None
    if ledger is None or dataset is None:
        raise OptionError(
            "A ledger and a dataset belong together, and only one of them is named.",
            "pass ledger='ledger.db' and dataset='hr', for example, or neither.",
        )
    from dawa import ledger as ledgers  # noqa: PLC0415  databases are slow to load, and not always needed

    return ledgers.opened(ledger)


def _check_case(unit: tuple[str, ...], source: Source) -> None:
    """Refuse to book for a unit that a ledger, which compares names without case, could mistake for another."""
    from dawa.ledger.scopes import folded  # noqa: PLC0415  loaded with the ledger

    for column in unit:
        alike = {name for name in (*(source.names or ()), *source.header) if folded(name) == folded(column)}
        if alike - {column}:
            raise SourceError(
                f"The table has another column whose name differs from {column!r} in case alone, and a ledger compares"
                " names without case: it could not tell the two units apart.",
                "rename one of the two columns.",
            )


def described(
    axes: tuple[Axis | AutoAxis, ...],
    unit: tuple[str, ...],
    max_rows_per_unit: int | str | None,
    options: Mapping[str, Any],
    declared: Mapping[str, Any],
    by: tuple[Grouping, ...] = (),
) -> dict[str, Any]:
    """What the budget is spent on, for the ledger: public inputs alone."""
    plain = {
        name: value if isinstance(value, (str, int, type(None))) else repr(value) for name, value in options.items()
    }
    return {
        "axes": [axis.to_json() for axis in axes],
        "unit": unit[0] if len(unit) == 1 else list(unit) or None,
        "max_rows_per_unit": 1 if max_rows_per_unit is None else max_rows_per_unit,
        "options": plain,
        **({"by": [grouping.to_json() for grouping in by]} if by else {}),
        **declared,
    }
