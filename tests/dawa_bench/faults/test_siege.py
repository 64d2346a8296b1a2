"""The siege, short: what must hold while a server is attacked, except how fast this machine is."""

import json
import multiprocessing
import sys
from collections import Counter

import pytest

from dawa_bench.faults import attacks, siege

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")


@pytest.mark.long
def test_all_attacks_at_once():
    ways = list(attacks.ATTACKS)
    with siege.besieged() as server, multiprocessing.get_context("spawn").Pool(len(ways) + 2) as pool:
        outcome = siege.attacked(server, "all of these", ways, 5, pool)
        afterwards = siege.attacked(server, "nothing, afterwards", [], 1, pool)
    assert set(outcome.honest) == {"200"}
    assert outcome.honest["200"] > 10
    assert outcome.megabytes < siege.MOST_MEGABYTES
    assert outcome.log <= siege.MOST_LOG_BYTES
    assert outcome.hostile["503"] > 900, "half-open connections beyond the limit of one address"
    assert outcome.hostile["429"] + outcome.hostile["200"] > 20
    assert set(afterwards.honest) == {"200"}
    assert server.process.returncode == 0


def test_what_is_promised():
    def outcome(**changed):
        good = {"taken": [0.1] * 99 + [5], "honest": Counter({"200": 100}), "megabytes": 599.0, "log": 1000}
        return siege.Outcome("an attack", hostile=Counter({"429": 3}), **(good | changed))

    assert outcome().missed == []
    assert "429 × 3" in str(outcome())
    assert outcome(taken=[0.1] * 90 + [5.0] * 10).missed == ["99 of 100 within 5.00 s"]
    assert outcome(megabytes=601.0).missed == ["601 MB"]
    assert outcome(log=10**6).missed == ["1,000,000 bytes in the log"]
    assert outcome(honest=Counter({"200": 99, "503": 1})).missed == ["honest clients got {'200': 99, '503': 1}"]


def test_the_command_counts_what_was_missed(monkeypatch, capsys):
    def outcomes(seconds, *, everything):
        assert everything == 3 * seconds == 3
        for name, megabytes in (("one", 100.0), ("two", 5000.0)):
            yield siege.Outcome(name, [0.1], Counter({"200": 1}), Counter(), megabytes, 0)

    monkeypatch.setattr(siege, "outcomes", outcomes)
    assert siege.main(["--seconds", "1"]) == 1
    assert "two: 5,000 MB" in capsys.readouterr().out


def test_large_requests_are_large():
    head, body = attacks.large(0).split(b"\r\n\r\n", 1)
    assert b"POST /releases/map/answers" in head
    assert len(json.loads(body)["ranges"]) == 1000
