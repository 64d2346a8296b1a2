"""What comes of specs: releases that are made and paid, one alone or several together, and what is said of them."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import dawa
from dawa import budget
from dawa.budget import shown
from dawa.cli import groups, specs
from dawa.cli.query import answered, answers_as_json, answers_as_table, apart_as_json, tell_apart
from dawa.cli.terminal import screen, tell, working
from dawa.errors import DawaError, FolderError, InvariantError, LargeEpsilonWarning, LedgerError, UnbookedWarning

if TYPE_CHECKING:  # --help answers without them
    from dawa import paying
    from dawa.ledger import Account
    from dawa.publish.folder import FolderKeeper, Written
    from dawa.results.answers import Answer
    from dawa.results.grouped import AnyRelease
    from dawa.spec.model import Spec
    from dawa.spec.ranges import Asked

CONFIDENCE = 0.95
"""With which answers to the ranges that a spec names are told."""


@dataclass(frozen=True)
class Made:
    """The release that was made from a spec, and its folder.

    Attributes:
        release: The release.
        asked: The ranges that were named.
        written: Its folder.
        account: The account that paid, as it is now; None if none did, or if the ledger could not be asked.
        problem: What did not become as it should, and where the release is all the same; None if all is well.
    """

    release: AnyRelease
    asked: tuple[Asked, ...]
    written: Written
    account: Account | None
    problem: DawaError | None = None

    @property
    def answers(self) -> tuple[list[Asked], list[Answer]]:
        """The ranges that were named and their answers; of a release with groups, for every group and for all."""
        if isinstance(self.release, dawa.GroupedRelease):
            return answered(groups.parts(self.release, every=True, some=None), self.asked, CONFIDENCE)
        return list(self.asked), list(self.written.answers)

    @property
    def buckets(self) -> int:
        """How many buckets were released, in all groups together."""
        return sum(len(estimate.buckets) for estimate in dawa.results.grouped.estimates_of(self.release))


@dataclass(frozen=True)
class Order:
    """A release that is to be made from a spec, into a folder."""

    spec: Spec
    meant: specs.Meaning
    keeper: FolderKeeper

    def run(self) -> paying.Run:
        """The release on its way."""
        axes, spec = self.meant.axes, self.spec
        from dawa import pipeline  # noqa: PLC0415  --help answers without it

        return pipeline.run(
            specs.table(spec),
            axes if len(axes) > 1 else axes[0],
            epsilon=spec.epsilon,
            by=spec.listed if spec.by else None,
            other=spec.other if spec.by else False,
            unit=spec.unit or None,
            max_rows_per_unit=spec.max_rows_per_unit,
            where=spec.where,
            workload=self.meant.workload,
            mechanism=spec.mechanism,
            about=spec.about,
            ledger=self.meant.ledger,
            dataset=spec.dataset,
            seed=spec.seed,
            out=self.keeper,
            options=spec.options,
        )


def caution(spec: Spec, epsilon: Fraction) -> str:
    """What to be told before a budget is spent that promises little; a run with a seed promises nothing at all."""
    unit = dawa.results.statement.protected(spec.unit, 1)["unit"]
    return "" if spec.seed is not None else budget.caution(epsilon, unit)


@contextmanager
def heard(folder: Path) -> Iterator[None]:
    """Say that the release is made even if what is said about it cannot be written."""
    try:
        yield
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError) as error:
        raise FolderError(
            f"The release is complete in {folder}, but standard output cannot be written ({type(error).__name__}).",
            "do not make it again: what it says is in its README.md.",
        ) from None


def made(orders: Sequence[Order]) -> list[Made]:
    """Make releases that are paid together, or one alone.

    Raises:
        DawaError: If one cannot be made; the keepers know which of the others are.
    """
    with (
        working("Checking"),
        warnings.catch_warnings(record=True) as told,
    ):
        warnings.simplefilter("always", UnbookedWarning)
        warnings.simplefilter("ignore", LargeEpsilonWarning)  # it was told before
        from dawa import paying  # noqa: PLC0415  --help answers without it

        releases = paying.paid([order.run() for order in orders])
    for warning in told:
        if not isinstance(warning.message, UnbookedWarning):
            warnings.showwarning(warning.message, warning.category, warning.filename, warning.lineno)
    unbooked = [str(one.message) for one in told if isinstance(one.message, UnbookedWarning)]
    return [_finished(order, release, unbooked) for order, release in zip(orders, releases, strict=True)]


def _finished(order: Order, release: AnyRelease, unbooked: list[str]) -> Made:
    """What became of a release that was made."""
    keeper, written = order.keeper, order.keeper.written
    if written is None:
        raise InvariantError("The release was not kept.")
    shown = keeper.place.shown
    earlier = None if written.earlier is None else shown(written.earlier)
    written = replace(written, folder=shown(written.folder), earlier=earlier)
    account = None
    if order.meant.ledger is not None:
        with suppress(LedgerError):  # the release is made and booked: that its ledger fails now is not an error
            account = specs.account(order.meant.ledger, order.spec)
    return Made(release, order.meant.asked, written, account, _problem(written, unbooked))


def _problem(written: Written, unbooked: list[str]) -> DawaError | None:
    """What did not become as it should: the folder, or what the ledger knows of it."""
    if written.problem is not None:
        told = (" ".join(one.split("\n")) for one in unbooked)
        return type(written.problem)(" ".join([written.problem.problem, *told]), written.problem.hint)
    if unbooked:
        problem, _, hint = unbooked[0].partition("\n")
        return LedgerError(problem, hint or "see dawa ledger recover.")
    return None


def summary(made: Made) -> dict[str, object]:
    """For machines."""
    released, written = made.release, made.written
    return {
        "release": released.id,
        "folder": str(written.folder),
        "files": list(written.files),
        "earlier": None if written.earlier is None else str(written.earlier),
        "axes": [axis.to_json() for axis in released.axes],
        "buckets": made.buckets,
        **({"by": [one.to_json() for one in released.by]} if isinstance(released, dawa.GroupedRelease) else {}),
        "about": None if released.about is None else released.about.to_json(),
        "privacy": released.privacy.to_json(),
        "caution": (released.privacy.private and released.privacy.caution) or None,
        "answers": answers_as_json(released, *made.answers),
        **apart_as_json(dawa.results.overview.overview_of(released)),
        "ledger": None if made.account is None else made.account.to_json(),
    }


def show(made: Made) -> None:
    """What was asked, what is in no range, and where the folder is, for people."""
    released, written = made.release, made.written
    if made.asked:
        screen().print(answers_as_table(released, *made.answers))
    tell_apart(dawa.results.overview.overview_of(released))
    of_groups = f" of {groups.described(released.by)}" if isinstance(released, dawa.GroupedRelease) else ""
    several, files = "s" * (made.buckets != 1), ", ".join(written.files)
    tell(f"Released {made.buckets:,} bucket{several}{of_groups} into {written.folder}: {files}.")
    if written.earlier is not None:
        tell(f"The earlier folder is now {written.earlier}.")


def example(made: Made) -> str:
    """How to ask the release."""
    every = " --by" if isinstance(made.release, dawa.GroupedRelease) else ""
    folder, asked = shlex.quote(str(made.written.folder)), dawa.spec.ranges.example(made.release.axes)
    return f"Ask it: dawa query {folder} {asked}{every}"


def left(spec: Spec, account: Account | None) -> list[str]:
    """What the dataset may still spend, and for whom it counts."""
    if not spec.dataset:
        return ["No ledger counts it against a total; --dataset would name one that pays."]
    if account is None:
        return [f"The ledger could not be asked what is left for {spec.dataset}."]
    rest = f"The ledger has {shown(account.left)} of {shown(account.cap)} left for {account.dataset}."
    times = specs.times(account, spec)
    often = [] if times in {None, 1} else [f"This release counted {times} times."]
    return [" ".join([rest, account.whom, *often])]
