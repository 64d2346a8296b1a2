"""Real server processes, and clients with sockets of their own."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress


class Served:
    """A real server process."""

    def __init__(self, *arguments, **environment):
        code = "from dawa.cli import main; main()"
        self.process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", code, "serve", *map(str, arguments), "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **environment,
        )

    def __enter__(self):
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        self.port = int(line.split("/  ")[0].rsplit(":", 1)[1])
        return self

    def __exit__(self, *_error):
        self.process.send_signal(signal.SIGINT)
        _, self.err = self.process.communicate()


async def asked(port, path, ready=None, host="127.0.0.1"):
    """One client, with its own address: connects, waits until all have, and asks."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(host, 0))
    if ready is not None:
        await ready.wait()
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
    await writer.drain()
    head, body = (await reader.read()).split(b"\r\n\r\n", 1)
    writer.close()
    await writer.wait_closed()
    return int(head.split()[1]), json.loads(body)


@contextmanager
def connected(port, source="127.0.0.1", patience=60):
    """A socket that is connected to a server of this machine."""
    with socket.create_connection(("127.0.0.1", port), patience, (source, 0)) as made:
        yield made


def everything(made):
    """All that a server sends until it ends the connection."""
    found = b""
    with suppress(ConnectionResetError):
        while more := made.recv(2**16):
            found += more
    return found


def said(port, data, source="127.0.0.1"):
    """All that a server answers to these bytes."""
    with connected(port, source) as made:
        with suppress(BrokenPipeError, ConnectionResetError):  # it need not read all of them
            made.sendall(data)
        return everything(made)


def statuses(answer):
    """The statuses of all answers in what a server sent."""
    return [int(part[:3]) for part in answer.split(b"HTTP/1.1 ")[1:]]
