"""Uneven cells on maps: to scale, no record lost, and the colours count records per area."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dawa
from dawa.plots import areas

AGE = dawa.Axis.edges("age", [0, 1, 5, 18, 65, 110])
PAY = dawa.Axis.edges("pay", [0, 1, 10, 100, 1000, 100_000])
X = dawa.Axis("x", 0, 12)
WIDTHS = st.lists(st.integers(1, 60), min_size=2, max_size=8)


def edges(widths, column="age"):
    return dawa.Axis.edges(column, np.concatenate(([0], np.cumsum(widths))).tolist())


def released(axes, seed=0):
    rng = np.random.default_rng(seed)
    table = {axis.column: rng.uniform(*axis.value([0, axis.size]), 4000).clip(0, 99_999) for axis in axes}
    return dawa.release(table, list(axes), epsilon=1, seed=seed, effort="fast")


@given(WIDTHS, st.integers(1, 12), st.integers(0, 2**32))
def test_no_record_is_lost_and_cells_lie_where_their_values_are(widths, size, seed):
    axis = edges(widths)
    cells = np.random.default_rng(seed).poisson(50, (axis.size, size)).astype(np.float64)
    image = areas.image((axis, dawa.Axis("x", 0, size)), cells, 1024)
    if not areas.to_scale(axis):
        np.testing.assert_array_equal(image, cells)
        return
    unit, total = float(areas.unit_of(axis)), sum(widths)
    pixel = total / image.shape[0]
    np.testing.assert_allclose(image.sum(axis=0) * pixel / unit, cells.sum(axis=0))
    densities = cells / (np.array(widths)[:, None] / unit)
    cuts = np.cumsum([0, *widths])
    for at, (lo, hi) in enumerate(pairwise(cuts / pixel)):
        inner = image[int(np.ceil(lo - 1e-9)) : int(np.floor(hi + 1e-9))]
        np.testing.assert_allclose(inner, np.broadcast_to(densities[at], inner.shape), rtol=1e-6)


@given(WIDTHS)
def test_an_axis_is_to_scale_if_its_narrowest_cell_is_seen(widths):
    axis = edges(widths)
    seen = Fraction(min(widths), sum(widths)) >= Fraction(1, 300)
    assert areas.to_scale(axis) == (len(set(widths)) > 1 and seen)
    assert areas.flat(axis) == (len(set(widths)) > 1 and not seen)


def test_one_cell_that_is_too_narrow_makes_all_equally_wide():
    assert areas.to_scale(edges([1, 299])), "a cell of exactly 1/300 of its axis"
    assert areas.flat(edges([1, 300]))
    assert areas.said([X]) == ""


@pytest.mark.parametrize(
    ("axes", "unit", "said"),
    [
        ((AGE, X), "records per 10 of age and cell of x", "Cells of age are drawn to scale."),
        ((X, AGE), "records per cell of x and 10 of age", "Cells of age are drawn to scale."),
        ((X, PAY), "records per cell", "Cells of pay are drawn equally wide"),
        ((AGE, PAY), "records per 10 of age and cell of pay", "to scale. Cells of pay are drawn equally wide"),
        ((X, dawa.Axis.edges("even", [0, 10, 20])), "records per cell", ""),
    ],
)
def test_a_map_says_what_its_colours_count(axes, unit, said):
    release = released(axes)
    figure = release.plot()
    assert figure.axes[-1].get_ylabel().replace("\n", " ") == unit
    footer = figure._supxlabel.get_text().replace("\n", " ")  # Matplotlib has no other way
    assert said in footer
    assert bool(said) == ("Cells of" in footer)


def test_places_on_a_map_are_values_where_it_is_to_scale_and_cells_where_not():
    chart, _ = released((AGE, PAY)).plot().axes
    assert chart.images[0].get_extent() == [0, 110, 0, 5]
    assert dict(zip(chart.get_xticks(), [text.get_text() for text in chart.get_xticklabels()], strict=True))[65] == "65"
    assert [text.get_text() for text in chart.get_yticklabels()] == ["0", "1", "10", "100", "1,000", "100,000"]
    assert chart.get_yticks().tolist() == list(range(6))


def test_colours_are_the_density_of_the_cells_of_the_release():
    release = released((AGE, X))
    pixels = np.asarray(release.plot().axes[0].images[0].get_array())
    for cell, (lo, hi) in enumerate(pairwise([0, 1, 5, 18, 65, 110])):
        middle = int((lo + hi) / 2 / 110 * pixels.shape[1])
        expected = np.maximum(release.estimate.cells[cell], 0) / ((hi - lo) / 10)
        np.testing.assert_allclose(pixels[:, middle], expected)


def test_maps_of_pairs_are_drawn_alike():
    figure = released((AGE, PAY, X)).plot()
    extents = {tuple(chart.images[0].get_extent()) for chart in figure.axes if chart.images}
    assert extents == {(0, 110, 0, 5), (0, 110, 0, 12), (0, 5, 0, 12)}
