"""The update of segments equals one that scales at every step; ``tests/mechanisms/test_mwem.py`` has more."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dawa.errors import InvariantError
from dawa.kernels import mwem


def replayed(mass, first, lo, hi, weight, answers, passes):
    total = mass.sum()
    for _ in range(passes):
        for query, answer in enumerate(answers):
            row = np.zeros(len(mass))
            for run in range(first[query], first[query + 1]):
                row[lo[run] : hi[run]] += weight[run]
            mass = mass * np.exp(row * np.clip((answer - row @ mass) / (2 * total), -mwem.LONGEST, mwem.LONGEST))
            mass *= total / mass.sum()
    return mass


@settings(deadline=None)
@given(st.integers(1, 40), st.lists(st.integers(0, 3), max_size=6), st.integers(0, 3), st.integers(0, 99))
def test_segments_are_multiplied_as_everything_would_be(segments, runs, passes, seed):
    rng = np.random.default_rng(seed)
    mass, first = rng.random(segments) + 0.01, np.concatenate(([0], np.cumsum(runs, dtype=np.int64)))
    ends = [np.sort(rng.choice(segments + 2, 2 * number)).clip(0, segments) for number in runs]  # runs are disjoint
    lo, hi = (np.concatenate([np.zeros(0, np.int64), *(each[side::2] for each in ends)]) for side in (0, 1))
    weight, answers = rng.uniform(-1, 1, len(lo)), rng.normal(size=len(runs)) * mass.sum() * rng.choice([0.5, 5, 50])
    slow = replayed(mass, first, lo, hi, weight, answers, passes)
    mwem.replay(mass, first, lo, hi, weight, answers, passes)
    np.testing.assert_allclose(mass, slow, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("first", "lo", "hi", "answers"),
    [
        ([0, 1], [0], [5], 1),
        ([0, 1], [-1], [2], 1),
        ([0, 2], [0], [2], 1),
        ([0, 1], [0], [2, 3], 1),
        ([0, 1], [0], [2], 2),
    ],
)
def test_runs_that_do_not_fit_are_refused(first, lo, hi, answers):
    with pytest.raises(InvariantError):
        mwem.replay(np.ones(4), np.array(first), np.array(lo), np.array(hi), np.ones(len(lo)), np.ones(answers), 1)
