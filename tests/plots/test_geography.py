"""Maps of the world: which axes are one, how tall it is, and the lines on it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dawa
from dawa.plots import geography

EUROPE = [dawa.Axis("longitude", -11, 41), dawa.Axis("latitude", 35, 65)]


@pytest.mark.parametrize(
    ("across", "up", "expected"),
    [
        (("lon", -10, 10), ("lat", 40, 50), True),
        (("pickup_longitude", -75, -73), ("pickup_latitude", 40, 41), True),
        (("homeLng", -180, 180), ("homeLat", -90, 90), True),
        (("LONGITUDE", 0, 5), ("LATITUDE", 0, 5), True),
        (("lat", 40, 50), ("lon", -10, 10), False),
        (("lon", -10, 190), ("lat", 40, 50), False),
        (("lon", -10, 10), ("lat", 40, 95), False),
        (("salon", -10, 10), ("flat", 40, 50), False),
        (("x", -10, 10), ("y", 40, 50), False),
    ],
)
def test_names_and_bounds_say_what_is_a_map(across, up, expected):
    assert geography.is_map([dawa.Axis(*across), dawa.Axis(*up)]) == expected


def test_other_axes_are_no_map():
    assert not geography.is_map(EUROPE[:1])
    assert not geography.is_map([*EUROPE, dawa.Axis("x", 0, 1)])
    assert not geography.is_map([dawa.Axis.edges("lon", [0, 1, 5]), dawa.Axis("lat", 0, 5)])


def test_a_kilometre_is_as_long_either_way_in_the_middle():
    assert geography.aspect([dawa.Axis("lon", 0, 10), dawa.Axis("lat", -5, 5)]) == pytest.approx(1)
    assert geography.aspect([dawa.Axis("lon", 0, 10), dawa.Axis("lat", 55, 65)]) == pytest.approx(2)
    assert np.isfinite(geography.aspect([dawa.Axis("lon", 0, 10), dawa.Axis("lat", 89, 90)]))


@pytest.mark.long
def test_lines_are_those_that_touch_the_map():
    found = geography.shapes(EUROPE)
    assert {shape.coast for shape in found} == {True, False}
    for shape in found:
        (left, low), (right, high) = shape.points.min(axis=0), shape.points.max(axis=0)
        assert left < 41
        assert right > -11
        assert low < 65
        assert high > 35
    everywhere = geography.shapes([dawa.Axis("lon", -180, 180), dawa.Axis("lat", -90, 90)])
    assert len(found) < len(everywhere) / 2
    pacific = [dawa.Axis("lon", -150, -140), dawa.Axis("lat", 30, 40)]
    assert geography.shapes(pacific) == []
    assert geography.shapes([dawa.Axis("lon", 10, 12), dawa.Axis("lat", 44, 46)]) == [], "too little is seen"


def test_no_line_goes_around_the_world_or_stands_on_the_date_line():
    for shape in geography.shapes([dawa.Axis("lon", -180, 180), dawa.Axis("lat", -90, 90)]):
        steps = np.abs(np.diff(shape.points, axis=0))
        assert steps[:, 0].max() < 60
        edge = np.abs(shape.points[:, 0]) == 180
        assert not (edge[1:] & edge[:-1]).any()


@given(st.lists(st.tuples(st.integers(-3600, 3600), st.integers(-1800, 1800)), min_size=1))
def test_points_are_read_as_they_were_written(points):
    found = geography.decoded(geography.encoded(points))
    assert np.rint(found * geography.GRID).astype(int).tolist() == [list(point) for point in points]
