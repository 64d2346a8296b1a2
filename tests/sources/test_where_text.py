"""The language of conditions: what is read, and what is refused with which words."""

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa.errors import ConditionError
from dawa.limits import MOST_COMPARISONS, MOST_CONDITION, MOST_NESTING
from dawa.sources.where import Among, Comparison, Joined, Missing, Not, Number, Text, Truth
from dawa.sources.where_text import parsed
from helpers.conditions import conditions

ANY = {"x": ["number", "time", "moment", "letter", "truth"], 'odd "name"; --': ["letter"], "in": ["number"]}


@given(conditions(ANY))
def test_what_a_condition_writes_is_read_as_the_same_condition(node):
    assert parsed(str(node)).root == node


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("age >= 18", Comparison("age", ">=", Number("18"))),
        ("18 <= age", Comparison("age", ">=", Number("18"))),
        ("'A' <> grade", Comparison("grade", "!=", Text("A"))),
        (
            "age BETWEEN -1.5 AND +2e3",
            Joined("and", (Comparison("age", ">=", Number("-1.5")), Comparison("age", "<=", Number("2e3")))),
        ),
        (
            "x not between 1 and 2",
            Not(Joined("and", (Comparison("x", ">=", Number("1")), Comparison("x", "<=", Number("2"))))),
        ),
        ("x Not In ('a', 'O''Hare')", Among("x", (Text("a"), Text("O'Hare")), among=False)),
        ("x is NULL or x IS not missing", Joined("or", (Missing("x"), Missing("x", missing=False)))),
        ("not x = true", Not(Comparison("x", "=", Truth(value=True)))),
        (
            "a = 1 or b = 2 and c = 3",
            Joined(
                "or",
                (
                    Comparison("a", "=", Number("1")),
                    Joined("and", (Comparison("b", "=", Number("2")), Comparison("c", "=", Number("3")))),
                ),
            ),
        ),
        ("((a = .5))", Comparison("a", "=", Number(".5"))),
        ('"first ""name""" = \'x\'', Comparison('first "name"', "=", Text("x"))),
        ("größe > 5.", Comparison("größe", ">", Number("5."))),
        (
            "date = '2013-01-01' and missing = 3",
            Joined("and", (Comparison("date", "=", Text("2013-01-01")), Comparison("missing", "=", Number("3")))),
        ),
        ("x = '--' and\n\ty = ';'", Joined("and", (Comparison("x", "=", Text("--")), Comparison("y", "=", Text(";"))))),
    ],
)
def test_what_is_read(written, meant):
    assert parsed(written).root == meant


WRONG = {
    "": "where='' is not a condition.",
    "   ": "is not a condition.",
    "carrier = AA": "'AA', character 11, is not a value.\nHint: text stands in single quotes: 'AA'.",
    'carrier = "AA"': "Hint: text stands in single quotes: 'AA'. Double quotes stand around names of columns.",
    "x == 5": "'==', character 3, is not a comparison.\nHint: write a single =.",
    "x = null": "nothing equals a missing value: write is missing",
    "null = x": "nothing equals a missing value",
    "x in ('a', null)": "nothing equals a missing value",
    "x like 'a%'": "not with patterns",
    "x = 1 like 'a%'": "not with patterns",
    "1 < x < 3": "'<', character 7, does not belong here.\nHint: compare one column with one value at a time",
    "upper(x) = 'A'": "'(', character 6, is not a comparison.\nHint: there are no functions",
    "x = 'it": "Hint: close the quote; a quote inside text is written twice",
    '"x = 3': "Hint: close the quote; double quotes stand around names of columns.",
    "a.b = 3": 'put a name with a point in double quotes: "a.b" = 1.',
    "x in ()": "')', character 7, is not a value.",
    "x in 'a'": "does not begin a list.\nHint: write in ('A', 'B').",
    "x in ('a' 'b')": "comes before the list is closed.",
    "x in ('a', 3)": "mixes text and numbers",
    "x is 3": "'3', character 6, does not follow is.",
    "not": "the end is not a column.",
    "age >= 18 and": "the end is not a column.",
    "x = 1; drop table t": "';', character 6, on.\nHint: leave it out",
    "x = 1 -- comment": "'-', character 7, does not belong here.",
    "x = 1 /* y */": "'/', character 7, on.",
    "(x = 1": "the end comes before a parenthesis is closed.",
    "(x = 1 y = 2)": "'y', character 8, does not belong here.",
    "x = 1)": "')', character 6, does not belong here.",
    "active": "say what the value should be; a column of true and false needs it too: active = true.",
    "active and x = 1": "'and', character 8, is not a comparison.",
    "x between 1 or 2": "is not the and of between.",
    "x = date '2013-01-01'": "write dates as text in single quotes, without a word in front",
    "x not like 'a'": "'like', character 7, does not follow not.",
    "x + 1 > 3": "'+', character 3, is not a comparison.",
    "x = 1 + 2": "there is no arithmetic",
    "x = - 'a'": "does not follow -.",
    "in = 3": 'if it is the name of a column, put it in double quotes: "in".',
    '"" = 3': "write its name between the quotes",
    "x = y": "Two columns cannot be compared with each other.",
    "1 = 1": "is not a column.",
    "x = 1e999": "1e999 has too many digits",
    f"x = {'9' * 5000}": "has too many digits",
    "x = (1)": "compare with one value, or write in ('A', 'B').",
    "x && y": "write and.",
    "x || y": "write or.",
    "!x": "write not",
    "`x` = 1": "put unusual names in double quotes",
    "[x] = 1": "put unusual names in double quotes",
    "x = $1": "compare columns with values, and nothing else",
    "x = ?": "compare columns with values, and nothing else",
    "x = 'a\0'": "characters that are not text",
    "x = '\udcff'": "characters that are not text",
    "x = 5 union select 1": "'union', character 7, does not belong here.",
    "x = (select max(x) from t)": "is not a value.",
    "exists (select 1)": "is not a comparison.",
    "x = 5::int": "':', character 6, on.",
}


@pytest.mark.parametrize("written", WRONG)
def test_what_is_not_read_is_pointed_at(written):
    with pytest.raises(ConditionError) as caught:
        parsed(written)
    assert WRONG[written] in str(caught.value)
    assert re.search(r"\.\nHint: .+\.$", str(caught.value), re.DOTALL)


@pytest.mark.parametrize("wrong", [5, b"x = 1", ["x = 1"], True, object()])
def test_only_text_is_a_condition(wrong):
    with pytest.raises(ConditionError, match="is not a condition"):
        parsed(wrong)


def test_limits_are_kept_and_said():
    assert len(parsed(f"x in ({', '.join(map(str, range(MOST_COMPARISONS)))})").root.literals) == MOST_COMPARISONS
    with pytest.raises(ConditionError, match=f"more than {MOST_COMPARISONS:,} values"):
        parsed(f"x in ({', '.join(map(str, range(MOST_COMPARISONS + 1)))})")
    for deep in ("(" * MOST_NESTING + "x = 1" + ")" * MOST_NESTING, "not " * MOST_NESTING + "x = 1", "(" * 90_000):
        with pytest.raises(ConditionError, match=f"more than {MOST_NESTING} deep"):
            parsed(deep)
    assert parsed("(" * (MOST_NESTING - 1) + "x = 1" + ")" * (MOST_NESTING - 1)).columns == ("x",)
    with pytest.raises(ConditionError, match=f"more than {MOST_CONDITION:,} characters"):
        parsed("x = '" + "a" * MOST_CONDITION + "'")


@given(st.text(alphabet="x1'\"()=<>!,. andornotinis-+e;", max_size=40))
def test_any_text_is_read_or_refused(written):
    try:
        found = parsed(written)
    except ConditionError:
        return
    assert parsed(str(found)).columns == found.columns


def test_reading_a_condition_loads_no_engine():
    """A plan and a spec check conditions, and need nothing that counts."""
    code = (
        "import sys; from dawa.sources.where_text import parsed; parsed('x = 1');"
        " sys.exit('ibis' in sys.modules or 'duckdb' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603  our own code
