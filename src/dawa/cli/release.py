"""``dawa release``: from a table to a folder that may be published."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

import dawa
from dawa import budget
from dawa.budget import shown
from dawa.cli import groups, options, specs, words
from dawa.cli.query import answered, answers_as_json, answers_as_table, apart_as_json, tell_apart
from dawa.cli.specs import Typed
from dawa.cli.terminal import complain, reported, screen, tell, working, write_json
from dawa.errors import (
    FolderError,
    InvariantError,
    LargeEpsilonWarning,
    LedgerError,
    PublicNote,
    SpecError,
    UnbookedWarning,
)

if TYPE_CHECKING:  # --help answers without them
    from dawa.ledger import Account
    from dawa.publish.folder import FolderKeeper, Written
    from dawa.results.answers import Answer
    from dawa.results.grouped import AnyRelease
    from dawa.spec.model import Spec
    from dawa.spec.ranges import Asked

HELP = """Release how many records lie between any two points of an attribute, without exposing any of them.

\b
  dawa release people.parquet --column income --range 0:500000 --step 1 \\
      --epsilon 0.5 --out out/
  dawa release visits.csv --column when --range 2013-01-01..2014-01-01 \\
      --step "1 hour" --epsilon 1 --unit person_id --max-rows-per-unit 3 \\
      --out visits/
  dawa release taxis.parquet --column lon --range -74.1:-73.7 --step 0.001 \\
      --column lat --range 40.6:40.9 --step 0.001 --epsilon 1 --out map/
  dawa release 'postgresql://reader:${PGPASSWORD}@server/hr' --table people \\
      --column age --range 0:120 --epsilon 0.1 --dataset hr --out ages/
  zcat visits.jsonl.gz | dawa release - --format jsonl --column visit.age \\
      --range 0:120 --epsilon 0.5 --out visits/
  dawa release flights.csv --column dep_delay --range -60:1440 \\
      --by carrier=AA,UA,DL --epsilon 0.5 --out delays/
                               # a histogram for each carrier, epsilon once
  dawa release spec.toml       # all of it in a file that can be reviewed

\b
The folder holds release.json, tables, a picture, and a README.md that says
what is protected. Try the same arguments with dawa plan first: it says what
would be spent and how accurate it would be, and touches no data.
"""

SETTINGS: dict[str, Any] = {"cls": options.InOrder}

CONFIDENCE = 0.95
"""How sure the intervals of named ranges are."""

SaveSpec = Annotated[
    str | None,
    typer.Option(
        "--save-spec",
        metavar="FILE",
        help="Write the spec to this file too, to be reviewed and repeated.",
        show_default=False,
        rich_help_panel=options.RELEASE,
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Move an earlier folder of that name aside.", rich_help_panel=options.RELEASE),
]


def release(
    ctx: typer.Context,
    source: options.Source,
    *,
    column: options.Column = None,
    range: options.Range = None,  # noqa: A002  the option's name
    step: options.Step = None,
    values: options.Values = None,
    edges: options.Edges = None,
    zone: options.Zone = None,
    outside: options.Outside = None,
    if_missing: options.IfMissing = None,
    share: options.Share = None,
    epsilon: options.Epsilon = None,
    unit: options.Unit = None,
    max_rows_per_unit: options.MaxRowsPerUnit = None,
    ledger: options.Ledger = None,
    dataset: options.Dataset = None,
    delimiter: options.Delimiter = None,
    quote: options.Quote = None,
    escape: options.Escape = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    decimal: options.Decimal = None,
    date_format: options.DateFormat = None,
    missing: options.Missing = None,
    format: options.Format = None,  # noqa: A002  the option's name
    sheet: options.Sheet = None,
    table: options.Table = None,
    where: options.Where = None,
    by: groups.By = None,
    other: groups.Rest = False,
    queries: options.Queries = None,
    mechanism: options.Mechanism = None,
    option: options.Option = None,
    seed: options.Seed = None,
    title: words.Title = None,
    description: words.Description = None,
    record: words.Record = None,
    publisher: words.Publisher = None,
    contact: words.Contact = None,
    data_from: words.DataFrom = None,
    data_to: words.DataTo = None,
    released: words.Released = None,
    licence: words.Licence = None,
    out: options.Out = None,
    save_spec: SaveSpec = None,
    force: Force = False,
    json: options.Json = False,
) -> None:
    """Make a release; write its spec first, if that is asked for."""
    with reported(json):
        spec = Typed(
            source=source,
            of_axes=options.in_order(
                ctx,
                column=column,
                range=range,
                step=step,
                values=values,
                edges=edges,
                zone=zone,
                outside=outside,
                if_missing=if_missing,
                share=share,
            ),
            epsilon=epsilon,
            unit=unit,
            max_rows_per_unit=max_rows_per_unit,
            ledger=ledger,
            dataset=dataset,
            delimiter=delimiter,
            quote=quote,
            escape=escape,
            encoding=encoding,
            header=header,
            decimal=decimal,
            date_format=date_format,
            missing=missing,
            format=format,
            sheet=sheet,
            table=table,
            where=where,
            by=by,
            other=other,
            queries=queries,
            mechanism=mechanism,
            option=option,
            seed=seed,
            about=words.given(
                title=title,
                description=description,
                record=record,
                publisher=publisher,
                contact=contact,
                data_from=data_from,
                data_to=data_to,
                released=released,
                licence=licence,
            ),
            out=out,
        ).spec()
        if save_spec is not None:
            dawa.spec.toml.save(spec, save_spec)
        _made_and_told(spec, force=force, json=json)


@dataclass(frozen=True)
class Made:
    """The release that was made from a spec, and its folder.

    Attributes:
        release: The release.
        asked: The ranges that were named.
        written: Its folder.
        account: The account that paid, as it is now; None if none did, or if the ledger could not be asked.
    """

    release: AnyRelease
    asked: tuple[Asked, ...]
    written: Written
    account: Account | None

    @property
    def answers(self) -> tuple[list[Asked], list[Answer]]:
        """The ranges that were named and their answers; of a release with groups, for every group and for all."""
        if isinstance(self.release, dawa.GroupedRelease):
            return answered(groups.parts(self.release, every=True, some=None), self.asked, CONFIDENCE)
        return list(self.asked), list(self.written.answers)

    @property
    def buckets(self) -> int:
        """How many buckets were released, in all groups together."""
        release = self.release
        ones = release.values() if isinstance(release, dawa.GroupedRelease) else [release]
        return sum(len(one.estimate.buckets) for one in ones)


def _made_and_told(spec: Spec, *, force: bool, json: bool) -> None:
    """Make the release, write its folder, and say so; everything public is checked before anything is spent."""
    if spec.out is None:
        raise SpecError("The release has no folder to go to.", "name a new one: --out out/.")
    meant = specs.meaning(spec)
    if caution := _caution(spec):
        complain(caution)
    with dawa.publish.folder.prepared(spec.out, meant.asked, sys.stdout, replace=force) as keeper:
        try:
            made = _made(spec, meant, keeper)
            with _heard(made.written):
                if json:
                    write_json(_summary(made))
                else:
                    _tell(spec, made)
        except KeyboardInterrupt as stopped:
            if keeper.written is not None and not getattr(stopped, "__notes__", ()):
                stopped.add_note(PublicNote(f"The release was finished first: it is in {keeper.written.folder}."))
            raise


def _caution(spec: Spec) -> str:
    """What to be told before a budget is spent that promises little; a run with a seed promises nothing at all."""
    unit = dawa.results.statement.protected(spec.unit, 1)["unit"]
    return "" if spec.seed is not None else budget.caution(spec.epsilon, unit)


@contextmanager
def _heard(written: Written) -> Iterator[None]:
    """Say that the release is made even if what is said about it cannot be written."""
    try:
        yield
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError) as error:
        raise FolderError(
            f"The release is complete in {written.folder}, but standard output cannot be written"
            f" ({type(error).__name__}).",
            "do not make it again: what it says is in its README.md.",
        ) from None


def _made(spec: Spec, meant: specs.Meaning, keeper: FolderKeeper) -> Made:
    grouping: dict[str, Any] = {"by": spec.listed, "other": spec.other} if spec.by else {}
    with (
        working("Checking"),
        warnings.catch_warnings(record=True) as told,
    ):
        warnings.simplefilter("always", UnbookedWarning)
        warnings.simplefilter("ignore", LargeEpsilonWarning)  # it was told before
        released = dawa.release(
            specs.table(spec),
            meant.axes if len(meant.axes) > 1 else meant.axes[0],
            epsilon=spec.epsilon,
            unit=spec.unit or None,
            max_rows_per_unit=spec.max_rows_per_unit,
            where=spec.where,
            workload=meant.workload,
            mechanism=spec.mechanism,
            about=spec.about,
            ledger=meant.ledger,
            dataset=spec.dataset,
            seed=spec.seed,
            out=keeper,
            **grouping,
            **spec.options,
        )
    written = keeper.written
    if written is None:
        raise InvariantError("The release was not kept.")
    for warning in told:
        if not isinstance(warning.message, UnbookedWarning):
            warnings.showwarning(warning.message, warning.category, warning.filename, warning.lineno)
    shown = keeper.place.shown
    earlier = None if written.earlier is None else shown(written.earlier)
    written = replace(written, folder=shown(written.folder), earlier=earlier)
    _complain(written, [str(one.message) for one in told if isinstance(one.message, UnbookedWarning)])
    left = None
    if meant.ledger is not None:
        with suppress(LedgerError):  # the release is made and booked: that its ledger fails now is not an error
            left = specs.account(meant.ledger, spec)
    return Made(released, meant.asked, written, left)


def _complain(written: Written, unbooked: list[str]) -> None:
    """Say what did not become as it should: the folder, or what the ledger knows of it."""
    if written.problem is not None:
        told = (" ".join(one.split("\n")) for one in unbooked)
        raise type(written.problem)(" ".join([written.problem.problem, *told]), written.problem.hint)
    if unbooked:
        problem, _, hint = unbooked[0].partition("\n")
        raise LedgerError(problem, hint or "see dawa ledger recover.")


def _summary(made: Made) -> dict[str, object]:
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


def _tell(spec: Spec, made: Made) -> None:
    """For people."""
    console = screen()
    released, written = made.release, made.written
    if made.asked:
        console.print(answers_as_table(released, *made.answers))
    tell_apart(dawa.results.overview.overview_of(released))
    buckets, by = made.buckets, released.by if isinstance(released, dawa.GroupedRelease) else ()
    every, files = " --by" if by else "", ", ".join(written.files)
    of_groups = f" of {groups.described(by)}" if by else ""
    lines = [
        f"Released {buckets:,} bucket{'s' * (buckets != 1)}{of_groups} into {written.folder}: {files}.",
        *([] if written.earlier is None else [f"The earlier folder is now {written.earlier}."]),
        _claim(released),
        *_left(spec, made.account),
        f"Ask it: dawa query {shlex.quote(str(written.folder))} {dawa.spec.ranges.example(released.axes)}{every}",
    ]
    tell(*lines)


def _left(spec: Spec, account: Account | None) -> list[str]:
    """What the dataset may still spend, and for whom it counts."""
    if not spec.dataset:
        return ["No ledger counts it against a total; --dataset would name one that pays."]
    if account is None:
        return [f"The ledger could not be asked what is left for {spec.dataset}."]
    left = f"The ledger has {shown(account.left)} of {shown(account.cap)} left for {account.dataset}."
    times = specs.times(account, spec)
    often = [] if times in {None, 1} else [f"This release counted {times} times."]
    return [" ".join([left, account.whom, *often])]


def _claim(released: AnyRelease) -> str:
    """What is promised to whom."""
    privacy = released.privacy
    if not privacy.private:
        return "NOT PRIVATE: its noise was made from a seed, for an experiment. Do not publish it."
    return (
        f"It is differentially private for each {privacy.unit} at epsilon = {shown(privacy.epsilon)};"
        " its README.md says what that means."
    )
