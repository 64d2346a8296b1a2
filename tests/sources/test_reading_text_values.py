"""Text files: numbers, dates, categories and units, each value read by itself."""

import csv
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from dawa import Axis, sources
from dawa.sources.dialect import Dialect
from helpers.binning import found, inside
from helpers.reading import X, by_row, check_neighbours, outcome


def cells(folder, values, axis, **dialect):
    """The cell of every value, from one file in which each has a row of its own."""
    path = folder / "x.csv"
    mark = dialect.get("delimiter", ",")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=mark)
        writer.writerows([("x", "row"), *((value, row) for row, value in enumerate(values))])
    return by_row(sources.csv(path, **dialect), axis, len(values))


# --- numbers --------------------------------------------------------------------------------------------------------


def as_float(text):
    """What a number in text is, without the ways to write one that are Python's alone."""
    try:
        return float(text) if text.isascii() else None
    except ValueError:
        return None


NUMBERS = [
    "0.1",
    " 12 ",
    "1e5",
    "inf",
    "-inf",
    "nan",
    "NaN",
    "0x10",
    "5",
    "5.",
    ".5",
    "-0",
    "-0.0",
    "5e-324",
    "1e-400",
    "1e400",
    "-1e400",
    "0.30000000000000004",
    "0.29999999999999999",
    "9.999999999999999",
    "9.9999999999999999",
    "--5",
    "5f",
    "",
    "NA",
    "1e",
    "٣",
    "5\0",
    "1" * 400,
    "1,5",
    "late",
    "\t7\n",
    "3 4",
    "+5",
    "1e99999999999999999999",
    "-5",
    "10",
    "infinity",
]


@pytest.mark.parametrize(
    "axis", [X, Axis("x", 0, 1, "0.1"), Axis("x", 0, 10, outside="drop"), Axis.edges("x", [0, "0.3", 5])]
)
def test_numbers_are_read_as_floats(tmp_path, axis):
    assert cells(tmp_path, NUMBERS, axis) == [inside(axis, as_float(text)) for text in NUMBERS]


def test_what_only_some_read_as_a_number_is_read_alike_in_any_company(tmp_path):
    odd = ["1_000", "0x10", "1e5_0", "0b1", "5 ", "TRUE", "½", "1'000", "$5", "5%", "(5)", "1e+05", "5E0"]
    together = cells(tmp_path, odd + NUMBERS, X)[: len(odd)]
    assert together == [cells(tmp_path, [text], X)[0] for text in odd]


def test_a_decimal_comma(tmp_path):
    values = ["1,5", "1.5", "1.000", "2", "0,1", "1.000,5", "1,0e0", ",5", "5,", "1,2,3", "NA", "inf"]
    expected = [1, None, None, 2, 0, None, 1, 0, 5, None, None, 9]
    assert cells(tmp_path, values, X, decimal=",", delimiter=";") == expected
    assert cells(tmp_path, ["1,0", "1", "1.0", "1.000"], Axis.ordered("x", [1, 1000]), decimal=",", delimiter=";") == [
        0,
        0,
        None,
        None,
    ]


@pytest.mark.parametrize("outside", ["clip", "drop"])
def test_numbers_beyond_the_precision_of_floats_are_read_exactly(tmp_path, outside):
    for axis in (
        Axis("x", 2**64 - 3, 2**64, 1, outside),
        Axis("x", 2**53 - 2, 2**53 + 6, 1, outside),
        Axis("x", 1_700_000_000_000_000_000, 1_700_000_000_000_000_500, 5, outside),
    ):
        near = [int(axis.start) + shift for shift in range(-2, 12)]
        values = [str(value) for value in near] + [
            f"{value}.{digit}" for value in near for digit in ("4999", "5", "999999")
        ]
        values += ["0", "-1", "5", "1e5", "1e18"]
        assert cells(tmp_path, values, axis) == [inside(axis, Decimal(text)) for text in values]
        far = ["1e40", "-1e40", "inf", "-inf", "1e400", "nan", "late", "9" * 60]
        ends = [axis.size - 1, 0, axis.size - 1, 0, axis.size - 1, None, None, axis.size - 1]
        assert cells(tmp_path, far, axis) == ([None] * 8 if outside == "drop" else ends)


def test_words_for_missing_values_are_missing_on_every_axis(tmp_path):
    """As the statement of a release says."""
    assert cells(tmp_path, ["5", "999", "-1", "99"], X, missing=["999", "-1"]) == [5, None, None, 9]
    days = Axis.dates("x", "2013-01-01", "2014-01-01", "1 month")
    assert cells(tmp_path, ["2013-02-01", "1900-01-01"], days, missing=["1900-01-01"]) == [1, None]


# --- dates ----------------------------------------------------------------------------------------------------------

HOURS = Axis.dates("x", "2013-01-01", "2014-01-01", "1 hour", None, "drop")
BERLIN = Axis.dates("x", "2013-01-01", "2014-01-01", "1 hour", "Europe/Berlin", "drop")


def test_dates_as_in_iso_8601(tmp_path):
    values = {
        "2013-01-02": 24,
        "2013-01-02 05:00": 29,
        "2013-01-02T05:00:00": 29,
        "2013-01-02T05:59:59.999999": 29,
        "2013-01-02T05:59:59.999999999": 29,
        "2013-01-02T05:00:00Z": 29,
        "2013-01-02 05:00:00+02": 29,
        "2013-01-02 05:00:00.5-05:30": 29,
        " 2013-01-02 ": 24,
        "2012-12-31 23:59:59.999999": None,
        "2014-01-01": None,
        "0001-01-01": None,
        "9999-12-31": None,
        "02.01.2013": None,
        "2013/01/02": None,
        "01/02/2013": None,
        "20130102": None,
        "2013-1-2": None,
        "2013-02-30": None,
        "2013-13-01": None,
        "infinity": None,
        "-infinity": None,
        "epoch": None,
        "NaT": None,
        "": None,
        "now": None,
        "today": None,
        "2013-01-02x": None,
        "1357102800": None,
        "2013-01-02 (BC)": None,
        "2013": None,
        "2013-01": None,
    }
    assert dict(zip(values, cells(tmp_path, list(values), HOURS), strict=True)) == values


def test_dates_far_outside_are_clipped(tmp_path):
    clip = Axis.dates("x", "2013-01-01", "2014-01-01", "1 day")
    assert cells(
        tmp_path, ["0001-01-01", "9999-12-31 23:59:59.999999", "0000-01-01", "9999-12-31 (BC)", "x"], clip
    ) == [
        0,
        364,
        0,
        None,
        None,
    ]


def test_local_times_and_offsets_on_an_axis_with_a_zone(tmp_path):
    zone, start = ZoneInfo("Europe/Berlin"), datetime(2013, 1, 1)  # noqa: DTZ001  as clocks show it
    local = [start + timedelta(minutes=step) for step in range(0, 365 * 24 * 60, 331)]
    local = [time for time in local if _unambiguous(time, zone)]
    texts = [time.isoformat(sep=" ") for time in local]
    expected = [inside(BERLIN, time.replace(tzinfo=zone).astimezone(UTC)) for time in local]
    assert cells(tmp_path, texts, BERLIN) == expected
    offsets = ["Z", "+00", "+01:00", "-05:30", "+14:00", "-12", "+0530", "+05:53:28"]
    moments = [(time, offset) for time in local[::40] for offset in offsets]
    texts = [time.isoformat(sep="T", timespec="seconds") + offset for time, offset in moments]
    expected = [inside(BERLIN, datetime.fromisoformat(text).astimezone(UTC)) for text in texts]
    assert cells(tmp_path, texts, BERLIN) == expected


def _unambiguous(time, zone):
    """Clocks show it once: not never, and not twice."""
    first, second = (time.replace(tzinfo=zone, fold=fold).utcoffset() for fold in (0, 1))
    return first == second


def test_local_times_that_clocks_skip_or_show_twice_are_read_as_one_of_two(tmp_path):
    zone = ZoneInfo("Europe/Berlin")
    for text in ("2013-03-31 02:30:00", "2013-10-27 02:30:00"):
        time = datetime.fromisoformat(text)
        either = {inside(BERLIN, time.replace(tzinfo=zone, fold=fold).astimezone(UTC)) for fold in (0, 1)}
        assert set(cells(tmp_path, [text], BERLIN)) <= either


def test_a_declared_format_of_dates(tmp_path):
    values = {
        "02.01.2013 05:00": 29,
        "2013-01-02 05:00": None,
        "31.02.2013 00:00": None,
        "": None,
        "infinity": None,
        "02.01.2013": None,
        "2.1.2013 5:00": 29,
        "31.12.9999 00:00": None,
    }
    found = cells(tmp_path, list(values), HOURS, date_format="%d.%m.%Y %H:%M")
    assert dict(zip(values, found, strict=True)) == values
    assert cells(tmp_path, list(values), BERLIN, date_format="%d.%m.%Y %H:%M") == list(values.values())
    zoned = ["02.01.2013 05:00 +0200", "02.01.2013 05:00 +0000", "02.01.2013 05:00"]
    assert cells(tmp_path, zoned, BERLIN, date_format="%d.%m.%Y %H:%M %z") == [28, 30, None]


@pytest.mark.long_but(5)
@pytest.mark.parametrize(
    ("form", "good", "odd"),
    [
        (
            "%Y-%m-%d %Z",
            "2013-01-02 UTC",
            ["2013-01-02 Canary/Town", "2013-01-02 ", "9999-12-31 UTC", "0001-01-01 Asia/Tokyo"],
        ),
        (
            "%Y-%m-%d %H:%M:%S.%n",
            "2013-01-02 05:00:00.1",
            ["9999-12-31 00:00:00.1", "1677-09-21 00:12:43.145224192", "0001-01-01 00:00:00.0"],
        ),
        (
            "%Y-%m-%d",
            "2013-01-02",
            ["-290000-01-01", "294247-01-10", "5877642-01-01", "9999-12-31", "0000-01-01", "infinity", "epoch"],
        ),
        ("%Y-%m-%d %z", "2013-01-02 +02", ["2013-01-02 +99:99", "9999-12-31 -23", "0001-01-01 +23", "2013-01-02 +"]),
        ("%Y-%j", "2013-002", ["2013-999", "0000-000"]),
        ("%G-%V-%u", "2013-01-1", ["2013-99-9"]),
        ("%p %I %d.%m.%y", "AM 5 02.01.13", ["XM 5 02.01.13", "AM 13 02.01.13"]),
        ("%d%%%m%%%Y", "02%01%2013", ["02%01", "%%%"]),
    ],
)
@pytest.mark.parametrize("zone", [None, "Europe/Berlin", "America/St_Johns"])
def test_no_date_in_any_format_stops_the_run(tmp_path, form, good, odd, zone):
    axis = Axis.dates("x", "2013-01-01", "2014-01-01", "1 hour", zone)
    path = tmp_path / "x.csv"
    path.write_text(f"x\n{good}\n" * 2, encoding="utf-8")
    fewer = outcome(sources.csv(path, date_format=form), axis)
    assert fewer[0] != "reading", "a format that does not fit is refused before rows are read"
    for text in odd:
        path.write_text(f"x\n{good}\n{text}\nx\n{good}\n", encoding="utf-8")
        check_neighbours(outcome(sources.csv(path, date_format=form), axis), fewer)


# --- categories and units -------------------------------------------------------------------------------------------


def test_categories(tmp_path):
    words = ["None", "NA", "", "A", "a", " A", "nan"]
    assert cells(tmp_path, words, Axis.ordered("x", ["None", "NA", "", "A"])) == [0, 1, 2, 3, None, None, None]
    numbers = ["1", "01", "1.0", " 1 ", "1e0", "2", "1.5", "NA", "1" * 40, "", "one"]
    assert cells(tmp_path, numbers, Axis.ordered("x", [1, 2])) == [0, 0, 0, 0, 0, 1, None, None, None, None, None]
    large = ["9007199254740993", "9007199254740992", "9007199254740993.0", "9007199254740993.4", "1e40", "1e400", "-1"]
    assert cells(tmp_path, large, Axis.ordered("x", [2**53, 2**53 + 1])) == [1, 0, 1, None, None, None, None]
    truth = ["true", "TRUE", "t", "yes", "1", " True ", "false", "F", "no", "0", "", "NA", "2", "truth"]
    assert cells(tmp_path, truth, Axis.ordered("x", [False, True])) == [1] * 6 + [0] * 4 + [None] * 4


def test_units_are_told_apart_as_they_are_written(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("who,x\n7,1\n07,1\n 7,1\n7.0,1\n7,1\n", encoding="utf-8")
    assert found(path, X, unit="who") == {1: 4}
    path.write_text("who,x\n" + "".join(f"{word},1\n" for word in (*Dialect().missing, "?")), encoding="utf-8")
    assert found(path, X, unit="who") == {1: 1}, "words for missing values name nobody"
    assert found(sources.csv(path, missing=["?"]), X, unit="who") == {1: len(Dialect().missing)}
    path.write_bytes(b"who,x\n\xff,1\n\xfe,1\nok,1\n")
    assert found(path, X, unit="who") == {1: 1}, "what is not text names nobody"
