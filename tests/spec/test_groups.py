"""Groups as people write them, and in specs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa.axis.groups import combinations, groupings
from dawa.errors import OptionError, SpecError
from dawa.spec import groups, toml
from dawa.spec.model import GroupSpec

SPEC = """
[source]
file = "flights.csv"
[[axes]]
column = "delay"
start = 0
stop = 100
[privacy]
epsilon = 0.5
"""

labels = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=6)


@given(st.lists(labels, min_size=1, max_size=4, unique=True), st.lists(labels, min_size=1, max_size=3, unique=True))
def test_what_is_written_is_read_again(first, second):
    for by in (groupings("a", first), groupings({"a": first, "b": second})):
        for label in combinations(by):
            group = label if len(by) > 1 else label[0]
            assert groups.typed(groups.written(group), by) == group


def test_unknown_groups_list_a_few():
    by = groupings({"carrier": ["AA", "UA"], "origin": ["JFK"]})
    with pytest.raises(OptionError, match=r"(?s)'AA' does not have one value for each of 'carrier', 'origin'.*AA,JFK"):
        groups.typed("AA", by)
    with pytest.raises(OptionError, match="AA, JFK"):
        groups.typed("XX,JFK", by)
    with pytest.raises(OptionError, match="ask for one of AA, UA"):
        groups.typed("XX", groupings("carrier", ["AA", "UA"]))


def test_groups_in_a_file():
    spec = toml.parsed(SPEC + '[[by]]\ncolumn = "carrier"\nvalues = ["AA", "UA"]\nother = true\n')
    assert spec.by == (GroupSpec("carrier", ("AA", "UA"), other=True),)
    assert spec.groups == groupings({"carrier": ["AA", "UA"]}, other=True)


def test_a_spec_reads_back(tmp_path):
    text = SPEC + '[[by]]\ncolumn = "carrier"\nvalues = ["A,A", "U\\"A"]\n[[by]]\ncolumn = "month"\nvalues = [1, 2]\n'
    spec = toml.parsed(text, tmp_path / "spec.toml")
    assert toml.parsed(toml.written(spec, tmp_path), tmp_path / "spec.toml") == spec


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ('[[by]]\ncolumn = "carrier"\n', "no values"),
        ('[[by]]\nvalues = ["AA"]\n', "no column"),
        ('[[by]]\ncolumn = "carrier"\nvalues = ["AA"]\nothers = true\n', "did you mean 'other'"),
        ('[[by]]\ncolumn = "carrier"\nvalues = ["AA"]\nother = "yes"\n', "neither true nor false"),
        ('[[by]]\ncolumn = "carrier"\nvalues = ["AA", "AA"]\n', "twice"),
        ('[[by]]\ncolumn = "carrier"\nvalues = "AA"\n', "not a list"),
        ('[[by]]\ncolumn = "delay"\nvalues = ["AA"]\n', "is an axis"),
        ('[by]\ncolumn = "carrier"\nvalues = ["AA"]\n', r"\[\[by\]\]"),
        (
            '[[by]]\ncolumn = "a"\nvalues = ["A"]\nother = true\n[[by]]\ncolumn = "b"\nvalues = ["B"]\n',
            "for every column, or for none",
        ),
    ],
)
def test_wrong_groups_are_refused(wrong, told):
    with pytest.raises(SpecError, match=told):
        toml.parsed(SPEC + wrong)
