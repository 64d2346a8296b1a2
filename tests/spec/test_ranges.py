"""Ranges as people write them, on a command line and in files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dawa
from dawa.axis import written
from dawa.errors import AxisError, OptionError, WorkloadError
from dawa.spec import ranges

AGE = dawa.Axis("age", 0, 120)
DAY = dawa.Axis.dates("when", "2013-01-01", "2014-01-01", step="1 hour")
GRADE = dawa.Axis.ordered("grade", ["A", "B", "C"])
PLACE = (dawa.Axis("lon", -74, -73, step="0.01"), dawa.Axis("lat", 40, 41, step="0.01"))

AXES = st.sampled_from(
    [
        AGE,
        DAY,
        GRADE,
        *PLACE,
        dawa.Axis("x", -0.3, 0.9, step="0.1"),
        dawa.Axis.edges("income", [0, 10_000, 50_000.5]),
        dawa.Axis.ordered("level", [1, 2, 3]),
        dawa.Axis.dates("when", "2013-03-30", "2013-04-02", step="1 hour", zone="Europe/Berlin"),
        dawa.Axis.dates("when", "1960-01-01", "1970-01-01", step="1 month"),
    ]
)


@given(AXES, st.data())
def test_what_tables_write_is_read_back(axis, data):
    lo = data.draw(st.integers(0, axis.size - 1))
    hi = data.draw(st.integers(lo + 1, axis.size))
    (low,), (high,) = written.written(axis, [lo], [hi])
    asked = ranges.typed(f"{low}..{high}", [axis])
    found = ranges.workload([asked], [axis])
    assert (found.lo.tolist(), found.hi.tolist()) == ([lo], [hi])


def test_one_range_per_axis():
    asked = ranges.typed("-73.9:-73.8,40.6..40.7", PLACE)
    assert (asked.lo, asked.hi) == (("-73.9", "40.6"), ("-73.8", "40.7"))
    with pytest.raises(WorkloadError, match="names 1 range, but there are 2 axes") as caught:
        ranges.typed("-73.9:-73.8", PLACE)
    assert "lon, lat" in caught.value.hint
    with pytest.raises(WorkloadError, match="names 3 ranges"):
        ranges.typed("1:2,3:4,5:6", PLACE)


def test_commas_are_part_of_a_label_along_one_axis():
    axis = dawa.Axis.ordered("size", ["small, or less", "large"])
    assert ranges.typed("small, or less:large", [axis]).lo == ("small, or less",)


def listed(tmp_path, text, axes=(AGE,)):
    path = tmp_path / "ranges.csv"
    path.write_text(text, encoding="utf-8")
    return ranges.listed(path, axes)


@pytest.mark.parametrize("header", ["lo,hi", "from,to", "age_lo,age_hi", "age_from,age_to"])
def test_a_file_of_ranges(tmp_path, header):
    found = listed(tmp_path, f"{header}\n0,18\n\n18,65\n")
    assert [(one.lo, one.hi) for one in found] == [(("0",), ("18",)), (("18",), ("65",))]
    assert found[1].where.startswith("Line 4 of")


def test_other_columns_are_kept(tmp_path):
    found = listed(tmp_path, "\ufeffname,lo,hi,note\nchildren,0,18,\n")
    assert found[0].labels == (("name", "children"), ("note", ""))


def test_a_file_over_two_axes(tmp_path):
    (found,) = listed(tmp_path, "lat_lo,lat_hi,lon_from,lon_to\n40,41,-74,-73.5\n", PLACE)
    assert (found.lo, found.hi) == (("-74", "40"), ("-73.5", "41"))
    with pytest.raises(WorkloadError, match="hold the ranges of 'lon'") as caught:
        listed(tmp_path, "lo,hi\n1,2\n", PLACE)
    assert "lon_lo,lon_hi" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "does not say which columns"),
        ("0,18\n18,65\n", "does not say which columns"),
        ("lo,lo,hi\n1,1,2\n", "does not say which columns"),
        ("lo,hi\n", "holds no range"),
        ("lo,hi\n0,18\n18\n", "Line 3 of .* is not a range"),
        ("lo,hi,name\n0,18,a\n18,\n", "Line 3 of .* is not a range"),
        ("lo,hi\n0,18,7\n", "Line 2 of .* is not a range"),
        ("lo,hi,value\n0,18,7\n", "column 'value' too many"),
        ("lo,hi,from,to\n0,18,0,18\n", "column 'from' too many"),
        ("lo,hi,a,a\n0,18,0,18\n", "column 'a' too many"),
        ('lo,hi\n"0', "Line 2 of .* is not a range"),
    ],
)
def test_files_that_are_none(tmp_path, text, problem):
    with pytest.raises(WorkloadError, match=problem):
        listed(tmp_path, text)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(WorkloadError, match="There is no file"):
        ranges.listed(tmp_path / "none.csv", [AGE])
    with pytest.raises(WorkloadError, match="cannot be read"):
        ranges.listed(tmp_path, [AGE])
    (tmp_path / "bytes.csv").write_bytes(b"lo,hi\n\xff\xfe,2\n")
    with pytest.raises(WorkloadError, match="it is not CSV"):
        ranges.listed(tmp_path / "bytes.csv", [AGE])
    with pytest.raises(WorkloadError, match="cannot be read"):
        ranges.listed("a\0b", [AGE])


def test_what_never_ends_is_not_read_on(tmp_path, monkeypatch):
    with pytest.raises(WorkloadError, match="a line of more than 1,048,576 characters"):
        ranges.listed("/dev/zero", [AGE])
    text = "lo,hi\n" + "0,18\n" * 100
    assert len(listed(tmp_path, text)) == 100
    monkeypatch.setattr(ranges, "MOST_RANGES_FILE", len(text) - 1)
    with pytest.raises(WorkloadError, match="more than 505 characters"):
        listed(tmp_path, text)
    monkeypatch.setattr(ranges, "MOST_RANGES_FILE", len(text))
    assert len(listed(tmp_path, text)) == 100
    monkeypatch.setattr(ranges, "MOST_QUERIES_ENUMERATED", 100)
    with pytest.raises(WorkloadError, match="more than 100 lines"):
        listed(tmp_path, text)


@pytest.mark.parametrize(
    ("line", "kind", "problem"),
    [
        ("0,500", AxisError, "500 lies outside the axis 'age'"),
        ("18,0", OptionError, "from 18 to 0 is empty"),
        ("0,many", AxisError, "'many' is not a finite number"),
    ],
)
def test_an_error_says_which_range_it_means(tmp_path, line, kind, problem):
    asked = listed(tmp_path, f"lo,hi\n0,18\n{line}\n")
    with pytest.raises(kind, match=f"Line 3 of .*{problem}"):
        ranges.workload(asked, [AGE])


def test_ends_inside_cells_are_widened():
    wide = ranges.workload([ranges.typed("10.5:11.5", [AGE])], [AGE])
    assert (wide.lo.tolist(), wide.hi.tolist()) == ([10], [12])
    map_ = ranges.workload([ranges.typed("-73.999:-73.985,40:40.5", PLACE)], PLACE)
    assert map_.boxes is not None
    assert [corner.tolist() for corner in map_.boxes] == [[[0, 0]], [[2, 50]]]


# Open ends, single values and whole axes.


def test_each_axis_has_a_range_of_its_own():
    axes = (AGE, GRADE, DAY)
    asked = ranges.typed("15:60,*,2013-01-05", axes)
    assert (asked.lo, asked.hi) == (("15", "A", "2013-01-05"), ("60", "C", "2013-01-06"))
    assert ranges.typed("*,*,*", axes).lo == ranges.whole(axes).lo
    with pytest.raises(WorkloadError, match="The range '15:60,,2013' cannot be answered: '' is not a range") as caught:
        ranges.typed("15:60,,2013", axes)
    assert "A..B" in caught.value.hint


@pytest.mark.parametrize(
    ("line", "ends"),
    [
        ("60,,A,B", (("60", "A"), ("120", "B"))),
        (",15,,", (("0", "A"), ("15", "C"))),
        (",,B,", (("0", "B"), ("120", "C"))),
        (",,,", (("0", "A"), ("120", "C"))),
        (" , 15 ,B, C ", (("0", "B"), ("15", "C"))),
    ],
)
def test_an_empty_end_in_a_file_is_open(tmp_path, line, ends):
    found = listed(tmp_path, f"age_lo,age_hi,grade_lo,grade_hi\n\n{line}\n   \n", (AGE, GRADE))
    assert [(one.lo, one.hi) for one in found] == [ends]


def test_any_category_can_be_asked_from_a_file(tmp_path):
    odd = dawa.Axis.ordered("odd", ["a", "b", "a:b", "a..b", "a .. b", "", " ", "*", "x,y", 'q"q'])
    text = "lo,hi\n" + "".join(f"{quoted(label)},{quoted(label)}\n" for label in odd.labels)
    found = [ranges.spans(one, [odd]) for one in listed(tmp_path, text, (odd,))]
    assert found == [[(place, place + 1)] for place in range(odd.size)]
    (both,) = listed(tmp_path, "lo,hi\na,b\n", (odd,))
    assert ranges.spans(both, [odd]) == [(0, 2)], "which cannot be typed: a:b, a..b and a .. b are categories"


def quoted(label):
    return '"' + label.replace('"', '""') + '"'


def test_commas_in_categories_over_several_axes():
    size = dawa.Axis.ordered("size", ["small, or less", "large"])
    asked = ranges.typed("small, or less:large,15:60", (size, AGE))
    assert (asked.lo, asked.hi) == (("small, or less", "15"), ("large", "60"))
    assert ranges.typed("15:60,small, or less", (AGE, size)).hi == ("60", "small, or less")
    with pytest.raises(WorkloadError, match="names 3 ranges, but there are 2 axes"):
        ranges.typed("small, or more,15:60", (size, AGE))
    first = dawa.Axis.ordered("first", ["a", "a,b"])
    second = dawa.Axis.ordered("second", ["b,c", "c"])
    with pytest.raises(WorkloadError, match="'a,b,c' can be read in several ways") as caught:
        ranges.typed("a,b,c", (first, second))
    assert "CSV file" in caught.value.hint
    with pytest.raises(WorkloadError, match="names 1001 ranges"):
        ranges.typed("," * 1000, (first, second))


def test_an_error_about_a_single_value_names_the_range():
    with pytest.raises(AxisError, match=r"The range '2014-01' cannot be answered: .*2014-02-01 lies outside"):
        ranges.typed("2014-01", [DAY])
