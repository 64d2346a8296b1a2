"""``dawa release``: from a table to a folder that may be published."""

from __future__ import annotations

import os
import sys
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any

import typer

import dawa
from dawa.budget import shown
from dawa.cli import groups, making, options, specs, together, words
from dawa.cli.specs import Typed
from dawa.cli.terminal import complain, reported, tell, write_json
from dawa.errors import FolderError, PublicNote, SpecError

if TYPE_CHECKING:  # --help answers without them
    from dawa.results.statement import PrivacyStatement
    from dawa.spec.model import Spec
    from dawa.spec.several import Several

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
Registry = Annotated[
    str | None,
    typer.Option(
        "--registry",
        metavar="FILE",
        help="Write a draft for the registry of deployments (registry.opendp.org) to this file, in YAML.",
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
    network: options.Network = None,
    prefix: options.Prefix = None,
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
    about: words.File = None,
    title: words.Title = None,
    description: words.Description = None,
    record: words.Record = None,
    plural: words.Plural = None,
    publisher: words.Publisher = None,
    contact: words.Contact = None,
    data_from: words.DataFrom = None,
    data_to: words.DataTo = None,
    released: words.Released = None,
    licence: words.Licence = None,
    out: options.Out = None,
    save_spec: SaveSpec = None,
    registry: Registry = None,
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
                network=network,
                prefix=prefix,
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
                about,
                title=title,
                description=description,
                record=record,
                plural=plural,
                publisher=publisher,
                contact=contact,
                data_from=data_from,
                data_to=data_to,
                released=released,
                licence=licence,
            ),
            out=out,
        ).spec()
        _check_registry(registry, spec, save_spec)
        if isinstance(spec, dawa.spec.several.Several):
            together.release(spec, force=force, saved=save_spec is not None, json=json)
            return
        if save_spec is not None:
            dawa.spec.toml.save(spec, save_spec)
        _made_and_told(spec, registry, force=force, json=json)


def _check_registry(registry: str | None, spec: Spec | Several, save_spec: str | PathLike[str] | None) -> None:
    """Refuse what the registry cannot have, before anything is spent."""
    if registry is None:
        return
    if isinstance(spec, dawa.spec.several.Several):
        raise SpecError("A draft for the registry is about one release.", "write each release by itself.")
    if spec.seed is not None:
        raise SpecError("A run with a seed is not private, and no registry should list it.", "leave out the seed.")
    dawa.publish.records.registry.check(registry)
    if os.path.realpath(registry) in {os.path.realpath(path) for path in (spec.out, save_spec) if path is not None}:
        raise FolderError(f"{registry} is named twice.", "choose another file for the draft.")


def _made_and_told(spec: Spec, registry: str | None, *, force: bool, json: bool) -> None:
    """Make the release, write its folder, and say so; everything public is checked before anything is spent."""
    if spec.out is None:
        raise SpecError("The release has no folder to go to.", "name a new one: --out out/.")
    meant = specs.meaning(spec)
    if said := making.caution(spec, spec.epsilon):
        complain(said)
    with dawa.publish.folder.prepared(spec.out, meant.asked, sys.stdout, replace=force) as keeper:
        try:
            (found,) = making.made([making.Order(spec, meant, keeper)])
            if found.problem is not None:
                raise found.problem
            if registry is not None:
                _drafted(found, registry)
            with making.heard(found.written.folder):
                if json:
                    write_json(making.summary(found))
                else:
                    _tell(spec, found, registry)
        except KeyboardInterrupt as stopped:
            if keeper.written is not None and not getattr(stopped, "__notes__", ()):
                stopped.add_note(PublicNote(f"The release was finished first: it is in {keeper.written.folder}."))
            raise


def _drafted(made: making.Made, registry: str) -> None:
    """Write the draft for the registry; the release is safe, whatever happens here."""
    try:
        dawa.publish.records.registry.save(made.release, registry)
    except FolderError as error:
        raise FolderError(
            f"{error.problem} The release itself is in {made.written.folder}.",
            "do not release again, which costs again: dawa.publish.records.registry.save(dawa.load(FILE), NAME) writes"
            " the draft, in Python.",
        ) from None


def _tell(spec: Spec, made: making.Made, registry: str | None) -> None:
    """For people."""
    released = made.release
    making.show(made)
    tell(
        _claim(released.privacy),
        *making.left(spec, made.account),
        making.example(made),
    )
    if registry is not None:
        left = len(dawa.publish.records.registry.left(made.release))
        tell(f"A draft for the registry is in {registry}: {left} of its fields are left to you, and named at its top.")


def _claim(privacy: PrivacyStatement) -> str:
    """What is promised to whom."""
    if not privacy.private:
        return "NOT PRIVATE: its noise was made from a seed, for an experiment. Do not publish it."
    return (
        f"It is differentially private for each {privacy.unit} at epsilon = {shown(privacy.epsilon)};"
        " its README.md says what that means."
    )
