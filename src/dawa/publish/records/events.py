"""What a release costs, for accountants of the library dp_accounting.

All that is proven of a release is pure differential privacy with its epsilon. Of all such mechanisms, one tells most:
it says one bit truly with odds of exp(epsilon). A discrete Laplace mechanism on whole numbers with sensitivity 1 and
parameter epsilon is that mechanism, seen through what its outcomes tell. So this event bounds every release, for every
δ, alone and in compositions; and δ is 0 at epsilon. A ``LaplaceDpEvent`` with the same epsilon would be wrong: at
smaller epsilons it promises a δ that mechanisms with pure privacy need not keep.
"""

from typing import TYPE_CHECKING, Any, Literal

from dawa import check
from dawa.budget import rounded_up
from dawa.errors import InstallationError, OptionError
from dawa.results.grouped import AnyRelease, GroupedRelease
from dawa.results.release import Release

if TYPE_CHECKING:
    from dp_accounting import DpEvent

Accountant = Literal["pld", "rdp"]


def event(*releases: AnyRelease, accountant: Accountant = "pld") -> "DpEvent":
    """The event of a release, or of several of the same data together.

    Neighbours differ by one unit: pass it to an accountant with ``NeighboringRelation.ADD_OR_REMOVE_ONE``, the default,
    or ``REPLACE_SPECIAL``. Where a unit is replaced by another, twice epsilon is lost, and no event says so.

    Args:
        releases: One or more releases that protect the same unit.
        accountant: ``"pld"`` is exact. ``"rdp"`` is for the accountant of Rényi privacy, which does not know that
            event: it says what pure privacy implies in concentrated privacy, ρ = epsilon²/2, so its δ is never 0.

    Raises:
        OptionError: If there is none, or they protect different units.
        InstallationError: If dp_accounting is not installed.
    """
    chosen = check.one_of(accountant, "accountant", ("pld", "rdp"))
    if not releases or not all(isinstance(one, (Release, GroupedRelease)) for one in releases):
        raise OptionError("There is no release, or something else.", "pass one or more that dawa.load gives.")
    if len({(one.privacy.unit, one.privacy.unit_columns) for one in releases}) > 1:
        raise OptionError(
            "The releases protect different units, and what they cost does not add up.",
            "account for each unit by itself; a ledger can relate them.",
        )
    events = _events()
    found = [_one(events, release, rdp=chosen == "rdp") for release in releases]
    return found[0] if len(found) == 1 else events.ComposedDpEvent(found)


def _one(events: Any, release: AnyRelease, *, rdp: bool) -> Any:  # noqa: ANN401  of a library that is loaded late
    if not release.privacy.private:
        return events.NonPrivateDpEvent()
    epsilon = rounded_up(release.privacy.epsilon)
    if rdp:
        return events.ZCDpEvent(rounded_up(release.privacy.epsilon**2 / 2))
    return events.DiscreteLaplaceDpEvent(epsilon, 1)


def _events() -> Any:  # noqa: ANN401  a module
    try:
        from dp_accounting import dp_event  # noqa: PLC0415  slow to load, and optional
    except ImportError:
        raise InstallationError("dp_accounting is not installed.", "pip install 'dawa[accounting]'.") from None
    return dp_event
