"""The command prints a line for each change of the walk."""

from dawa_bench import defaults
from helpers.bench import said


def test_a_line_for_each_change(monkeypatch, capsys):
    few = dict(list(defaults.CHANGES.items())[:2])
    monkeypatch.setattr(defaults, "CHANGES", few)
    lines = said(defaults, monkeypatch, capsys, "--trials", "1")
    assert "small data" in lines[0]
    assert lines[1].split() == ["change", "as", "they", "are", "variants"]
    assert [line[:20].strip() for line in lines[2:]] == list(few)


def test_other_maps_are_real():
    found = defaults.other_maps(16)
    assert {counts.shape for counts in found.values()} == {(16, 16)}
    assert all(counts.sum() > 1000 for counts in found.values())
