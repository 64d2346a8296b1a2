"""Work is counted in what it costs, computed in turn by client, and refused when there is too much of it."""

import asyncio
import itertools
import logging
import threading
from fractions import Fraction

import numpy as np
import pytest

import dawa
from dawa import limits
from dawa.errors import OptionError
from dawa.publish import page as report
from dawa.server import app, asking, costs, logs, throttle, turns
from helpers.asgi import Client


def test_tokens_come_back():
    now = [0.0]
    buckets = throttle.Throttle(rate=2, clock=lambda: now[0])
    waits = [buckets.wait("a") for _ in range(10)]
    assert waits == [0.0] * 8 + [0.5, 0.5]
    now[0] = 0.5
    assert buckets.wait("a") == 0
    assert buckets.wait("a") == 0.5
    now[0] = 1e6
    assert [buckets.wait("a") for _ in range(9)] == [0.0] * 8 + [0.5], "no more than a burst is saved up"


def test_few_clients_are_remembered(monkeypatch):
    monkeypatch.setattr(throttle, "MOST_CLIENTS", 3)
    buckets = throttle.Throttle(rate=1, clock=lambda: 0.0)
    for number in range(100):
        buckets.wait(str(number))
    assert len(buckets._levels) == 3


def test_a_subscriber_is_one_client():
    def of(host):
        return throttle.client({"client": (host, 1)})

    assert of("2001:db8::1") == of("2001:db8::ffff") != of("2001:db8:0:1::1")
    assert of("10.0.0.1") != of("10.0.0.2")
    assert of("testclient") == "testclient"
    assert throttle.client({"client": None}) == "unknown"


def test_a_large_request_leaves_a_debt():
    now = [0.0]
    buckets = throttle.Throttle(rate=10, clock=lambda: now[0])
    assert buckets.wait("a", 100) == 0, "more than a burst, and the bucket is full"
    assert buckets.wait("a", 1) == pytest.approx(6.1), "60 are owed"
    assert buckets.wait("b", 1) == 0
    now[0] = 6.1
    assert buckets.wait("a", 1) == 0
    assert buckets.wait("a", 100) == pytest.approx(2), "the bucket must be half full again"
    with pytest.raises(throttle.TooMuchError):
        buckets.take("a", 100)
    buckets.owe("a", 100)
    assert buckets.wait("a", 1) == pytest.approx(10.1), "the rest of a request that was let in"


def test_an_eager_client_gets_no_more_than_its_rate():
    """Whatever requests cost, what is let in over a long time is the rate, one burst and one debt."""
    now, rng = [0.0], np.random.default_rng(4)
    buckets, spent = throttle.Throttle(rate=50, clock=lambda: now[0]), 0.0
    for _ in range(20_000):
        now[0] += 0.01
        cost = float(rng.choice([1, 10, 300, 2000]))
        spent += cost if buckets.wait("a", cost) == 0 else 0
    assert 0.9 * 50 * 200 < spent < 50 * 200 + buckets.burst + 2000


def test_who_a_proxy_says_asks():
    def of(host, *forwarded):
        headers = [(b"x-forwarded-for", value.encode()) for value in forwarded]
        return throttle.client({"client": (host, 1), "headers": headers}, {"10.0.0.7"})

    assert of("10.0.0.8", "1.2.3.4") == "10.0.0.8", "anybody can write this header"
    assert of("10.0.0.7", "1.2.3.4, 5.6.7.8") == "5.6.7.8", "only the last entry is the proxy's"
    assert of("10.0.0.7", "1.2.3.4", "2001:db8::1") == "2001:db8::/64"
    assert of("10.0.0.7") == "10.0.0.7"
    assert of("::ffff:10.0.0.7", "1.2.3.4") == "1.2.3.4", "the proxy, on a socket for both kinds of addresses"
    assert throttle.checked_address("2001:DB8:0::1") == "2001:db8::1"
    with pytest.raises(OptionError, match="not an address"):
        throttle.checked_address("proxy.example")


@pytest.mark.parametrize(
    ("written", "who"),
    [
        ("9.9.9.9:1234", "9.9.9.9"),
        ("\t9.9.9.9 ", "9.9.9.9"),
        ("1.1.1.1,9.9.9.9:65535", "9.9.9.9"),
        ("[2001:db8:0:1::7]:80", "2001:db8:0:1::/64"),
        ("[2001:DB8:0:1::8]", "2001:db8:0:1::/64"),
        ("2001:db8:0:1::9%eth0", "2001:db8:0:1::/64"),
        ("[fe80::1%25en0]:443", "fe80::/64"),
        ("[::ffff:9.9.9.9]:80", "9.9.9.9"),
        ("::ffff:909:909", "9.9.9.9"),
        ("9.9.9.9:", "10.0.0.7"),
        ("9.9.9.9:123456", "10.0.0.7"),
        ("9.9.9.9:x", "10.0.0.7"),
        ("09.9.9.9", "10.0.0.7"),
        ("9.9.9.9, ", "10.0.0.7"),
        ("9.9.9.9,", "10.0.0.7"),
        ("", "10.0.0.7"),
        ("unknown", "10.0.0.7"),
        ("_hidden7", "10.0.0.7"),
        ("client.example", "10.0.0.7"),
        ("[[::1]]", "10.0.0.7"),
        ("[]:80", "10.0.0.7"),
        ("9.9.9.9;1.1.1.1", "10.0.0.7"),
        ("٩.9.9.9", "10.0.0.7"),
        ("9" * 5000, "10.0.0.7"),
    ],
)
def test_addresses_as_proxies_write_them(written, who):
    """Whatever a proxy adds to an address, the client stays the same; what is none is the proxy's own request."""
    for before in ((), ("8.8.8.8",), ("", "5.5.5.5, 6.6.6.6")):
        headers = [(b"x-forwarded-for", value.encode()) for value in (*before, written)]
        assert throttle.client({"client": ("10.0.0.7", 1), "headers": headers}, {"10.0.0.7"}) == who


@pytest.fixture(scope="module")
def maps():
    """One table of places, released in ways that cost differently."""
    rng = np.random.default_rng(5)
    table = {"x": rng.integers(0, 64, 4000), "y": rng.integers(0, 64, 4000)}
    axes = dawa.Axis("x", 0, 64), dawa.Axis("y", 0, 64)
    ways = {"dawa": {"effort": "fast"}, "privelet": {}, "hybrid-tree": {}, "quadtree": {}}
    return {name: dawa.release(table, axes, epsilon=1, mechanism=name, **options) for name, options in ways.items()}


def test_prices_grow_with_work(maps):
    def price(release, lo, hi):
        spans = [(Fraction(lo), Fraction(hi))] * 2
        return costs.of_range(release, spans)

    for release in maps.values():
        assert price(release, 0, 1) < price(release, 0, 64)
        assert price(release, 1, 63) < price(release, Fraction(1, 2), Fraction(127, 2)), "cutting cells costs more"
    assert costs.of_reading(maps["dawa"], 1000) == pytest.approx(1000 * costs.of_reading(maps["dawa"], 1))
    assert costs.of_body(10**6) > costs.of_body(10**3)


def test_a_range_that_cannot_be_interrupted_is_small(maps, monkeypatch):
    spans = [[(Fraction(1, 2), Fraction(127, 2))] * 2]
    assert costs.checked(maps["privelet"], spans) == [costs.of_range(maps["privelet"], spans[0])]
    monkeypatch.setattr(costs, "MOST_UNITS_OF_ONE", 1)
    with pytest.raises(OptionError, match="take too long") as refused:
        costs.checked(maps["privelet"], spans)
    assert "smaller range" in refused.value.hint


def test_too_much_at_once_says_how_much_would_do(maps, monkeypatch):
    spans = [[(Fraction(1, 2), Fraction(127, 2))] * 2] * 100
    monkeypatch.setattr(costs, "MOST_UNITS_ASKED", 100)
    with pytest.raises(OptionError, match="take too long") as refused:
        costs.checked(maps["privelet"], spans)
    most = int(refused.value.hint.split("at most ")[1].split()[0])
    assert len(costs.checked(maps["privelet"], spans[:most])) == most > 1


def test_steps_hold_all_ranges_and_cost_about_the_same():
    rng = np.random.default_rng(7)
    each = rng.uniform(0, 3, 1000).tolist()
    steps = list(costs.steps(each, call=1))
    assert [at for step in steps for at in range(step.start, step.stop)] == list(range(1000))
    assert all(sum(each[step]) <= costs.STEP for step in steps)
    assert [step.stop - step.start for step in costs.steps([100.0] * 3, call=1)] == [1, 1, 1]
    assert list(costs.steps([], call=1)) == []


@pytest.mark.long_but(1)
@pytest.mark.parametrize("part", [0, 0.5])
def test_answers_step_by_step_are_the_same(maps, part):
    """On maps, linear algebra may round the last digits of margins in another way; nothing else differs."""
    rng = np.random.default_rng(8)
    corners = np.sort(rng.choice(63, (40, 2, 2)) + part, axis=1)
    asked = [(lo.tolist(), (hi + 1).tolist()) for lo, hi in corners]
    for release in maps.values():
        whole = release.answers(*([tuple(ends) for ends in side] for side in zip(*asked, strict=True)))
        found = [one for step in asking.answers(release, asked, [3.0] * len(asked), 0.95) for one in step]
        assert [one.value for one in found] == [one.value for one in whole]
        for name in ("noise_margin", "bias_bound", "low", "high"):
            assert [getattr(one, name) for one in found] == pytest.approx([getattr(one, name) for one in whole], 1e-12)


def run(steps):
    """What happens in an event loop."""
    return asyncio.run(steps())


def test_clients_take_turns():
    order = []

    def computation(name, length):
        for number in range(length):
            order.append(name)
            yield number

    async def all_at_once():
        line = turns.Turns()
        asked = [("a", 6), ("a", 2), ("b", 1), ("c", 2)]
        return await asyncio.gather(*(line.run(client, computation(client, length)) for client, length in asked))

    assert run(all_at_once) == [list(range(length)) for length in (6, 2, 1, 2)]
    assert "".join(order[:5]) == "abcac", "everybody gets a turn before anybody gets another"
    assert order.count("a") == 8


def test_short_computations_get_half_of_the_time():
    order, ticks = [], itertools.count()

    def computation(name, length):
        for number in range(length):
            order.append(name)
            yield number

    async def all_at_once():
        line = turns.Turns(clock=lambda: next(ticks))
        long = [line.run(f"long {number}", computation("long", 5)) for number in range(20)]
        short = [line.run(f"short {number}", computation("short", 2), short=True) for number in range(3)]
        await asyncio.gather(*long, *short)

    run(all_at_once)
    assert order[:9] == ["short", "short", "long"] * 3, "all of a short one at once"


def test_one_step_at_a_time():
    at_once, most = [], []

    def computation():
        for _ in range(20):
            at_once.append(threading.get_ident())
            most.append(len(at_once))
            yield at_once.pop()

    async def many():
        line = turns.Turns()
        return await asyncio.gather(*(line.run(str(client), computation()) for client in range(20)))

    assert len({thread for found in run(many) for thread in found}) == 1
    assert set(most) == {1}


def endless():
    """A computation that never ends by itself."""
    while True:
        yield 0


def test_a_client_who_leaves_stops_its_computation():
    taken = []

    async def leave():
        line, left, loop = turns.Turns(), asyncio.Event(), asyncio.get_running_loop()

        def counted():
            for step in endless():
                taken.append(step)
                loop.call_soon_threadsafe(left.set)
                yield step

        with pytest.raises(turns.GoneError):
            await line.run("a", counted(), gone=left.wait)
        assert line.waiting == 0
        assert await line.run("b", iter([1])) == [1]
        stopped = len(taken)
        assert await line.run("b", iter([1])) == [1]
        assert len(taken) == stopped

    run(leave)


def test_errors_go_to_whoever_asked():
    def broken():
        yield 1
        raise MemoryError

    async def both():
        line = turns.Turns()
        return await asyncio.gather(line.run("a", broken()), line.run("b", iter([1, 2])), return_exceptions=True)

    failed, found = run(both)
    assert isinstance(failed, MemoryError)
    assert found == [1, 2]


def test_lines_are_short(monkeypatch):
    monkeypatch.setattr(limits, "MOST_WAITING", 20)

    async def fill():
        line = turns.Turns()
        greedy = [asyncio.ensure_future(line.run("greedy", endless(), weight=2)) for _ in range(9)]
        await asyncio.sleep(0)
        with pytest.raises(throttle.TooMuchError, match="of your requests"):
            await greedy[-1]
        small = [asyncio.ensure_future(line.run(str(number), endless())) for number in range(4)]
        await asyncio.sleep(0)
        assert line.waiting == 20
        assert await line.run("late", iter([7])) == [7], "who has most waiting gives way"
        with pytest.raises(turns.BusyError):
            await greedy[-2]
        with pytest.raises(turns.BusyError):
            await line.run("heavy", iter([7]), weight=30)
        assert not any(one.done() for one in small)
        for one in (*greedy, *small):
            one.cancel()
        await asyncio.gather(*greedy, *small, return_exceptions=True)
        assert line.waiting == 0

    run(fill)


def test_who_waits_too_long_is_told_so(monkeypatch):
    monkeypatch.setattr(turns, "WAITING_SECONDS", 0.05)

    async def wait():
        line = turns.Turns()
        with pytest.raises(turns.BusyError):
            await line.run("a", endless())
        assert line.waiting == 0

    run(wait)


def test_refusals_over_http(maps, tmp_path, monkeypatch):
    """A request for a thousand ranges is answered once, and then the client waits; others do not."""
    maps["dawa"].save(tmp_path / "map.json")
    application = app(tmp_path, rate=1)
    eager, other = Client(application), Client(application, host="127.0.0.2")
    body = {"ranges": [{"lo": [0.5, 0.5], "hi": [63.5, 63.5]}] * 1000}
    assert eager.post("/releases/map/answers", json=body).status_code == 200
    refused = eager.post("/releases/map/answers", json=body)
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 10
    assert other.get("/releases/map/answer?lo=1&lo=1&hi=2&hi=2").status_code == 200

    def starved(*_arguments, **_options):
        raise MemoryError

    monkeypatch.setattr("dawa.results.release.Release.answers", starved)
    refused = other.get("/releases/map/answer?lo=1&lo=1&hi=2&hi=2")
    assert refused.status_code == 503
    assert "too little memory" in refused.json()["problem"]


def test_logs_cannot_be_filled(capsys):
    now = [0.0]
    handler = logs.Brief(clock=lambda: now[0])
    for number in range(10_000):
        text = "%s is a kind of its own" if number % 2 else f"{number} is a kind of its own"
        handler.handle(logging.makeLogRecord({"msg": text, "args": ("\n\x1b[2J" * 10_000,) if number % 2 else ()}))
    written = capsys.readouterr().err
    assert written.count("\n") == limits.MOST_LOG_LINES
    assert len(written) < limits.MOST_LOG_LINES * (limits.MOST_LOG_LINE * 5)
    assert "\x1b" not in written
    now[0] = logs.SECONDS
    handler.handle(logging.makeLogRecord({"msg": "later"}))
    assert capsys.readouterr().err == f"… and {10_000 - limits.MOST_LOG_LINES:,} more lines like these\nlater\n"


def test_pages_are_made_only_if_that_is_one_short_step(tmp_path, monkeypatch):
    for name in ("a", "b"):
        dawa.release({"x": [1]}, dawa.Axis("x", 0, 64), epsilon=1, mechanism="identity").save(tmp_path / f"{name}.json")
    made = []
    html = report.html
    monkeypatch.setattr(report, "html", lambda release: made.append(1) or html(release))
    client = Client(app(tmp_path, rate=1e9))
    for name in "abab":
        assert client.get(f"/releases/{name}/page").status_code == 200
    assert len(made) == 2, "both are kept"
    monkeypatch.setattr(costs, "MOST_BUCKETS_PAGED", 63)
    assert client.get("/releases/a/page").status_code == 200, "it is made already"
    refused = Client(app(tmp_path, rate=1e9)).get("/releases/a/page")
    assert refused.status_code == 422
    assert refused.json() == {
        "problem": "This release has 64 buckets, and the server makes pages for at most 63.",
        "hint": "download /releases/a/file, and make its page: dawa explore a.json.",
    }


def test_pages_of_the_largest_releases_are_kept_together():
    """Each bucket is a few numbers on a page."""
    buckets = limits.MOST_BUCKETS_PAGED
    table = {"x": np.arange(buckets)}
    made = dawa.release(table, dawa.Axis("x", 0, buckets), epsilon=1, mechanism="identity", seed=0)
    assert 4 * len(report.html(made)) < limits.MOST_PAGES_BYTES
