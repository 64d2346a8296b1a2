"""A file is the earlier one or the new one, never a part of either."""

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dawa.host import atomic


def names(folder):
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("content", ["é\n", b"\x00\xff", "", "x" * 1_000_000])
def test_what_is_written_is_there_and_nothing_else(tmp_path, content):
    assert atomic.write(tmp_path / "file", content) == tmp_path / "file"
    assert (tmp_path / "file").read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert names(tmp_path) == {"file"}


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_failure_leaves_the_earlier_file(tmp_path, monkeypatch, call):
    (tmp_path / "file").write_text("earlier", encoding="utf-8")

    def full(*_arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(*((os, "fsync") if call == "fsync" else (Path, "replace")), full)
    with pytest.raises(OSError, match="No space"):
        atomic.write(tmp_path / "file", "new")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "earlier"
    assert names(tmp_path) == {"file"}


def test_a_file_that_may_not_be_replaced(tmp_path):
    atomic.write(tmp_path / "file", "first", new=True)
    with pytest.raises(FileExistsError):
        atomic.write(tmp_path / "file", "second", new=True)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError):
        atomic.write(tmp_path / "link", "second", new=True)
    assert (tmp_path / "file").read_text(encoding="utf-8") == "first"
    assert names(tmp_path) == {"file", "link"}


def test_one_of_many_writers_makes_a_new_file(tmp_path):
    won = []

    def write(number):
        try:
            atomic.write(tmp_path / "file", str(number), new=True)
        except FileExistsError:
            return
        won.append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(tmp_path / "file").read_text(encoding="utf-8")] == [str(number) for number in won]


def test_a_link_is_followed_and_stays(tmp_path):
    (tmp_path / "real").write_text("earlier", encoding="utf-8")
    (tmp_path / "link").symlink_to("real")
    atomic.write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text(encoding="utf-8") == "new"


def test_the_mode_of_a_file_is_kept_and_a_new_one_obeys_the_mask(tmp_path):
    atomic.write(tmp_path / "file", "first")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o666 & ~mask
    (tmp_path / "file").chmod(0o640)
    atomic.write(tmp_path / "file", "second")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    atomic.write(tmp_path / "pipe", "through")
    reader.join()
    assert read == [b"through"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_what_the_shell_opened_is_written_to(tmp_path):
    code = "import sys\nfrom dawa.host import atomic\natomic.write('/dev/stdout', 'through')"
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603  ours
    assert ran.stdout == "through"
    assert not names(tmp_path)


def test_folders_that_cannot_be_synced_are_no_obstacle(tmp_path):
    atomic.sync([tmp_path, tmp_path / "missing"])


def test_without_links_a_new_file_replaces_none(tmp_path, monkeypatch):
    def none(*_paths):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", none)
    atomic.write(tmp_path / "file", "first", new=True)
    assert (tmp_path / "file").read_text(encoding="utf-8") == "first"
    with pytest.raises(FileExistsError), atomic.opened(tmp_path / "late", new=True):
        (tmp_path / "late").write_text("mine", encoding="utf-8")
    assert (tmp_path / "late").read_text(encoding="utf-8") == "mine"
    assert names(tmp_path) == {"file", "late"}


def test_a_file_can_be_written_through_another_folder(tmp_path):
    (tmp_path / "through").mkdir()
    with atomic.opened(tmp_path / "file", new=True, through=tmp_path / "through") as file:
        file.write(b"content")
        assert names(tmp_path) == {"through"}
        assert len(names(tmp_path / "through")) == 1
    assert names(tmp_path) == {"file", "through"}
    assert not names(tmp_path / "through")


def test_a_file_in_pieces_has_no_name_before_it_is_whole(tmp_path):
    (tmp_path / "file").write_text("earlier", encoding="utf-8")

    def half():
        with atomic.opened(tmp_path / "file") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half()
    assert names(tmp_path) == {"file"}
    assert (tmp_path / "file").read_text(encoding="utf-8") == "earlier"
    with atomic.opened(tmp_path / "file") as file:
        for piece in (b"one ", b"two"):
            file.write(piece)
            assert (tmp_path / "file").read_text(encoding="utf-8") == "earlier"
    assert (tmp_path / "file").read_text(encoding="utf-8") == "one two"


@pytest.mark.skipif(os.name != "posix", reason="needs rights of POSIX")
def test_what_is_private_is_its_owners_from_its_first_byte_on(tmp_path):
    before = os.umask(0)
    try:
        with atomic.opened(tmp_path / "private", new=True, private=True) as file:
            file.write(b"secret")
            assert [path.stat().st_mode & 0o777 for path in tmp_path.iterdir()] == [0o600]
        atomic.write(tmp_path / "public", b"known", new=True)
    finally:
        os.umask(before)
    assert (tmp_path / "private").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "public").stat().st_mode & 0o777 == 0o666
