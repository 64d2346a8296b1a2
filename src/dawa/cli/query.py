"""``dawa query``: ask a release, any number of times, at no cost."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

import dawa
from dawa.cli import figures, groups
from dawa.cli.options import Json, Place, as_number
from dawa.cli.terminal import reported, screen, tell, text, write_json
from dawa.errors import OptionError
from dawa.numerals import told as brief
from dawa.results.about import called

if TYPE_CHECKING:  # --help answers without them
    from dawa.publish.figures import Figure
    from dawa.results.answers import Answer
    from dawa.results.bands import Band
    from dawa.results.grouped import AnyRelease
    from dawa.results.overview import Overview
    from dawa.results.release import Release
    from dawa.spec.ranges import Asked


HELP = """Ask a release how many records lie in a range. It costs nothing, any number of times.

\b
  dawa query out/                     # all records: in range, and in none
  dawa query out/ 20000:60000                # the upper end itself is outside
  dawa query out/ 0:1000 1000:2000 --confidence 0.99
  dawa query out/ "2013-01-01 08:00..2013-01-01 09:00"
                                      # two dots where an end has colons
  dawa query out/ low:high            # ordered categories: both ends inside
  dawa query out/ 60000: :15000       # to the end of the axis; from its start
  dawa query ages/ 27                 # one whole number, category, or period:
  dawa query days/ 2013-01-05 2013-02        # a day, a month
  dawa query map/ -74.1:-73.9,40.6:40.8      # one range per axis
  dawa query map/ "-74.1:-73.9,*"            # * is the whole axis
  dawa query out/ --queries ranges.csv --csv # many: columns lo,hi or from,to
  dawa query out/ 0:1000 --out answers.parquet   # or .csv, .json
  dawa query out/ --quantile 0.25,0.5,0.75 --mean
  dawa query out/ --band                     # limits for the whole curve
  dawa query out/ :18 18:65 --share          # each as a part of all
  dawa query out/ :18 65: --ratio            # or --difference
  dawa query out/ :18 --ratio --with lastyear/   # of two releases
  dawa query delays/ 15:60 --by              # each group, and all together
  dawa query delays/ 15:60 --group AA --mean --share
  dawa query delays/ 15:60 --group AA --group UA --difference

\b
Each answer comes with its noise margin, the most that cut buckets can add to
it (bias bound), and an interval, low to high, that holds the true count with
the stated confidence. Where an answer differs from what was measured, that
stands beside it: low and high lie around it. A remark says what else is counted
in it, such as values outside the bounds. Records that are in no range, because they are missing,
outside or not listed, are listed below the answers.
"""

MOST_ROWS = 1_000_000
"""Answers that are listed at once, for every range and every group."""

MOST_WAYS = 8
"""Reasons for being in no range that are listed on a screen; --json lists all."""

SETTINGS: dict[str, Any] = {"context_settings": {"ignore_unknown_options": True}}
"""A range may begin with a minus."""


def query(
    release: Place,
    asked: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FROM:TO", help="Ranges in the attribute's own units: 20:60, 60:, :15, 27, *.", show_default=False
        ),
    ] = None,
    *,
    queries: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A CSV file of ranges: columns lo,hi or from,to.", show_default=False),
    ] = None,
    confidence: Annotated[
        float, typer.Option(help="How sure the interval is.", parser=as_number, metavar="FLOAT")
    ] = 0.95,
    json: Json = False,
    csv: Annotated[bool, typer.Option("--csv", help="CSV for spreadsheets.")] = False,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write a new file: .csv, .json or .parquet.", show_default=False),
    ] = None,
    quantile: figures.Quantiles = None,
    mean: figures.Mean = False,
    sum_: figures.Sum = False,
    band: figures.Band = False,
    share: figures.Share = False,
    difference: figures.Difference = False,
    ratio: figures.Ratio = False,
    other: figures.Other = None,
    by: groups.Every = False,
    group: groups.Some = None,
    group_share: figures.GroupShare = False,
) -> None:
    """Print what a release says to ranges that were typed, and to those in a file, and the figures that are wanted."""
    if json + csv + (out is not None) > 1:
        raise typer.BadParameter("--json, --csv and --out contradict each other.")
    wanted = figures.Wanted(quantile, mean, sum_, share, difference, ratio, other, group_share)
    with reported(json):
        if out is not None:
            dawa.publish.files.ending(out, dawa.publish.files.ANSWERS)
        found = dawa.publish.folder.opened_any(release)
        parts = groups.parts(found, every=by, some=group)
        ranges = _ranges(found, asked or [], queries)
        told = wanted.found(parts, ranges, confidence)
        if band:
            one = _alone(parts)
            limits = one.band(confidence)
            if csv or out is not None:
                _band_alone(out, one, limits, beside=bool(told or ranges))
                return
        if not told and not band:
            ranges = ranges or [dawa.spec.ranges.whole(found.axes)]
        ranges, answers = answered(parts, ranges, confidence)
        found = parts[0].release if len(parts) == 1 else found
        if json:
            more = {"band": dawa.publish.bands.as_json(one, limits)} if band else {}
            write_json({**_as_json(found, ranges, answers, told, confidence), **more})
        elif csv or out is not None:
            _save(out, found, ranges, answers, told, confidence)
        else:
            _titled(found)
            if band:
                _show_band(one, limits)
            _show(found, ranges, answers, told, confidence)
            if not (by or group or told):
                _hint(release, found, asked or [], nothing=not (asked or band or queries is not None))


def _hint(place: str, release: AnyRelease, asked: Sequence[str], *, nothing: bool) -> None:
    """Say how to ask for groups, and to somebody who has asked for nothing, how to ask for a range."""
    example = f"Ask for a range: dawa query {shlex.quote(place)} {dawa.spec.ranges.example(release.axes)}"
    for line in (groups.hint(place, release, asked), example if nothing else ""):
        if line:
            screen().print(text(line), soft_wrap=True)


def _alone(parts: Sequence[groups.Part]) -> Release:
    """The one histogram that is meant, for what is about one alone."""
    one, whole = parts[0].release, parts[0].whole
    if isinstance(whole, dawa.GroupedRelease) and (len(parts) > 1 or one is whole):
        raise groups.choose(whole)
    return dawa.results.grouped.single(one)


def _show_band(release: Release, found: Band) -> None:
    """Print a band, and what it promises."""
    table, promise = figures.band_table(release, found)
    screen().print(table)
    screen().print(text(promise), soft_wrap=True)


def _titled(release: AnyRelease) -> None:
    """Print what the release is called, if somebody said."""
    if release.about is not None and release.about.title:
        screen().print(text(release.about.title, "bold"), soft_wrap=True)


def answered(
    parts: Sequence[groups.Part], asked: Sequence[Asked], confidence: float
) -> tuple[list[Asked], list[Answer]]:
    """Each range with the group that is meant, and the answers: for one range after the other all groups."""
    clash = {name for one in asked for name, _ in one.labels} & {name for name, _ in parts[0].group}
    if clash:
        raise OptionError(
            f"The ranges have a column {brief(clash.pop())}, by which the release has groups.",
            "rename it, or leave it out; groups are chosen by --group.",
        )
    if len(asked) * len(parts) > MOST_ROWS:
        raise OptionError(
            f"{len(asked):,} ranges of {len(parts):,} groups are too many at once.",
            "ask for fewer ranges, or for some groups with --group.",
        )
    each = [dawa.spec.ranges.answered(part.release, asked, confidence) for part in parts]
    told_by = [[replace(one, group=part.group) for part in parts] for one in asked]
    return list(chain.from_iterable(told_by)), [rows[at] for at in range(len(asked)) for rows in each]


def _ranges(release: AnyRelease, typed: Sequence[str], queries: str | None) -> list[Asked]:
    """The ranges that were typed, then those in the file."""
    asked = [dawa.spec.ranges.typed(text, release.axes) for text in typed]
    return asked if queries is None else asked + dawa.spec.ranges.listed(queries, release.axes)


def _show(
    release: AnyRelease, asked: Sequence[Asked], answers: Sequence[Answer], told: Sequence[Figure], confidence: float
) -> None:
    """Tables for people: answers, figures, and the records that are in no range."""
    if answers:
        screen().print(answers_as_table(release, asked, answers))
    if told:
        screen().print(figures.table(told))
    tell_apart(dawa.results.overview.overview_of(release, confidence))


def _band_alone(out: str | None, release: Release, found: Band, *, beside: bool) -> None:
    """Write a band as the only table there is."""
    if beside:
        raise OptionError(
            "A band is a table of its own.", "ask for ranges and other figures in another command, or use --json."
        )
    rows = dawa.publish.bands.table(release, found)
    if out is None:
        dawa.publish.tables.write(rows, sys.stdout)
        return
    told = {"band": dawa.publish.bands.as_json(release, found)}
    dawa.publish.files.save_band(out, release.axis, rows, told)
    tell(f"{out}: a band of {len(found) - 1:,} bound{'s' * (len(found) != 2)}")


def _save(
    out: str | None,
    release: AnyRelease,
    asked: Sequence[Asked],
    answers: Sequence[Answer],
    told: Sequence[Figure],
    confidence: float,
) -> None:
    """A file of answers, or CSV on stdout; a table of figures takes their place, and JSON holds both."""
    if out is None:
        rows = dawa.publish.tables.figures(told) if told else dawa.publish.tables.answers(release, asked, answers)
        dawa.publish.tables.write(rows, sys.stdout)
        return
    everything = _as_json(release, asked, answers, told, confidence)
    if told:
        dawa.publish.files.save_figures(out, told, everything)
    else:
        dawa.publish.files.save_answers(out, release, asked, answers, everything)
    count, what = (len(told), "figure") if told else (len(answers), "answer")
    tell(f"{out}: {count:,} {what}{'s' * (count != 1)}")


def _as_json(
    release: AnyRelease, asked: Sequence[Asked], answers: Sequence[Answer], told: Sequence[Figure], confidence: float
) -> dict[str, Any]:
    """All that is told, for machines."""
    everything = dawa.results.overview.overview_of(release, confidence)
    listed = {"figures": [figure.row() for figure in told]} if told else {}
    each = (
        {"groups": [dict(dawa.spec.groups.named(one, release.by)) for one in release]}
        if isinstance(release, dawa.GroupedRelease)
        else {}
    )
    return {"answers": answers_as_json(release, asked, answers), **listed, **apart_as_json(everything), **each}


def answers_as_json(release: AnyRelease, asked: Sequence[Asked], answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """Answers with their ranges as JSON values."""
    return [
        {
            **({"group": dict(one.group)} if one.group else {}),
            "labels": dict(one.labels),
            "range": {axis.column: [lo, hi] for axis, lo, hi in zip(release.axes, one.lo, one.hi, strict=True)},
            **found.row(),
        }
        for one, found in zip(asked, answers, strict=True)
    ]


def answers_as_table(release: AnyRelease, asked: Sequence[Asked], answers: Sequence[Answer]) -> Table:
    """Answers with their ranges as a table; what each counts besides, as a note beside it."""
    kept = release.privacy.kept
    notes = [answer.remark.removesuffix(kept).removesuffix("; ") for answer in answers]
    many, sure = called(release.about), _percent(answers[0].confidence)
    caption = f"low to high holds the true number of {many} with {sure} confidence or more"
    table = Table(caption=text(f"{caption}; all numbers are {kept}" if kept else caption))
    names, by = dawa.publish.tables.labels(asked), dawa.publish.tables.grouped(asked)
    for name in (*by, *names, *(axis.column for axis in release.axes)):
        table.add_column(text(name))
    moved = any(answer.evened_out for answer in answers)
    for name in ("answer", *(["measured"] if moved else []), "noise margin", "bias bound", "low", "high"):
        table.add_column(name, justify="right")
    if any(notes):
        table.add_column("remark")
    for one, found, note in zip(asked, answers, notes, strict=True):
        known = dict(one.labels)
        labels = [text("all groups" if value is None else str(value)) for _, value in one.group]
        labels += [text(known.get(name, "")) for name in names]
        spans = [text(f"{lo} to {hi}") for lo, hi in zip(one.lo, one.hi, strict=True)]
        errors = (found.noise_margin, found.bias_bound, found.low, found.high)
        numbers = (found.value, *([found.measured] if moved else []), *errors)
        beside = [text(note)] if any(notes) else []
        table.add_row(*labels, *spans, *(f"{number:,.0f}" for number in numbers), *beside)
    return table


def apart_as_json(found: Overview) -> dict[str, Any]:
    """All records, in range and in none, as JSON values."""
    ways = [
        {"label": way.label, "states": dict(zip(way.columns, way.states, strict=True)), **way.answer.row()}
        for way in found.ways
    ]
    return {
        "inside": found.inside.row(),
        "apart": None if found.apart is None else {**found.apart.row(), "share": found.share, "ways": ways},
        "warning": found.warning or None,
    }


def tell_apart(found: Overview) -> None:
    """Print the records that are in no range, and loudly if they are many; nothing if there are none to tell of."""
    if found.apart is None:
        return
    console = screen()
    console.print(text(found.said()) if len(found.ways) == 1 else _ways(found), soft_wrap=len(found.ways) == 1)
    if found.warning:
        console.print(text(found.warning, "bold red"), soft_wrap=True)


def _ways(found: Overview) -> Table:
    """The records that are in no range by reason, as a table."""
    table = Table(caption=f"in no {found.what}, so in no answer: {found.share:.1%} of all {found.records}")
    table.add_column(text(f"{found.records} with"))
    for name in ("number", "noise margin", "low", "high"):
        table.add_column(name, justify="right")
    most = MOST_WAYS if len(found.ways) > MOST_WAYS + 1 else len(found.ways)
    for way in found.ways[:most]:
        table.add_row(text(way.label), *_numbers(way.answer))
    if len(found.ways) > most:
        table.add_row(f"{len(found.ways) - most} other reasons", "fewer each")
    if found.apart is not None:
        table.add_section()
        table.add_row("all of them", *_numbers(found.apart))
    return table


def _numbers(answer: Answer) -> list[str]:
    return [f"{number:,.0f}" for number in (answer.value, answer.noise_margin, answer.low, answer.high)]


def _percent(confidence: float) -> str:
    return f"{100 * confidence:.10g}%"
