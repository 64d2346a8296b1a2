"""A folder for each test, made without a look at those of all tests before it, as pytest's own would."""

import re
from itertools import count

import pytest

LONGEST = 30
"""How much of a test's name its folder has."""


@pytest.fixture(scope="session")
def folder_numbers():
    """Every number once."""
    return count()


@pytest.fixture
def tmp_path(tmp_path_factory, request, folder_numbers):
    """An empty folder, named after the test."""
    name = re.sub(r"\W", "_", request.node.name)[:LONGEST]
    folder = tmp_path_factory.getbasetemp() / f"{name}-{next(folder_numbers)}"
    folder.mkdir(mode=0o700)
    return folder
