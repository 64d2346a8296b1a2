"""Connections have a place and a time, and strange ones harm nobody: against real sockets."""

import asyncio
import json
import resource
import socket
import threading
from contextlib import ExitStack, contextmanager, suppress

import pytest
import uvicorn

import dawa
from dawa.server import app, connections, gate, logs, running
from helpers.serving import Served, connected, everything, said, statuses

HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("out")
    table = {"age": list(range(4000))}
    dawa.release(table, dawa.Axis("age", 0, 4000), epsilon=1, mechanism="identity").save(place / "ages.json")
    return place


@contextmanager
def here(folder, doors=None):
    """A server in this process, so that a test can shorten what it waits for."""
    watched = connections.watched(connections.Doors() if doors is None else doors)
    config = uvicorn.Config(
        app(folder, rate=1e9), http=watched, ws="none", lifespan="off", log_config=logs.configuration(), backlog=64
    )
    server, listening = uvicorn.Server(config), running.bound("127.0.0.1", 0)
    thread = threading.Thread(target=lambda: asyncio.run(server._serve([listening])))
    thread.start()
    try:
        port = listening.getsockname()[1]
        assert statuses(said(port, LAST)) == [200]
        yield port
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


def test_nothing_waits_for_the_other_side_before_it_is_sent():
    """Else a body comes 40 ms after its headers, when the client's system has said that it has those."""

    async def connection():
        found = asyncio.get_running_loop().create_future()
        listening = running.bound("127.0.0.1", 0)
        async with await asyncio.start_server(lambda _, writer: found.set_result(writer), sock=listening):
            _, writer = await asyncio.open_connection(*listening.getsockname())
            accepted = await found
            at_once = accepted.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            for end in (writer, accepted):
                end.close()
                await end.wait_closed()
            return at_once

    assert asyncio.run(connection())


@pytest.mark.long_but(1)
@pytest.mark.parametrize("sent", [b"", b"GET /hea", b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: "])
def test_headers_that_do_not_come(folder, monkeypatch, sent):
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.5)
    with here(folder) as port:
        assert statuses(said(port, sent)) == [408]
        assert statuses(said(port, HEALTH + sent)) in ([200], [200, 408]), "also after an answer"


@pytest.mark.long
def test_bytes_in_between_do_not_help(folder, monkeypatch):
    """Neither headers nor a body can be drawn out, and neither can what comes after a refusal."""
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.5)
    monkeypatch.setattr(connections, "BODY_SECONDS", 0.5)
    monkeypatch.setattr(gate, "BODY_SECONDS", 0.5)
    body = b"POST /releases/%b/answers HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    starts = [(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: ", b"a")]
    starts += [(body % name, b"1\r\n[\r\n") for name in (b"ages", b"none")]
    with here(folder) as port:
        for start, drop in starts:
            with connected(port) as made, pytest.raises((BrokenPipeError, ConnectionResetError)):
                sent_for_ever(made, start, drop)


def sent_for_ever(made, start, drop):
    """Send drops, until the server has had enough."""
    made.sendall(start)
    made.settimeout(0.05)
    while True:
        made.sendall(drop)
        with suppress(TimeoutError):
            made.recv(2**16)


def test_answers_that_nobody_takes(folder, monkeypatch):
    monkeypatch.setattr(connections, "TAKING_SECONDS", 0.5)
    doors = connections.Doors()
    request = b"GET /releases/ages/buckets?count=4000 HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with here(folder, doors) as port, socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", port))
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            asked_for_ever(deaf, request)
        assert statuses(said(port, LAST)) == [200]
    assert not doors.open
    assert not doors._of


def asked_for_ever(made, request):
    """Send requests and read nothing, until the server has had enough."""
    while True:
        made.sendall(request)


def test_one_address_has_some_places_and_others_have_more(folder):
    doors = connections.Doors(most=100, most_of_one=3, unlimited=("127.0.0.9",))
    with here(folder, doors) as port, ExitStack() as stack:
        held = [stack.enter_context(connected(port)) for _ in range(3)]
        for made in held:
            made.sendall(HEALTH)
            assert made.recv(2**16).startswith(b"HTTP/1.1 200")
        refused = said(port, b"")
        assert statuses(refused) == [503]
        assert "too many connections" in json.loads(refused.split(b"\r\n\r\n", 1)[1])["problem"]
        assert b"nosniff" in refused
        assert statuses(said(port, LAST, "127.0.0.2")) == [200]
        for _ in range(20):
            proxied = stack.enter_context(connected(port, "127.0.0.9"))
            proxied.sendall(HEALTH)
            assert proxied.recv(2**16).startswith(b"HTTP/1.1 200")


def test_silent_connections_make_room(folder):
    doors = connections.Doors(most=10, most_of_one=3)
    with here(folder, doors) as port, ExitStack() as stack:
        silent = []
        for number in range(30):
            silent.append(stack.enter_context(connected(port, f"127.0.1.{1 + number // 3}")))
            silent[-1].sendall(b"GET /")
        assert statuses(said(port, LAST, "127.0.0.2")) == [200]
        assert everything(silent[0]) == b"", "the first ones were closed"
        assert len(doors.open) <= 10


def test_connections_that_wait_for_a_body_make_room(folder):
    """Those of whoever has most of them go first, so that one who has few keeps theirs."""
    doors = connections.Doors(most=10, most_of_one=4)
    head = b"POST /releases/ages/answers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    begun, rest = head + b"Content-Length: 30\r\n\r\n{", b'"ranges":[{"lo":1,"hi":5}]}  '
    with here(folder, doors) as port, ExitStack() as stack:
        honest = stack.enter_context(connected(port, "127.0.0.2"))
        honest.sendall(begun)
        for number in range(16):
            slow = stack.enter_context(connected(port, f"127.0.1.{1 + number // 4}"))
            slow.sendall(begun)
        for address in ("127.0.0.3", "127.0.0.4"):
            assert statuses(said(port, LAST, address)) == [200]
        assert len(doors.open) <= 10
        honest.sendall(rest)
        assert honest.recv(2**16).startswith(b"HTTP/1.1 200")


def test_who_makes_room():
    waiting = connections.Waiting()
    assert waiting.first() is None
    for number, who in enumerate("abbcbc"):
        waiting.add(number, who)
    waiting.add(1, "b")
    assert waiting.first() == 1, "the oldest of the one who has most"
    waiting.remove(1, "b")
    waiting.remove(1, "b")
    assert waiting.first() == 3, "of those who have as many, the one who has had them longest"
    for number, who in ((2, "b"), (3, "c"), (4, "b")):
        waiting.remove(number, who)
    assert waiting.first() == 0
    waiting.remove(0, "a")
    waiting.remove(5, "c")
    assert waiting.first() is None
    assert not waiting._of
    assert not waiting._ranks


def test_too_few_files(monkeypatch):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    asked = []
    monkeypatch.setattr(resource, "getrlimit", lambda _kind: (256, 1024))
    monkeypatch.setattr(resource, "setrlimit", lambda _kind, wanted: asked.append(wanted))
    assert connections.places(4096) == 1024 - connections.SPARE_FILES
    assert asked == [(1024, 1024)]
    monkeypatch.setattr(resource, "getrlimit", lambda _kind: (10**6, 10**6))
    assert connections.places(4096) == 4096
    assert hard


STRANGE = {
    b"GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n": [200],
    b"HEAD /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n": [200],
    HEALTH * 20 + LAST: [200] * 21,
    b"GET /releases/ages/answer?lo=1&hi=5 HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20 + LAST: [200] * 21,
    b"GET http://localhost/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n": [200],
    b"GET /releases/%61ges/answer?lo=1&hi=5 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n": [200],
    b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade, close\r\nUpgrade: websocket\r\n\r\n": [200],
    b"GET /releases HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nRange: bytes=0-1,0-1\r\n\r\n": [200],
    b"GET /releases HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 10**4 + b"\r\n": [400],
    b"GET /releases?" + b"a&" * 10**5 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n": [400],
    b"GET /health\r\n\r\n": [400],
    b"GET /health HTTP/1.1\r\n\r\n": [400],
    b"\x16\x03\x01\x00\xc8" + b"\x01" * 200: [400],
    b"\x00" * 10**5: [400],
    b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n": [400],
    b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab": [400],
    b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + LAST: [
        400
    ],
    b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n": [400],
    b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n": [400],
    b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n": [400],
    b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999\r\nExpect: 100-continue\r\n\r\n": [413],
    b"OPTIONS /releases HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n": [405],
    b"TRACE /releases HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n": [405],
    b"GET /releases/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n": [404],
}


@pytest.fixture(scope="module")
def server(folder):
    with Served(folder, "--rate", "1e9") as made:
        yield made
    assert "Traceback" not in made.err
    assert len(made.err.splitlines()) < 20


@pytest.mark.parametrize("number", range(len(STRANGE)))
def test_strange_requests(server, number):
    sent, expected = list(STRANGE.items())[number]
    answer = said(server.port, sent)
    assert statuses(answer) == expected
    assert b"nosniff" in answer
    assert statuses(said(server.port, LAST)) == [200]


DEEP, LONG = b"[" * 200_000, b'{"ranges":[{"lo":' + b"9" * 9000 + b',"hi":1}]}'
UNION = b'{"ranges":[' + b'{"lo":[[],{},null,[]],"hi":[{},{},{},{}]},' * 999 + b"{}]}"


@pytest.mark.parametrize("body", [DEEP, b'{"a":' * 40_000, LONG, UNION, b"[" + b"[]," * 80_000 + b"[]]"])
def test_hostile_bodies(server, body):
    head = b"POST /releases/ages/answers HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    kind = b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    answer = said(server.port, head + kind + body)
    assert statuses(answer)[0] in {400, 422}
    assert set(json.loads(answer.split(b"\r\n\r\n", 1)[1])) == {"problem", "hint"}


def test_clients_who_leave(server):
    body = json.dumps({"ranges": [{"lo": 1, "hi": 9}] * 1000}).encode()
    head = b"POST /releases/ages/answers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    for _ in range(30):
        with connected(server.port) as made:
            made.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    assert statuses(said(server.port, LAST)) == [200]
