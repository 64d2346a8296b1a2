"""What every request passes, and what every response has, whoever made it."""

import asyncio
import base64
import gzip
import re

import pytest

import dawa
from dawa import limits
from dawa.errors import OptionError
from dawa.publish import page as report
from dawa.server import app, gate, headers, shelf
from helpers.asgi import Client
from helpers.commands import dawa as command
from helpers.commands import refused
from helpers.serving import Served, said, statuses

TOKEN = "a-token-of-many-letters"  # noqa: S105  for tests only


@pytest.fixture(scope="module")
def release():
    return dawa.release({"age": list(range(100)) * 20}, dawa.Axis("age", 0, 100), epsilon=1, seed=0)


@pytest.fixture(scope="module")
def folder(release, tmp_path_factory):
    place = tmp_path_factory.mktemp("out")
    release.save(place / "ages.json")
    return place


@pytest.fixture(scope="module")
def client(folder):
    return Client(app(folder, rate=1e9))


PATHS = {
    "/health": 200,
    "/releases": 200,
    "/releases/ages/answer?lo=1&hi=5": 200,
    "/releases/ages/file": 200,
    "/releases/ages/page": 200,
    "/openapi.json": 200,
    "/none": 404,
    "/releases/none": 404,
    "/releases/ages/answer?lo=5&hi=1": 422,
    "/health?a=1": 422,
}


@pytest.mark.parametrize(("path", "status"), PATHS.items())
def test_headers_of_every_response(client, path, status):
    found = client.get(path)
    assert found.status_code == status
    for name, value in headers.ALWAYS.items():
        assert found.headers[name] == value
    assert "frame-ancestors 'none'" in found.headers["content-security-policy"]
    assert "unsafe-inline" not in found.headers["content-security-policy"].split("style-src")[0]
    assert found.headers["cache-control"] == ("no-cache" if status == 200 else "no-store")


def test_headers_of_refusals(folder, monkeypatch):
    application = app(folder, rate=0.001, hosts=("localhost",), token=TOKEN)
    monkeypatch.setattr("dawa.server.asking.summary", lambda *_arguments: 1 / 0)
    asking = [
        (400, "127.0.0.1", {"Host": "elsewhere.example"}),
        (401, "127.0.0.1", {}),
        (429, "127.0.0.1", {}),
        (500, "127.0.0.2", {"Authorization": f"Bearer {TOKEN}"}),
    ]
    for status, host, sent in asking:
        found = Client(application, host=host).get("/releases", headers=sent)
        assert found.status_code == status
        assert set(found.json()) == {"problem", "hint"}
        for name, value in headers.ALWAYS.items():
            assert found.headers[name] == value


def test_only_the_pages_own_scripts_run(client, release):
    found = client.get("/releases/ages/page")
    policy = found.headers["content-security-policy"]
    assert policy.count("'sha256-") == len(re.findall("<script>", report.html(release))) > 0
    assert "script-src 'sha256-" in policy
    assert "default-src 'none'" in policy


def test_what_has_not_changed_is_not_sent_again(client):
    for path in ("/releases/ages/file", "/releases/ages/page"):
        first = client.get(path)
        tag = first.headers["etag"]
        for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            again = client.get(path, headers={"If-None-Match": known})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert client.get(path, headers={"If-None-Match": '"other"'}).content == first.content
        assert int(first.headers["content-length"]) == len(first.content)


def test_large_files_are_sent_in_pieces():
    document, sent = headers.Document.file(b"x" * (3 * headers.PIECE + 1)), []

    async def send(message):
        await asyncio.sleep(0)
        sent.append(message)

    asyncio.run(headers.Kept(document, "application/json")({"type": "http", "headers": []}, None, send))
    assert b"".join(message.get("body", b"") for message in sent) == document.content
    assert max(len(message.get("body", b"")) for message in sent) == headers.PIECE


def test_pages_are_kept_within_a_limit(release, monkeypatch):
    monkeypatch.setattr(shelf, "MOST_PAGES_BYTES", 100)
    pages = shelf.Pages()
    for name, length in (("a", 40), ("b", 50), ("c", 30), ("large", 101)):
        page = headers.Document.file(b"x" * length)
        monkeypatch.setattr(shelf.Shelved, "page", lambda _self, made=page: made)
        for _ in range(2):
            assert pages.page(shelf.Shelved(name, None, release, b"")) is page
        assert "".join(pages._kept) == {"a": "a", "b": "ab", "c": "bc", "large": "large"}[name]


def test_head_is_get_without_a_body(client):
    for path, status in PATHS.items():
        found, full = client.request("HEAD", path), client.get(path)
        assert (found.status_code, found.content) == (status, b"")
        assert found.headers.get("content-length") == full.headers.get("content-length")
    assert client.request("HEAD", "/releases/ages/answers").status_code == 405


def basic(password):
    return {"Authorization": "Basic " + base64.b64encode(f"anyone:{password}".encode()).decode()}


def test_a_token(folder):
    client = Client(app(folder, rate=1e9, token=TOKEN))
    assert client.get("/health").status_code == 200
    wrong = [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Token {TOKEN}"},
        {"Authorization": "Basic ???"},
        {"Authorization": "Basic " + base64.b64encode(TOKEN.encode()).decode()},
        basic("wrong"),
        {"Authorization": b"Bearer \xff\xfe"},
    ]
    for path in ("/releases", "/releases/ages/page", "/openapi.json", "/none"):
        for sent in wrong:
            found = client.get(path, headers=sent)
            assert found.status_code == 401
            assert "Bearer" in found.json()["hint"]
            assert found.headers["www-authenticate"].startswith("Basic "), "a browser then asks for it"
        for sent in ({"Authorization": f"bearer {TOKEN}"}, basic(TOKEN)):
            assert client.get(path, headers=sent).status_code == (404 if path == "/none" else 200)


@pytest.mark.parametrize("token", ["", "short", "with spaces in it, long", "ümlauts-are-not-in-headers", "x" * 2000])
def test_tokens_that_are_none(folder, token, tmp_path):
    with pytest.raises(OptionError, match="token is not"):
        app(folder, token=token)
    refused(command("serve", folder, DAWA_SERVE_TOKEN=token), "token is not", "secrets.token_urlsafe")
    (tmp_path / "token").write_text(token, encoding="utf-8")
    refused(command("serve", folder, "--token-file", tmp_path / "token"), "token is not")
    assert token == "" or token not in command("serve", folder, DAWA_SERVE_TOKEN=token).err


@pytest.mark.long
def test_files_of_tokens(folder, tmp_path):
    refused(command("serve", folder, "--token-file", tmp_path / "none"), "cannot be read")
    refused(command("serve", folder, "--proxy", "somewhere"), "not an address")
    (tmp_path / "token").write_text(TOKEN + "\n", encoding="utf-8")
    with Served(folder, "--token-file", tmp_path / "token", "--workers", "2") as server:
        request = b"GET /releases HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%b\r\n"
        assert statuses(said(server.port, request % b"")) == [401]
        assert statuses(said(server.port, request % f"Authorization: Bearer {TOKEN}\r\n".encode())) == [200]
    assert not server.err


def test_clients_behind_a_proxy_are_counted_one_by_one(folder):
    application = app(folder, rate=0.001, proxies=("10.0.0.7",))

    def status(host, forwarded):
        return Client(application, host=host).get("/releases", headers={"X-Forwarded-For": forwarded}).status_code

    assert [status("10.0.0.7", f"9.9.9.9, 1.1.1.{number}") for number in (1, 2, 1)] == [200, 200, 429]
    assert [status("10.0.0.8", f"1.1.2.{number}") for number in (1, 2)] == [200, 429], "nobody else is believed"


def test_ports_make_no_new_clients(folder):
    """Over a real connection, as a proxy that adds ports sends them."""
    request = "GET /releases HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Forwarded-For: {}\r\n\r\n"
    with Served(folder, "--proxy", "127.0.0.1", "--rate", "1/1000") as server:

        def status(forwarded):
            return statuses(said(server.port, request.format(forwarded).encode()))

        assert [status(f"9.9.9.9:{port}") for port in (1, 2, 3)] == [[200], [429], [429]]
        assert status("9.9.9.9") == [429]
        assert [status(f"[2001:db8::{port}]:{port}") for port in (1, 2)] == [[200], [429]]
        assert [status(name) for name in ("unknown", "someone-else", "", "9.9.9.9,")] == [[200], [429], [429], [429]]
    assert not server.err


def test_nobody_is_sent_elsewhere(folder):
    """A redirect would name the server as the request does."""
    request = "GET {} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    with Served(folder, "--host", "0.0.0.0") as server:  # noqa: S104  any name is accepted there
        for path in ("/releases/", "/health/", "/releases/ages/", "/openapi.json/", "//releases", "//other.example/"):
            answer = said(server.port, request.format(path).encode())
            assert statuses(answer) == [404]
            assert b"evil.example" not in answer
            assert b"location" not in answer.lower()
            assert b'"problem":' in answer


def test_too_many_parameters(client):
    path = "/releases/ages/answer?" + "&".join(["lo=1"] * (limits.MOST_PARAMETERS + 1))
    found = client.get(path)
    assert found.status_code == 422
    assert "more than 64 parameters" in found.json()["problem"]


def test_bodies_where_none_belong(client):
    assert client.request("GET", "/releases", content=b"x").status_code == 400
    assert client.request("DELETE", "/releases", content=b"x").status_code == 405
    packed = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    found = client.post("/releases/ages/answers", content=gzip.compress(b"[" * 10**7), headers=packed)
    assert found.status_code in {400, 422}, "nothing is unpacked"


def test_refusals_quote_little(client):
    body = {"ranges": [{"lo": 10**4000, "hi": 1}]}
    found = client.post("/releases/ages/answers", json=body)
    assert found.status_code == 422
    assert len(found.content) < 5000
    found = client.get(f"/releases/ages/answer?{'a' * 20_000}=1")
    assert len(found.content) < 5000


def test_bodies_find_room_or_are_refused(monkeypatch):
    monkeypatch.setattr(gate, "MOST_BODIES_BYTES", 800)
    bodies = gate.Bodies()
    with bodies.held("a") as first, bodies.held("a") as second:
        assert first(60)
        assert not second(60), "one client has an eighth"
        with bodies.held("b") as other:
            assert other(60)
    with bodies.held("a") as first:
        assert first(100), "what is done is forgotten"
    assert not bodies._held


def test_a_body_that_does_not_come(monkeypatch):
    monkeypatch.setattr(gate, "BODY_SECONDS", 0.01)

    async def ask():
        sent, messages = [], [{"type": "http.request", "body": b"{", "more_body": True}]

        async def receive():
            return messages.pop() if messages else await asyncio.Event().wait()

        async def send(message):
            await asyncio.sleep(0)
            sent.append(message)

        with gate.Bodies().held("a") as room:
            refusal = await gate._body({"headers": []}, receive, room)
        await refusal({"type": "http"}, receive, send)
        return sent[0]["status"]

    assert asyncio.run(ask()) == 408
