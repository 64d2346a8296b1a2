"""Multiplicative weights over segments: move an estimate gently towards noisy answers."""

import numpy as np

from dawa.arrays import FloatArray, IntArray
from dawa.errors import InvariantError
from dawa.kernels.native import Kernel

LONGEST = 10.0
"""The largest exponent of one step, to protect floats: an answer would have to miss by 20 times all records."""


LONG = 0.5
"""A step with an exponent above this changes so much that sums are computed again."""

_replay = Kernel("mwem_replay")


def replay(
    mass: FloatArray,
    first: IntArray,
    lo: IntArray,
    hi: IntArray,
    weight: FloatArray,
    answers: FloatArray,
    passes: int,
) -> None:
    """Multiply ``mass`` in place until it agrees better with every answer; its sum stays the same.

    Once per pass and answer, mass under weight w is multiplied by ``exp(w · miss / (2 · sum))``, and the whole is
    scaled back to its sum. The scaling is not carried out at once: the sum of what the array holds is kept instead, so
    a step touches only the segments of its query.

    Args:
        mass: Records in each segment; more than none in all.
        first: Answer ``i`` belongs to runs ``first[i]`` to ``first[i + 1]``.
        lo: First segment of each run.
        hi: One past the last segment of each run.
        weight: The weight of each run, between -1 and 1.
        answers: Noisy answers.
        passes: How often to go through all answers.
    """
    runs, segments = len(lo), len(mass)
    if not (runs == len(hi) == len(weight) and len(first) > len(answers) and first[0] >= 0 and first[-1] <= runs):
        raise InvariantError("Answers do not fit their runs.")
    if runs and (lo.min() < 0 or hi.max() > segments):
        raise InvariantError("Runs do not fit the segments.")
    inside = np.empty(runs)
    _replay(segments, mass, len(answers), first, lo, hi, weight, answers, passes, LONGEST, LONG, inside)
