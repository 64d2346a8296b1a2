"""Releases of every kind for pages, and their answers as a page writes them."""

import math
from dataclasses import replace
from urllib.parse import urlencode

import numpy as np
import pyarrow as pa

import dawa


def peaks(rng, size, top):
    """Values with a hill and a plain."""
    return np.concatenate((rng.normal(0.3 * top, 0.06 * top, size), rng.uniform(0, top, size // 3))).clip(
        0, top * 0.999
    )


def line(**options):
    """A release along one axis."""
    values = peaks(np.random.default_rng(0), 9000, 1000)
    return dawa.release({"x": values}, dawa.Axis("x", 0, 1000), epsilon="0.3", seed=0, **options)


def plane(**options):
    """A release of a map."""
    rng = np.random.default_rng(1)
    table = {"a": peaks(rng, 9000, 60), "b": peaks(rng, 9000, 45)}
    return dawa.release(table, [dawa.Axis("a", 0, 60), dawa.Axis("b", 0, 45)], epsilon="0.3", seed=0, **options)


def box(**options):
    """A release along three axes."""
    rng = np.random.default_rng(2)
    table = {name: peaks(rng, 5000, top) for name, top in (("a", 12), ("b", 9), ("c", 7))}
    axes = [dawa.Axis("a", 0, 12), dawa.Axis("b", 0, 9), dawa.Axis("c", 0, 7)]
    return dawa.release(table, axes, epsilon="0.5", seed=0, **options)


def hyperbox(**options):
    """A release along four axes, one of each kind."""
    rng = np.random.default_rng(8)
    labels = ["first", "second", "third"]
    when = np.datetime64("2013-01-01", "us") + (rng.beta(2, 3, 6000) * 365 * 86_400_000_000).astype("m8[us]")
    table = {
        "when": pa.array(when, pa.timestamp("us")),
        "x": peaks(rng, 4500, 10),
        "age": rng.gamma(3, 12, 6000).clip(0, 109),
        "class": [labels[i] for i in rng.binomial(2, 0.4, 6000)],
    }
    axes = [
        dawa.Axis.dates("when", "2013-01-01", "2014-01-01", step="1 month"),
        dawa.Axis("x", 0, 10, step="0.5"),
        dawa.Axis.edges("age", [0, 1, 5, 18, 65, 110]),
        dawa.Axis.ordered("class", labels),
    ]
    return dawa.release(pa.table(table), axes, epsilon=2, seed=0, **options)


def fractions():
    """A release whose cells are a fraction wide."""
    values = peaks(np.random.default_rng(3), 5000, 3)
    return dawa.release({"x": values - 1}, dawa.Axis("x", -1, 2, step="1/30"), epsilon="0.5", seed=0, effort="fast")


def edges():
    """A release whose cells are cut anywhere."""
    cuts = [-5, 0, "0.5", 2, 10, 100, "250.25", 300, 1000]
    values = peaks(np.random.default_rng(3), 5000, 1000)
    return dawa.release({"x": values}, dawa.Axis.edges("x", cuts), epsilon="0.5", seed=0)


def dates(step, zone=None, **options):
    """A release of the times of a year."""
    rng = np.random.default_rng(4)
    when = np.datetime64("2013-01-01", "us") + (peaks(rng, 5000, 365) * 86_400_000_000).astype("m8[us]")
    axis = dawa.Axis.dates("when", "2013-01-01", "2014-01-01", step=step, zone=zone)
    table = pa.table({"when": pa.array(when, pa.timestamp("us", zone and "UTC"))})
    return dawa.release(table, axis, epsilon="0.5", seed=0, effort="fast", **options)


def ordered(labels=("none", "primary", "secondary", "bachelor", "master", "doctor"), column="level"):
    """A release of labels that have an order."""
    values = [labels[i] for i in np.random.default_rng(5).binomial(len(labels) - 1, 0.4, 900)]
    return dawa.release({column: values}, dawa.Axis.ordered(column, labels), epsilon="0.5", seed=0)


def addresses(axis):
    """A release of addresses with a hill and a plain."""
    cells = peaks(np.random.default_rng(6), 5000, axis.size).astype(np.int64)
    return dawa.release({"ip": axis.value(cells).tolist()}, axis, epsilon="0.5", seed=0, effort="fast")


def many(*sides, **options):
    """A release of 2^44 records at a budget whose noise is less than the last digit of a float."""
    axes = [dawa.Axis(f"x{i}", 0, side) for i, side in enumerate(sides)]
    shares = np.random.default_rng(7).dirichlet(np.full(math.prod(sides), 0.3))
    counts = np.floor(shares * 2**44).astype(np.int64).reshape(sides)
    none = {axis.column: np.zeros(0, np.int64) for axis in axes}
    release = dawa.release(none, axes, epsilon=10_000, seed=0, **options)
    return replace(release, estimate=dawa.estimate(counts, epsilon=10_000, seed=0, **options))


KINDS = {
    "walk with hats": lambda: line(strategy="hats"),
    "walk with a tree": lambda: line(strategy="greedy", branching=4),
    "hats on every cell": lambda: line(partition="none", strategy="hats", effort="fast"),
    "tree on every cell": lambda: line(mechanism="hierarchical"),
    "wavelet": lambda: line(partition="walk", strategy="wavelet"),
    "privelet": lambda: line(mechanism="privelet"),
    "without post-processing": lambda: line(postprocess="none", effort="fast"),
    "fractions": fractions,
    "edges": edges,
    "days": lambda: dates("1 day"),
    "hours": lambda: dates("6 hours"),
    "months": lambda: dates("1 month"),
    "hours in a zone": lambda: dates("1 hour", "America/New_York"),
    "every hour in a zone": lambda: dates("1 hour", "America/New_York", partition="none"),
    "days in a zone": lambda: dates("1 day", "Europe/Berlin"),
    "ordered": ordered,
    "addresses": lambda: addresses(dawa.Axis.ipv4("ip", "10.0.0.0/8", prefix=24)),
    "networks of IPv6": lambda: addresses(dawa.Axis.ipv6("ip", "2001:db8::/32")),
    "map with bumps": lambda: plane(effort="fast"),
    "map of cells with bumps": lambda: plane(partition="none", strategy="bumps", effort="fast"),
    "map with a tree": lambda: plane(strategy="greedy"),
    "map with hats": lambda: plane(strategy="hats", effort="fast"),
    "map with wavelets": lambda: plane(strategy="wavelet"),
    "map of boxes": lambda: plane(mechanism="ugrid"),
    "map of nested boxes": lambda: plane(mechanism="hybrid-tree"),
    "map of rows": lambda: plane(mechanism="privelet"),
    "three axes": lambda: box(effort="fast"),
    "three axes of nested boxes": lambda: box(mechanism="hybrid-tree"),
    "three axes of rows": lambda: box(mechanism="privelet"),
    "four axes": lambda: hyperbox(effort="fast"),
    "2^44 records": lambda: many(300, strategy="hats", effort="fast"),
    "2^44 records in few buckets": lambda: many(300, partition=[0, 7, 100, 101, 260, 300], strategy="greedy"),
    "map of 2^44 records": lambda: many(16, 12, strategy="greedy"),
}


def records(number):
    """A number as the page writes it."""
    if math.isinf(number):
        return "unbounded"
    text = f"{abs(number):,.1f}" if abs(number) < 100 else f"{abs(number):,.0f}"
    return f"−{text}" if number < 0 and text.strip("0.,") else text


def written(answer):
    """The five numbers of an answer as the page writes them."""
    return [records(x) for x in (answer.value, answer.noise_margin, answer.bias_bound, answer.low, answer.high)]


def fragment(lo, hi, confidence=0.95):
    """The end of an address that asks for a range."""
    ends = [pair for both in zip(lo, hi, strict=True) for pair in zip(("from", "to"), both, strict=True)]
    return urlencode([*ends, ("confidence", confidence)])


def answered(release, lo, hi, confidence=0.95):
    """What Python answers for the ends that a page has."""
    ends = (tuple(lo), tuple(hi)) if len(lo) > 1 else (lo[0], hi[0])
    return release.answer(*ends, confidence=confidence)


def downloaded(sheet, button):
    """The text of a file that a button saves."""
    with sheet.page.expect_download() as download:
        sheet.page.click(button)
    return download.value.path().read_text(encoding="utf-8")
