"""The page in a real browser: the quantiles that it shows are those of Python and of the server."""

import json
from datetime import UTC

import numpy as np
import pyarrow as pa
import pytest

import dawa
from dawa.axis import written as values
from dawa.server import asking
from helpers.browser import opened
from helpers.pages import KINDS, ordered, peaks


def spread(axis, **options):
    """A release of numbers all along an axis."""
    low, high = float(axis.start), float(axis.stop)
    values = low + peaks(np.random.default_rng(7), 4000, 1) * (high - low)
    return dawa.release({axis.column: values}, axis, epsilon="0.5", seed=0, effort="fast", **options)


def moments(start, stop, step, zone=None):
    """A release of times all along an axis."""
    axis = dawa.Axis.dates("when", start, stop, step=step, zone=zone)
    length = (axis.stop - axis.start) / np.timedelta64(1, "us").item()
    first = np.datetime64(axis.start.astimezone(UTC).replace(tzinfo=None) if zone else axis.start, "us")
    when = first + (peaks(np.random.default_rng(8), 4000, 0.999) * length).astype("m8[us]")
    table = pa.table({"when": pa.array(when, pa.timestamp("us", zone and "UTC"))})
    return dawa.release(table, axis, epsilon="0.5", seed=0, effort="fast")


def even(axis):
    """One bucket of 1,000 records exactly, so that quantiles fall on the ends of cells."""
    values = float(axis.start) + np.arange(1000) % axis.size * float(axis.stop - axis.start) / axis.size
    options = {"partition": [0, axis.size], "postprocess": "rounded"}
    return dawa.release({axis.column: values}, axis, epsilon=1000, seed=0, **options)


def midnight_twice():
    """At 00:01 clocks go back to 23:01; the lower quartile lies in the hour after that, which is of the next day."""
    axis = dawa.Axis.dates("when", "2010-11-06", "2010-11-08", step="1 day", zone="America/St_Johns")
    when = np.repeat(np.array(["2010-11-06T12", "2010-11-07T12"], "M8[us]"), [240, 760])
    table = pa.table({"when": pa.array(when, pa.timestamp("us", "UTC"))})
    return dawa.release(table, axis, epsilon=1000, seed=0, partition="none", postprocess="rounded")


QUANTILES = {
    "midnight twice": midnight_twice,
    "ends of whole numbers": lambda: even(dawa.Axis("x", 0, 20)),
    "ends of hundreds": lambda: even(dawa.Axis("x", 0, 2000, 100)),
    "ends of edges": lambda: even(dawa.Axis.edges("x", range(21))),
    "negative numbers": lambda: spread(dawa.Axis("x", -900, 100)),
    "hundreds": lambda: spread(dawa.Axis("x", -50_000, 50_000, 100)),
    "hundredths": lambda: spread(dawa.Axis("x", -1, 1, "0.01")),
    "sevens": lambda: spread(dawa.Axis("x", "0.5", "70.5", "0.07")),
    "quarters": lambda: spread(dawa.Axis("x", -10, 10, "0.25")),
    "thirds": lambda: spread(dawa.Axis("x", 0, 100, "1/3")),
    "many cells": lambda: spread(dawa.Axis("x", 0, 2**48)),
    "tiny numbers": lambda: spread(dawa.Axis("x", 0, "0.00001", "0.00000001")),
    "edges from tiny to huge": lambda: spread(
        dawa.Axis.edges("x", ["-1e22", "-1e16", "-1e-7", 0, "1e-5", "1e-3", "1/3", 1, 10**15, 10**16, "1.5e22"])
    ),
    "minutes in a zone": lambda: moments("2013-03-31", "2013-04-01", "1 minute", "Europe/Berlin"),
    "the hour that comes twice": lambda: moments("2013-10-27 00:30", "2013-10-27 05:30", "15 minutes", "Europe/Berlin"),
    "seconds": lambda: moments("2013-01-01 00:00:30", "2013-01-01 00:20:30", "1 second"),
    "milliseconds": lambda: moments("2013-01-01", "2013-01-01 00:00:01", "1 ms"),
    "days from six": lambda: moments("2013-01-01 06:00", "2013-12-01 06:00", "1 day"),
    "weeks in a zone": lambda: moments("2018-10-01", "2019-03-04", "1 week", "America/Sao_Paulo"),
    "quarters of a year": lambda: moments("1950-01-01", "1990-01-01", "1 quarter"),
    "years in a zone": lambda: moments("1890-01-01", "1990-01-01", "1 year", "Europe/Amsterdam"),
    "flags": lambda: ordered((False, True)),
    "integers in order": lambda: ordered((5, 3, 8, 1)),
} | {kind: KINDS[kind] for kind in KINDS if "map" not in kind and "axes" not in kind}


FRACTIONS = (0.05, 0.25, 0.5, 0.75, 0.95)


@pytest.mark.long_but(2)
@pytest.mark.parametrize("kind", QUANTILES)
def test_page_server_and_python_write_the_same_quantiles(browser, made, tmp_path, kind):
    release, path = made(kind) if kind in KINDS else (QUANTILES[kind](), tmp_path / "report.html")
    with opened(browser, path if kind in KINDS else release.report(path)) as sheet:
        shown = sheet.page.locator("#quantiles dd").all_text_contents()
        sure = sheet.page.locator("#quantiles .hint").all_text_contents()
        sheet.page.select_option("#confidence", "0.8")
        less = sheet.page.locator("#quantiles .hint").all_text_contents()
    found = release.quantiles(FRACTIONS)
    told = [json.loads(one.model_dump_json()) for one in asking.quantiles(release, FRACTIONS, 0.95)]
    unsure = [json.loads(one.model_dump_json()) for one in asking.quantiles(release, FRACTIONS, 0.8)]
    assert shown[:5] == [str(values.plain(release.axis, one.value)) for one in found]
    assert shown[:5] == [str(one["value"]) for one in told]
    assert sure[:5] == [f"{one['low']} to {one['high']}" for one in told]
    assert less[:5] == [f"{one['low']} to {one['high']}" for one in unsure]
    if release.axis.kind in {"numbers", "edges"}:
        value, low, high = release.mean().texts
        assert (shown[5:], sure[5:]) == ([value], [f"{low} to {high}"])
    if release.axis.kind != "dates":
        assert shown[:5] == [str(one.value) for one in found]
    assert len(set(shown)) > 1, "the example has something to tell apart"
