"""The choice among all strategies: the least expected error, and no tree missed that would have had less."""

import numpy as np
import pytest

from dawa import workloads
from dawa.strategy import choose, hats, tree
from dawa.strategy.base import RESOLUTION

CASES = {
    "uniform": workloads.uniform(300, 300),
    "few": workloads.uniform(30, 100),
    "prefixes": workloads.prefixes(300),
    "few prefixes": workloads.prefixes(40),
    "clustered": workloads.clustered(700, 300),
    "cells": workloads.identity(300),
    "all ranges": workloads.all_ranges(60),
}


def on_cells(name):
    workload = CASES[name]
    return workload.on_buckets(np.arange(workload.size + 1)), np.full(workload.size, RESOLUTION)


@pytest.mark.parametrize("effort", ["best", "fast"])
@pytest.mark.parametrize("name", CASES)
def test_it_is_no_worse_than_any_candidate(name, effort):
    queries, allowance = on_cells(name)
    fast = queries.thinned(choose.HURRIED_QUERIES)
    rivals = [tree.leaves_only(allowance), *(tree.greedy(queries, allowance, fan) for fan in (2, 4))]
    rivals += [tree.level_optimised(fast, allowance, fan) for fan in choose.BRANCHINGS]
    rivals += [hats.from_table(queries, allowance)]
    least = min(rival.expected_error(queries) for rival in rivals)
    chosen = choose.choose(queries, allowance, effort=effort)
    few = len(allowance) <= choose.SMALL
    assert chosen.expected_error(queries) <= least * (1 if few or effort == "best" else 1.02)
    assert (chosen.column_sums() == allowance).all()


def test_trees_that_cannot_win_are_not_tried(monkeypatch):
    queries, allowance = on_cells("uniform")
    monkeypatch.setattr(tree, "level_optimised", None)
    assert choose.choose(queries, allowance).name == "hats"


def test_a_candidate_without_a_valid_error_comes_last():
    queries, allowance = on_cells("few")
    leaves = tree.leaves_only(allowance)

    class Broken:
        def expected_error(self, _):
            return np.nan

    assert choose._least([Broken(), leaves], queries) is leaves
