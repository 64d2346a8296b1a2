"""Numbers in tables."""

import pytest

from dawa_bench.display import number


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (None, ""), (0.001, "0.00100"), (99.96, "100.0"), (1e6, "1,000,000")]
)
def test_numbers_as_people_write_them(value, text):
    assert number(value) == text
