"""Counting is measured beside the engine's own."""

import pytest

from dawa_bench import sources


@pytest.mark.long
def test_a_line_for_each_axis(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sources, "peak_megabytes", lambda *_, **__: 0.0)
    sources.on_duckdb(tmp_path, 1000, 1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("1,000 rows in Parquet")
    assert [line[:18].strip() for line in lines[2:-1]] == list(sources.AXES)
    sources.on_csv(tmp_path, 1000, 1)
    assert capsys.readouterr().out.count("floats by 0.01") == 2


@pytest.mark.long
def test_memory_is_that_of_a_fresh_process(tmp_path):
    sources.write(tmp_path / "people.parquet", 1000)
    assert sources.peak_megabytes(tmp_path / "people.parquet", "integers by 100") > 20


def test_rows_that_are_nowhere_are_counted(tmp_path, capsys):
    sources.on_generated(tmp_path, 20_000)
    told = capsys.readouterr().out
    assert told.startswith("20,000 rows made up by DuckDB")
    total = int(told.split(", ")[-1].split()[0].replace(",", ""))
    assert abs(total - 20_000) < 200
