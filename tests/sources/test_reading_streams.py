"""What arrives once: standard input, pipes, open files. It is read as a file would be, its header before all else."""

import gzip
import io
import os
import pty
import re
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

import dawa
from dawa import Axis, ledger, sources
from dawa.errors import AxisError, DawaError, SourceError
from dawa.sources import places
from helpers.binning import found
from helpers.commands import dawa as command
from helpers.commands import refused
from helpers.reading import CANARY, X, check_neighbours, outcome

TEXT = b"x,y\n" + b"5,a\n7,b\n" * 1000
LINES = b'{"x": 5}\n{"x": 7}\n' * 1000
COUNTED = {5: 1000, 7: 1000}


@contextmanager
def written(data, end):
    """Somebody who writes into a pipe, and closes it."""

    def write():
        with suppress(BrokenPipeError), open(end, "wb") as file:  # noqa: PTH123  whoever read it has seen enough
            file.write(data)

    thread = Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        thread.join()


@contextmanager
def standard_input(data):
    """This process, with something piped into it."""
    before, (reading, writing) = os.dup(0), os.pipe()
    os.dup2(reading, 0)
    os.close(reading)
    try:
        with written(data, writing):
            try:
                yield
            finally:
                os.dup2(before, 0)  # so that a writer who waits is told
    finally:
        os.close(before)


@contextmanager
def fifo(path, data):
    os.mkfifo(path)
    with written(data, path):
        yield path


# --- the same counts as from a file ---------------------------------------------------------------------------------


def test_standard_input():
    for data, table in (
        (TEXT, "-"),
        (TEXT.replace(b",", b";"), sources.csv("-", delimiter=";")),
        (gzip.compress(TEXT), sources.csv("-", gzip=True)),
        (LINES, sources.jsonl("-")),
        (gzip.compress(LINES), sources.jsonl("-", gzip=True)),
        (TEXT[4:], sources.csv("-", header=["x", "y"])),
        (TEXT.decode().encode("utf-16"), sources.csv("-", encoding="utf-16")),
    ):
        with standard_input(data):
            assert found(table, X) == COUNTED


def test_pipes_with_names(tmp_path):
    with fifo(tmp_path / "pipe.csv", TEXT) as path:
        assert found(path, X) == COUNTED
    with fifo(tmp_path / "pipe", LINES) as path:
        assert found(sources.jsonl(path), X) == COUNTED
    with fifo(tmp_path / "pipe.csv.gz", gzip.compress(TEXT)) as path:
        assert found(path, X) == COUNTED
    with standard_input(TEXT):
        assert found("/dev/stdin", X) == COUNTED
    (tmp_path / "x.csv").write_bytes(TEXT)
    with (tmp_path / "x.csv").open("rb") as file:
        assert found(f"/dev/fd/{file.fileno()}", X) == COUNTED


def test_open_files(tmp_path):
    (tmp_path / "x.csv").write_bytes(TEXT)
    with (tmp_path / "x.csv").open("rb") as file:
        assert found(file, X) == COUNTED
    with (tmp_path / "x.csv").open("rb", buffering=0) as file:
        assert found(file, X) == COUNTED
    with gzip.open(io.BytesIO(gzip.compress(TEXT))) as file:
        assert found(file, X) == COUNTED
    assert found(io.BytesIO(TEXT), X) == COUNTED
    assert found(sources.jsonl(io.BytesIO(LINES)), X) == COUNTED
    file = io.BytesIO(b"skip this\n" + TEXT)
    file.readline()
    assert found(file, X) == COUNTED, "from where it stands"


def test_one_hostile_record_anywhere():
    rng = np.random.default_rng(4711)
    half = b"".join(b"%d\n" % x for x in rng.integers(0, 10, 80_000))
    fewer = outcome(io.BytesIO(b"x\n" + half + half), X)
    assert fewer[1].total() == 160_000
    for number, record in enumerate((b"\xff\n", b"late,1,2\n", b"5\n", b"1e999\n", b"\0" * 70_000 + b"\n", b'"a\n"\n')):
        some = [half, half]
        some.insert(number % 3, record)
        check_neighbours(outcome(io.BytesIO(b"x\n" + b"".join(some)), X), fewer)
        with standard_input(b"x\n" + b"".join(some)):
            check_neighbours(outcome("-", X), fewer)
    open_quote = outcome(io.BytesIO(b"x\n" + half + half + b'"open'), X)
    check_neighbours(open_quote, fewer)


class Trickle(io.RawIOBase):
    """A file that gives as few bytes as it likes."""

    def __init__(self, data):
        self.data, self.taken = data, 0

    def readable(self):
        return True

    def read(self, size=-1):
        size = min(size, 1 + self.taken % 7)
        part = self.data[self.taken : self.taken + size]
        self.taken += len(part)
        return part


def test_pieces_do_not_matter():
    assert found(Trickle(TEXT), X) == COUNTED
    assert found(sources.jsonl(Trickle(LINES)), X) == COUNTED
    assert found(sources.csv(Trickle(gzip.compress(TEXT)), gzip=True), X) == COUNTED


# --- late -----------------------------------------------------------------------------------------------------------


def test_of_a_stream_no_byte_after_its_header_is_taken_before_paying(tmp_path):
    book = ledger.opened(tmp_path / "ledger.db")
    book.create("poor", cap="0.1")
    for make, begin in (
        (lambda file: file, b"x,y\n"),
        (lambda file: sources.csv(file, header=["x", "y"]), b""),
        (sources.jsonl, b""),
        (lambda file: sources.jsonl(file, gzip=True), b"\x1f\x8b"),
    ):
        file = Trickle(gzip.compress(TEXT) if begin == b"\x1f\x8b" else TEXT)
        with pytest.raises(DawaError, match="Hint:"):
            dawa.release(make(file), X, epsilon=1, ledger=book, dataset="poor")
        assert file.data[: file.taken] == begin
    with standard_input(TEXT):
        with pytest.raises(DawaError, match="Hint:"):
            dawa.release("-", X, epsilon=1, ledger=book, dataset="poor")
        assert os.read(0, 4) == b"5,a\n", "the rest is still there"


def test_a_stream_is_read_once():
    stream = places.opened_file(io.BytesIO(TEXT), packed=False)
    assert b"".join(stream.pieces(2**20)) == TEXT
    with pytest.raises(SourceError, match="was read already"):
        list(stream.pieces(1))
    file = io.BytesIO(TEXT)
    assert found(file, X) == COUNTED
    assert outcome(file, X)[:2] == ("opening", "AxisError"), "nothing is left, not even a header"


# --- wrong ----------------------------------------------------------------------------------------------------------


def test_a_terminal_is_refused_and_not_waited_for():
    before, (near, far) = os.dup(0), pty.openpty()
    try:
        os.dup2(far, 0)
        for table in ("-", "/dev/stdin", sources.jsonl("-")):
            came = outcome(table, X)
            assert came[:2] == ("opening", "SourceError")
            assert "terminal" in came[2]
    finally:
        os.dup2(before, 0)
        for one in (before, near, far):
            os.close(one)


class Broken(io.RawIOBase):
    """A file that fails."""

    def readable(self):
        return True

    def read(self, _=-1):
        raise OSError(5, CANARY, CANARY)


class Waiting(Broken):
    """A file that has nothing yet."""

    def read(self, _=-1):
        return None


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: io.StringIO("x\n5\n"), "open it in binary mode"),
        (lambda: [file := io.BytesIO(TEXT), file.close()][0], "could not be read as text"),
        (Broken, "could not be read as text"),
        (Waiting, "does not give bytes"),
        (lambda: sources.csv("/dev/null"), "neither a file nor a pipe"),
        (lambda: sources.jsonl("/dev/zero"), "neither a file nor a pipe"),
        (lambda: "/dev/fd/999", "could not be read|no file"),
        (lambda: io.BytesIO(f"{CANARY}\n5\n".encode()), "does not name a column"),
        (lambda: io.BytesIO(b""), "does not name a column"),
        (lambda: sources.csv(io.BytesIO(TEXT), gzip=True), "is not a gzip file"),
    ],
)
def test_wrong_streams_are_refused_before_paying(make, says):
    came = outcome(make(), X)
    assert came[0] == "opening"
    assert re.search(says, came[2]), came
    assert CANARY not in str(came)


def test_messages_call_a_stream_by_a_name_that_fits_the_sentence():
    with pytest.raises(AxisError, match=r"^The open BytesIO does not name a column 'x' in its first line\."):
        dawa.release(io.BytesIO(b"y\n5\n"), X, epsilon=1)


def test_a_stream_that_breaks_later_says_so_without_its_words():
    class Late(Trickle):
        def read(self, size=-1):
            if self.taken > 100:
                raise OSError(5, CANARY, CANARY)
            return super().read(size)

    for file in (Late(TEXT), sources.jsonl(Late(LINES))):
        came = outcome(file, X)
        assert came[0] == "reading"
        assert CANARY not in str(came)


def test_no_standard_input():
    before = os.dup(0)
    os.close(0)
    try:
        came = outcome("-", X)
    finally:
        os.dup2(before, 0)
        os.close(before)
    assert came[:2] == ("opening", "SourceError")
    assert "There is no standard input" in came[2]


# --- the command line -----------------------------------------------------------------------------------------------

ASKED = ("--column", "x", "--range", "0:10", "--epsilon", "1")


def run(line, folder):
    """A line of a shell, in a process of its own."""
    here = os.pathsep.join((str(Path(__file__).parents[2] / "src"), *sys.path))
    return subprocess.run(  # noqa: S603  ourselves
        ["/bin/bash", "-c", line.replace("dawa ", f"{sys.executable} -m dawa ")],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": here},
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.long
def test_a_shell_pipes_files_into_the_command(tmp_path):
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(TEXT))
    (tmp_path / "x.jsonl").write_bytes(LINES)
    asked = "--column x --range 0:10 --epsilon 1"
    ran = run(
        f"zcat x.csv.gz | dawa release - {asked} --out a --save-spec spec.toml"
        f" && dawa release - --format jsonl {asked} --out b < x.jsonl"
        f" && dawa release <(zcat x.csv.gz) {asked} --out c"
        f" && zcat x.csv.gz | dawa release spec.toml --out d"
        f" && dawa release - --format csv.gz {asked} --out e < x.csv.gz",
        tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    for folder in "abcde":
        total = dawa.load(tmp_path / folder / "release.json").answer(0, 10)
        assert abs(total.value - 2000) < 200
    assert 'file = "-"' in (tmp_path / "spec.toml").read_text()


def test_plans_do_not_touch_standard_input():
    with standard_input(TEXT):
        ran = command("plan", "-", *ASKED)
        assert ran.code == 0
        assert "with commas between fields" in ran.out
        assert "JSON lines" in command("plan", "-", "--format", "jsonl", *ASKED).out
        assert 'file = "-"' in command("plan", "-", "--toml", *ASKED).out
        assert os.read(0, 4) == b"x,y\n"


def test_what_standard_input_cannot_be(tmp_path):
    out = ("--out", tmp_path / "out")
    refused(command("release", "-", "--format", "xlsx", *ASKED, *out), "read from a file")
    refused(command("release", "-", "--format", "parquet", *ASKED, *out), "no format 'parquet'")
    refused(command("plan", "-", "--sheet", "a", *ASKED), "Only Excel workbooks have sheets")
    refused(command("plan", "-", "--format", "jsonl", "--delimiter", ";", *ASKED), "JSON lines have no delimiter")
    refused(command("plan", "-", "--table", "a", *ASKED), "no table 'a'")
    with standard_input(b""):
        refused(command("release", "-", *ASKED, *out), "does not name a column")


def test_several_axes_and_units_over_a_stream(tmp_path):
    data = b"x,who\n" + b"".join(b"%d,%d\n" % (row % 10, row // 3) for row in range(3000))
    came = outcome(io.BytesIO(data), X, unit="who", max_rows_per_unit=2)
    assert came[1].total() == 2000
    (tmp_path / "x.csv").write_bytes(data)
    axes = (X, Axis("who", 0, 1000))
    assert outcome(io.BytesIO(data), *axes) == outcome(tmp_path / "x.csv", *axes)


def test_a_pipe_whose_name_says_that_it_is_compressed(tmp_path):
    with fifo(tmp_path / "pipe.csv.gz", gzip.compress(TEXT)) as path:
        assert found(sources.csv(path), X) == COUNTED
