"""One engine for many small tables, in tests that are about something else than engines."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

FOLDERS = {"axis", "bounds", "mechanisms", "plan", "plots", "publish", "records", "results"}
"""Tests of what is made from counts."""

LAWS = {
    f"test_{name}.py"
    for name in (
        *("apart", "columns", "huge_axes", "reading_addresses", "reading_groups", "reading_in_python"),
        *("reading_json_lines", "reading_sources", "reading_text_encodings", "reading_text_values", "reading_units"),
        *("reading_workbook_pieces", "reading_workbooks", "sqlite_files", "typed_text", "where", "where_workbooks"),
    )
}
"""Tests of sources that read hundreds of tables, each of which is counted sooner than an engine is made."""


@pytest.fixture(scope="module", autouse=True)
def one_engine(request):
    """One DuckDB for all tables of such a file: each has a connection of its own anyway, and so views of its own.

    All other tests make a new engine for each table, as people do; so do these where DuckDB reads a file itself.
    """
    folder = request.path.parent.name
    if folder not in FOLDERS and not (folder == "sources" and request.path.name in LAWS):
        yield
        return
    from dawa.sources import engines, streams  # noqa: PLC0415  slow to load

    with engines.embedded() as backend, pytest.MonkeyPatch.context() as patch:
        shared = SimpleNamespace(embedded=lambda: nullcontext(backend), interruptible=engines.interruptible)
        patch.setattr(streams, "engines", shared)
        yield
