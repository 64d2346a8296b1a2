"""Time and memory are those of one run."""

from dawa_bench.experiments import running_time


def test_growth_measures_a_process_of_its_own():
    task = running_time._task("dawa", "fast", 1024, 10, 16)
    found = running_time._growth_run(task, None)
    assert found.buckets == 16
    assert found.seconds > 0
    assert found.megabytes > 20
