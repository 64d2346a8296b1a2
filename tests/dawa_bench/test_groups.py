"""The comparison of groups with what they replace, on a small table."""

import numpy as np
import pandas as pd

from dawa import Axis
from dawa_bench import groups


def test_the_three_ways_answer_the_same_questions():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"x": rng.integers(-3, 40, 600), "g": rng.choice(["a", "b"], 600)})
    sample = groups.Sample("small", table, Axis("x", 0, 32), "g")
    assert sample.groups == ["a", "b"]
    assert sum(sample.counts(group).sum() for group in sample.groups) == 600
    errors = {name: groups.error(sample, "2", 3, way) for name, way in groups.WAYS.items()}
    assert set(errors) == {"by=", "separate", "axis"}
    assert all(0 < error < 60 for error in errors.values())
