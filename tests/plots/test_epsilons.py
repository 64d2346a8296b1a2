"""How errors fall as epsilon grows."""

import pytest

from dawa.errors import OptionError
from dawa.plots import drawing, epsilons

CURVES = {"smooth": {1.0: 9.0, 0.1: 90.0}, "$x_1$ <b>": {0.1: 190.0, 1.0: 20.0}}


def test_a_curve_for_each_kind_in_order_of_epsilon(tmp_path):
    figure = epsilons(CURVES, tmp_path / "e.svg", needed=100, chosen=0.2)
    (chart,) = figure.axes
    curves = [line for line in chart.get_lines() if line.get_marker() != "None"]
    assert [list(line.get_xdata()) for line in curves] == [[0.1, 1.0], [0.1, 1.0]]
    assert (chart.get_xscale(), chart.get_yscale()) == ("log", "log")
    assert len(chart.get_lines()) == 4, "with a line for what is needed and one for what is chosen"
    assert "$x_1$" in (tmp_path / "e.svg").read_text(encoding="utf-8"), "names are no formulas"


def test_what_has_no_place_on_a_logarithmic_scale_is_left_out():
    (chart,) = epsilons({"x": {0.1: 5.0, 1.0: 0.0}}).axes
    assert list(chart.get_lines()[0].get_xdata()) == [0.1]
    for nothing in ({}, {"x": {}}, {"x": {1.0: 0.0}}):
        with pytest.raises(OptionError, match="no errors to draw"):
            epsilons(nothing)


def test_a_path_is_refused_before_long_work(tmp_path):
    drawing.check_path(None)
    drawing.check_path(tmp_path / "x.SVG")
    with pytest.raises(OptionError, match="format to draw"):
        drawing.check_path(tmp_path / "x.txt")
    with pytest.raises(OptionError, match="no folder"):
        drawing.check_path(tmp_path / "none" / "x.svg")
