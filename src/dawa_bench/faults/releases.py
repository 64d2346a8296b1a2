"""Small releases of every kind, and hostile ones that fit together: what a loader accepts and then has to live with."""

import json
import random
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

import dawa
from dawa.axis import Axis
from dawa.axis.apart import patterns
from dawa.errors import DawaError
from dawa.partition.split import split_line
from dawa.results.about import DATES, NAMES
from dawa.results.agreeing import variance_of
from dawa.results.grouped import AnyRelease
from dawa.results.statement import PrivacyStatement, protected
from dawa.strategy.base import RESOLUTION
from dawa_bench.faults.mutation import TEXTS

WORDS = dawa.About(
    title="People who do not exist",
    description="Made up.\nTwice.",
    record="a person",
    publisher="Nobody",
    contact="mailto:nobody@example.org",
    data_from="2013-01-01",
    data_to="2013-12-31",
    released="2014-01-01",
    licence="https://example.org/terms",
)


@cache
def seeds() -> tuple[str, ...]:
    """Releases of every kind of axis, order, strategy and unit, as JSON; made once, and the same in every process."""
    rng = np.random.default_rng(1)
    n = 400
    table = {
        "age": rng.integers(0, 60, n),
        "pay": rng.gamma(2, 10, n),
        "grade": rng.choice(["A", "B", "C", "x"], n),
        "when": np.datetime64("2013-01-01T00:00:00") + rng.integers(0, 86400 * 300, n).astype("m8[s]"),
        "moment": [datetime(2013, 1, 1, int(hour), tzinfo=UTC) for hour in rng.integers(0, 24, n)],
        "who": rng.integers(0, 100, n),
        "half": rng.integers(0, 2, n),
    }
    age, pay = Axis("age", 0, 60), Axis("pay", 0, 64, outside="own")
    small = Axis("age", 0, 60, 5), Axis("pay", 0, 64, 4)
    grade = Axis.ordered("grade", ["A", "B", "C"])
    hours = Axis.dates("moment", "2013-01-01", "2013-01-03", "1h", "Europe/Berlin")
    months = Axis.dates("when", "2013-01-01", "2014-01-01", "1 month", outside="drop", missing="drop")
    edges = Axis.edges("pay", ["0", "1/3", "2.5", "10", "100"])
    made: list[tuple[Any, dict[str, Any]]] = [
        (age, {"about": WORDS}),
        (pay, {"partition": "none", "strategy": "hats", "effort": "fast"}),
        (age, {"strategy": "wavelet"}),
        (age, {"mechanism": "hierarchical"}),
        (pay, {"unit": "who", "max_rows_per_unit": 3}),
        (grade, {"mechanism": "identity"}),
        (hours, {"strategy": "greedy"}),
        (months, {}),
        (edges, {}),
        (small, {}),
        (small, {"mechanism": "ugrid"}),
        (small, {"mechanism": "privelet"}),
        (small, {"strategy": "bumps", "partition": "none"}),
        (small, {"mechanism": "hybrid-tree"}),
        ((small[0], grade, months), {"where": "age < 40"}),
        ((small[0], edges, grade, months), {"mechanism": "identity"}),
        (age, {"by": {"grade": ["A", "B"]}, "about": WORDS}),
        (pay, {"by": {"grade": ["A"], "half": [0, 1]}, "other": True, "unit": "who", "max_rows_per_unit": 2}),
        (small, {"by": "half", "groups": [1], "mechanism": "ugrid"}),
    ]
    found = []
    for axes, options in made:
        rel: AnyRelease = dawa.release(table, axes, **{"epsilon": "1/2", "seed": 3, **options})
        found.append(json.dumps(rel.to_json(), separators=(",", ":")))
        if isinstance(rel, dawa.GroupedRelease):
            found.append(json.dumps(rel[rel.groups[0]].to_json(), separators=(",", ":")))
    return tuple(found)


def hostile(document: dict[str, Any], rng: random.Random) -> None:
    """Change a release so that its parts still fit together, and reading or asking it may cost a lot."""
    grouped = (_regrouped, _in_a_group) if "groups" in document else ()
    plain = (_huge_axis, _huge_map, _halves, _walked, _measured, _dated, _extreme, _worded)
    try:
        rng.choice(grouped or plain)(document, rng)
    except (DawaError, LookupError, TypeError, ValueError, OverflowError):
        return


def _in_a_group(document: dict[str, Any], rng: random.Random) -> None:
    """One group of several, changed as a release without groups is."""
    group = rng.choice(document["groups"])
    alone = {**group, "privacy": document["privacy"], "axes": document["axes"]}
    rng.choice((_walked, _measured, _huge_axis))(alone, rng)
    group.update({name: alone[name] for name in group})
    document["axes"] = alone["axes"]


def _regrouped(document: dict[str, Any], rng: random.Random) -> None:
    """As many groups as there is room for, all alike."""
    count = rng.choice((1, 2, 3, 50, 999, 1000, 1001))
    other = rng.random() < 0.5
    group, values = document["groups"][0], [str(place) for place in range(count - other)]
    document["by"] = [{"column": "g", "values": values, "other": other}]
    document["privacy"]["by"] = ["g"]
    document["groups"] = [{**group, "group": [label]} for label in (*values, *(["other"] * other))]
    ways = [["missing"]] if other else [["unlisted"], ["missing"]]
    document["apart"].update(states=ways, totals=[1.0] * len(ways), unbiased=[1.0] * len(ways))


def _numbers(name: str, cells: int, rng: random.Random) -> dict[str, Any]:
    step = Fraction(1, rng.choice((1, 1, 7, 10**9, 10**120)))
    start = rng.choice((0, -(10**18), Fraction(1, 3), -(10**150)))
    ends = (start, start + cells * step, step)
    written = dict(zip(("start", "stop", "step"), map(str, ends), strict=True))
    return {"kind": "numbers", "column": name, "outside": "drop", "missing": "drop", **written}


def _bounds(cells: int, rng: random.Random) -> list[int]:
    inner = {rng.randrange(1, cells) for _ in range(rng.choice((0, 1, 3, 20)))} if cells > 1 else set()
    return [0, *sorted(inner), cells]


def _fitted(document: dict[str, Any], axes: list[dict[str, Any]], bounds: list[int], **buckets: Any) -> None:  # noqa: ANN401
    """Put buckets with these bounds over these axes, with everything else that goes with them."""
    k = len(bounds) - 1
    totals = [float(i * 17 % 23) for i in range(k)]
    order = {"order": "hilbert"} if len(axes) > 1 else {}
    document["axes"] = axes
    document["buckets"] = {"bounds": bounds, "totals": totals, "unbiased": list(totals), **order, **buckets}
    document["strategy"] = _tree(k, 2)
    document["stops"] = None
    ways = patterns([Axis.from_json(axis) for axis in axes])
    numbers = [1.0] * len(ways)
    variance = _variance(Fraction(document["privacy"]["mechanism_epsilon"]))
    apart = {"states": [list(way) for way in ways], "totals": numbers, "unbiased": numbers, "unit_variance": variance}
    document["apart"] = apart if ways else None


def _variance(epsilon: Fraction) -> float:
    """The variance of noise for one number, if all of a record's budget is spent on it."""
    return variance_of(RESOLUTION / epsilon)


def _tree(k: int, branching: int) -> dict[str, Any]:
    sizes = [k]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // branching))
    weights = [1] * k + [0] * (sum(sizes) - k)
    return {"kind": "tree", "weighting": "greedy", "branching": branching, "buckets": k, "weights": weights}


def _huge_axis(document: dict[str, Any], rng: random.Random) -> None:
    cells = rng.choice((2, 1000, 2**20, 2**40, 2**48))
    _fitted(document, [_numbers("x", cells, rng)], _bounds(cells, rng))


def _huge_map(document: dict[str, Any], rng: random.Random) -> None:
    sides = [2 ** rng.randrange(0, 15) + rng.randrange(2) for _ in range(rng.choice((2, 2, 3, 4)))]
    axes = [_numbers(f"x{i}", side, rng) for i, side in enumerate(sides)]
    _fitted(document, axes, _bounds(int(np.prod(sides, dtype=object)), rng))


def _halves(document: dict[str, Any], rng: random.Random) -> None:
    """Boxes that tile a large grid: cut along one axis."""
    sides = [2 ** rng.randrange(1, 13), 2 ** rng.randrange(1, 13)]
    cuts = [0, *sorted({rng.randrange(1, sides[0]) for _ in range(3)}), sides[0]]
    lo, hi = [[cut, 0] for cut in cuts[:-1]], [[cut, sides[1]] for cut in cuts[1:]]
    axes = [_numbers(f"x{i}", side, rng) for i, side in enumerate(sides)]
    _fitted(document, axes, [cut * sides[1] for cut in cuts], order="boxes", lo=lo, hi=hi)


def _walked(document: dict[str, Any], rng: random.Random) -> None:
    """The stops of a walk with other parameters, by cells or by halves."""
    loss = Fraction(rng.randrange(1, 30), rng.choice((10, 100, 10**4, 10**6)))
    least, theta = rng.choice((0.15, 0.4999, 1e-12, rng.random() / 2)), rng.uniform(-5, 5)
    line = split_line(loss, least, theta)
    depth = [rng.randrange(-1, 65) for _ in document["buckets"]["totals"]]
    known = {"step": line.step, "offset": line.offset}
    stops = {"loss": str(loss), "least": least, "theta": theta, **known, "depth": depth}
    tolerated = rng.choice((None, 1, 20, 2**45))
    document |= {"stops": stops} if tolerated is None else {"stops": None, "halves": {"tolerated": tolerated, **stops}}


def _measured(document: dict[str, Any], rng: random.Random) -> None:
    """Another strategy over the same buckets."""
    k = len(document["buckets"]["totals"])
    kind = rng.choice(("tree", "wavelet", "nested", "hats", "bumps"))
    if kind == "tree":
        document["strategy"] = _tree(k, rng.choice((2, 3, k + 2, 2**24)))
    elif kind == "wavelet":
        document["strategy"] = {"kind": kind, "buckets": k, "difference": rng.randrange(1, 4000), "total": 1}
    elif kind == "bumps":
        rows = rng.randrange(0, k // 8 + 9)
        document["strategy"] = {
            "kind": kind, "leaf": [1] * k, "ptr": list(range(rows + 1)), "column": [0] * rows, "weights": [1] * rows
        }  # fmt: skip
    else:
        rows = rng.randrange(0, 130)
        width = rng.randrange(1, k + 1) if kind == "hats" else k
        weights = [rng.randrange(2)] * (rows * width if kind == "hats" else rows)
        document["strategy"] = {
            "kind": kind, "leaf": [1] * k, "start": [0] * rows, "stop": [width] * rows, "weights": weights
        }  # fmt: skip


def _dated(document: dict[str, Any], rng: random.Random) -> None:
    """An axis of times that is as long as the calendar."""
    years = sorted(rng.sample((1, 2, 1582, 1900, 1970, 2013, 2038, 2500, 9000, 9998), 2))
    step = rng.choice(("1 microsecond", "1 second", "1 hour", "1 day", "1 week", "1 month", "1 quarter", "1 year"))
    zone = rng.choice((None, None, "UTC", "Europe/Berlin", "Pacific/Apia"))
    axis = Axis.dates("t", f"{years[0]:04}-01-01", f"{years[1]:04}-01-01", step, zone, "clip", "own")
    _fitted(document, [axis.to_json()], _bounds(axis.size, rng))


def _worded(document: dict[str, Any], rng: random.Random) -> None:
    """Words about the data that somebody would try, as many as there is room for."""
    long = rng.choice(("x", "\u202e", "\n", "<", "\U0001f600", "https://", "a\u0301")) * rng.choice((1, 300, 301, 5000))
    texts = (*TEXTS, long[:300], long[:5000], long, "javascript:alert(1)", "https://a@b", "</title><script>")
    about = {name: rng.choice(texts) for name in NAMES if rng.random() < 0.4}
    about |= {name: rng.choice(("2013-01-01", "0001-01-01", "9999-12-31", "today")) for name in DATES if name in about}
    document["about"] = {**about, "colour": 1} if rng.random() < 0.2 else about


def _extreme(document: dict[str, Any], rng: random.Random) -> None:
    """Numbers at the ends of their ranges."""
    big = rng.choice((4e18, -4e18, 0.0, 1e-300, 2.0**53))
    document["buckets"]["totals"] = [big for _ in document["buckets"]["totals"]]
    document["buckets"]["unbiased"] = [rng.choice((big, -big)) for _ in document["buckets"]["unbiased"]]
    epsilon = rng.choice((Fraction(1, 10**9), Fraction(10**6), Fraction(1, 3), Fraction(10**40 + 1, 10**44)))
    statement = PrivacyStatement.from_json(document["privacy"])
    document["privacy"] = replace(
        statement,
        epsilon=epsilon,
        split={"partition": Fraction(0), "measure": epsilon},
        searched={},
        **{"unit_columns": (), "max_rows_per_unit": 1, **protected((), 1)},
    ).to_json()
    variances = (0.0, 1e-300, 1e38, 1.0, *[_variance(epsilon)] * 8)
    document["noise"]["unit_variance"] = rng.choice(variances)
    if document.get("apart"):
        document["apart"]["unit_variance"] = _variance(epsilon)
