"""Time and memory are measured of what they are said to be of."""

import numpy as np

from dawa_bench import speed


def test_memory_is_that_of_a_fresh_process():
    assert speed.peak_megabytes(64) > 20


def test_the_first_call_is_not_counted():
    calls = []
    speed.median_seconds(lambda: calls.append(1), 3)
    assert len(calls) == 4


def test_counts_are_the_same_every_time():
    counts = speed.domain(1024)
    assert counts.dtype == np.int64
    assert counts.min() == 0
    assert np.array_equal(counts, speed.domain(1024))
