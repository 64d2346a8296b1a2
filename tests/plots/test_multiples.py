"""The picture of a release of groups: a small one for each, in the style of all pictures."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import dawa
from dawa.counts import Counts
from dawa.errors import OptionError
from dawa.plots import multiples
from helpers.groups import put_together

RNG = np.random.default_rng(8)
X = dawa.Axis("x", 0, 60)
PLANE = (dawa.Axis("a", 0, 12, outside="drop"), dawa.Axis("b", 0, 9, outside="drop"))
HOSTILE = ["$x^2$", "a\nb", "é" * 300, "<b>", "東京" * 40]


def lines(groups, factor=1.0, names=None, **options):
    truth = [RNG.poisson(60 * factor**g * (1 + np.sin(np.arange(60) / 9 + g)), 60) for g in range(groups)]
    names = names or [f"g{g}" for g in range(groups)]
    return put_together(X, {"g": names}, truth, seed=1, partition="none", strategy="greedy", **options)


def maps(groups):
    truth = [RNG.poisson(9, (12, 9)) for _ in range(groups)]
    return put_together(PLANE, {"g": [f"g{g}" for g in range(groups)]}, truth, seed=1, effort="fast")


def shown(figure):
    return [chart for chart in figure.axes if chart.get_visible() and chart.get_title(loc="left")]


def footed(figure):
    return "" if figure._supxlabel is None else figure._supxlabel.get_text()


def test_every_group_is_shown_with_its_total_and_its_own_line():
    rel = lines(5)
    figure = rel.plot()
    assert [chart.get_title(loc="left") for chart in shown(figure)] == [
        f"{group}: {one.total.value:,.0f}" for group, one in rel.items()
    ]
    for chart, one in zip(shown(figure), rel.values(), strict=True):
        line = next(patch for patch in chart.patches if patch.get_label() == "release")
        np.testing.assert_allclose(line.get_data().values, one.values())
    assert "NOT PRIVATE, ε = 0.5, 5 groups by g" in figure.get_suptitle()
    assert "In no group: " in footed(figure)


def test_groups_have_one_scale_unless_some_are_much_smaller():
    alike = rel = lines(3)
    limits = {chart.get_ylim() for chart in shown(alike.plot())}
    assert len(limits) == 1
    assert max(one.values().max() for one in rel.values()) <= next(iter(limits))[1]
    apart = lines(3, factor=0.1).plot()
    assert len({chart.get_ylim() for chart in shown(apart)}) == 3
    assert "each with a scale of its own" in apart.get_suptitle()


def test_maps_share_their_colours():
    images = [chart.images[0] for chart in shown(maps(3).plot())]
    assert len({(image.norm.vmin, image.norm.vmax) for image in images}) == 1
    assert len(images) == 3


def test_of_many_groups_some_are_drawn_and_the_rest_counted():
    figure = lines(27).plot()
    assert len(shown(figure)) == 24
    assert footed(figure).startswith("And 3 more groups.")
    bare = multiples.figure(lines(27), footed=False)
    assert footed(bare) == "And 3 more groups."


@pytest.mark.filterwarnings("ignore:Glyph .* missing from font")
def test_names_are_text_and_fit(tmp_path):
    rel = lines(5, names=HOSTILE)
    figure = rel.plot(tmp_path / "x.png")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    edge = figure.bbox.width
    for chart in shown(figure):
        assert not chart._left_title.get_parse_math()
        assert chart._left_title.get_window_extent(canvas.get_renderer()).x1 < edge
    html = rel._repr_html_()
    assert "<b>:" not in html
    assert 'aria-label="Released records along x by g"' in html
    assert str(rel.privacy)[:40] in html


def test_the_same_figure_is_the_same_file(tmp_path):
    rel = maps(2)
    multiples.draw(rel, tmp_path / "a.svg")
    multiples.draw(rel, tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def boxes(groups, factor=1.0):
    axes = (*PLANE, dawa.Axis.edges("c", [0, 1, 5, 50], outside="drop"))
    truth = [RNG.poisson(20 * factor**g, (12, 9, 3)) for g in range(groups)]
    return put_together(axes, {"g": [f"g{g}" for g in range(groups)]}, truth, seed=1, partition="none", effort="fast")


def test_three_axes_have_a_row_of_bars_for_each_group():
    rel = boxes(3)
    figure = rel.plot()
    charts = np.array(figure.axes).reshape(3, 3)
    assert [chart.get_title(loc="left") for chart in charts[:, 0]] == [
        f"{group}: {one.total.value:,.0f}" for group, one in rel.items()
    ]
    assert [chart.get_xlabel() for chart in charts[-1]] == [
        "a\nrecords per cell",
        "b\nrecords per cell",
        "c\nrecords per 1 of c",
    ]
    assert not any(chart.get_xlabel() for chart in charts[:-1].ravel())
    for row, one in zip(charts, rel.values(), strict=True):
        for at, chart in enumerate(row):
            cuts = [float(cut) for cut in ([0, 1, 5, 50] if at == 2 else range(rel.axes[at].size + 1))]
            heights = next(patch for patch in chart.patches if patch.get_label() == "release").get_data().values
            lo, hi = [0, 0, 0], [12, 9, 50]
            for height, (lo[at], hi[at]) in zip(heights, pairwise(cuts), strict=True):
                assert height == pytest.approx(one.answer(tuple(lo), tuple(hi)).value / (hi[at] - lo[at]))
    assert {chart.get_ylim() for chart in charts[:, 2]} == {charts[0, 2].get_ylim()}
    assert "<svg" in rel._repr_html_()


def test_rows_have_scales_of_their_own_if_some_are_much_smaller():
    figure = boxes(3, factor=0.05).plot()
    assert "each with a scale of its own" in figure.get_suptitle()
    assert len({chart.get_ylim() for chart in np.array(figure.axes).reshape(3, 3)[:, 0]}) == 3


@pytest.mark.long
def test_of_many_groups_half_as_many_rows_are_drawn():
    figure = boxes(13).plot()
    assert len(figure.axes) == 12 * 3
    assert footed(figure).startswith("And 1 more group.")


def test_groups_of_too_many_cells_have_no_picture():
    axes = tuple(dawa.Axis(name, 0, 2000, outside="drop", missing="drop") for name in "abc")
    counts = Counts.sparse((2000,) * 3, np.array([5]), np.array([9]))
    rel = put_together(axes, {"g": ["a"]}, [counts], seed=1, effort="fast")
    assert not multiples.drawable(rel)
    with pytest.raises(OptionError, match="so many cells has no picture"):
        rel.plot()
    assert "<svg" not in rel._repr_html_()


def test_maps_keep_their_room_beside_long_categories():
    kinds = dawa.Axis.ordered(
        "kind", ["</script> that goes on and on, for as long as a line is"[at:] for at in range(4)]
    )
    truth = [RNG.poisson(9, (12, 4)) for _ in range(5)]
    names = [f"a group with a long name, which has the number {g}" for g in range(5)]
    figure = multiples.figure(put_together((PLANE[0], kinds), {"g": names}, truth, seed=1, effort="fast"))
    charts = shown(figure)
    FigureCanvasAgg(figure).draw()
    boxes = [chart.get_window_extent() for chart in charts]
    assert all(box.width > 0.4 * figure.bbox.width / 4 for box in boxes)
    titles = [chart._left_title.get_window_extent() for chart in charts]  # Matplotlib has no other way
    assert all(one.x1 < two.x0 for one, two in pairwise(titles[:4]))
    assert [chart.yaxis.get_tick_params()["labelleft"] for chart in charts] == [True, False, False, False, True]


def test_names_end_above_their_own_picture():
    names = [f"group number {g} of a hospital" for g in range(8)]
    figure = multiples.figure(lines(8, names=names))
    charts = shown(figure)
    FigureCanvasAgg(figure).draw()
    titles = [chart._left_title.get_window_extent() for chart in charts]
    assert all(title.x1 < figure.bbox.x1 for title in titles)
    assert all(one.x1 < two.x0 for one, two in pairwise(titles[:4]))


def test_names_that_begin_alike_differ_and_none_turns_its_number():
    long = "Hospital of the northern region, ward {}"
    rel = lines(4, names=[long.format(1), long.format(2), "\u05d2\u05d9\u05dc", "a\u202eb"])
    titles = [chart.get_title(loc="left") for chart in shown(multiples.figure(rel))]
    assert titles[0].split(":")[0].endswith("1")
    assert titles[1].split(":")[0].endswith("2")
    assert titles[2].startswith("\u2068\u05d2\u05d9\u05dc\u2069: ")
    assert titles[3].startswith("a\\u202eb: ")
