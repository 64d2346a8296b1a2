"""``dawa sample``: synthetic rows, the same as the library draws."""

import io
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import dawa as library
from dawa.limits import MOST_ROWS_SAMPLED
from dawa.results.release import ROWS
from helpers.commands import dawa, refused


@pytest.fixture(scope="module")
def ages(tmp_path_factory):
    release = library.release({"age": np.arange(2000) % 100}, library.Axis("age", -10, 110), epsilon=1)
    folder = tmp_path_factory.mktemp("ages")
    release.save(folder / "release.json")
    return folder, release


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    table = {"age": np.arange(2000) % 100, "sex": ["f", "m"] * 1000}
    axes = library.Axis("age", 0, 100), library.Axis.ordered("sex", ["f", "m"])
    release = library.release(table, axes, epsilon=1)
    folder = tmp_path_factory.mktemp("grid")
    release.save(folder / "release.json")
    return folder, release


def test_rows_on_standard_output(ages):
    folder, release = ages
    shown = dawa("sample", folder, "--rows", 50, "--seed", 3)
    assert shown.code == 0
    assert shown.out.splitlines() == ["age", *(str(int(age)) for age in release.sample(50, 3))]
    for part in ("synthetic", "cost nothing further", "in no range have no rows"):
        assert part in shown.err
    assert dawa("sample", folder, "--rows", 50).out != dawa("sample", folder, "--rows", 50).out


def test_several_axes_in_files(grid, tmp_path):
    folder, release = grid
    size = ROWS + 1000
    for name, read in (("rows.csv", pd.read_csv), ("rows.parquet", pd.read_parquet)):
        ran = dawa("sample", folder, "--rows", size, "--seed", 1, "--out", tmp_path / name)
        assert (ran.code, ran.out) == (0, "")
        frame = read(tmp_path / name)
        assert (list(frame), len(frame)) == (["age", "sex"], size)
        expected = release.sample(size, 1)
        assert frame["age"].tolist() == expected[:, 0].tolist()
        assert frame["sex"].tolist() == expected[:, 1].tolist()
    assert frame["age"].dtype == np.int64


@pytest.mark.parametrize("size", [0, 1, ROWS - 1, ROWS, ROWS + 1, 2 * ROWS, 2 * ROWS + 7])
def test_pieces_are_full_but_the_last(ages, size):
    pieces = [len(piece) for (piece,) in ages[1].sampled(size, 1)]
    assert sum(pieces) == size == len(ages[1].sample(size, 1))
    assert set(pieces[:-1]) <= {ROWS}


def test_what_is_drawn_is_what_was_released(grid):
    folder, release = grid
    frame = pd.read_csv(io.StringIO(dawa("sample", folder, "--rows", 20_000, "--seed", 2).out))
    share = ((frame["age"] < 50) & (frame["sex"] == "f")).mean()
    assert share == pytest.approx(release.answer((0, "f"), (50, "f")).value / release.total.value, abs=0.02)


def test_no_rows_are_a_header(ages):
    assert dawa("sample", ages[0], "--rows", 0).out == "age\n"


def test_wrong_steps_lead_on(ages, tmp_path):
    folder = ages[0]
    refused(dawa("sample", folder, "--rows", -1), "--rows=-1 is not large enough", "from 0 to 100000000")
    refused(dawa("sample", folder, "--rows", MOST_ROWS_SAMPLED + 1), "is not small enough", "from 0 to 100000000")
    refused(dawa("sample", folder, "--rows", 5, "--seed", -1), "--seed=-1 is not large enough")
    refused(dawa("sample", folder, "--rows", 5, "--out", tmp_path / "a.json"), "does not say", ".csv or .parquet")
    refused(dawa("sample", tmp_path, "--rows", 5), "no release.json")
    (tmp_path / "a.csv").write_text("dear", encoding="utf-8")
    refused(dawa("sample", folder, "--rows", 5, "--out", tmp_path / "a.csv"), "exists already")
    assert (tmp_path / "a.csv").read_text(encoding="utf-8") == "dear"
    assert dawa("sample", folder).code == 2
    assert dawa("sample", folder, "--rows", "many").code == 2


def test_a_release_without_records_has_no_rows(tmp_path):
    axis = library.Axis("age", 0, 10, outside="drop", missing="drop")
    for seed in range(50):
        release = library.release({"age": []}, axis, epsilon=1, seed=seed, partition="one")
        if release.values().sum() <= 0:
            break
    release.save(tmp_path / "release.json")
    refused(dawa("sample", tmp_path, "--rows", 5, "--out", tmp_path / "a.csv"), "holds no records")
    assert not (tmp_path / "a.csv").exists()


def test_help_says_what_the_rows_are():
    shown = " ".join(dawa("sample", "--help").out.split())
    for part in ("synthetic", "cost no epsilon", "in no range", "--out synthetic.parquet", "100,000,000"):
        assert part in shown


@pytest.mark.long
def test_memory_does_not_grow_with_rows(ages, tmp_path):
    """A million rows of a hundred bytes would be felt."""
    code = f"""
import resource
from dawa.cli import app
def peak(rows, name):
    app(["sample", {str(ages[0])!r}, "--rows", str(rows), "--out", name], standalone_mode=False)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
first = peak(200_000, "a.parquet")
print(peak(2_000_000, "b.parquet") - first)
"""
    ran = subprocess.run(  # noqa: S603  ours
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path, env=dict(os.environ)
    )
    assert int(ran.stdout) < 40_000, "kilobytes"
