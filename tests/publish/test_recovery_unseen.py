"""That no release is found does not say that none was made: nothing is taken back without somebody's word."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import dawa as library
from dawa import ledger, paying
from dawa.errors import LedgerError
from dawa.host import atomic, interrupts, mounts, scratch
from dawa.publish import folder, recovery
from dawa.publish import place as places
from dawa.results import keeping, traces
from helpers.commands import dawa, names, refused

AGES = ("--column", "age", "--range", "0:100", "--epsilon", "0.5", "--mechanism", "identity")
AXIS = library.Axis("age", 0, 100)
FILES = {"release.json", "buckets.csv", "apart.csv", "release.svg", "receipt.json", "croissant.json", "README.md"}
"""A folder that was paid for, in which no ranges were asked."""
PAID = {"epsilon": "0.5", "ledger": "dawa-ledger.db", "dataset": "hr"}
TAKE_BACK = ("ledger", "take-back", "2", "--why", "x")


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    (tmp_path / "home").mkdir()
    (tmp_path / "for-a-while").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "for-a-while"))
    monkeypatch.chdir(tmp_path / "work")
    Path("people.csv").write_text("age\n" + "\n".join(str(age) for age in range(100)) + "\n", encoding="utf-8")
    assert dawa("ledger", "create", "hr", "--cap", "2", "--unit", "record").code == 0


def book():
    return ledger.opened("dawa-ledger.db")


def release(*more, out="out"):
    return dawa("release", "people.csv", *AGES, "--dataset", "hr", "--out", out, *more)


def states(**options):
    return [trace.state for trace in recovery.recovered(book(), **options)]


def full(*_arguments, **_options):
    raise OSError(errno.ENOSPC, "No space left on device")


def here_full(file, mode):
    """The disk with the working folder is full, and others are not."""
    return full() if Path.cwd() in file.parents else file.open(mode)


def unbooked(*_arguments, **_options):
    raise LedgerError("The disk is full.", "make room.")


def pending(monkeypatch, out="out"):
    """A release whose ledger does not know it."""
    with monkeypatch.context() as failing:
        failing.setattr(ledger.Reservation, "finalise", unbooked)
        return release(out=out)


def gone(path):
    """What becomes of a disk that is taken away."""
    Path(path).rename("taken-away")


@pytest.mark.long
def test_a_disk_with_the_same_numbers_is_not_the_same_disk(monkeypatch):
    """Two sticks, one after the other: the same device, and the same number of the folder."""
    Path("usb").mkdir()
    pending(monkeypatch, out="usb/out")
    gone("usb/out")
    real = os.statvfs
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_fsid=real(path).f_fsid + 1))
    assert states() == [traces.ELSEWHERE]
    refused(dawa(*TAKE_BACK), "another disk", "--nothing-was-made")


def test_bookings_that_do_not_name_their_file_system_are_read(monkeypatch):
    now = scratch.here(Path())
    assert scratch.same(now, Path())
    assert scratch.same(now.rpartition(":")[0], Path()), "as earlier versions booked it"
    assert scratch.same(None, Path())
    assert not scratch.same(now[:-1] + ("1" if now[-1] != "1" else "2"), Path())
    monkeypatch.delattr(os, "statvfs")
    assert scratch.here(Path()) == now.rpartition(":")[0]


def test_what_is_mounted_over_a_folder_hides_what_was_in_it(monkeypatch):
    pending(monkeypatch)
    gone("out")
    Path("out").mkdir()
    assert states() == [traces.NOTHING]
    Path("mounts").write_text(f"1 0 0:1 / {Path('out').absolute()} rw - tmpfs none rw\n", encoding="utf-8")
    monkeypatch.setattr(mounts, "MOUNTS", Path("mounts"))
    assert states() == [traces.UNSEEN]
    refused(dawa(*TAKE_BACK), "cannot be seen", "--nothing-was-made")


def test_a_rescue_on_a_disk_that_is_not_there_any_more(monkeypatch, tmp_path):
    with monkeypatch.context() as disks:
        disks.setattr(library.Release, "save", full)
        pending(disks)
    gone(tmp_path / "home")
    (tmp_path / "home").mkdir()
    told = dawa("ledger", "recover").out
    assert f"no release was found in {Path('out').absolute()}" in told
    assert str(tmp_path / "home") in told
    assert "exchanged or unmounted since would not be seen" in told
    refused(dawa(*TAKE_BACK), "no release was found", "--nothing-was-made")
    with pytest.raises(LedgerError, match="no release was found"):
        book().take_back(2, why="recover found nothing")
    Path("taken-away").rename(tmp_path / "back")
    assert book().account("hr").spent == book().history()[1].epsilon


def test_what_was_printed_is_not_found_and_not_taken_back(monkeypatch):
    with monkeypatch.context() as disks:
        disks.setattr(library.Release, "save", full)
        disks.setattr(keeping, "rescued", lambda *_: None)
        disks.setattr(folder, "rescued", lambda *_: None)
        ran = pending(disks)
    assert ran.out.startswith("{")
    assert "was printed" in ran.err
    assert "\\n" not in ran.err
    assert "Entry 2 stays spent" in ran.err
    refused(dawa(*TAKE_BACK), "nor one that was printed", "--nothing-was-made")


def test_a_rescue_in_a_relative_home_is_found_from_everywhere(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", ".")
    with monkeypatch.context() as disks:
        disks.setattr(library.Release, "save", full)
        pending(disks)
    place = str(Path("dawa-ledger.db").absolute())
    monkeypatch.chdir(tmp_path / "for-a-while")
    (trace,) = recovery.recovered(ledger.opened(place))
    assert (trace.state, trace.where.parent) == (traces.BOOKED, tmp_path / "work")


def test_a_rescue_is_where_no_system_cleans_up(monkeypatch, tmp_path):
    monkeypatch.setattr(library.Release, "save", full)
    assert "is safe in" in release().err
    assert [path.name[:9] for path in (tmp_path / "home").iterdir()] == ["dawa-out-"]


def test_whoever_gives_their_word_is_still_told_of_a_release(monkeypatch):
    pending(monkeypatch)
    for word in (False, True):
        with pytest.raises(LedgerError, match="The release that entry 2 paid for is in"):
            book().take_back(2, why="x", nothing_was_made=word)
    gone("out")
    with pytest.raises(LedgerError, match="no release was found"):
        book().take_back(2, why="x", nothing_was_made="yes")
    assert book().take_back(2, why="x", nothing_was_made=True).what == {"why": "x"}


KILLED = """
import os, signal, sys
import dawa
from dawa.host import atomic
from dawa.publish import folder
{owner}.{name} = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
paid = {{"epsilon": "0.5", "ledger": "dawa-ledger.db", "dataset": "hr"}}
if {single}:
    dawa.release("people.csv", dawa.Axis("age", 0, 100), out="ages.json", **paid)
with folder.prepared("out") as keeper:
    dawa.release("people.csv", dawa.Axis("age", 0, 100), out=keeper, **paid)
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("owner", "name", "single"),
    [("atomic", "name", True), ("folder.Path", "replace", False), ("folder", "_completed", False)],
)
@pytest.mark.parametrize("by_hand", [False, True])
def test_on_a_disk_without_locks_all_that_was_written_is_found(monkeypatch, owner, name, single, by_hand):
    """Also if somebody has given the folder, in which a release may have no name yet, its own."""
    code = KILLED.format(owner=owner, name=name, single=single)
    if name == "replace":  # of the release alone
        code = code.replace("folder.Path.replace = lambda", "real = folder.Path.replace\nfolder.Path.replace = lambda")
        code = code.replace("lambda *_, **__:", "lambda a, b: real(a, b) if b.name == 'asked.json' else")
    ran = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)  # noqa: S603  ours
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    monkeypatch.setattr(scratch.fcntl, "flock", lambda *_: (_ for _ in ()).throw(OSError(95, "Not supported")))
    target = "ages.json" if single else "out"
    told = dawa("ledger", "recover").out
    assert "dawa ledger recover --ended" in told
    assert "remove" not in told
    refused(dawa(*TAKE_BACK, "--nothing-was-made"), "The release that entry 2 paid for is in")
    if by_hand:
        (left,) = (path for path in Path().iterdir() if path.is_dir())
        left.rename(target)
        refused(dawa(*TAKE_BACK, "--nothing-was-made"), "The release that entry 2 paid for is in")
        assert states() == [traces.BOOKED]
    else:
        assert states() == [traces.UNLOCKED]
        assert states(ended=True) == [traces.BOOKED]
    assert names() == {"people.csv", "dawa-ledger.db", target}
    if not single:
        assert names("out") == FILES
    file = "ages.json" if single else "out/release.json"
    assert library.load(file).id == book().history()[-1].release_id


def test_nothing_on_a_disk_without_locks_is_taken_back_on_somebodys_word(monkeypatch):
    monkeypatch.setattr(scratch.fcntl, "flock", lambda *_: (_ for _ in ()).throw(OSError(95, "Not supported")))
    with folder.prepared("out") as keeper:
        book().reserve("hr", "0.5", what={"kept": {**keeper.where, "release": "x"}}, mechanism="dawa")
        refused(dawa(*TAKE_BACK), "still at work", "surely ended")
        assert dawa(*TAKE_BACK, "--nothing-was-made").code == 0


def test_a_folder_that_holds_the_ledger_has_no_other_name(monkeypatch):
    """Another mount of the same disk, or a file system without case: another path, the same folder."""
    Path("data").mkdir()
    Path("dawa-ledger.db").rename("data/l.db")
    real = atomic.identity
    monkeypatch.setattr(atomic, "identity", lambda path: real(Path(str(path).replace("/alias", "/data"))))
    Path("alias").mkdir()
    Path("alias/something").touch()
    ages = ("release", "people.csv", *AGES, "--dataset", "hr", "--ledger", "data/l.db", "--force", "--out", "alias")
    refused(dawa(*ages), "The ledger", "lies in")
    Path("anchored").mkdir()
    monkeypatch.setenv("DAWA_LEDGER_ANCHOR", "data/anchor.txt")
    assert dawa("ledger", "create", "hr", "--cap", "1", "--ledger", "anchored/l.db").code == 0
    refused(dawa(*(word.replace("data/l.db", "anchored/l.db") for word in ages)), "The anchor", "lies in")
    assert len(ledger.opened("anchored/l.db").history()) == 1


@pytest.mark.parametrize("mounted", [False, True])
def test_links_in_a_folder_that_is_completed_are_not_followed(monkeypatch, mounted):
    """Somebody who may write there makes a link in the moment in which a file is written."""
    victim = Path("victim")
    victim.write_text("dear", encoding="utf-8")
    if mounted:
        Path("out").mkdir()
        monkeypatch.setattr(places, "_mounted", lambda _: True)
    made = library.release("people.csv", AXIS, epsilon="0.5")
    with folder.prepared("out") as keeper:
        book().reserve("hr", "0.5", what={"kept": {**keeper.where, "release": made.id}}, mechanism="dawa")
        made.save(keeper.place.scratch / "release.json")

    def linked(file, mode):
        for name in ("README.md", "release.svg", "buckets.csv"):
            if not os.path.lexists(file.parent / name):
                (file.parent / name).symlink_to(victim.absolute())
        return file.open(mode)

    monkeypatch.setattr(atomic, "open", linked, raising=False)
    assert "It cannot be written: File exists." in dawa("ledger", "recover").out
    assert victim.read_text(encoding="utf-8") == "dear"
    assert states(dry_run=True) == [traces.FOUND]


def test_a_folder_of_another_user_is_not_completed(monkeypatch):
    made = library.release("people.csv", AXIS, epsilon="0.5")
    with folder.prepared("out") as keeper:
        book().reserve("hr", "0.5", what={"kept": {**keeper.where, "release": made.id}}, mechanism="dawa")
        made.save(keeper.place.scratch / "release.json")
    before = names(keeper.place.scratch)
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    ran = dawa("ledger", "recover")
    assert "belongs to another user" in ran.out
    assert ran.code == 1
    assert names(keeper.place.scratch) == before


def asked_to_stop(monkeypatch):
    real = paying.Payment.settled

    def settled(self, release):
        os.kill(os.getpid(), signal.SIGINT)
        return real(self, release)

    monkeypatch.setattr(paying.Payment, "settled", settled)


@pytest.fixture
def ctrl_c():
    """A shell lets what runs in its background ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_a_full_disk_and_ctrl_c_lose_no_release(monkeypatch, tmp_path):
    asked_to_stop(monkeypatch)
    monkeypatch.setattr(atomic, "open", here_full, raising=False)
    with (
        pytest.warns(library.UnbookedWarning, match="is safe in"),
        pytest.raises(interrupts.Interrupted) as caught,
    ):
        library.release("people.csv", AXIS, out="ages.json", **PAID)
    (rescue,) = (tmp_path / "home").iterdir()
    (note,) = caught.value.__notes__
    assert str(rescue) in note
    assert "epsilon=0.5 was spent on dataset 'hr' for it (entry 2)" in note
    assert library.load(rescue).id == book().history()[-1].release_id


@pytest.mark.usefixtures("ctrl_c")
def test_a_release_that_is_in_memory_alone_is_handed_out(monkeypatch):
    asked_to_stop(monkeypatch)
    monkeypatch.setattr(atomic, "open", full, raising=False)
    with pytest.warns(library.UnbookedWarning) as told:
        made = library.release("people.csv", AXIS, out="ages.json", **PAID)
    assert ["save what you get" in str(one.message) for one in told] == [True, True]
    assert made.id == book().history()[-1].release_id


def test_a_file_that_was_rescued_and_not_booked_is_found(monkeypatch, tmp_path):
    with monkeypatch.context() as disks:
        disks.setattr(ledger.Reservation, "finalise", unbooked)
        disks.setattr(atomic, "open", here_full, raising=False)
        with pytest.warns(library.UnbookedWarning):
            library.release("people.csv", AXIS, out="ages.json", **PAID)
    (trace,) = recovery.recovered(book())
    assert (trace.state, trace.where.parent) == (traces.BOOKED, tmp_path / "home")


def without_memory(monkeypatch, times):
    """Let a release not be written so many times, because there is no memory."""
    calls = []

    def first(real):
        def written(self, *arguments):
            calls.append(1)
            if len(calls) <= times:
                raise MemoryError
            return real(self, *arguments)

        return written

    for name in ("saved", "as_text"):
        monkeypatch.setattr(library.Release, name, first(getattr(library.Release, name)))


@pytest.mark.parametrize("times", [1, 2])
def test_too_little_memory_is_like_too_little_room(monkeypatch, tmp_path, times):
    without_memory(monkeypatch, times)
    with pytest.warns(library.UnbookedWarning, match=r"\(MemoryError\), but the release is safe in"):
        made = library.release("people.csv", AXIS, out="ages.json", **PAID)
    (rescue,) = (tmp_path / ("home" if times == 1 else "for-a-while")).glob("dawa-*")
    assert library.load(rescue).id == made.id
    without_memory(monkeypatch, times)
    assert "(MemoryError), but the release is safe in" in release().err
    assert [entry.kind for entry in book().history()[1:]] == ["reserve", "finalise"] * 2


def test_two_runs_into_one_mount_point_replace_nothing_of_each_other(monkeypatch):
    """Both have looked whether something is there before the first moves its files."""
    Path("out").mkdir()
    monkeypatch.setattr(places, "_mounted", lambda _: True)
    monkeypatch.setattr(places, "_taken", lambda *_: False)
    made = [library.release("people.csv", AXIS, epsilon="0.5") for _ in range(2)]
    with folder.prepared("out") as first, folder.prepared("out") as second:
        kept = [first.keep(made[0]), second.keep(made[1])]
    assert [library.load(one.file).id for one in kept] == [one.id for one in made]
    assert kept[0].path == Path("out").absolute()
    assert kept[1].path.name.startswith("release-")
    assert str(kept[1].path) in second.written.problem.problem
    files = {"release.json", "buckets.csv", "apart.csv", "release.svg", "croissant.json", "README.md"}
    assert names("out") == {*files, kept[1].path.name}
    assert names(kept[1].path) == files


@pytest.mark.long_but(3)
@pytest.mark.parametrize("count", range(1, 6))
@pytest.mark.parametrize("taken", [False, True])
def test_a_run_that_is_stopped_between_two_files_is_completed(monkeypatch, count, taken):
    Path("out").mkdir()
    real, calls = os.unlink, []

    def stop(path, *arguments, **options):
        if ".dawa-" in Path(path).parent.name and Path(path).name[0] != "." and Path(path).name != "asked.json":
            calls.append(path)
            if len(calls) == count:
                raise SystemExit
        return real(path, *arguments, **options)

    made = library.release("people.csv", AXIS, epsilon="0.5")
    with monkeypatch.context() as patched:
        patched.setattr(places, "_mounted", lambda _: True)
        patched.setattr(places, "discard", lambda _: None)
        with folder.prepared("out") as keeper:
            book().reserve("hr", "0.5", what={"kept": {**keeper.where, "release": made.id}}, mechanism="dawa")
            patched.setattr(places, "visible", lambda place: place.scratch)
            patched.setattr(os, "unlink", stop)
            keeper.keep(made)
    if taken and not Path("out/README.md").exists():
        Path("out/README.md").write_text("mine", encoding="utf-8")
    (trace,) = recovery.recovered(book())
    assert (trace.state, trace.problem) == (traces.BOOKED, None)
    files = {"release.json", "buckets.csv", "apart.csv", "release.svg", "receipt.json", "croissant.json", "README.md"}
    assert files <= names("out")
    assert library.load(trace.where / "release.json").id == made.id
    if not taken:
        assert names("out") == files


@pytest.mark.parametrize("code", [errno.EXDEV, errno.EPERM])
def test_an_earlier_folder_that_cannot_be_moved(monkeypatch, code):
    Path("out").mkdir()
    Path("out/mine").touch()
    real = Path.rename

    def rename(self, target):
        if self.name == "out":
            raise OSError(code, os.strerror(code))
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    ran = release("--force")
    refused(ran, "The earlier out cannot be moved aside", os.strerror(code), "the release is complete in")
    (other,) = Path().glob("out-*")
    assert str(other.absolute()) in ran.err
    assert names(other) == FILES
    assert names("out") == {"mine"}
    assert book().history()[-1].kind == "finalise"


def test_what_cannot_be_listed_is_not_removed(monkeypatch):
    with folder.prepared("out") as keeper:
        (keeper.place.scratch / "release.json").write_text("dear", encoding="utf-8")
        monkeypatch.setattr(places, "_names", full)
    assert (keeper.place.scratch / "release.json").read_text(encoding="utf-8") == "dear"


class KilledError(BaseException):
    """The process is gone; nothing of it runs any more."""


def killed_before_the_name(monkeypatch, where):
    """A run that is killed when a file in this folder is whole, and has no name yet."""
    real = atomic.name

    def name(file, target):
        if target.parent == where:
            monkeypatch.setattr(Path, "unlink", lambda *_args, **_options: None)
            raise KilledError
        real(file, target)

    monkeypatch.setattr(atomic, "name", name)


@pytest.mark.parametrize("scratch_gone", [False, True])
def test_a_file_without_a_name_is_found_where_it_was_rescued_and_beside_its_target(monkeypatch, tmp_path, scratch_gone):
    with monkeypatch.context() as disks:
        if scratch_gone:
            real = keeping.FileKeeper.keep

            def keep(self, release, paid=None):
                self.scratch.rmdir()
                return real(self, release, paid)

            disks.setattr(keeping.FileKeeper, "keep", keep)
        else:
            disks.setattr(atomic, "open", here_full, raising=False)
        killed_before_the_name(disks, Path.cwd() if scratch_gone else tmp_path / "home")
        with pytest.raises(KilledError):
            library.release("people.csv", AXIS, out="ages.json", **PAID)
    other = (Path.cwd() if scratch_gone else tmp_path / "home") / f".dawa-{'0' * 16}"
    other.write_text("of somebody who is writing", encoding="utf-8")
    (trace,) = recovery.recovered(book())
    assert trace.state == traces.BOOKED
    assert library.load(trace.where).id == book().history()[-1].release_id
    assert other.is_file()
    assert not Path("ages.json").exists() or library.load("ages.json").id == book().history()[-1].release_id
