"""However a range is written, it means the same as its two ends, and what is ambiguous is refused."""

import shlex
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import dawa
from dawa.errors import AxisError, DawaError, OptionError, WorkloadError
from dawa.limits import MOST_CUTS_TRIED
from dawa.spec import notation, ranges

AGE = dawa.Axis("age", 0, 120)
THIRDS = dawa.Axis("x", "-1/3", 7, step="1/3")
HUNDREDS = dawa.Axis("income", 0, 1000, step=100)
EDGES = dawa.Axis.edges("income", [0, 10_000, "50000.5"])
GRADE = dawa.Axis.ordered("grade", ["A", "B", "C"])
DAYS = dawa.Axis.dates("when", "2013-01-01", "2014-01-01")
HOURS = dawa.Axis.dates("when", "2013-01-01", "2013-03-01", step="1 hour")
MONTHS = dawa.Axis.dates("when", "2013-01-01", "2015-01-01", step="1 month")
WEEKS = dawa.Axis.dates("when", "2013-01-01", "2013-12-31", step="1 week")
BERLIN = dawa.Axis.dates("when", "2013-01-01", "2014-01-01", step="1 hour", zone="Europe/Berlin")
HAVANA = dawa.Axis.dates("when", "2013-11-02", "2013-11-03T00:00:00-05:00", step="1 hour", zone="America/Havana")

KINDS = {
    "whole numbers": AGE,
    "below zero": dawa.Axis("x", -10, 5),
    "thirds": THIRDS,
    "hundreds": HUNDREDS,
    "edges": EDGES,
    "grades": GRADE,
    "numbers in order": dawa.Axis.ordered("level", [3, 1, 2]),
    "flags": dawa.Axis.ordered("flag", [False, True]),
    "separators": dawa.Axis.ordered("odd", ["a:b", "a", "b", "*", "c..d", "", " a", "1,2", ":", ".."]),
    "days": DAYS,
    "hours": HOURS,
    "months": MONTHS,
    "weeks": WEEKS,
    "a zone": BERLIN,
    "midnight twice": HAVANA,
}
AXES = st.sampled_from(list(KINDS.values()))
ODD = st.text(alphabet="ab:., *", max_size=4)
ANY_ORDER = st.lists(ODD, min_size=1, max_size=6, unique=True).map(lambda labels: dawa.Axis.ordered("odd", labels))


def span(text, axis):
    return axis.span(*notation.ends(text, axis))


def cells(axis, data):
    lo = data.draw(st.integers(0, axis.size - 1))
    return lo, data.draw(st.integers(lo + 1, axis.size))


@given(AXES | ANY_ORDER, st.data())
def test_what_is_written_reads_as_the_same_cells(axis, data):
    lo, hi = cells(axis, data)
    assert axis.span(*notation.texts(axis, lo, hi)) == (lo, hi)
    assert axis.span(*notation.filled(*notation.texts(axis, lo, hi), axis)) == (lo, hi), "in two columns of a file"


@given(AXES | ANY_ORDER)
def test_the_whole_axis(axis):
    bare = {str(label).strip() for label in getattr(axis, "labels", ())}
    if "*" not in bare:
        assert span("*", axis) == span(" * ", axis) == (0, axis.size)
    if "" not in bare:
        assert axis.span(*notation.filled("", " ", axis)) == (0, axis.size)


@given(AXES.filter(lambda axis: axis is not KINDS["separators"]), st.data())
def test_an_open_end_is_that_of_the_axis(axis, data):
    lo, hi = cells(axis, data)
    low, high = notation.texts(axis, lo, hi)
    assert span(f"{low}..", axis) == (lo, axis.size)
    assert span(f"..{high}", axis) == (0, hi)
    assert axis.span(*notation.filled(low, "", axis)) == (lo, axis.size)
    assert axis.span(*notation.filled("", high, axis)) == (0, hi)
    if ":" not in low + high:
        assert span(f"{low}:", axis) == (lo, axis.size)
        assert span(f" : {high} ", axis) == (0, hi)


@given(st.sampled_from([AGE, KINDS["below zero"], GRADE, KINDS["numbers in order"], KINDS["flags"], DAYS]), st.data())
def test_one_value_is_its_cell(axis, data):
    cell = data.draw(st.integers(0, axis.size - 1))
    text = notation.texts(axis, cell, cell + 1)[0]
    assert span(text, axis) == span(f" {text} ", axis) == (cell, cell + 1)


@given(ANY_ORDER, st.data())
def test_a_category_wins_over_everything_else(axis, data):
    label = data.draw(st.sampled_from(axis.labels))
    place = axis.labels.index(label)
    assert span(label, axis) == (place, place + 1)
    assert axis.span(*notation.filled(label, label, axis)) == (place, place + 1)


@given(ANY_ORDER, st.text(alphabet="ab:., *", max_size=9))
@example(dawa.Axis.ordered("odd", ["a", "b:c", "a:b", "c"]), "a:b:c")
def test_whatever_is_typed_is_one_range_of_categories_or_refused(axis, text):
    found, alone = read(text, axis), named(text, axis)
    rising = {way for way in ways(text, axis) if axis.labels.index(way[0]) <= axis.labels.index(way[1])}
    if alone is not None:
        assert found == (alone, alone)
    elif text.strip() == "*":
        assert found == (axis.start, axis.stop)
    elif rising:
        assert found == (rising.pop() if len(rising) == 1 else None)
    elif found is not None:
        with pytest.raises(DawaError):
            axis.span(*found)


def read(text, axis):
    """The ends, or None if there are none."""
    try:
        return notation.ends(text, axis)
    except DawaError:
        return None


def named(text, axis):
    """The category that a text names."""
    return next((one for one in (text, text.strip()) if one in axis.labels), None)


def ways(text, axis):
    """A slow twin: every way to cut a text into two categories, of which one may be left out."""
    cuts = [(at, at + len(mark)) for mark in (":", "..") for at in range(len(text)) if text.startswith(mark, at)]
    for begin, end in cuts:
        lo, hi = text[:begin], text[end:]
        low, high = named(lo, axis), named(hi, axis)
        if (low, high) != (None, None) and all(
            one is not None or not said.strip() for one, said in ((low, lo), (high, hi))
        ):
            yield (axis.start if low is None else low, axis.stop if high is None else high)


@given(AXES | ANY_ORDER)
def test_an_example_is_the_middle_of_the_axis(axis):
    typed = ranges.example([axis])
    quarter = axis.size // 4
    if typed == "--queries ranges.csv":
        assert axis.kind == "ordered"
    else:
        assert read_by_a_shell(typed, [axis]) == [(quarter, max(3 * axis.size // 4, quarter + 1))]


@given(st.lists(AXES, min_size=2, max_size=4))
def test_an_example_over_several_axes(axes):
    typed = ranges.example(axes)
    if typed != "--queries ranges.csv":
        meant = [(axis.size // 4, max(3 * axis.size // 4, axis.size // 4 + 1)) for axis in axes]
        assert read_by_a_shell(typed, axes) == meant
    else:
        assert KINDS["separators"] in axes


def read_by_a_shell(typed, axes):
    (word,) = shlex.split(typed)
    return ranges.spans(ranges.typed(word, axes), axes)


@pytest.mark.parametrize(
    ("text", "axis", "ends"),
    [
        ("27", AGE, ("27", "28")),
        (" 2.7e1 ", AGE, ("27", "28")),
        ("60:", AGE, ("60", "120")),
        ("60..", AGE, ("60", "120")),
        (":15", AGE, ("0", "15")),
        ("..15.5", AGE, ("0", "15.5")),
        ("*", AGE, ("0", "120")),
        (".5..", AGE, (".5", "120")),
        (".5:.75", AGE, (".5", ".75")),
        ("1/3..", THIRDS, ("1/3", "7")),
        ("-3", KINDS["below zero"], ("-3", "-2")),
        ("B", GRADE, ("B", "B")),
        ("B:", GRADE, ("B", "C")),
        ("true", KINDS["flags"], ("True", "True")),
        ("1:", KINDS["numbers in order"], ("1", "2")),
        ("2013-01-05", DAYS, ("2013-01-05", "2013-01-06")),
        ("2013-12-31", DAYS, ("2013-12-31", "2014-01-01")),
        ("2013-02", DAYS, ("2013-02-01", "2013-03-01")),
        ("2013-12", DAYS, ("2013-12-01", "2014-01-01")),
        ("2013", DAYS, ("2013-01-01", "2014-01-01")),
        ("2013-12", MONTHS, ("2013-12-01", "2014-01-01")),
        ("2014", MONTHS, ("2014-01-01", "2015-01-01")),
        ("2013-01-05", HOURS, ("2013-01-05", "2013-01-06")),
        ("2013-01-05 08", HOURS, ("2013-01-05 08:00:00", "2013-01-05 09:00:00")),
        ("2013-01-05T23", HOURS, ("2013-01-05 23:00:00", "2013-01-06 00:00:00")),
        ("2013-01-05:", HOURS, ("2013-01-05", "2013-03-01")),
        ("2013-01-05 08:00..", HOURS, ("2013-01-05 08:00", "2013-03-01")),
        ("..2013-01-05 08:00", HOURS, ("2013-01-01", "2013-01-05 08:00")),
        (":2013-01-05", HOURS, ("2013-01-01", "2013-01-05")),
        ("a:b", KINDS["separators"], ("a:b", "a:b")),
        ("a..b", KINDS["separators"], ("a", "b")),
        ("*", KINDS["separators"], ("*", "*")),
        ("c..d", KINDS["separators"], ("c..d", "c..d")),
        ("b..c..d", KINDS["separators"], ("b", "c..d")),
        ("", KINDS["separators"], ("", "")),
        (" a", KINDS["separators"], (" a", " a")),
        ("a ..", dawa.Axis.ordered("x", ["", "a", "b"]), ("a", "")),
    ],
)
def test_what_is_typed(text, axis, ends):
    assert notation.ends(text, axis) == ends


def test_days_of_a_zone_have_23_to_25_hours():
    for day, hours in (("2013-03-30", 24), ("2013-03-31", 23), ("2013-10-27", 25)):
        lo, hi = span(day, BERLIN)
        assert hi - lo == hours
    lo, hi = span("2013-10-27 02", BERLIN)
    assert hi - lo == 2, "clocks show it twice"
    with pytest.raises(OptionError, match="empty"):
        span("2013-03-31 02", BERLIN)


@pytest.mark.parametrize(
    ("text", "axis", "kind", "problem", "hint"),
    [
        ("27.5", AGE, WorkloadError, "'27.5' is one value, and not a whole number", "27..28"),
        ("120", AGE, AxisError, "'120' lies outside the axis 'age', which ends before 120", "between 0 and 120"),
        ("-1", AGE, AxisError, "'-1' lies outside the axis 'age'", "between 0 and 120"),
        ("1e999", AGE, AxisError, "has more than 300 digits", "30..90"),
        ("150", HUNDREDS, WorkloadError, "'150' is one value, and a cell of the axis 'income' holds more", "100..200"),
        ("0.5", THIRDS, WorkloadError, "holds more than one", "1/3..2/3"),
        ("20000", EDGES, WorkloadError, "holds more than one", "10000..50000.5"),
        ("", AGE, WorkloadError, "'' is not a range", "30..90; one may be left out, and * is the whole axis"),
        (":", AGE, WorkloadError, "':' is not a range", "* is the whole axis"),
        ("..", AGE, WorkloadError, "'..' is not a range", "* is the whole axis"),
        ("1..2..3", AGE, WorkloadError, "is not a range", "30..90"),
        ("1...2", AGE, WorkloadError, "is not a range", "30..90"),
        ("5 to 6", AGE, WorkloadError, "'5 to 6' is not a range", "30..90"),
        ("--jsn", AGE, WorkloadError, "'--jsn' is not a range", "30..90"),
        ("D", GRADE, AxisError, "'D' is not a value of the axis 'grade'", "A, B, C"),
        (":", GRADE, WorkloadError, "':' is not a range", "A..B"),
        ("2013-01-05", WEEKS, WorkloadError, "one day, but the cells .* of 1 week, are wider than a day", "2013-01-01"),
        ("2013-02", WEEKS, WorkloadError, "one month, .* of 1 week, do not begin and end with it", "01-29..2013-03-05"),
        ("2013-01-05 08:30", HOURS, WorkloadError, "one minute, but .* wider than a minute", "08:00:00..2013-01-05 09"),
        ("2013-01-05 08", DAYS, WorkloadError, "one hour, but .* of 1 day, are wider than an hour", "2013-01-05..2013"),
        ("2013-02-30", DAYS, AxisError, "'2013-02-30' is not a day of the calendar", "2013-04-02..2013-10-01"),
        ("2013-13", DAYS, AxisError, "'2013-13' is not a month of the calendar", ".."),
        ("9999", DAYS, AxisError, "'9999' is not a year of the calendar", ".."),
        ("2015-01-01", DAYS, AxisError, "2015-01-01 lies outside", "between 2013-01-01"),
        ("2013-01-01 08:00:2013-01-02", HOURS, WorkloadError, "several colons", "two dots"),
        ("2013-01-01 08:00:", HOURS, WorkloadError, "several colons", "two dots"),
        ("a:b:c", dawa.Axis.ordered("x", ["a", "b:c", "a:b", "c"]), WorkloadError, "several ways: from 'a' to", "CSV"),
        (":" * (MOST_CUTS_TRIED + 1), GRADE, WorkloadError, "more than 24 places", "CSV file"),
    ],
)
def test_what_is_no_range_says_why_and_what_is(text, axis, kind, problem, hint):
    with pytest.raises(kind, match=problem) as caught:
        notation.ends(text, axis)
    assert hint in caught.value.hint


@given(AXES | ANY_ORDER, st.text(alphabet="0123456789-:.* TAbe/,", max_size=24))
def test_whatever_is_typed_is_read_or_refused(axis, text):
    try:
        start, stop = span(text, axis)
    except DawaError:  # and nothing else
        return
    assert Fraction(0) <= start < stop <= axis.size


# Both ends, as the bounds of an axis are written.


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("0:120", ("0", "120")),
        ("-60:-1.5", ("-60", "-1.5")),
        ("0..120", ("0", "120")),
        ("0.5..1.5", ("0.5", "1.5")),
        (" 1 : 2 ", ("1", "2")),
        ("2013-01-01:2014-01-01", ("2013-01-01", "2014-01-01")),
        ("2013-01-01 08:00..2013-01-02 09:30", ("2013-01-01 08:00", "2013-01-02 09:30")),
        ("very low:high", ("very low", "high")),
    ],
)
def test_two_ends(text, ends):
    assert notation.split(text) == ends


@pytest.mark.parametrize("text", ["", "5", ":", "5:", ":5", "..", "1..2..3", "1...2", "5 to 6", "*"])
def test_what_has_not_two_ends(text):
    with pytest.raises(WorkloadError, match="is not a range"):
        notation.split(text)


def test_times_need_two_dots():
    with pytest.raises(WorkloadError, match="two dots"):
        notation.split("2013-01-01 08:00:2013-01-02 09:00")
