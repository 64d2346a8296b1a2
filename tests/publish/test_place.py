"""Where folders go: links, mount points, folders that cannot be written, and what killed runs leave."""

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import dawa
from dawa.errors import FolderError
from dawa.host import atomic, scratch
from dawa.publish import folder
from dawa.publish import place as places
from dawa.results.keeping import Kept

AGE = dawa.Axis("age", 0, 100)


@pytest.fixture(scope="module")
def release():
    return dawa.release({"age": range(100)}, AGE, epsilon=1, seed=0)


def kept(target, release, **options):
    with folder.prepared(target, **options) as keeper:
        where = keeper.keep(release).path
    assert keeper.written.problem is None
    assert {path.name for path in where.iterdir()} == set(keeper.written.files)
    return keeper


def names(place):
    return {path.name for path in Path(place).iterdir()}


def test_a_link_to_an_empty_folder_stays_a_link(tmp_path, release):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    keeper = kept(tmp_path / "link", release)
    assert (tmp_path / "link").is_symlink()
    assert folder.opened(tmp_path / "link").id == release.id
    assert keeper.written.folder == tmp_path / "real"
    assert keeper.place.shown(keeper.written.folder) == tmp_path / "link"
    assert names(tmp_path) == {"real", "link"}


def test_a_link_that_leads_nowhere_leads_to_the_release_then(tmp_path, release):
    (tmp_path / "link").symlink_to(tmp_path / "deep" / "new")
    kept(tmp_path / "link", release)
    assert folder.opened(tmp_path / "deep" / "new").id == release.id


def test_links_in_a_circle(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(FolderError), folder.prepared(tmp_path / "a"):
        pytest.fail("nothing may be spent")
    assert names(tmp_path) == {"a", "b"}


@pytest.mark.parametrize("reason", ["mount point", "parent"])
def test_where_nothing_can_be_renamed_files_move_up(tmp_path, release, monkeypatch, reason):
    (tmp_path / "out" / "lost+found").mkdir(parents=True)
    if reason == "mount point":
        monkeypatch.setattr(places, "_mounted", lambda _: True)
    else:
        make = Path.mkdir

        def read_only(self, *arguments, **options):
            if self.parent == tmp_path:
                raise OSError(errno.EROFS, "Read-only file system")
            return make(self, *arguments, **options)

        monkeypatch.setattr(Path, "mkdir", read_only)
    with folder.prepared(tmp_path / "out") as keeper:
        assert keeper.place.inside
        assert keeper.keep(release).path == tmp_path / "out"
    assert names(tmp_path / "out") == {*keeper.written.files, "lost+found"}
    assert names(tmp_path) == {"out"}
    with (
        pytest.raises(FolderError, match=r"cannot be moved aside(?s:.)*inside it"),
        folder.prepared(tmp_path / "out", replace=True),
    ):
        pytest.fail("nothing may be spent")


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="Linux has a mount point there")  # noqa: S108
def test_a_mount_point_is_known_by_trying():
    assert places._mounted(Path("/dev/shm"))  # noqa: S108


def test_a_plain_folder_is_no_mount_point(tmp_path):
    assert not places._mounted(tmp_path)
    assert not names(tmp_path)


def test_what_appears_inside_meanwhile_is_not_overwritten(tmp_path, release, monkeypatch):
    monkeypatch.setattr(places, "_mounted", lambda _: True)
    (tmp_path / "out").mkdir()
    with folder.prepared(tmp_path / "out") as keeper:
        (tmp_path / "out" / "README.md").write_text("mine", encoding="utf-8")
        where = keeper.keep(release).path
    assert (tmp_path / "out" / "README.md").read_text(encoding="utf-8") == "mine"
    assert where.parent == tmp_path / "out"
    assert not where.name.startswith(".")
    assert "taken in the meantime" in keeper.written.problem.problem


def test_everything_is_synced_before_it_has_its_name(tmp_path, release, monkeypatch):
    """Files, then the folder that lists them, then the name; at last the folders above."""
    told = []
    fsync, rename = os.fsync, Path.rename
    monkeypatch.setattr(
        os, "fsync", lambda handle: (told.append(Path(f"/proc/self/fd/{handle}").readlink()), fsync(handle))[1]
    )
    monkeypatch.setattr(
        Path, "rename", lambda self, to: (told.append(f"{self.name} > {Path(to).name}"), rename(self, to))[1]
    )
    with folder.prepared(tmp_path / "new" / "out") as keeper:
        written = keeper.place.scratch
        keeper.keep(release)
    (named,) = [index for index, one in enumerate(told) if one == f"{written.name} > out"]
    before, after = told[:named], told[named + 1 :]
    files = [one for one in before if isinstance(one, Path) and one.parent == written]
    assert len(files) >= len(keeper.written.files), "each file"
    assert before[-1] == written, "then its folder"
    assert {tmp_path / "new" / "out", tmp_path / "new", tmp_path} <= set(after), "then those above, which are new too"


def test_a_killed_run_is_swept_and_a_release_is_not(tmp_path, release):
    old = time.time() - 2 * scratch.YOUNG
    for name, content in (
        (".out-00000001", None),
        (".out-00000002", "release"),
        (".out-other", None),
        (".other-00000003", None),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "asked.json").touch()
        if content is not None:
            atomic.write(tmp_path / name / "release.json", release.as_text())
        os.utime(tmp_path / name, (old, old))
    (tmp_path / ".out-00000004").mkdir()
    kept(tmp_path / "out", release)
    assert names(tmp_path) == {"out", ".out-00000002", ".out-other", ".other-00000003", ".out-00000004"}
    assert places.left_behind(tmp_path / "out") == [tmp_path / ".out-00000002"]


def test_a_run_that_is_at_work_is_not_swept(tmp_path, release):
    code = (
        "import sys, time\nfrom dawa.publish import place\n"
        "with place.prepared(sys.argv[1]): print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(  # noqa: S603  our own
        [sys.executable, "-c", code, str(tmp_path / "out")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        (left,) = tmp_path.iterdir()
        old = time.time() - 2 * scratch.YOUNG
        os.utime(left, (old, old))
        assert places.left_behind(tmp_path / "out") == []
        kept(tmp_path / "out", release)
        assert left.exists()
        process.kill()
    assert places.left_behind(tmp_path / "out") == [left]


@pytest.mark.parametrize("holds", [[], ["wedding.jpg"], ["asked.json", "wedding.jpg"]])
def test_folders_of_others_are_not_swept(tmp_path, release, holds):
    """A date has eight digits too."""
    (tmp_path / ".photos-20240101").mkdir()
    for name in holds:
        (tmp_path / ".photos-20240101" / name).touch()
    old = time.time() - 2 * scratch.YOUNG
    os.utime(tmp_path / ".photos-20240101", (old, old))
    kept(tmp_path / "photos", release)
    assert names(tmp_path / ".photos-20240101") == set(holds)


def test_without_locks_nothing_is_swept(tmp_path, release, monkeypatch):
    def none(*_arguments):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(scratch.fcntl, "flock", none)
    (tmp_path / ".out-00000001").mkdir()
    (tmp_path / ".out-00000001" / "asked.json").touch()
    old = time.time() - 2 * scratch.YOUNG
    os.utime(tmp_path / ".out-00000001", (old, old))
    kept(tmp_path / "out", release)
    assert names(tmp_path) == {"out", ".out-00000001"}


@pytest.mark.parametrize("mounted", [True, False])
@pytest.mark.parametrize("name", ["out", "o" * 240])
def test_what_is_not_paid_for_is_hidden(tmp_path, release, monkeypatch, mounted, name):
    if mounted:
        monkeypatch.setattr(places, "_mounted", lambda _: True)
        (tmp_path / name).mkdir()
    keeper = kept(tmp_path / name, release)
    rename = Path.rename

    def busy(self, to):
        if mounted and self == tmp_path / name:
            raise OSError(errno.EBUSY, "Device or resource busy")
        return rename(self, to)

    monkeypatch.setattr(Path, "rename", busy)
    hidden = keeper.withdraw(Kept.at(keeper.written.folder))
    assert hidden.name.startswith(".not-paid-for-")
    assert not (tmp_path / name / "release.json").exists()


@pytest.mark.parametrize("made", [True, False])
def test_folders_that_were_made_go_again_if_nothing_was_written(tmp_path, made):
    if not made:
        (tmp_path / "a").mkdir()
    with pytest.raises(RuntimeError), folder.prepared(tmp_path / "a" / "b" / "out"):
        raise RuntimeError
    assert names(tmp_path) == (set() if made else {"a"})
