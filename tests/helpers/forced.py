"""Transcripts: run a private step with its noisy answers forced, and compare what two neighbours make of them.

A mechanism that asks for noisy whole numbers step by step, each step a function of the answers before it, has the
transcript of all answers as its output. Its chance is a product over the steps, so the log-ratio of a transcript
between neighbours is a sum that needs no sampling: it is computed here as an exact fraction.
"""

from fractions import Fraction

import numpy as np

NEVER = Fraction(10**9)
"""The loss where one of the neighbours cannot have produced the transcript at all."""


class Forced:
    """Stands in for ``gates.noisy``: gives answers that were fixed beforehand, and notes what was asked."""

    def __init__(self, answer):
        """``answer(step, totals)`` returns the whole numbers to give at a step; it must not look at the totals.

        Unless it plays a broken mechanism, which is what they are handed over for.
        """
        self.answer, self.asked, self.given = answer, [], []

    def __call__(self, totals, scale, source):
        assert source is None, "a forced run draws nothing"
        assert totals.dtype == np.int64
        given = np.asarray(self.answer(len(self.asked), totals), np.int64)
        assert given.shape == totals.shape
        self.asked.append((totals.copy(), scale))
        self.given.append(given)
        return given


def loss(one, two):
    """The largest log-ratio of the chances of a forced transcript, over all answers of the last step."""
    if [len(totals) for totals, _ in one.asked] != [len(totals) for totals, _ in two.asked]:
        return NEVER
    if any((a != b).any() for a, b in zip(one.given[:-1], two.given[:-1], strict=True)):
        return NEVER
    lost, last = Fraction(0), len(one.asked) - 1
    for step, ((mine, scale), (theirs, same)) in enumerate(zip(one.asked, two.asked, strict=True)):
        assert scale == same, "scales are public"
        if step == last:
            return abs(lost) + int(np.abs(mine - theirs).sum()) / scale
        given = one.given[step]
        lost += int((np.abs(given - theirs) - np.abs(given - mine)).sum()) / scale
    return abs(lost)


def neighbours(shape, number, seed):
    """Small inputs with one record more in one place, as grids."""
    rng = np.random.default_rng(seed)
    for _ in range(number):
        cells = rng.integers(0, rng.integers(1, 12) + 1, shape) * rng.integers(0, 2, shape)
        more = cells.copy()
        more[tuple(rng.integers(shape))] += 1
        yield cells, more
