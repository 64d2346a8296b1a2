"""Files on servers are read like files here, and nothing of an address that may be secret is ever shown."""

import gzip
import io
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import dawa
from dawa import Axis, ledger, sources
from dawa.errors import DawaError, ExhaustedError, SourceError
from dawa.sources import remote
from helpers.binning import found
from helpers.reading import CANARY, X, check_neighbours, outcome
from helpers.web import serving

SECRET = "s3cret4711"  # noqa: S105  nobody's
TEXT = b"x,y\n" + b"5,a\n7,b\n" * 1000


@pytest.fixture
def site(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving() as made:
        monkeypatch.setenv("AWS_ENDPOINT_URL", made.address)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "reader")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        yield made


def parquet(**columns):
    file = io.BytesIO()
    pa.parquet.write_table(pa.table(columns), file)
    return file.getvalue()


# --- http -----------------------------------------------------------------------------------------------------------


def test_text_and_json_lines_over_http(site):
    site.files = {
        "/x.csv": TEXT,
        "/x.tsv": TEXT.replace(b",", b"\t"),
        "/x.csv.gz": gzip.compress(TEXT),
        "/x.jsonl": b'{"x": 5}\n{"x": 7}\n' * 1000,
        "/data": TEXT.replace(b",", b";"),
    }
    for name in ("x.csv", "x.tsv", "x.csv.gz", "x.jsonl", "x.csv?version=2", "x.csv#part"):
        assert found(f"{site.address}/{name}", X) == {5: 1000, 7: 1000}, name
    assert found(sources.csv(f"{site.address}/data", delimiter=";"), X) == {5: 1000, 7: 1000}
    assert all(head["accept-encoding"] == "identity" for _, _, head in site.asked)


def test_one_hostile_record_behind_many(site):
    rng = np.random.default_rng(4711)
    data = b"x\n" + b"".join(b"%d\n" % x for x in rng.integers(0, 10, 150_000))
    site.files["/fewer.csv"] = data
    fewer = outcome(f"{site.address}/fewer.csv", X)
    assert fewer[1].total() == 150_000
    for record in (b'"open', b"\xff\xfe\n", b"late,1,2\n", b"5\n", b"1e999\n", b"\0" * 70_000):
        site.files["/more.csv"] = data + record
        check_neighbours(outcome(f"{site.address}/more.csv", X), fewer)


def test_a_file_without_a_length_is_read_to_its_end(site):
    site.files["/x.csv"], site.heads["/x.csv"] = TEXT, {"Content-Length": ""}
    assert found(f"{site.address}/x.csv", X) == {5: 1000, 7: 1000}


def test_servers_lead_elsewhere(site):
    site.files["/x.csv"] = TEXT
    site.moved = {"/old.csv": "/older.csv", "/older.csv": f"{site.address}/x.csv", "/round.csv": "/round.csv"}
    assert found(f"{site.address}/old.csv", X) == {5: 1000, 7: 1000}
    for target in ("/round.csv", "/file.csv", "/ftp.csv", "/odd.csv"):
        site.moved |= {"/file.csv": "file:///etc/passwd", "/ftp.csv": "ftp://server/x", "/odd.csv": "http://[" + SECRET}
        came = outcome(f"{site.address}{target}", X)
        assert came[0] == "opening"
        assert came[1] in {"SourceError", "AbsentError"}
        assert SECRET not in str(came)


def test_https_never_leads_to_http():
    request = remote.Request("https://server/x.csv?sig=" + SECRET)
    with pytest.raises(SourceError, match="without https") as caught:
        remote._SameOrSafer().redirect_request(request, None, 302, "", {}, "http://server/x.csv")
    assert SECRET not in str(caught.value)


def test_passwords_are_sent_where_they_belong_and_shown_nowhere(site):
    with serving() as other:
        site.files["/x.csv"], other.files["/x.csv"] = TEXT, TEXT
        site.moved["/away.csv"] = f"{other.address}/x.csv"
        address = site.address.replace("://", f"://ann:{SECRET}@")
        assert found(f"{address}/x.csv", X) == {5: 1000, 7: 1000}
        assert site.asked[-1][2]["authorization"].startswith("Basic ")
        assert found(f"{address}/away.csv", X) == {5: 1000, 7: 1000}
        assert "authorization" not in other.asked[-1][2]


WRONG = {
    "not there": ("/nothing.csv", "answers 404"),
    "no column": ("/other.csv", "does not name a column"),
    "compressed on its way": ("/packed.csv", "compresses"),
    "not gzip": ("/x.csv.gz", "is not a gzip file"),
    "Parquet": ("/x.parquet", "only text and JSON lines can"),
    "workbook": ("/x.xlsx", "read from a file"),
    "no ending": ("/x", "does not name a format"),
    "other": ("/x.xls", "which dawa does not read"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_a_server_does_not_have_costs_nothing_and_tells_nothing(tmp_path, site, name):
    book = ledger.opened(tmp_path / "ledger.db")
    book.create("rich", cap=10)
    path, says = WRONG[name]
    site.files = {"/other.csv": f"{CANARY}\n5\n".encode(), "/packed.csv": TEXT, "/x.csv.gz": TEXT, "/x": TEXT}
    site.heads["/packed.csv"] = {"Content-Encoding": "gzip"}
    address = f"{site.address.replace('://', f'://ann:{SECRET}@')}{path}?token={SECRET}"
    with pytest.raises(DawaError, match=says) as caught:
        dawa.release(address, X, epsilon=1, ledger=book, dataset="rich")
    assert SECRET not in str(caught.value)
    assert CANARY not in str(caught.value)
    assert book.account("rich").spent == 0


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/x.csv", "http://[::1/x.csv", "http:///x.csv"])
def test_no_server_at_all(address, monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    came = outcome(address, X)
    assert came[0] == "opening"
    assert came[1] in {"SourceError", "AbsentError"}


def test_an_answer_that_ends_early_is_a_failure_and_not_a_shorter_table(site):
    site.files["/x.csv"] = b"x\n" + b"5\n" * 500_000
    site.short.add("/x.csv")
    came = outcome(f"{site.address}/x.csv", X)
    assert came[:2] == ("reading", "SourceError")
    assert "ended before its end" in came[2] or "was lost" in came[2]


def test_rows_are_taken_after_the_ledger_has_paid(tmp_path, site, monkeypatch):
    book, taken, original = ledger.opened(tmp_path / "ledger.db"), [], remote._Answer.read
    book.create("rich", cap=10)
    site.files["/x.csv"] = TEXT

    def watched(answer, size):
        chunk = original(answer, size)
        account = book.account("rich")
        taken.append((account.spent + account.reserved > 0, chunk))
        return chunk

    monkeypatch.setattr(remote._Answer, "read", watched)
    made = dawa.release(f"{site.address}/x.csv?sig={SECRET}", X, epsilon=1, ledger=book, dataset="rich")
    assert b"".join(chunk for paid, chunk in taken if not paid) == b"x,y\n"
    assert b"".join(chunk for paid, chunk in taken if paid) == TEXT[4:]
    assert len(site.asked) == 1, "a server is asked once"
    told = f"{made.privacy} {made.privacy.to_json()} {[entry.to_json() for entry in book.history('rich')]}"
    assert SECRET not in told


# --- S3 -------------------------------------------------------------------------------------------------------------


def test_files_in_s3(site):
    site.files = {
        "/bucket/x.csv": TEXT,
        "/bucket/x.csv.gz": gzip.compress(TEXT),
        "/bucket/deep/x.jsonl": b'{"x": 5}\n{"x": 7}\n' * 1000,
        "/bucket/x.parquet": parquet(x=[5, 7] * 1000, name=["A", "B"] * 1000),
    }
    for name in ("x.csv", "x.csv.gz", "deep/x.jsonl", "x.parquet"):
        assert found(f"s3://bucket/{name}", X) == {5: 1000, 7: 1000}, name
    assert found("s3://bucket/x.parquet", Axis.ordered("name", ["A", "B"])) == {0: 1000, 1: 1000}
    assert outcome("s3://bucket/x.parquet", Axis("z", 0, 1))[:2] == ("opening", "AxisError")


@pytest.mark.long_but(2)
@pytest.mark.parametrize("name", ["nothing.csv", "nothing.parquet", "nothing.jsonl", "x.xlsx", "x"])
@pytest.mark.usefixtures("site")
def test_what_is_not_in_s3_costs_nothing_and_tells_nothing(tmp_path, name):
    book = ledger.opened(tmp_path / "ledger.db")
    book.create("rich", cap=10)
    with pytest.raises(SourceError, match="Hint:") as caught:
        dawa.release(f"s3://bucket/{name}", X, epsilon=1, ledger=book, dataset="rich")
    assert SECRET not in str(caught.value)
    assert book.account("rich").spent == 0


def test_of_a_large_object_little_is_asked_for_before_paying(tmp_path, site):
    book = ledger.opened(tmp_path / "ledger.db")
    book.create("poor", cap="0.1")
    numbers = np.random.default_rng(4711).random(10**6)
    site.files = {"/bucket/x.csv": b"x\n" + b"5\n" * 2_000_000, "/bucket/x.parquet": parquet(x=numbers)}
    for name in ("x.csv", "x.parquet"):
        site.asked.clear()
        with pytest.raises(ExhaustedError):
            dawa.release(f"s3://bucket/{name}", X, epsilon=1, ledger=book, dataset="poor")
        ranges = [head["range"].removeprefix("bytes=").split("-") for verb, _, head in site.asked if verb == "GET"]
        assert sum(int(last) - int(first) + 1 for first, last in ranges) <= 3 * remote.AHEAD, name
    assert outcome("s3://bucket/x.csv", X) == ("counted", Counter({5: 2_000_000}))


def test_addresses_are_shown_without_what_may_be_secret():
    for start in (f"https://ann:{SECRET}@server", f"s3://key:{SECRET}@bucket"):
        address = f"{start}/x.csv?sig={SECRET}#{SECRET}"
        assert SECRET not in remote.shown(address)
        assert remote.shown(address).endswith("/x.csv")
