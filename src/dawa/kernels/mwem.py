"""Multiplicative weights over segments: bring an estimate in line with noisy answers, gently."""

import math

from numba import njit

LONGEST = 10.0
"""Bounds the exponent of one step, for the sake of floats: an answer would have to miss by 20 times all records."""


@njit(cache=True)
def replay(mass, first, lo, hi, weight, answers, passes):
    """Multiply ``mass`` in place until it agrees better with every answer; its sum stays.

    Once per pass and answer, mass under weight w is multiplied by ``exp(w · miss / (2 · sum))``, and the whole is
    brought back to its sum.

    Args:
        mass: Records in each segment.
        first: Answer ``i`` belongs to runs ``first[i]`` to ``first[i + 1]``.
        lo: First segment of each run.
        hi: One past its last.
        weight: What it counts for, between -1 and 1.
        answers: Noisy answers.
        passes: How often to go through all of them.
    """
    total = 0.0
    for segment in range(len(mass)):
        total += mass[segment]
    for _ in range(passes):
        for query in range(len(answers)):
            estimate = 0.0
            for run in range(first[query], first[query + 1]):
                inside = 0.0
                for segment in range(lo[run], hi[run]):
                    inside += mass[segment]
                estimate += weight[run] * inside
            exponent = (answers[query] - estimate) / (2 * total)
            exponent = min(max(exponent, -LONGEST), LONGEST)
            for run in range(first[query], first[query + 1]):
                factor = math.exp(exponent * weight[run])
                for segment in range(lo[run], hi[run]):
                    mass[segment] *= factor
            after = 0.0
            for segment in range(len(mass)):
                after += mass[segment]
            scale = total / after
            for segment in range(len(mass)):
                mass[segment] *= scale
