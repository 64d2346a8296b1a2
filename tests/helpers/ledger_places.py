"""Fresh places for ledgers in tests."""

import re
import sqlite3
import uuid
from contextlib import closing
from pathlib import Path

import psycopg

from dawa.ledger.postgres import TRIGGERS

FILES = Path(__file__).parents[1] / "ledger" / "files"


def in_new_schema(url):
    """The address of a new schema on the server at ``url``."""
    schema = f"ledger_{uuid.uuid4().hex}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
    return f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3D{schema}"


def old(version, place):
    """Put a ledger that an earlier dawa wrote at a new place: a file, or a schema of a server.

    ``tests/ledger/files`` holds what dawa wrote before accounts counted for units: version 1, and version 2 with a
    take-back.
    """
    text = (FILES / f"ledger-{version}.sql").read_text(encoding="utf-8")
    if "://" not in str(place):
        with closing(sqlite3.connect(place)) as connection:
            connection.executescript(text)
        return
    with psycopg.connect(place, autocommit=True) as connection:
        for statement in re.split(r";\n", text):
            if statement.startswith(("CREATE TABLE", "INSERT")):
                connection.execute(statement)
        for trigger in TRIGGERS:
            connection.execute(trigger)
