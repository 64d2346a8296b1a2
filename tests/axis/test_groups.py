"""Grouping columns: public lists, read as ordered axes are, and every way of naming them wrongly."""

import numpy as np
import pytest

from dawa.axis.groups import Grouping, combinations, groupings, number
from dawa.errors import OptionError


def test_the_same_groups_in_every_spelling():
    one = groupings("carrier", ["AA", "UA"])
    assert one == groupings(["carrier"], [["AA", "UA"]]) == groupings({"carrier": ("AA", "UA")})
    assert one == groupings("carrier", np.array(["AA", "UA"]))
    both = groupings(("carrier", "origin"), [["AA"], ["JFK", "LGA"]], other=True)
    assert both == groupings({"carrier": ["AA"], "origin": ["JFK", "LGA"]}, other=True)
    assert combinations(both)[:3] == (("AA", "JFK"), ("AA", "LGA"), ("AA", "other"))
    assert [number(both, group) for group in combinations(both)] == list(range(6))
    assert groupings(None) == ()


def test_numbers_and_truth_values():
    years = groupings("year", [2013, 2014], other=True)
    assert [number(years, label) for label in (2013, "2014", np.int64(2014), "other", (2013,))] == [0, 1, 1, 2, 0]
    flags = groupings("late", [False, True])
    assert [number(flags, label) for label in (False, True, "true")] == [0, 1, 1]
    with pytest.raises(OptionError, match="is not a group"):
        number(years, "other ")
    with pytest.raises(OptionError, match="is not a group"):
        number(groupings("year", [2013]), "other")


def test_states_of_no_group():
    assert Grouping.of("c", ["a"]).apart == ("unlisted", "missing")
    assert Grouping.of("c", ["a"], other=True).apart == ("missing",)


def test_they_are_read_back_from_json():
    for grouping in (Grouping.of("c", ["a", "b"], other=True), Grouping.of("c", [1, 2]), Grouping.of("c", [True])):
        assert Grouping.from_json(grouping.to_json()) == grouping


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("carrier",), "are not listed; they are never read from the data"),
        (("carrier", []), "an empty list"),
        (("carrier", "AA"), "is no list"),
        (("carrier", 5), "is no list"),
        (("carrier", {"AA": 1}), "is no list"),
        (("carrier", ["AA", "AA"]), "grouping column 'carrier' lists a value twice"),
        (("carrier", [1, "1"]), "are not all text, or all integers"),
        (("carrier", [1, True]), "are not all text, or all integers"),
        (("carrier", [1.5]), "are not all text, or all integers"),
        (("carrier", [None]), "are not all text, or all integers"),
        (("carrier", [chr(0xD800)]), "cannot be written"),
        (("carrier", range(1001)), "has 1001 groups"),
        ((["a", "b"], [range(40), range(40)]), "1,600 groups, more than 1,000"),
        ((["a", "b"], [["x"]]), "does not hold as many lists"),
        ((["a", "b"], ["x", "y"]), "does not hold as many lists"),
        ((["a", "b"], None), "are not listed"),
        ((["a", "a"], [["x"], ["y"]]), "Two grouping columns are the same"),
        (([], []), "0 grouping columns"),
        (({},), "0 grouping columns"),
        (({"a": ["x"]}, ["x"]), "listed twice"),
        ((list("abcde"), [["x"]] * 5), "5 grouping columns"),
        ((5, ["x"]), "is not the name of a column"),
        (("", ["x"]), "is not the name of a column"),
        (([5], [["x"]]), "is not the name of a column"),
        ((None, ["x"]), "says nothing without by="),
    ],
    ids=str,
)
def test_groups_that_cannot_be_are_refused(arguments, said):
    with pytest.raises(OptionError, match=said) as caught:
        groupings(*arguments)
    assert caught.value.hint


def test_other_is_a_name_that_a_value_cannot_have():
    with pytest.raises(OptionError, match="is called 'other'"):
        groupings("carrier", ["AA", "other"], other=True)
    assert groupings("carrier", ["AA", "other"])[0].labels == ("AA", "other")
    with pytest.raises(OptionError, match="other="):
        groupings("carrier", ["AA"], other="yes")
    with pytest.raises(OptionError, match="other="):
        groupings(None, other=True)
