"""The command prints a line for each mechanism, and each map if asked to."""

from dawa_bench import maps
from helpers.bench import said


def test_a_line_for_each_mechanism_and_map(monkeypatch, capsys):
    lines = said(maps, monkeypatch, capsys, "identity", "ugrid", "--each", "--trials", "1", "--epsilon", "0.1")
    rows = [line for line in lines if line.startswith("| ")]
    assert [row.split("|")[1].strip() for row in rows] == ["mechanism", "`identity`", "`ugrid`"]
    assert {row.count("|") for row in rows} == {rows[0].count("|")}
    assert sum("ε = 0.1" in line and " one " in line for line in lines) == 2


def test_rectangles_are_inside_the_map():
    lo, hi = maps.rectangles((16, 16), 1).boxes
    assert len(lo) == 2000
    assert lo.min() >= 0
    assert hi.max() <= 16
    assert (lo < hi).all()
