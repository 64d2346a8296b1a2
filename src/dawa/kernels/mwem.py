"""Multiplicative weights over segments: move an estimate gently towards noisy answers."""

import math

import numpy as np

from dawa.kernels.compiled import njit

LONGEST = 10.0
"""The largest exponent of one step, to protect floats: an answer would have to miss by 20 times all records."""


LONG = 0.5
"""A step with an exponent above this changes so much that sums are computed again."""


@njit(cache=True, fastmath={"reassoc", "nsz", "contract"})
def _sum(mass, lo, hi):
    """The records in segments ``[lo, hi)``, added in any order."""
    inside = 0.0
    for segment in range(lo, hi):
        inside += mass[segment]
    return inside


@njit(cache=True)
def _multiply(mass, lo, hi, factor):
    for segment in range(lo, hi):
        mass[segment] *= factor


@njit(cache=True)
def replay(mass, first, lo, hi, weight, answers, passes):
    """Multiply ``mass`` in place until it agrees better with every answer; its sum stays the same.

    Once per pass and answer, mass under weight w is multiplied by ``exp(w · miss / (2 · sum))``, and the whole is
    scaled back to its sum. The scaling is not carried out at once: the sum of what the array holds is kept instead, so
    a step touches only the segments of its query.

    Args:
        mass: Records in each segment.
        first: Answer ``i`` belongs to runs ``first[i]`` to ``first[i + 1]``.
        lo: First segment of each run.
        hi: One past the last segment of each run.
        weight: The weight of each run, between -1 and 1.
        answers: Noisy answers.
        passes: How often to go through all answers.
    """
    total = _sum(mass, 0, len(mass))
    inside = np.empty(len(lo))
    held = total  # what the array holds; the estimate is total / held times it
    for _ in range(passes):
        for query in range(len(answers)):
            estimate = 0.0
            for run in range(first[query], first[query + 1]):
                inside[run] = _sum(mass, lo[run], hi[run])
                estimate += weight[run] * inside[run]
            exponent = (answers[query] - estimate * (total / held)) / (2 * total)
            exponent = min(max(exponent, -LONGEST), LONGEST)
            for run in range(first[query], first[query + 1]):
                factor = math.exp(exponent * weight[run])
                _multiply(mass, lo[run], hi[run], factor)
                held += (factor - 1) * inside[run]
            if abs(exponent) > LONG:
                _multiply(mass, 0, len(mass), total / _sum(mass, 0, len(mass)))
                held = total
        _multiply(mass, 0, len(mass), total / _sum(mass, 0, len(mass)))
        held = total
