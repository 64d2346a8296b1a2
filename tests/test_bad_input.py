"""Every wrong input is named, with a hint, before a count is read and before a random word is drawn."""

import numpy as np
import pytest

import dawa
from dawa import workloads
from dawa.counts import Counts
from dawa.errors import AxisError, BudgetError, CountsError, OptionError, WorkloadError
from dawa.noise.randomness import OperatingSystem, Seeded
from dawa.partition import Buckets, NoisyCost, given

N = 12


class Trap:
    """Stands for the occupied cells, and for a table: whoever looks inside has looked too early."""

    def __getattribute__(self, name):
        raise AssertionError(f"private data was read: {name}")

    def __getitem__(self, name):
        raise AssertionError(f"private data was read: {name}")


@pytest.fixture(autouse=True)
def _no_randomness(monkeypatch):
    def drawn(_self, _count):
        raise AssertionError("randomness was drawn")

    for source in (OperatingSystem, Seeded):
        monkeypatch.setattr(source, "words", drawn)


COUNTS = {
    "negative": [3, -1],
    "fractional": [0.5, 1],
    "NaN": [1, float("nan")],
    "infinite": [1, float("inf")],
    "overflowing": [2**45, 1],
    "overflowing floats": [1e308, 1e308],
    "overflowing words": np.array([2**64 - 1] * 2, np.uint64),
    "beyond 64 bits": [2**70, 1],
    "empty": [],
    "scalar": 7,
    "5-D": [[[[[1, 2]]]]],
    "ragged": [[1], [2, 3]],
    "text": ["many", "few"],
    "one text": "many",
    "nothing": None,
    "complex": [1j, 2],
    "dates": np.array(["2020-01-01"], "M8[D]"),
}

PUBLIC = {
    "epsilon zero": (BudgetError, {"epsilon": 0}),
    "epsilon negative": (BudgetError, {"epsilon": -1}),
    "epsilon NaN": (BudgetError, {"epsilon": float("nan")}),
    "epsilon infinite": (BudgetError, {"epsilon": float("inf")}),
    "epsilon text": (BudgetError, {"epsilon": "abc"}),
    "epsilon missing": (BudgetError, {"epsilon": None}),
    "epsilon true": (BudgetError, {"epsilon": True}),
    "epsilon tiny": (BudgetError, {"epsilon": 1e-12}),
    "epsilon too small for the walk": (BudgetError, {"epsilon": 1e-9}),
    "epsilon a list": (BudgetError, {"epsilon": [1]}),
    "workload of another shape": (WorkloadError, {"workload": workloads.identity(N + 1)}),
    "workload in two dimensions": (WorkloadError, {"workload": np.zeros((2, N))}),
    "workload a name": (WorkloadError, {"workload": "all"}),
    "workload a list": (WorkloadError, {"workload": [[0, 5]]}),
    "mechanism unknown": (OptionError, {"mechanism": "laplace"}),
    "mechanism no name": (OptionError, {"mechanism": None}),
    "mechanism a list": (OptionError, {"mechanism": ["dawa"]}),
    "option unknown": (OptionError, {"epsilon1": 0.1}),
    "option of our own": (OptionError, {"name": "mine"}),
    "strategy unknown": (OptionError, {"strategy": "optimal"}),
    "strategy no name": (OptionError, {"strategy": None}),
    "strategy a list": (OptionError, {"strategy": ["greedy"]}),
    "effort unknown": (OptionError, {"effort": "heroic"}),
    "effort a list": (OptionError, {"effort": ["best"]}),
    "effort a number": (OptionError, {"effort": 3}),
    "effort without a search": (OptionError, {"effort": "fast", "strategy": "greedy"}),
    "branching without a tree": (OptionError, {"branching": 4, "strategy": "leaves"}),
    "branching 1": (OptionError, {"branching": 1}),
    "branching fractional": (OptionError, {"branching": 2.5}),
    "branching text": (OptionError, {"branching": "two"}),
    "branching true": (OptionError, {"branching": True}),
    "branching beyond 64 bits": (OptionError, {"branching": 2**70}),
    "merge maybe": (OptionError, {"merge": "maybe"}),
    "merge a number": (OptionError, {"merge": 1}),
    "merge missing": (OptionError, {"merge": None}),
    "postprocess unknown": (OptionError, {"postprocess": "smooth"}),
    "postprocess missing": (OptionError, {"postprocess": None}),
    "postprocess an array": (OptionError, {"postprocess": np.array(["none", "rounded"])}),
    "partition unknown": (OptionError, {"partition": "tree"}),
    "partition too short": (OptionError, {"partition": [0, 5]}),
    "partition too long": (OptionError, {"partition": [0, N + 1]}),
    "partition not from 0": (OptionError, {"partition": [1, N]}),
    "partition not increasing": (OptionError, {"partition": [0, 5, 5, N]}),
    "partition fractional": (OptionError, {"partition": [0, 2.5, N]}),
    "partition NaN": (OptionError, {"partition": [0, float("nan"), N]}),
    "partition a number": (OptionError, {"partition": N}),
    "partition of another domain": (OptionError, {"partition": given([0, 5], 5)}),
    "partition that spent all": (BudgetError, {"partition": Buckets(np.array([0, N]), 1, 1)}),
    "seed negative": (OptionError, {"seed": -1}),
    "seed fractional": (OptionError, {"seed": 1.5}),
    "seed text": (OptionError, {"seed": "lucky"}),
    "seed true": (OptionError, {"seed": True}),
}


def table(cases):
    return pytest.mark.parametrize("case", cases.values(), ids=cases.keys())


@table(COUNTS)
def test_counts(case):
    with pytest.raises(CountsError, match=r"\.\nHint: .*\.$"):
        dawa.estimate(case, epsilon=1)


@table(PUBLIC)
def test_estimate(case):
    kind, wrong = case
    counts = Counts((N,), Trap())
    with pytest.raises(kind, match=r"\.\nHint: .*\.$") as caught:
        dawa.estimate(counts, **{"epsilon": 1, **wrong})
    assert isinstance(caught.value, dawa.DawaError)


@table({name: case for name, case in PUBLIC.items() if not name.startswith(("partition", "epsilon too small"))})
def test_release(case):
    kind, wrong = case
    with pytest.raises(kind, match=r"\.\nHint: .*\.$"):
        dawa.release(Trap(), dawa.Axis("x", 0, N), **{"epsilon": 1, **wrong})


def test_release_without_an_axis():
    with pytest.raises(AxisError, match=r"\.\nHint: .*\.$"):
        dawa.release(Trap(), "x", epsilon=1)


def test_domains_that_a_partition_cannot_take():
    counts = Counts((2**15,), Trap())
    with pytest.raises(OptionError, match="Hint:"):
        dawa.estimate(counts, epsilon=1, mechanism="dawa-2014-all")
    with pytest.raises(OptionError, match="Hint:"):
        dawa.estimate(counts, epsilon=1, partition=NoisyCost(lengths="all"))


@pytest.mark.parametrize("lo_hi", [([0], [N + 1]), ([-1], [3]), ([3], [3]), ([0.5], [3]), ([], [])])
def test_workloads_outside_the_domain_cannot_be_made(lo_hi):
    with pytest.raises(WorkloadError, match=r"\.\nHint: .*\.$"):
        dawa.Workload.ranges(*lo_hi, shape=N)


def test_the_traps_work():
    """Good input does read the counts and draw randomness; else the tests above would show nothing."""
    with pytest.raises(AssertionError, match="randomness was drawn"):
        dawa.estimate([1] * N, epsilon=1)
    with pytest.raises(AssertionError, match="private data was read"):
        dawa.estimate(Counts((N,), Trap()), epsilon=1)
    with pytest.raises(AssertionError, match="private data was read"):
        dawa.release(Trap(), dawa.Axis("x", 0, N), epsilon=1)
