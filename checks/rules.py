"""What the checker goes by: where private numbers begin and end, and what keeps whole numbers whole.

Anything that is not listed here as keeping them whole is refused, so a function that nobody thought of is found.
"""

import re


def _listed(words: str) -> frozenset[str]:
    """Names, one after the other."""
    return frozenset(words.split())


STARTS = {
    "dawa.counts.Counts.of": ("counts",),
    "dawa.counts.Counts.sparse": ("cells", "counts"),
}
"""Parameters that are private wherever the function is called from."""

FETCHED = frozenset({"dawa.sources.tables.Source.fetch"})
"""Fields that hold a function whose result is private: what an engine gives back."""

PRIVATE = frozenset({"dawa.counts.Occupied"})
"""Classes whose instances are private, and every field of them."""

SEALED = frozenset({"dawa.counts.Counts"})
"""Classes whose instances may be passed on: only their field of a private class opens them."""

GATES = frozenset(f"dawa.noise.gates.{name}" for name in ("noisy", "noisy_large", "chosen", "tossed"))
"""Functions from which private numbers come out public. The gate ``costs`` is none of them: see ``OPENED``."""

OPENED = {
    "dawa.kernels.costs.traced": (
        "The gate `costs` gives noisy costs, which may not be published, so they are followed further. Which buckets"
        " cost least may be published, and this function says it."
    ),
    "dawa.sources.counting.Query.rows": (
        "It is asked for tables that somebody calls public, and tests/test_trust_boundary.py says by whom."
    ),
}
"""Other functions from which private numbers come out public, and why that is right."""

ALL = "*"
"""Stands for all that is found in a function."""

REFUSED = "What are no counts are refused, by an error that names no number; docs/limits.md says so."

LOOP = "dawa.kernels.native.Kernel"
"""The class of loops in C; the name of the loop is the first argument."""

EXCUSED = {
    ("dawa.counts.Counts.of", "np.ma.is_masked(counts)"): REFUSED,
    ("dawa.counts._from_floats", ALL): (
        "Floats are what the caller has: they are refused unless they are whole, and are whole numbers from here on."
    ),
    ("dawa.counts._whole_numbers", "(numbers < 0).any()"): REFUSED,
    (
        "dawa.counts._whole_numbers",
        "(numbers > MOST_RECORDS).any() or _total(numbers.astype(np.int64)) > MOST_RECORDS",
    ): REFUSED,
    (
        "dawa.counts.Counts.sparse",
        "len(cells) != len(whole) or (cells < 0).any() or (cells >= math.prod(shape)).any()",
    ): REFUSED,
    ("dawa.counts.Counts.sparse", "(np.diff(placed) == 0).any() or (held == 0).any()"): REFUSED,
    ("dawa.kernels.fourier._check", "not fits"): (
        "It compares the lengths of two arrays that are the same for all counts."
    ),
    ("dawa.kernels.draw.choose", "pick == OUTSIDE"): "No scores have this result: exponential_choice makes none such.",
    ("dawa.noise.choice.exponential_choice", "int(behind.max()) * scale.denominator < 2 ** 63"): (
        "Both ways compute the same chances; the second is for numbers that do not fit in 64 bits."
    ),
    (
        "dawa.noise.choice.exponential_choice",
        "(pick := kernels.draw.choose(stream, wholes, parts, scale.numerator)) < 0",
    ): "How many random bytes a choice takes depends on the scores, as the time of any rejection sampler does.",
}
"""Where a finding is right and the code is too: the function, what is found in it, and why it may stay."""

WHOLE_NUMPY = _listed(
    """abs absolute add add.reduceat add.reduce append arange argmax argmin argsort array array_equal asarray
    ascontiguousarray atleast_1d bincount bitwise_and bitwise_or broadcast_to clip concatenate cumsum delete diff
    divmod empty_like equal flatnonzero flip floor_divide from_dlpack full full_like greater greater_equal hstack
    insert int64 isin ix_ less less_equal logical_and logical_not logical_or maximum maximum.accumulate
    maximum.reduceat minimum minimum.accumulate minimum.reduceat mod moveaxis multiply negative nonzero not_equal
    ones_like pad prod ravel ravel_multi_index remainder repeat reshape roll searchsorted sign sort split stack
    subtract sum swapaxes take take_along_axis tile transpose uint64 unique unravel_index vstack where zeros_like"""
)
"""Functions of NumPy that give whole numbers for whole numbers."""

FILLING_NUMPY = frozenset({"copyto", "put_along_axis", "put", "place", "putmask"})
"""Functions of NumPy that put into their first argument what the others are."""

REAL_NUMPY = frozenset({"zeros", "ones", "empty", "eye", "identity", "linspace"})
"""Functions of NumPy that make floats unless a type is given."""

TYPED_NUMPY = frozenset({"dtype", "result_type", "promote_types"})
"""Functions of NumPy that give a type."""

NAMELESS_NUMPY = frozenset({"iinfo", "errstate", "can_cast", "broadcast_shapes"})
"""Functions of NumPy whose result says nothing of the numbers that they are given."""

WHOLE_METHODS = _listed(
    """all any argmax argmin argsort as_py astype bit_count bit_length cast clip combine_chunks conjugate copy count
    cumsum diagonal dot drop_null fill filter flatten get index item items keys max min nonzero pop popleft prod put
    ravel repeat reshape reverse searchsorted sort squeeze sum swapaxes take to_numpy tolist tobytes transpose values
    view"""
)
"""Methods of arrays, numbers and containers that give whole numbers for whole numbers."""

TYPING_METHODS = frozenset({"astype", "cast", "view"})
"""Methods of arrays, NumPy's and Arrow's, that give the same numbers in another type."""

KEEPERS = _listed("add append appendleft extend extendleft fill insert put setdefault update __setitem__ __setattr__")
"""Methods that put what they are given into what they belong to."""

PUBLIC_ATTRIBUTES = frozenset({"ndim", "column_names"})
"""Attributes of private values that say nothing of the numbers."""

LENGTHS = frozenset({"size", "shape", "nbytes"})
"""Attributes that say how many numbers there are: public, but for arrays over the occupied cells."""

WHOLE_BUILTINS = _listed(
    """abs all any bool dict divmod enumerate filter frozenset getattr int iter len list map max min next range
    reversed set slice sorted sum tuple zip"""
)
"""Builtins that give whole numbers for whole numbers, or hold them."""

NAMELESS_BUILTINS = frozenset({"isinstance", "type", "callable", "hasattr", "id"})
"""Builtins whose result says nothing of the numbers that they are given."""

WHOLE_ELSEWHERE = _listed(
    """collections.Counter collections.deque fractions.Fraction functools.partial functools.reduce itertools.accumulate
    itertools.chain itertools.chain.from_iterable itertools.islice itertools.pairwise itertools.repeat math.comb
    math.gcd math.isqrt math.lcm math.perm math.prod operator.add operator.index operator.mul operator.sub
    pyarrow.array pyarrow.table typing.cast"""
)
"""Functions elsewhere that do."""

NAMELESS_ELSEWHERE = frozenset({"math.floor", "math.ceil", "dataclasses.replace"})
"""Functions elsewhere that give no floats, or what nothing is known of, for numbers that are public."""

FLOAT_NAME = re.compile(r"[<>=|]?([defgDG]|[fc]\d+)|c?longdouble|(float|complex)\d*|c?double|c?single|half")
"""What NumPy calls a type of floats, as text."""

FLOATS = _listed(
    """builtins.complex builtins.float numpy.cdouble numpy.clongdouble numpy.complex128 numpy.complex256 numpy.complex64
    numpy.csingle numpy.double numpy.float128 numpy.float16 numpy.float32 numpy.float64 numpy.floating numpy.half
    numpy.inexact numpy.longdouble numpy.single"""
)
"""Types of floats."""

REALS = frozenset(f"{module}.{name}" for module in ("math", "numpy") for name in ("e", "inf", "nan", "pi"))
"""Constants that are floats."""
