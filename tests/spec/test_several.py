"""Several releases in one spec: names, shares and what they have in common."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa.errors import SpecError
from dawa.limits import MOST_RELEASES_TOGETHER
from dawa.spec import several, toml
from dawa.spec.model import Spec

HEAD = """
out = "both"
[source]
file = "people.csv"
where = "x > 0"
delimiter = ";"
[about]
title = "People"
publisher = "The office"
[privacy]
epsilon = 1
unit = "who"
max_rows_per_unit = 3
dataset = "hr"
"""
AGES = """
[[release]]
name = "ages"
[[release.axes]]
column = "age"
start = 0
stop = 120
"""
GRADES = """
[[release]]
name = "grades"
where = "y = 'A' or y = 'B'"
mechanism = "identity"
max_rows_per_unit = 1
[release.options]
[release.about]
title = "Grades"
[[release.axes]]
column = "g"
values = ["A", "B"]
[[release.axes]]
column = "h"
values = ["C", "D"]
"""


def read(text):
    return toml.parsed(text, Path("here/spec.toml"))


def shared(share):
    return AGES.replace('name = "ages"', f'name = "ages"\nshare = {share}')


def test_each_is_a_spec_of_its_own():
    found = read(HEAD + AGES + GRADES)
    assert isinstance(found, several.Several)
    assert list(found.specs) == ["ages", "grades"]
    assert (found.epsilon, found.out) == (1, str(Path("here/both")))
    ages, grades = found.specs.values()
    assert ages == found.common
    for spec in (ages, grades):
        assert isinstance(spec, Spec)
        assert (spec.epsilon, spec.unit, spec.dataset, spec.out) == (Fraction(1, 2), ("who",), "hr", None)
        assert spec.source == str(Path("here/people.csv"))
        assert spec.dialect.delimiter == ";"
        assert spec.about.publisher == "The office"
    assert (ages.about.title, grades.about.title) == ("People", "Grades")
    assert (ages.where, grades.where) == ("x > 0", "(x > 0) and (y = 'A' or y = 'B')")
    assert (ages.max_rows_per_unit, grades.max_rows_per_unit) == (3, 1)
    assert (ages.mechanism, grades.mechanism) == ("dawa", "identity")
    assert [len(spec.axes) for spec in (ages, grades)] == [1, 2]


def test_a_part_means_what_it_would_mean_alone():
    ages = read(HEAD + AGES).specs["ages"]
    alone = HEAD.replace('out = "both"', "") + AGES.replace("[[release]]\nname = ", "#").replace("release.axes", "axes")
    assert read(alone) == ages


def test_shares_are_exact():
    found = read(HEAD + shared('"1/3"') + GRADES)
    assert [spec.epsilon for spec in found.specs.values()] == [Fraction(1, 3), Fraction(2, 3)]
    found = read(HEAD.replace("epsilon = 1", "epsilon = 0.3") + shared(0.1) + GRADES)
    assert [spec.epsilon for spec in found.specs.values()] == [Fraction(3, 100), Fraction(27, 100)]


@given(st.lists(st.one_of(st.none(), st.fractions(Fraction(1, 1000), 1)), min_size=1, max_size=8), st.integers(1, 9))
def test_parts_add_up_to_the_whole_or_are_refused(shares, total):
    said = sum(share for share in shares if share is not None)
    if (None in shares and said < 1) or (said == 1 and None not in shares):
        parts = several._parts(shares, Fraction(total))
        assert sum(parts) == total
        assert all(part > 0 for part in parts)
        assert all(part == share * total for part, share in zip(parts, shares, strict=True) if share is not None)
    else:
        with pytest.raises(SpecError, match="The shares of epsilon add up to"):
            several._parts(shares, Fraction(total))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (HEAD + AGES + AGES, "Two releases are called"),
        (HEAD + AGES + AGES.replace('"ages"', '"AGES"'), "Two releases are called"),
        (HEAD + AGES.replace('name = "ages"\n', ""), "A release has no name"),
        (HEAD + AGES.replace('"ages"', '"../ages"'), "cannot be that of a folder"),
        (HEAD + AGES.replace('"ages"', '"."'), "cannot be that of a folder"),
        (HEAD + AGES.replace('"ages"', '"a "'), "cannot be that of a folder"),
        (HEAD + AGES.replace('"ages"', '""'), "cannot be that of a folder"),
        (HEAD + AGES.replace('"ages"', '"README.md"'), "cannot be called"),
        (HEAD + AGES.replace('"ages"', '"Index.HTML"'), "cannot be called"),
        (HEAD + AGES.replace('"ages"', '"con"'), "cannot be called"),
        (HEAD + AGES.replace('"ages"', '"COM1.txt"'), "cannot be called"),
        (
            HEAD.replace("x > 0", "x > 100) or (x > 0") + GRADES.replace("max_rows_per_unit = 1\n", ""),
            "does not belong here",
        ),
        (HEAD + shared(0.9), "add up to 0.9, not to 1, so 0.1 would be left"),
        (HEAD + shared(1) + GRADES, "leave nothing for the others"),
        (HEAD + shared("1.5"), "a share of 1.5, more than all"),
        (HEAD + shared(0), "share"),
        (HEAD + shared('"x"'), "share"),
        (HEAD + shared("true"), "share"),
        (HEAD.replace("epsilon = 1\n", "") + AGES, "have no budget"),
        (HEAD.replace("epsilon = 1\n", "epsilon = 0\n") + AGES, "epsilon"),
        (HEAD.replace('out = "both"', "out = 3") + AGES, "out is not text"),
        (HEAD.replace('out = "both"', "seed = 3") + AGES, "unknown key 'seed'"),
        (HEAD + AGES + "[[axes]]\ncolumn = 'x'\n", "unknown key 'axes'"),
        (
            HEAD + AGES.replace('name = "ages"', 'name = "ages"\nunit = "who"'),
            r"\[\[release\]\] has an unknown key 'unit'",
        ),
        (HEAD + AGES.replace('name = "ages"', 'name = "ages"\nout = "x"'), r"unknown key 'out'"),
        (HEAD + AGES.replace("stop = 120", ""), r"The release 'ages': The axis 'age' has no bounds"),
        (HEAD + '[[release]]\nname = "ages"\n', r"The release 'ages': A release has one to 4 axes, not 0"),
        (HEAD + AGES + GRADES.replace("y = 'A'", "y = "), "In the condition"),
        (HEAD.replace("[about]\n", "[about]\nx = 1\n") + AGES, "unknown key 'x'"),
        (HEAD + AGES + GRADES.replace("max_rows_per_unit = 1\n", "max_rows_per_unit = []\n"), "max_rows_per_unit"),
        (HEAD.replace("max_rows_per_unit = 3", "max_rows_per_unit = 3") + GRADES, "Every release says its own"),
        ("release = []\n[privacy]\nepsilon = 1\n[source]\nfile = 'x'\n", "is not a list of at most"),
        ("release = [3]\n[privacy]\nepsilon = 1\n[source]\nfile = 'x'\n", "is not a list of at most"),
    ],
)
def test_what_cannot_be_paid_together_is_refused(text, problem):
    with pytest.raises(SpecError, match=problem) as caught:
        read(text)
    assert caught.value.problem.startswith(str(Path("here/spec.toml")))


def test_there_are_not_too_many():
    many = "".join(AGES.replace("ages", f"ages{i}") for i in range(MOST_RELEASES_TOGETHER))
    assert len(read(HEAD + many).specs) == MOST_RELEASES_TOGETHER
    with pytest.raises(SpecError, match="is not a list of at most"):
        read(HEAD + many + AGES)


def test_an_address_holds_no_password():
    text = HEAD.replace('file = "people.csv"', 'url = "postgresql://me:secret@server/hr"\ntable = "x"').replace(
        'delimiter = ";"\n', ""
    )
    with pytest.raises(SpecError, match="password") as caught:
        read(text + AGES)
    assert "secret" not in str(caught.value)


def test_what_the_documentation_shows_is_read():
    page = Path(__file__).parents[2] / "docs/command-line.md"
    blocks = [part.partition("\n```")[0] for part in page.read_text(encoding="utf-8").split("```toml\n")[1:]]
    (shown,) = (block for block in blocks if "[[release]]" in block)
    found = toml.parsed(shown)
    assert {name: spec.epsilon for name, spec in found.specs.items()} == {
        "delays": Fraction(1, 2),
        "distances": Fraction(1, 2),
    }
