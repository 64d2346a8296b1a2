"""Long names on small pictures: they fit, and different ones look different."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dawa.plots import names

LETTERS = st.text(alphabet="ab 東", max_size=30)


@given(st.lists(LETTERS, min_size=1, max_size=12), st.integers(8, 20))
def test_different_names_look_different_and_all_fit(given, room):
    found = names.shortened(given, [room] * len(given))
    by_name = dict(zip(found, given, strict=True))
    assert all(by_name[shown] == name for shown, name in zip(found, given, strict=True))
    assert all(names._wide(shown) <= room for shown in found)


@given(st.lists(LETTERS, min_size=1, max_size=12))
def test_names_that_fit_stay(given):
    assert names.shortened(given, [60] * len(given)) == given


def test_what_names_have_in_common_is_left_out_only_if_it_must_be():
    def shown(*given):
        return names.shortened(given, [14] * len(given))

    assert shown("North of the river", "South of the river") == ["North of the …", "South of the …"]
    assert shown("Hospital of the north, A", "Hospital of the north, B") == ["Hospita…rth, A", "Hospita…rth, B"]
    one = "Hospital of the north, {}, department of internal medicine"
    assert shown(one.format("A"), one.format("B")) == ["…A, departmen…", "…B, departmen…"]
    both = [f"Ward of the {side}ern coast, {name}, internal medicine" for side in ("north", "south") for name in "AB"]
    assert [text[:3] for text in shown(*both)] == ["1: ", "2: ", "3: ", "4: "]


def test_scripts_that_the_font_of_figures_lacks_have_room_for_its_boxes():
    pytest.importorskip("matplotlib")
    from matplotlib.font_manager import FontProperties  # noqa: PLC0415  slow to load
    from matplotlib.textpath import TextPath  # noqa: PLC0415

    def drawn(text):
        return TextPath((0, 0), text, size=10, prop=FontProperties(family="DejaVu Sans")).get_extents().width

    usual = drawn("n" * 14)
    for name in (
        "\u0928\u092e\u0938\u094d\u0924\u0947 " * 4,
        "\u0e2a\u0e27\u0e31\u0e2a" * 6,
        "\u12a0\u121b\u122d\u129b" * 6,
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that letters are missing is what this is about
            (shown,) = names.shortened([name], [14])
            assert drawn(shown) <= usual * 1.1
