"""The paper's case study: real places where they are installed, and what is measured on them."""

import pytest

from dawa_bench import places


def test_places_are_real_where_they_are_installed():
    found = places.load()
    assert found.kind == "real"
    assert found.counts.shape == (1024, 1024)
    assert found.counts.sum() > 10_000


def test_places_are_generated_otherwise(monkeypatch):
    monkeypatch.setattr(places.importlib.util, "find_spec", lambda _: None)
    found = places.load.__wrapped__()
    assert found.kind == "generated"
    assert found.counts.sum() > places.POINTS / 2


def test_real_and_generated_places_are_counted_on_the_same_grid():
    counts = places.counted(places.real_places(), 16)
    assert counts.shape == (16, 16)
    assert counts.sum() == places.load().counts.sum()


@pytest.mark.long
def test_the_command_tells_time_memory_and_errors(capsys):
    places.run(16, 1, "1")
    said = capsys.readouterr().out
    assert said.startswith("16 × 16 cells")
    for part in ("answers with error bars", "peak memory", "truth within low..high", "15° × 0.2°: mean error"):
        assert part in said
