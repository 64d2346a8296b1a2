"""The curve goes where its rules say, box by box; and its runs are the same however often they need more room."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dawa.errors import InvariantError
from dawa.kernels import hilbert
from dawa.limits import MOST_AXES

shapes = st.lists(st.integers(1, 9), min_size=1, max_size=MOST_AXES).filter(lambda shape: math.prod(shape) <= 1000)
NO_BOUNDS = np.zeros(0, np.int64)


def by_rules(at, sign, size, way):
    """The cells of a box in order, by the three rules as they are written."""
    others = [i for i in range(len(size)) if i != way and size[i] > 1]
    side = max(others, key=lambda i: (size[i], -i), default=None)
    if size[way] <= 2 and (side is None or size[side] <= 2):
        digits = [*others, way]
        for rank in range(math.prod(size)):
            code, cell = rank ^ rank >> 1, list(at)
            for place, i in enumerate(digits):
                cell[i] += sign[i] * (code >> place & 1)
            yield cell
        return

    def inner(way, *changes):
        """The cells of a part: for some axes, how far from the entry it begins, whether it turns, and its length."""
        entry, turned, length = list(at), list(sign), list(size)
        for i, step, turn, cells in changes:
            entry[i], turned[i], length[i] = at[i] + sign[i] * step, sign[i] * turn, cells
        yield from by_rules(entry, turned, length, way)

    w = size[way]
    if side is None or 2 * w > 3 * size[side]:
        half = max(2, 2 * ((w + 2) // 4))
        yield from inner(way, (way, 0, 1, half))
        yield from inner(way, (way, half, 1, w - half))
        return
    h, out = size[side], w // 2
    far = max(2, 2 * ((h + 2) // 4))
    yield from inner(side, (way, 0, 1, out), (side, 0, 1, far))
    yield from inner(way, (side, far, 1, h - far))
    yield from inner(side, (way, w - 1, -1, w - out), (side, far - 1, -1, far))


@settings(deadline=None)
@given(shapes)
def test_the_curve_is_the_one_of_the_rules(shape):
    odd = all(side % 2 for side in shape)
    way = max((i for i, side in enumerate(shape) if odd or side % 2 == 0), key=lambda i: (shape[i], -i))
    expected = np.array(list(by_rules([0] * len(shape), [1] * len(shape), shape, way)))
    sides, places = np.array(shape), np.arange(len(expected))
    assert hilbert.cells_at(places, sides).tolist() == expected.tolist()
    assert hilbert.positions(expected, sides).tolist() == places.tolist()
    strides = np.array([math.prod(shape[i + 1 :]) for i in range(len(shape))])
    assert hilbert.whole_curve(sides, strides).tolist() == np.ravel_multi_index(expected.T, shape).tolist()


@pytest.mark.parametrize("shape", [(64, 64), (31, 17), (11, 12, 13), (5, 6, 7, 8)])
@pytest.mark.parametrize("bounded", [False, True])
def test_runs_do_not_depend_on_the_room_there_is(shape, bounded, monkeypatch):
    rng = np.random.default_rng(0)
    ends = np.sort(rng.uniform(0, 1, (30, len(shape), 2)), axis=2) * np.array(shape)[:, None]
    size = math.prod(shape)
    bounds = np.unique(np.concatenate(([0, size], rng.integers(0, size, size // 10)))) if bounded else NO_BOUNDS
    asked = (ends[:, :, 0], ends[:, :, 1], np.array(shape), bounds)
    for most in (2**26, 100, 7, 0):
        monkeypatch.setattr(hilbert, "ROOM", 2**16)
        expected = hilbert.runs(*asked, most)
        for room in (1, 16, 17, 50):
            monkeypatch.setattr(hilbert, "ROOM", room)
            for one, other in zip(expected, hilbert.runs(*asked, most), strict=True):
                assert one.dtype == other.dtype
                assert one.tolist() == other.tolist()
        first, starts, stops, weights = expected
        assert first[-1] == len(starts) == len(stops) == len(weights)
        assert len(starts) > most or most == 2**26


def test_nothing_asked_is_nothing_found():
    shape, none = np.array([3, 4]), np.zeros(0, np.int64)
    assert hilbert.positions(none.reshape(0, 2), shape).shape == (0,)
    assert hilbert.cells_at(none, shape).shape == (0, 2)
    found = hilbert.runs(np.zeros((0, 2)), np.zeros((0, 2)), shape, NO_BOUNDS, 5)
    assert [each.tolist() for each in found] == [[0], [], [], []]


def test_arrays_of_any_type_and_order_are_taken():
    shape = np.array([5, 7], np.int32)
    cells = np.asfortranarray(np.stack(np.unravel_index(np.arange(35), (5, 7)), axis=1).astype(np.int16))
    places = hilbert.positions(cells, shape)
    assert hilbert.cells_at(places[::-1], shape).tolist() == cells[::-1].tolist()


@pytest.mark.parametrize("shape", [[], [2] * (MOST_AXES + 1), [3, 0], [2**31, 2**32]])
def test_domains_without_a_curve_are_refused(shape):
    with pytest.raises(InvariantError, match="no curve"):
        hilbert.cells_at(np.array([0]), np.array(shape, np.int64))


def test_what_has_another_number_of_axes_is_refused():
    shape, corners = np.array([3, 4]), np.zeros((2, 3))
    with pytest.raises(InvariantError, match="coordinates"):
        hilbert.positions(np.array([[1, 2, 3]]), shape)
    with pytest.raises(InvariantError, match="strides"):
        hilbert.whole_curve(shape, np.array([1]))
    for lo, hi in ((corners, corners), (corners[:, :2], corners[:1, :2])):
        with pytest.raises(InvariantError, match="Corners"):
            hilbert.runs(lo, hi, shape, NO_BOUNDS, 5)
