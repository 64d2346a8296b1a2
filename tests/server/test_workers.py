"""Several workers agree on what they serve, also those that come later, and none outlives the server."""

import json
import os
import select
import signal
import socket
from pathlib import Path

import pytest

import dawa
from dawa.errors import OptionError
from dawa.server import running, shelf
from helpers.serving import Served, said, statuses

FILE = b"GET /releases/ages/file HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def saved(place, seed):
    table = {"age": list(range(100)) * 20}
    return dawa.release(table, dawa.Axis("age", 0, 100), epsilon=1, seed=seed).save(place / "ages.json").read_bytes()


def workers(parent):
    """The processes that a server has started to answer."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii").split()
    return [int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def body(port):
    """The file that one of the workers hands out; None if it was killed meanwhile."""
    answer = said(port, FILE)
    return answer.split(b"\r\n\r\n", 1)[1] if statuses(answer) == [200] else None


def ended(process):
    """Wait until a process, which need not be our child, is gone."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return

    select.select([descriptor], [], [], 60)
    os.close(descriptor)


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux")
def test_a_killed_worker_is_replaced_by_one_that_says_the_same(tmp_path):
    before = saved(tmp_path, 1)
    with Served(tmp_path, "--workers", "2") as server:
        assert body(server.port) == before
        assert saved(tmp_path, 2) != before
        (tmp_path / "ages.json").unlink()
        first = set(workers(server.process.pid))
        assert len(first) == 2
        for worker in first:
            os.kill(worker, signal.SIGKILL)
            ended(worker)
        found = [body(server.port) for _ in range(10)]  # connections wait until a worker is ready
        assert set(found) <= {before, None}
        assert before in found
        assert not first & set(workers(server.process.pid))
    assert server.process.returncode == 0
    assert "Traceback" not in server.err


@pytest.mark.long_but(1)
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_worker_outlives_the_server(tmp_path, number):
    saved(tmp_path, 1)
    with Served(tmp_path, "--workers", "2") as server:
        assert body(server.port)
        started = workers(server.process.pid)
        os.kill(server.process.pid, number)
        for worker in started:
            ended(worker)
        server.process.wait(60)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", server.port))


@pytest.mark.long
def test_workers_that_do_not_stay(monkeypatch):
    monkeypatch.setattr(running, "_one_of_several", os.abort)
    with running.bound("127.0.0.1", 0) as listening, pytest.raises(OptionError, match="end as soon as they start"):
        running.serve(listening, shelf.Shelf({}, ()), running.Settings(), workers=2)


def test_a_file_that_changes_while_it_is_read(tmp_path, monkeypatch):
    """What is answered follows from the very bytes that are handed out."""
    others = [saved(tmp_path, seed) for seed in range(3)]
    real = shelf.loaded

    def changing(content, source):
        Path(source).write_bytes(others.pop(0))
        return real(content, source)

    monkeypatch.setattr(shelf, "loaded", changing)
    found = shelf.filled([tmp_path]).releases["ages"]
    assert found.release.to_json() == json.loads(found.file)


def test_connections_do_not_keep_a_server_that_is_stopped(tmp_path):
    saved(tmp_path, 1)
    with Served(tmp_path) as server, socket.socket() as idle, socket.socket() as half:
        for made, sent in ((idle, FILE.replace(b"close", b"keep-alive")), (half, b"GET /")):
            made.connect(("127.0.0.1", server.port))
            made.sendall(sent)
        assert body(server.port)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0, "it was asked to stop, and did"
    assert "Traceback" not in server.err
