"""The command prints a line for each mechanism."""

from dawa_bench import rivals
from helpers.bench import said


def test_a_line_for_each_mechanism(monkeypatch, capsys):
    lines = said(rivals, monkeypatch, capsys, "dawa", "hb", "--workloads", "1", "--trials", "1")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    assert rows[0] == list(rivals.COLUMNS)
    assert [row[0] for row in rows[1:]] == ["`dawa`", "`hb`"]
    assert all(rows[1])
    assert rows[2][2:5] == ["", "", ""]
