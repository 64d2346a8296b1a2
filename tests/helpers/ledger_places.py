"""Fresh places for ledgers in tests."""

import uuid

import psycopg


def in_new_schema(url):
    """The address of a new schema on the server at ``url``."""
    schema = f"ledger_{uuid.uuid4().hex}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
    return f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3D{schema}"
