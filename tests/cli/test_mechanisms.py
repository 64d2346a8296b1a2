"""``dawa mechanisms``: what there is to choose from."""

import dawa as library
from helpers.commands import dawa


def test_mechanisms_are_listed():
    shown = dawa("mechanisms")
    for name in library.mechanisms.names(with_error_bars=True):
        assert f"\n{name} " in f"\n{shown.out}"
    assert "mwem" not in shown.out, "it makes no release"
    assert {entry["name"] for entry in dawa("mechanisms", "--json").json} == set(library.mechanisms.names())
    assert "effort" in dawa("mechanisms", "dawa").out
    assert dawa("mechanisms", "dewa").code == 1
    assert "dewa" in dawa("mechanisms", "dewa", "--json").json["error"]["problem"]
