"""The output folder is whole or absent, and a release that is paid for is never lost."""

import csv
import errno
import io
import json
from pathlib import Path

import numpy as np
import pytest

import dawa
from dawa.errors import FolderError, ReleaseError
from dawa.plots import picture
from dawa.publish import folder, tables
from dawa.spec import ranges

AGE = dawa.Axis("age", 0, 100)
PEOPLE = {"age": np.arange(1000) % 100, "x": np.arange(1000) % 7}


@pytest.fixture(scope="module")
def release():
    return dawa.release(PEOPLE, AGE, epsilon=1, seed=0)


@pytest.fixture(scope="module")
def grid():
    return dawa.release(PEOPLE, (AGE, dawa.Axis("x", 0, 8)), epsilon=1, seed=0)


def written(target, release, asked=(), **options):
    stream = io.StringIO()
    with folder.prepared(target, [ranges.typed(text, release.axes) for text in asked], stream, **options) as keeper:
        kept = keeper.keep(release).path
    assert not stream.getvalue()
    if keeper.written.problem is not None:
        raise keeper.written.problem
    assert kept == keeper.written.folder == Path(target).resolve()
    return keeper.written


def read(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_everything_is_there(tmp_path, release):
    found = written(tmp_path / "out", release, ["18:65", "0:18"])
    assert set(found.files) == {path.name for path in (tmp_path / "out").iterdir()}
    assert set(found.files) == {
        "release.json",
        "buckets.csv",
        "apart.csv",
        "answers.csv",
        "release.svg",
        "croissant.json",
        "README.md",
    }
    assert [path.name for path in tmp_path.iterdir()] == ["out"], "nothing is left beside it"
    assert folder.opened(tmp_path / "out").answer(18, 65) == release.answer(18, 65)
    assert folder.opened(tmp_path / "out" / "release.json").answer(18, 65) == release.answer(18, 65)


def test_buckets_have_all_digits(tmp_path, release):
    written(tmp_path / "out", release)
    rows = read(tmp_path / "out" / "buckets.csv")
    assert [float(row["value"]) for row in rows] == release.values().tolist()
    assert [float(row["standard_deviation"]) ** 2 for row in rows] == pytest.approx(release.variances())
    assert [int(row["from"]) for row in rows] + [100] == release.bounds.tolist()
    assert sum(int(row["cells"]) for row in rows) == 100


def test_answers_are_those_of_the_release(tmp_path, release):
    written(tmp_path / "out", release, ["18:65"])
    (row,) = read(tmp_path / "out" / "answers.csv")
    found = release.answer(18, 65)
    assert (row["from"], row["to"]) == ("18", "65")
    assert row["remark"] == found.remark
    assert all(float(row[name]) == number for name, number in found.row().items() if name != "remark")


def test_a_map_has_cells(tmp_path, grid):
    found = written(tmp_path / "out", grid, ["10:20,0:4"])
    assert "cells.csv" in found.files
    assert "buckets.csv" not in found.files
    rows = read(tmp_path / "out" / "cells.csv")
    assert len(rows) == 800
    assert [float(row["value"]) for row in rows] == grid.estimate.cells.ravel().tolist()
    assert (rows[-1]["age_from"], rows[-1]["age_to"], rows[-1]["x_from"], rows[-1]["x_to"]) == ("99", "100", "7", "8")
    (row,) = read(tmp_path / "out" / "answers.csv")
    assert float(row["value"]) == grid.answer((10, 0), (20, 4)).value


def test_labels_come_first():
    asked = ranges.Asked(("1",), ("2",), "here", (("name", "one, or two"),))
    found = dawa.Answer(1, 2, 3, 1, 4, 5, 0.9)
    table = tables.answers(dawa.release({"age": [1]}, AGE, epsilon=1, seed=0), [asked], [found])
    stream = io.StringIO()
    tables.write(table, stream)
    assert stream.getvalue().splitlines()[1].startswith('"one, or two",1,2,1,2,3')


def test_records_in_no_range_have_a_table(tmp_path):
    axes = dawa.Axis("age", 10, 90, outside="own"), dawa.Axis.ordered("x", [0, 1, 2])
    release = dawa.release(PEOPLE, axes, epsilon=1, seed=0)
    written(tmp_path / "out", release)
    rows = read(tmp_path / "out" / "apart.csv")
    found = release.apart()
    assert [row["label"] for row in rows] == [way.label for way in found]
    assert [(row["age_state"], row["x_state"]) for row in rows] == [way.states for way in found]
    for row, way, unbiased in zip(rows, found, release.others.unbiased, strict=True):
        for name in ("value", "noise_margin", "low", "high", "confidence"):
            assert float(row[name]) == getattr(way.answer, name)
        assert float(row["unbiased"]) == unbiased
        assert float(row["standard_deviation"]) ** 2 == pytest.approx(release.others.unit_variance)
    (alone,) = {tuple(row) for row in tables.apart(dawa.release(PEOPLE, AGE, epsilon=1, seed=0)).rows}
    assert alone[:2] == ("age missing", "missing")


def test_no_table_without_records_apart(tmp_path):
    axis = dawa.Axis("age", 0, 100, outside="drop", missing="drop")
    found = written(tmp_path / "out", dawa.release(PEOPLE, axis, epsilon=1, seed=0))
    assert "apart.csv" not in found.files
    page = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "apart.csv" not in page
    assert "no range" not in page
    assert "cannot be told from values at the edges" not in page
    assert list(read(tmp_path / "out" / "buckets.csv")[0])[-1] == "unbiased"


def test_clipped_edges_are_noted_in_tables(tmp_path, release):
    written(tmp_path / "out", release)
    notes = [row["remark"] for row in read(tmp_path / "out" / "buckets.csv")]
    assert (notes[0], notes[-1]) == ("with everything below 0", "with everything from 100 on")
    assert set(notes[1:-1]) == {""}
    one = tables.buckets(dawa.release(PEOPLE, AGE, epsilon=1, seed=0, partition="one"))
    assert [row[-1] for row in one.rows] == ["with everything below 0 and everything from 100 on"]


@pytest.mark.parametrize("outside", ["clip", "own"])
def test_every_edge_cell_of_a_map_is_noted_as_the_answer_for_it(outside):
    axes = dawa.Axis("age", 0, 100, 25), dawa.Axis("x", 0, 3, outside=outside), dawa.Axis("one", 0, 1)
    release = dawa.release({**PEOPLE, "one": np.zeros(1000)}, axes, epsilon=1, seed=0)
    table = tables.cells(release)
    assert table.header[-1] == "remark"
    rows = list(table.rows)
    assert len(rows) == 12
    for row in rows:
        assert row[-1] == release.answer(row[0:6:2], row[1:6:2]).remark
    assert any("on x with everything below 0" in row[-1] for row in rows) == (outside == "clip")


def test_the_page_warns_of_a_misspelt_list(tmp_path):
    axis = dawa.Axis.ordered("grade", ["A", "B"])
    release = dawa.release({"grade": ["a", "b", "B"] * 100}, axis, epsilon=1)
    written(tmp_path / "out", release)
    page = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "**Most records are in no range, about " in page
    assert "Check how the listed values are spelt." in page
    assert "cannot be told from values at the edges" not in page


def test_the_page_says_what_edges_hold_and_how_many_records_of_a_person_count(tmp_path):
    table = {**PEOPLE, "who": np.arange(1000) // 5}
    release = dawa.release(table, AGE, epsilon=1, unit="who", max_rows_per_unit=3)
    written(tmp_path / "out", release)
    page = " ".join((tmp_path / "out" / "README.md").read_text(encoding="utf-8").split())
    assert "They are numbers of at most 3 records of each value of 'who'." in page
    assert "`age` are counted with everything below 0 and everything from 100 on: values outside" in page
    assert "In no range: " in page
    assert "Most records" not in page


def test_a_picture_is_the_same_every_time(tmp_path, release, grid):
    for one in (release, grid):
        first, second = (tmp_path / f"{len(one.axes)}{name}.svg" for name in "ab")
        picture.draw(one, first)
        picture.draw(one, second)
        assert first.read_bytes() == second.read_bytes()
        assert "age" in first.read_text(encoding="utf-8")


def test_column_names_are_no_mathematics(tmp_path):
    axis = dawa.Axis.ordered("pay $\\frac{$", ["$a", "b$", "c"])
    release = dawa.release({axis.column: ["c"]}, axis, epsilon=1, seed=0)
    picture.draw(release, tmp_path / "release.svg")
    assert "$a" in (tmp_path / "release.svg").read_text(encoding="utf-8")


def test_the_page_says_what_is_protected(tmp_path, release):
    written(tmp_path / "out", release)
    page = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert str(release.privacy) in page
    assert "Do not publish" in page, "it was made with a seed"
    code = page.split("```python\n")[1].split("```")[0].replace("import pandas\n\npandas.", "import pandas\npandas.")
    code = code.replace('"release.json"', repr(str(tmp_path / "out" / "release.json")))
    code = code.replace('"buckets.csv"', repr(str(tmp_path / "out" / "buckets.csv")))
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102  the page's own example
    private = dawa.release(PEOPLE, AGE, epsilon=0.5)
    written(tmp_path / "private", private)
    assert "factor of 1.65 at most" in (tmp_path / "private" / "README.md").read_text(encoding="utf-8")


def test_an_earlier_folder_is_refused(tmp_path, release):
    written(tmp_path / "out", release)
    before = (tmp_path / "out" / "release.json").read_bytes()
    with pytest.raises(FolderError, match="exists already"), folder.prepared(tmp_path / "out"):
        pytest.fail("nothing may be spent")
    assert (tmp_path / "out" / "release.json").read_bytes() == before


def test_an_earlier_folder_is_moved_aside_and_kept(tmp_path, release):
    written(tmp_path / "out", release)
    (tmp_path / "out" / "mine.txt").write_text("keep", encoding="utf-8")
    first = written(tmp_path / "out", release, replace=True)
    second = written(tmp_path / "out", release, replace=True)
    assert (first.earlier, second.earlier) == (tmp_path / "out.earlier-1", tmp_path / "out.earlier-2")
    assert (tmp_path / "out.earlier-1" / "mine.txt").read_text(encoding="utf-8") == "keep"
    assert folder.opened(tmp_path / "out.earlier-1").answer(0, 9) == release.answer(0, 9)


def test_an_empty_folder_is_no_obstacle(tmp_path, release):
    (tmp_path / "out").mkdir()
    assert written(tmp_path / "out", release).earlier is None


@pytest.mark.parametrize("target", ["file", ".", "file/out", "..", "\0"])
def test_places_that_cannot_be(tmp_path, monkeypatch, target):
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    with pytest.raises(FolderError), folder.prepared(target, replace=True):
        pytest.fail("nothing may be spent")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_nothing_is_left_of_what_was_not_spent(tmp_path):
    with pytest.raises(dawa.DawaError), folder.prepared(tmp_path / "deep" / "out"):
        raise dawa.DawaError("Refused.", "try again.")
    assert not list(tmp_path.iterdir())


def full_disk(*_arguments, **_options):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_does_not_cost_the_release(tmp_path, release, monkeypatch):
    """It is kept beside the target if only the rest does not fit."""
    monkeypatch.setattr(tables, "write", full_disk)
    with pytest.raises(FolderError, match="release is safe in") as caught:
        written(tmp_path / "out", release)
    kept = Path(caught.value.problem.split("safe in ")[1].rstrip("."))
    assert folder.opened(kept).answer(18, 65) == release.answer(18, 65)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_nor_does_being_stopped(tmp_path, release, monkeypatch, error):
    def stopped(*_arguments):
        raise error

    monkeypatch.setattr(picture, "draw", stopped)
    with pytest.raises(FolderError, match=f"{error.__name__}.*release is safe in"):
        written(tmp_path / "out", release)


def test_a_disk_without_room_for_the_release_itself(tmp_path, release, monkeypatch):
    save, elsewhere = type(release).save, tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(elsewhere))
    monkeypatch.setenv("HOME", "/proc/nowhere")
    monkeypatch.setattr(
        type(release), "save", lambda self, path: save(self, path) if path.parent == elsewhere else full_disk()
    )
    with pytest.raises(FolderError, match=r"No space left on device.*safe in") as caught:
        written(tmp_path / "out", release)
    kept = Path(caught.value.problem.split("safe in ")[1].rstrip("."))
    assert kept.parent == elsewhere
    assert dawa.load(kept).answer(18, 65) == release.answer(18, 65)
    assert {path.name for path in tmp_path.iterdir()} == {"elsewhere"}


def test_no_disk_at_all(tmp_path, release, monkeypatch):
    monkeypatch.setattr(type(release), "save", full_disk)
    stream = io.StringIO()
    with folder.prepared(tmp_path / "out", last_resort=stream) as keeper:
        monkeypatch.setattr(folder.atomic, "write", full_disk)
        assert keeper.keep(release) is None
    assert "was printed" in keeper.written.problem.problem
    monkeypatch.undo()
    (tmp_path / "release.json").write_text(stream.getvalue(), encoding="utf-8")
    assert folder.opened(tmp_path).answer(18, 65) == release.answer(18, 65)
    assert json.loads(stream.getvalue())


def test_a_folder_that_appears_meanwhile_is_not_overwritten(tmp_path, release):
    with folder.prepared(tmp_path / "out") as keeper:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "other").touch()
        kept = keeper.keep(release).path
    assert "was taken in the meantime" in keeper.written.problem.problem
    assert str(kept) in keeper.written.problem.problem
    assert {path.name for path in kept.iterdir()} == set(keeper.written.files)
    assert not kept.name.startswith("."), "people see it"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["other"]


def test_a_folder_without_a_release(tmp_path):
    with pytest.raises(ReleaseError, match=r"There is no release\.json in"):
        folder.opened(tmp_path)
