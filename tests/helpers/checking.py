"""The checker of ``checks.floats`` on parts of the package, with code that was never in it."""

from functools import cache
from textwrap import dedent

from checks import floats, loops

WHOLE = floats.texts()
CORE = (
    "arrays",
    "counts",
    "errors",
    "limits",
    "layout/",
    "noise/",
    "kernels/native",
    "kernels/draw",
    "kernels/hilbert",
    "kernels/c/",
)
"""What snippets need: counts, gates, and loops."""
SNIPPET = "src/dawa/partition/snippet.py"
PRELUDE = """\
import math
import operator
import statistics
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dawa.arrays import FloatArray, IntArray, frozen
from dawa.counts import Counts, Occupied
from dawa.kernels.native import Kernel
from dawa.noise import gates
from dawa.noise.randomness import Randomness

"""


def parts(*prefixes):
    """The sources of some of the package."""
    return {path: text for path, text in WHOLE.items() if path.startswith(tuple(f"src/dawa/{one}" for one in prefixes))}


@cache
def whole():
    """The whole package, gone through once for all tests of a process."""
    return floats.followed(WHOLE)


def refused(sources, begin=""):
    """What is found, without excuses that have no use in a part of the package."""
    found = floats.found(floats.followed(sources, begin=begin), sources)
    return [one for one in found if one.path != floats.EXCUSES]


def snippet(code):
    """The lines of a snippet at which something is found, and those that say so themselves: ``# here``."""
    text = PRELUDE + dedent(code)
    found = refused({**parts(*CORE), SNIPPET: text}, "dawa.partition.snippet")
    expected = {at for at, line in enumerate(text.splitlines(), 1) if "# here" in line}
    return {one.line if one.path == SNIPPET else str(one) for one in found}, expected


def loop_floats(text, name):
    """The lines of a C file at which a loop has floats."""
    files = loops.read({"src/dawa/kernels/c/made.c": text})
    return {line for _, line, _ in loops.floats(files, name)}
