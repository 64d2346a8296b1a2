"""Fixtures for tests of what is published."""

import pytest

from helpers.pages import KINDS


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """Releases by kind with their pages, made when they are first asked for."""
    folder, found = tmp_path_factory.mktemp("pages"), {}

    def of(kind):
        if kind not in found:
            release = KINDS[kind]()
            found[kind] = release, release.report(folder / f"{len(found)}.html")
        return found[kind]

    return of
