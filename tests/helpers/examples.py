"""How many examples of a law are tried: fewer in ``make test``, which should answer while you think.

All of them are tried by ``make test-long``, and so in continuous integration. Both take the same ones every time, so
that nobody's change fails by chance; ``pytest --hypothesis-profile=explore`` looks for others.
"""

import math

from hypothesis import settings

USUAL, QUICK, LEAST = "quick", 25, 12
"""The profile of ``make test``, and how many of a hundred examples it tries, but for laws that have few."""

settings.register_profile(USUAL, deadline=None, derandomize=True, max_examples=QUICK)  # a busy machine breaks no law
settings.register_profile("thorough", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)


def examples(count):
    """At most so many examples, or in ``make test`` a part of them."""
    return settings(max_examples=max(min(count, LEAST), math.ceil(count * settings.default.max_examples / 100)))
