"""Controls for the audit of releases: what is known to be wrong before noise is added, and the same done right.

Each wrong way is one that people have taken: it looks right, and adds noise of the right size to what it counts.
"""

import logging
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import ibis

from dawa.sources import counting
from dawa.sources.placed import Expression
from dawa_bench.audit.finding import Control, Finding
from dawa_bench.audit.holders import Held, Holder, named
from dawa_bench.audit.releases import EPSILON, PYTHON, audited
from dawa_bench.audit.tables import ASKED, LOOSE, ODDS, TEXT, TYPED, Table


@contextmanager
def cap_of_each_count() -> Iterator[None]:
    """Count all records of a person, then cap what the person adds to each count: it may add that to every count."""

    def truncated(rows: Expression, owner: tuple[str, ...], most: int, _: Expression) -> Expression:
        counts = [rows[name] for name in rows.columns if name in {counting.CELL, counting.GROUP}]
        place = ibis.row_number().over(group_by=[*(rows[name] for name in owner), *counts], order_by=[rows.turn])
        numbered = rows.mutate(turn=place)
        return numbered.filter(numbered.turn < most)

    with mock.patch.object(counting, "truncated", truncated):
        yield


@contextmanager
def counted_in_the_log(*, records: bool) -> Iterator[None]:
    """Log that a table was read, and perhaps how many records it had."""
    own = counting.Query.counts

    def counts(query: counting.Query) -> counting.Tally:
        found, log = own(query), logging.getLogger("dawa")
        if records:
            log.info("%d records were counted.", int(found.inside.exposed.counts.sum()))
        else:
            log.info("The table was counted.")
        return found

    with mock.patch.object(counting.Query, "counts", counts):
        yield


def sniffed(folder: Path, table: Table, running: object) -> Held:
    """A text file by what DuckDB makes of it: it looks at the rows to guess delimiters, quotes and types."""
    path, _typed = _holder("CSV").made(folder, table, running)
    with warnings.catch_warnings(action="ignore"):
        return ibis.duckdb.connect().read_csv(path, table_name="people"), None


SNIFFED = Holder("CSV, sniffed", frozenset({TYPED, TEXT}), sniffed)


def _audited(holder: Holder, question: str, odd: str, kind: str, tampered: AbstractContextManager[None]) -> Finding:
    """One pair of neighbours, in Python."""
    (asked,) = (each for each in ASKED if each.name == question)
    among = [each for each in ODDS if each.name == odd and each.kind == kind]
    with tampered:
        (found,) = audited(holder, asked, 0, ways=[PYTHON], among=among)
    return found


def _persons(tampered: AbstractContextManager[Any]) -> Finding:
    return _audited(_holder("lists"), "persons", "a person with records everywhere", TYPED, tampered)


def _dialect(holder: Holder) -> Finding:
    return _audited(holder, "numbers", "words in place of numbers", TEXT, nullcontext())


def _log(*, records: bool) -> Finding:
    log = counted_in_the_log(records=records)
    return _audited(_holder("lists"), "numbers", "a float among whole numbers", LOOSE, log)


def _holder(name: str) -> Holder:
    (found,) = named((name,))
    return found


CONTROLS = (
    Control(
        "cap after counting",
        "What a person adds to each count is capped after counting, so a person may add the cap to every count.",
        float(EPSILON),
        lambda _: _persons(cap_of_each_count()),
        lambda _: _persons(nullcontext()),
    ),
    Control(
        "sniffed dialect",
        "The dialect and the types of a CSV file are guessed from its rows, so one record changes how all are read.",
        float(EPSILON),
        lambda _: _dialect(SNIFFED),
        lambda _: _dialect(_holder("CSV")),
    ),
    Control(
        "records in the log",
        "A log says how many records were counted.",
        float(EPSILON),
        lambda _: _log(records=True),
        lambda _: _log(records=False),
    ),
)
"""All of them."""
