"""A release goes where it stays; what is not paid for goes away again, and nothing of others does."""

import json
import os
from pathlib import Path

import pytest

import dawa
from dawa.errors import FolderError, OptionError
from dawa.publish import folder
from dawa.results import keeping
from dawa.results.keeping import FileKeeper, Kept

AGES = {"age": [1, 2, 3]}
AXIS = dawa.Axis("age", 0, 9)


@pytest.fixture(scope="module")
def release():
    return dawa.release(AGES, AXIS, epsilon=1, seed=0)


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def names():
    return sorted(path.name for path in Path().iterdir())


def test_a_file_is_written_whole_and_nothing_else_stays(release):
    with FileKeeper.at("ages.json") as keeper:
        kept = keeper.keep(release)
    assert dawa.load(kept.path).id == release.id
    assert names() == ["ages.json"]


def test_a_file_that_somebody_has_put_in_its_place_is_left_alone(release):
    """A person moves a release while the ledger is waited for, and writes a file of that name."""
    with FileKeeper.at("ages.json") as keeper:
        kept = keeper.keep(release)
        Path("ages.json").rename("moved.json")
        Path("ages.json").write_text("mine", encoding="utf-8")
        assert keeper.withdraw(kept) is None
    assert Path("ages.json").read_text(encoding="utf-8") == "mine"
    assert names() == ["ages.json", "moved.json"]


@pytest.mark.parametrize("force", [True, False])
def test_a_folder_that_somebody_has_put_in_its_place_is_left_alone(release, force):
    if force:
        Path("out").mkdir()
        Path("out/earlier").touch()
    with folder.prepared("out", replace=force) as keeper:
        kept = keeper.keep(release)
        Path("out").rename("moved")
        Path("out").mkdir()
        Path("out/release.json").write_text("mine", encoding="utf-8")
        assert keeper.withdraw(kept) is None
    assert Path("out/release.json").read_text(encoding="utf-8") == "mine"
    assert names() == [*(["moved", "out", "out.earlier-1"] if force else ["moved", "out"])]


def test_an_earlier_folder_comes_back(release):
    Path("out").mkdir()
    Path("out/earlier").touch()
    with folder.prepared("out", replace=True) as keeper:
        hidden = keeper.withdraw(keeper.keep(release))
    assert hidden.name.startswith(keeping.UNPAID)
    assert [path.name for path in Path("out").iterdir()] == ["earlier"]


def test_what_is_gone_cannot_be_withdrawn():
    assert Kept.at(Path("nothing")).withdrawn() is None


@pytest.mark.parametrize(
    ("name", "reason"),
    [("x" * 256, "too long"), ("people.csv/x", "Not a directory"), ("nowhere/x", "No such file"), ("a\0b", "a name")],
)
def test_names_that_cannot_be_are_refused_before_anything_is_paid(name, reason):
    Path("people.csv").touch()
    with pytest.raises(FolderError, match=reason), FileKeeper.at(name):
        pass
    assert names() == ["people.csv"]


@pytest.mark.parametrize("out", [123, b"ages.json", 1.5, ["ages.json"]])
def test_what_is_no_name_is_refused(out):
    with pytest.raises(OptionError, match="is not the name of a file"):
        dawa.release(AGES, AXIS, epsilon=1, out=out)


class Bytes:
    def __fspath__(self):
        return b"ages.json"


def test_a_path_of_bytes_is_refused():
    with pytest.raises(OptionError, match="is not the name of a file"):
        dawa.release(AGES, AXIS, epsilon=1, out=Bytes())


@pytest.mark.parametrize("prepared", [FileKeeper.at, folder.prepared])
def test_a_folder_that_nobody_may_enter(prepared, monkeypatch):
    """As with a mask that takes all rights away."""
    real = os.open

    def closed(path, *arguments, **options):
        if Path(path).is_dir():
            raise PermissionError(13, "Permission denied")
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", closed)
    with pytest.raises(FolderError, match="Permission denied"), prepared("out"):
        pass
    assert names() == []


def test_a_file_that_has_the_number_of_the_one_that_was_kept_is_left_alone(release):
    """File systems give the number of a file that is removed to the next one."""
    with FileKeeper.at("ages.json") as keeper:
        kept = keeper.keep(release)
        Path("ages.json").unlink()
        Path("ages.json").write_text("mine", encoding="utf-8")
        assert keeper.withdraw(kept) is None
    assert Path("ages.json").read_text(encoding="utf-8") == "mine"


def test_a_scratch_folder_that_somebody_removed_costs_no_release(release):
    with FileKeeper.at("ages.json") as keeper:
        keeper.scratch.rmdir()
        assert dawa.load(keeper.keep(release).path).id == release.id


def test_what_is_hidden_inside_its_scratch_folder_is_not_removed(release, monkeypatch):
    """Its folder can get no name, and then it turns out not to be paid for."""
    rename = Path.rename

    def closed(self, to):
        if self.is_dir():
            raise PermissionError(13, "Permission denied")
        return rename(self, to)

    with folder.prepared("out") as keeper:
        monkeypatch.setattr(Path, "rename", closed)
        hidden = keeper.withdraw(keeper.keep(release))
    assert dawa.load(hidden).id == release.id


def test_a_release_that_cannot_be_printed_where_it_should_be_is_printed_elsewhere(release, monkeypatch, capsys):
    def full(*_arguments, **_options):
        raise OSError(28, "No space left on device")

    with folder.prepared("out") as keeper, open("/dev/full", "w", encoding="utf-8") as printed:  # noqa: PTH123  the same
        keeper.last_resort = printed
        monkeypatch.setattr(folder.atomic, "write", full)
        monkeypatch.setattr(type(release), "save", full)
        assert keeper.keep(release) is None
        with pytest.raises(OSError, match="No space"):
            printed.close()
    assert json.loads(capsys.readouterr().err)["format"] == "dawa-release"
