"""The best partition beside those that are found."""

from dawa_bench import datasets, paper
from dawa_bench.experiments import Task, partitions
from dawa_bench.optimum import partition_cost
from dawa_bench.published import OPTIMUM


def test_the_optimum_costs_no_more_than_what_is_found():
    counts = datasets.load("medcost", None).counts
    task = Task(partitions.OPTIMAL, "medcost", "generated", OPTIMUM, "0.1")
    best = partitions._run(task, None)
    found = paper.run("dawa", counts, paper.workload_named("uniform-0", 4096), "1", 3)
    assert best.cost <= partition_cost(counts, found.bounds, 0.1)
