"""What a ledger says about a release is believed as far as a run could have written it, and only where the run was."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

import dawa as library
from dawa import ledger, sources
from dawa.errors import LedgerError, TakenBackError
from dawa.host import atomic, scratch
from dawa.publish import folder, recovery
from dawa.results import traces
from helpers.commands import dawa, refused, taken_back_elsewhere

AGES = ("--column", "age", "--range", "0:100")
AXIS = library.Axis("age", 0, 100)
PAID = {"epsilon": "0.5", "ledger": "dawa-ledger.db", "dataset": "hr"}


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/proc/nowhere")
    Path("people.csv").write_text("age\n" + "\n".join(str(age) for age in range(100)) + "\n", encoding="utf-8")
    assert dawa("ledger", "create", "hr", "--cap", "2", "--unit", "record").code == 0


def book():
    return ledger.opened("dawa-ledger.db")


def names(place="."):
    return {path.name for path in Path(place).iterdir()}


def reserved(**kept):
    """Somebody who may spend writes what they like into the ledger."""
    words = {name: str(Path(value).absolute()) if name != "release" else value for name, value in kept.items()}
    return book().reserve("hr", "0.1", what={"kept": words}, mechanism="dawa")


def published():
    assert dawa("release", "people.csv", *AGES, "--epsilon", "0.5", "--dataset", "hr", "--out", "pub").code == 0
    return library.load("pub/release.json").id


def test_a_published_folder_is_not_moved_for_somebody_who_names_it():
    name = published()
    Path("pub/.dawa-notes").write_text("mine", encoding="utf-8")
    before = names("pub")
    reserved(folder="elsewhere", scratch="pub", release=name)
    assert dawa("ledger", "recover").code == 0
    assert names("pub") == before
    assert not Path("elsewhere").exists()


def test_a_release_is_booked_once():
    name = published()
    reserved(folder="pub", scratch=".pub-00000000", release=name)
    ran = dawa("ledger", "recover")
    assert ran.code == 1
    assert "has booked this release already" in ran.out
    with pytest.raises(LedgerError, match="is booked already"):
        book().reserve("hr", "0.1", what={}, mechanism="dawa").finalise(name)


@pytest.mark.long
def test_a_folder_of_somebody_else_is_not_removed():
    name = published()
    Path("empty").mkdir()
    reserved(folder="pub", scratch="empty", release=name)
    reserved(file="pub/release.json", scratch="empty", release=name)
    dawa("ledger", "recover")
    assert Path("empty").exists()


@pytest.mark.parametrize(
    "kept",
    [
        {"file": "/", "scratch": "/", "release": "x"},
        {"scratch": "/x/.dawa-00000000", "release": "x"},
        {"folder": "relative", "scratch": ".relative-00000000", "release": "x"},
        {"folder": "/a/b", "scratch": "/a/.b-00000000"},
        {"folder": "/a/b", "scratch": "/a/../a/.b-00000000", "release": "x"},
    ],
)
def test_one_strange_entry_does_not_stop_the_others(kept):
    book().reserve("hr", "0.1", what={"kept": kept}, mechanism="dawa")
    assert dawa("ledger", "recover").code == 0
    assert dawa("ledger", "take-back", "2", "--why", "it was nonsense", "--nothing-was-made").code == 0


def test_a_pipe_is_not_waited_for():
    os.mkfifo("out.earlier-1")
    os.mkfifo("out")
    reserved(folder="out", scratch=".out-00000000", release="x")
    assert [trace.state for trace in recovery.recovered(book())] == [traces.NOTHING]


KILLED = """
import os, signal, sys
import dawa
from dawa.host import atomic
{owner}.{name} = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
paid = {{"epsilon": "0.5", "ledger": "dawa-ledger.db", "dataset": "hr"}}
dawa.release("people.csv", dawa.Axis("age", 0, 100), out="ages.json", **paid)
"""


@pytest.mark.long
@pytest.mark.parametrize(("owner", "name"), [("os", "link"), ("atomic", "name")])
def test_a_file_that_got_no_name_is_found(owner, name):
    """Killed between the file that is whole and its name."""
    code = KILLED.format(owner=owner, name=name)
    ran = subprocess.run([sys.executable, "-c", code], check=False)  # noqa: S603  ours
    assert ran.returncode == -signal.SIGKILL
    refused(dawa("ledger", "take-back", "2", "--why", "x"), "The release that entry 2 paid for is in")
    (trace,) = recovery.recovered(book())
    assert (trace.state, trace.where.name) == (traces.BOOKED, "ages.json")
    assert library.load("ages.json").id == book().history()[-1].release_id
    assert names() == {"people.csv", "dawa-ledger.db", "ages.json"}


@pytest.mark.long
def test_a_file_that_got_no_name_and_whose_name_is_taken():
    code = KILLED.format(owner="os", name="link")
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL  # noqa: S603  ours
    Path("ages.json").write_text("mine", encoding="utf-8")
    (trace,) = recovery.recovered(book())
    assert trace.state == traces.BOOKED
    assert Path("ages.json").read_text(encoding="utf-8") == "mine"
    assert library.load(trace.where).id == book().history()[-1].release_id


def killed_in_folder():
    """A run whose release.json is whole and has no name yet."""
    made = library.release("people.csv", AXIS, epsilon="0.5")
    with folder.prepared("out") as keeper:
        place = keeper.place
        book().reserve("hr", "0.5", what={"kept": {**place.where, "release": made.id}}, mechanism="dawa")
        Path("held").mkdir()
        atomic.write(Path("held/asked.json"), "[]")
        (Path("held") / ".dawa-0123456789abcdef").write_text(made.as_text(), encoding="utf-8")
    Path("held").rename(place.scratch)
    os.utime(place.scratch, (0, 0))
    return place


@pytest.mark.long
def test_a_release_without_a_name_is_found_in_a_folder_and_never_swept():
    place = killed_in_folder()
    assert dawa("release", "people.csv", *AGES, "--epsilon", "1", "--out", "out").code == 0
    assert place.scratch.exists(), "it may be a release that somebody has paid for"
    (trace,) = recovery.recovered(book())
    assert trace.state == traces.BOOKED
    assert library.load(trace.where / "release.json").id == book().history()[-1].release_id
    assert not place.scratch.exists()


def test_half_a_release_is_not_nothing():
    place = killed_in_folder()
    (half,) = scratch.halves(place.scratch)
    half.write_text(half.read_text(encoding="utf-8")[:-2], encoding="utf-8")
    assert [trace.state for trace in recovery.recovered(book())] == [traces.UNREADABLE]
    refused(dawa("ledger", "take-back", "2", "--why", "x"), "There may be a release")


def failing(_):
    raise ZeroDivisionError


def test_where_the_run_was_somewhere_else_nothing_here_means_nothing(monkeypatch):
    with monkeypatch.context() as there:
        there.setattr(scratch, "here", lambda _: "another machine")
        there.setattr(sources.Query, "counts", failing)
        with pytest.raises(ZeroDivisionError):
            library.release("people.csv", AXIS, out="ages.json", **PAID)
    assert [trace.state for trace in recovery.recovered(book())] == [traces.ELSEWHERE]
    assert "on another machine" in dawa("ledger", "recover").out
    refused(dawa("ledger", "take-back", "2", "--why", "x"), "on another machine", "--nothing-was-made")
    assert dawa("ledger", "take-back", "2", "--why", "looked there", "--nothing-was-made").code == 0


def test_a_release_of_a_ledger_that_was_replaced_is_hidden_and_comes_back_with_it(monkeypatch):
    """An older copy of the ledger is put in its place while a run is at work: it has no entry that pays."""
    older, counts = Path("dawa-ledger.db").read_bytes(), sources.Query.counts

    def replaced(self):
        Path("dawa-ledger.db").rename("right.db")
        Path("dawa-ledger.db").write_bytes(older)
        return counts(self)

    monkeypatch.setattr(sources.Query, "counts", replaced)
    with pytest.raises(TakenBackError, match="no longer has entry 2") as caught:
        library.release("people.csv", AXIS, out="ages.json", **PAID)
    assert "not paid for" in caught.value.problem
    assert not Path("ages.json").exists()
    Path("right.db").replace("dawa-ledger.db")
    (trace,) = recovery.recovered(book())
    assert trace.state == traces.BOOKED
    assert book().history()[-1].release_id == library.load(trace.where).id


def test_a_rescue_replaces_nothing(monkeypatch, tmp_path):
    Path("victim").write_text("dear", encoding="utf-8")
    made = library.release("people.csv", AXIS, epsilon=1, seed=0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with folder.prepared("out") as keeper, open("printed", "w", encoding="utf-8") as printed:  # noqa: PTH123  the same
        keeper.last_resort = printed
        (rescue,) = (rescue for rescue in keeper.place.rescues if rescue.parent == tmp_path)
        rescue.symlink_to(tmp_path / "victim")
        monkeypatch.setattr(type(made), "save", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
        keeper.keep(made)
    assert Path("victim").read_text(encoding="utf-8") == "dear"
    assert library.load("printed").id == made.id


@pytest.mark.parametrize("ending", ["", "-journal", "-wal", "-shm"])
def test_what_belongs_to_the_ledger_is_no_place_for_a_release(ending):
    name = f"dawa-ledger.db{ending}"
    with pytest.raises(library.errors.FolderError, match=r"SQLite uses such a name|exists already"):
        library.release("people.csv", AXIS, out=name, **PAID)
    assert len(book().history()) == 1
    if ending:
        ages = (*AGES, "--epsilon", "0.5", "--dataset", "hr")
        refused(dawa("release", "people.csv", *ages, "--out", name), "SQLite uses such a name")
        refused(dawa("release", "people.csv", *AGES, "--epsilon", "1", "--out", name), "SQLite uses such a name")
        refused(dawa("release", "people.csv", *ages, "--out", "out", "--save-spec", name), "SQLite uses such a name")
        refused(dawa("ledger", "export", "--out", name), "belongs to it")
        refused(dawa("ledger", "create", "x", "--cap", "1", "--ledger", name), "SQLite removes files with such names")
        with pytest.raises(LedgerError, match="a file of SQLite"):
            ledger.opened("dawa-ledger.db", anchor=name)


def test_a_folder_that_holds_the_ledger_is_not_moved_aside():
    Path("data").mkdir()
    Path("dawa-ledger.db").rename("data/l.db")
    ages = (*AGES, "--epsilon", "0.5", "--dataset", "hr", "--ledger", "data/l.db")
    Path("link").symlink_to("data")
    for out in ("data", "link"):
        refused(dawa("release", "people.csv", *ages, "--out", out, "--force"), "lies in")
    assert names("data") == {"l.db"}


def test_a_log_that_another_program_asked_for_is_given_up():
    """In SQLite's mode WAL a copy of the file would lack the newest entries."""
    with sqlite3.connect("dawa-ledger.db") as other:
        assert other.execute("PRAGMA journal_mode = wal").fetchone() == ("wal",)
        other.execute("SELECT count(*) FROM dawa_ledger_entries").fetchall()
        with pytest.raises(LedgerError, match=r"WAL|busy"):
            book().reserve("hr", "0.1", what={}, mechanism="dawa")
    other.close()
    book().reserve("hr", "0.1", what={}, mechanism="dawa")
    Path("copy.db").write_bytes(Path("dawa-ledger.db").read_bytes())
    assert len(ledger.opened("copy.db").history()) == 2


def test_a_page_is_not_written_through_a_link(tmp_path):
    published()
    Path("pub/report.html").symlink_to(tmp_path / "anywhere")
    refused(dawa("explore", "pub", "--no-open"), "is a link")
    assert not Path("anywhere").exists()
    assert dawa("explore", "pub", "--no-open", "--out", "page.html").code == 0


def killed(out):
    """A run of Python that is killed before the ledger is told."""
    code = KILLED.replace('"ages.json"', repr(str(out))).format(owner="decisions", name="finalise")
    code = code.replace("from dawa.host import atomic", "from dawa.ledger import decisions")
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL  # noqa: S603  ours


@pytest.mark.long
def test_a_link_that_points_elsewhere_now_hides_no_release():
    Path("first").mkdir()
    Path("second").mkdir()
    Path("current").symlink_to("first")
    killed("current/ages.json")
    Path("current").unlink()
    Path("current").symlink_to("second")
    (trace,) = recovery.recovered(book())
    assert (trace.state, trace.where) == (traces.BOOKED, Path("first/ages.json").resolve())


@pytest.mark.long
def test_a_folder_that_was_removed_on_the_way_hides_no_release():
    Path("work").mkdir()
    killed("work/../ages.json")
    Path("work").rmdir()
    assert [trace.state for trace in recovery.recovered(book())] == [traces.BOOKED]


@pytest.mark.long
def test_a_folder_that_was_moved_is_not_looked_for_under_its_name():
    """--force moves a folder in which a release lies; another takes its place."""
    Path("out").mkdir()
    killed("out/ages.json")
    Path("out").rename("out.earlier-1")
    Path("out").mkdir()
    assert [trace.state for trace in recovery.recovered(book())] == [traces.ELSEWHERE]
    refused(dawa("ledger", "take-back", "2", "--why", "x"), "cannot be seen from here")


def test_a_folder_that_cannot_be_listed_is_not_empty(monkeypatch):
    reserved(folder="out", scratch=".out-00000000", release="x")
    real = Path.iterdir

    def closed(self):
        if self == Path.cwd():
            raise PermissionError(13, "Permission denied")
        return real(self)

    monkeypatch.setattr(Path, "iterdir", closed)
    assert [trace.state for trace in recovery.recovered(book())] == [traces.UNSEEN]
    refused(dawa("ledger", "take-back", "2", "--why", "x"), "cannot be seen", "--nothing-was-made")
    assert dawa("ledger", "take-back", "2", "--why", "looked", "--nothing-was-made").code == 0


@pytest.mark.parametrize("name", ["home", "."])
def test_a_folder_that_cannot_be_listed_hides_nothing_that_can_be_seen(monkeypatch, name):
    """As the home of somebody else, where a rescue might be."""
    Path("home").mkdir()
    monkeypatch.setattr(Path, "home", lambda: Path("home").absolute())
    made = library.release("people.csv", AXIS, epsilon="0.5")
    with folder.prepared("out") as keeper:
        keeper.keep(made)
        book().reserve("hr", "0.5", what={"kept": {**keeper.where, "release": made.id}}, mechanism="dawa")
    real, unlisted = Path.iterdir, Path(name).resolve()

    def closed(self):
        if self == unlisted:
            raise PermissionError(13, "Permission denied")
        return real(self)

    monkeypatch.setattr(Path, "iterdir", closed)
    refused(dawa("ledger", "take-back", "2", "--why", "x", "--nothing-was-made"), "paid for is in")
    assert [trace.state for trace in recovery.recovered(book())] == [traces.BOOKED]


def test_a_link_to_itself_hides_nothing():
    made = library.release("people.csv", AXIS, epsilon="0.5")
    with folder.prepared("out") as keeper:
        keeper.keep(made)
        book().reserve("hr", "0.5", what={"kept": {**keeper.where, "release": made.id}}, mechanism="dawa")
    keeper.place.scratch.symlink_to(keeper.place.scratch)
    refused(dawa("ledger", "take-back", "2", "--why", "x", "--nothing-was-made"), "paid for is in")


def test_what_others_leave_among_the_temporary_files_decides_nothing(tmp_path, monkeypatch):
    (tmp_path / "shared").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "shared"))
    with folder.prepared("out") as keeper:
        book().reserve("hr", "0.5", what={"kept": {**keeper.where, "release": "x"}}, mechanism="dawa")
    (tmp_path / "shared" / ".not-paid-for-folder").mkdir()
    (tmp_path / "shared" / ".not-paid-for-junk").write_text("junk", encoding="utf-8")
    monkeypatch.setattr(traces, "_own", lambda _: False)
    with scratch.locked(tmp_path / "shared" / ".not-paid-for-folder"):
        assert [trace.state for trace in recovery.recovered(book())] == [traces.NOTHING]


def test_a_release_that_gets_its_name_in_this_moment_is_seen(monkeypatch):
    made = library.release("people.csv", AXIS, epsilon="0.5")
    with folder.prepared("out") as keeper:
        book().reserve("hr", "0.5", what={"kept": {**keeper.where, "release": made.id}}, mechanism="dawa")
        real, calls = traces._maybe, []

        def late(path):
            seen = real(path)
            if path == keeper.place.target and not calls:
                calls.append(keeper.keep(made))
            return seen

        monkeypatch.setattr(traces, "_maybe", late)
        monkeypatch.setattr(scratch, "locked", lambda _: nullcontext(enter_result=True))
        assert [trace.state for trace in recovery.recovered(book())] == [traces.BOOKED]


def test_a_release_that_costs_more_than_was_paid_is_not_booked():
    made = library.release("people.csv", AXIS, epsilon=9, out="big.json")
    reserved(file="big.json", scratch=".dawa-00000000", release=made.id)
    ran = dawa("ledger", "recover")
    assert "has not paid for what is there" in ran.out
    assert len(book().history()) == 2


def test_what_was_taken_back_cannot_be_had_for_less(monkeypatch):
    counts = sources.Query.counts

    def taken(self):
        taken_back_elsewhere(book(), 2)
        return counts(self)

    with monkeypatch.context() as patched:
        patched.setattr(sources.Query, "counts", taken)
        with pytest.raises(TakenBackError):
            library.release("people.csv", AXIS, out="ages.json", **PAID)
    (hidden,) = Path().glob(".not-paid-for-*")
    reserved(file="ages.json", scratch=".dawa-00000000", release=library.load(hidden).id)
    assert "has not paid for what is there" in dawa("ledger", "recover").out


def test_a_linked_scratch_folder_is_not_written_to():
    Path("victim").mkdir()
    made = library.release("people.csv", AXIS, epsilon="0.1")
    made.save("victim/release.json")
    for name in ("asked.json", ".dawa-0123456789abcdef"):
        Path("victim", name).write_text("mine", encoding="utf-8")
    before = names("victim")
    Path(".out-00000000").symlink_to("victim")
    reserved(folder="out", scratch=".out-00000000", release=made.id)
    assert "is a link" in dawa("ledger", "recover").out
    assert names("victim") == before


@pytest.mark.long
def test_what_recover_finds_is_not_called_unpaid():
    """The right ledger is back, and with it the payment."""
    killed("ages.json")
    Path("ages.json").rename(".not-paid-for-01234567")
    (trace,) = recovery.recovered(book())
    assert (trace.state, trace.where.name) == (traces.BOOKED, "ages.json")
    assert not list(Path().glob(".not-paid-for-*"))


def test_a_run_whose_release_was_recovered_meanwhile_ends_well(monkeypatch):
    finalise = ledger.Reservation.finalise

    def late(self, *arguments):
        finalise(self, *arguments)
        return finalise(self, *arguments)

    monkeypatch.setattr(ledger.Reservation, "finalise", late)
    made = library.release("people.csv", AXIS, out="ages.json", **PAID)
    assert [entry.release_id for entry in book().history() if entry.kind == "finalise"] == [made.id]


@pytest.mark.parametrize("content", ['[{"lo":[1],"hi":[2]}]', '"', "[3]", ""])
def test_damaged_ranges_do_not_stop_recovery(content):
    place = killed_in_folder()
    (place.scratch / "asked.json").write_text(content, encoding="utf-8")
    assert [trace.state for trace in recovery.recovered(book())] == [traces.BOOKED]


def test_without_locks_nobody_can_tell(monkeypatch):
    place = killed_in_folder()
    monkeypatch.setattr(scratch.fcntl, "flock", lambda *_: (_ for _ in ()).throw(OSError(95, "Not supported")))
    assert [trace.state for trace in recovery.recovered(book())] == [traces.UNLOCKED]
    assert str(place.scratch) in dawa("ledger", "recover").out.replace("\n", "")
    refused(dawa("ledger", "take-back", "2", "--why", "x"), "still at work", "surely ended")


@pytest.mark.parametrize("name", ["人" * 83, "\U0001f600" * 61])
def test_long_names_in_other_scripts(name):
    reserved(file=f"{name}.js", scratch=".dawa-00000000", release="x")
    reserved(folder=name, scratch=f".{name}-00000000", release="x")
    assert {trace.state for trace in recovery.recovered(book())} == {traces.NOTHING}


def test_a_file_that_is_no_release_can_be_moved_away():
    reserved(folder="out", scratch=".out-00000000", release="x")
    Path("out").mkdir()
    Path("out/release.json").write_text('{"name": "npm"}', encoding="utf-8")
    refused(
        dawa("ledger", "take-back", "2", "--why", "x", "--nothing-was-made"), "There may be a release", "move it away"
    )
    Path("out").rename("mine")
    assert dawa("ledger", "take-back", "2", "--why", "it was another file", "--nothing-was-made").code == 0


def test_a_folder_that_holds_the_anchor_is_not_moved_aside(monkeypatch):
    Path("out").mkdir()
    monkeypatch.setenv("DAWA_LEDGER_ANCHOR", "out/anchor.txt")
    assert dawa("ledger", "create", "x", "--cap", "1", "--unit", "record", "--ledger", "new.db").code == 0
    paid = (*AGES, "--epsilon", "0.5", "--dataset", "x", "--ledger", "new.db", "--out", "out", "--force")
    refused(dawa("release", "people.csv", *paid), "The anchor", "lies in")


@pytest.mark.parametrize("name", ["report.html", "release.json"])
def test_a_pipe_in_a_folder_that_somebody_sent_is_not_waited_for(name):
    published()
    Path("pub", name).unlink(missing_ok=True)
    os.mkfifo(Path("pub", name))
    assert dawa("explore", "pub", "--no-open").code == 1
    if name == "release.json":
        assert dawa("query", "pub", "1:2").code == 1


@pytest.mark.long
def test_releases_of_every_kind_are_booked_as_what_was_paid():
    """With a unit of odd names, a cap and bounds that are found, and a mechanism with options."""
    code = """
import os, signal
import dawa
from dawa.ledger import decisions
decisions.finalise = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
table = {"age": list(range(100)) * 20, "per\\nson": [n // 3 for n in range(2000)], "Day": ["x"] * 2000}
paid = {"epsilon": "1/3", "ledger": "units.db", "dataset": "hr", "unit": ["per\\nson", "Day"]}
mechanism = dawa.mechanisms.Dawa(effort="fast", postprocess="rounded")
dawa.release(table, dawa.Axis.auto("age"), out="a.json", mechanism=mechanism, max_rows_per_unit="auto", **paid)
"""
    ledger.opened("units.db").create("hr", cap=2, unit=["per\nson", "Day"])
    ran = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)  # noqa: S603  ours
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    (trace,) = recovery.recovered(ledger.opened("units.db"))
    assert (trace.state, trace.problem) == (traces.BOOKED, None)
