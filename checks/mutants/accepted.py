"""Mutants that may survive, each with its reason.

An entry names a file, a function (empty: the module itself) and what is written there instead of what, as the report
shows it; ``*`` stands for all changes of this function or class. An entry that no mutant needs any more is refused.
"""

from collections.abc import Iterable
from typing import NamedTuple

from checks.mutants.mutant import Mutant


class Accepted(NamedTuple):
    """Survivors of a function that have the same reason."""

    path: str
    function: str
    reason: str
    changes: tuple[str, ...]

    def covers(self, mutant: Mutant) -> bool:
        """Whether a mutant is one of these."""
        here = (mutant.path, mutant.function) == (self.path, self.function)
        return here and (mutant.change in self.changes or "*" in self.changes)


def reason(mutant: Mutant, accepted: Iterable[Accepted]) -> str | None:
    """Why a mutant may survive, if it may."""
    return next((one.reason for one in accepted if one.covers(mutant)), None)


def unknown(mutants: Iterable[Mutant], accepted: Iterable[Accepted]) -> list[str]:
    """Entries about modules that were changed, of which no mutant is."""
    everything = list(mutants)
    paths = {one.path for one in everything}
    known = {(one.path, one.function, change) for one in everything for change in (one.change, "*")}
    return [
        f"{one.path} {one.function}: {change}"
        for one in accepted
        if one.path in paths
        for change in one.changes
        if (one.path, one.function, change) not in known
    ]


ACCEPTED: tuple[Accepted, ...] = (
    Accepted(
        "src/dawa/counts.py",
        "",
        "How many counts are summed at a time: fewer do as well, and more would overflow, which a test notices.",
        ("PART = 2 ** 17 → PART = 2 ** 16",),
    ),
    Accepted(
        "src/dawa/counts.py",
        "Counts.of",
        "Along one axis the line is the axis, so putting cells in its order changes nothing.",
        ("array.ndim > 1 → True", "array.ndim > 1 → array.ndim > 0", "array.ndim > 1 → array.ndim >= 1"),
    ),
    Accepted(
        "src/dawa/counts.py",
        "Counts.sparse",
        "Along one axis the line is the axis, so putting cells in its order changes nothing.",
        ("len(shape) > 1 → True", "len(shape) > 1 → len(shape) > 0", "len(shape) > 1 → len(shape) >= 1"),
    ),
    Accepted(
        "src/dawa/counts.py",
        "_whole_numbers",
        "Whole numbers up to 2^45 are the same as floats, and larger ones stay too large.",
        ("array.dtype.kind == 'f' → True",),
    ),
    Accepted(
        "src/dawa/counts.py",
        "_from_floats",
        "However far outside of the limits a count lies, it is refused; and bounds may clip in either order.",
        (
            "MOST_RECORDS + 1 → MOST_RECORDS + 2",
            (
                "np.clip(floats.astype(np.float64), -1, MOST_RECORDS + 1) → "
                "np.clip(-1, floats.astype(np.float64), MOST_RECORDS + 1)"
            ),
            (
                "np.clip(floats.astype(np.float64), -1, MOST_RECORDS + 1) → "
                "np.clip(floats.astype(np.float64), -2, MOST_RECORDS + 1)"
            ),
        ),
    ),
    Accepted(
        "src/dawa/noise/choice.py",
        "",
        "So many coins of chance 1/e never all succeed, whether 2^39 or 2^41.",
        ("HOPELESS = 2 ** 40 → HOPELESS = 2 ** 39", "HOPELESS = 2 ** 40 → HOPELESS = 2 ** 41"),
    ),
    Accepted(
        "src/dawa/noise/choice.py",
        "exponential_choice",
        "Both ways compute the same chances; the first is faster.",
        ("int(behind.max()) * scale.denominator < 2 ** 63 → False", "2 ** 63 → 2 ** 62"),
    ),
    Accepted(
        "src/dawa/noise/choice.py",
        "exponential_choice",
        "How many bytes are asked for at a time changes no choice: it is repeated with the same bytes and more.",
        (
            "randomness.words(64) → randomness.words(63)",
            "randomness.words(64) → randomness.words(65)",
            "len(stream) // 8 → len(stream) * 8",
            "len(stream) // 8 → len(stream) // 7",
            "len(stream) // 8 → len(stream) // 9",
        ),
    ),
    Accepted(
        "src/dawa/noise/discrete.py",
        "",
        "How many words are asked for at a time changes no draw: an incomplete one is repeated with the same bytes.",
        (
            *(f"BUFFER = 2 ** 15 → BUFFER = 2 ** {power}" for power in (14, 16)),
            *(f"BYTES = (14, 20) → BYTES = {pair}" for pair in ((13, 20), (15, 20), (14, 19), (14, 21))),
        ),
    ),
    Accepted(
        "src/dawa/noise/discrete.py",
        "_draws",
        "How many words are asked for at a time changes no draw: an incomplete one is repeated with the same bytes.",
        (
            *("2 ** 28 → 2 ** 27", "2 ** 28 → 2 ** 29"),
            "numerators.max(initial=1) >= 2 ** 28 → numerators.max(initial=1) < 2 ** 28",
            "numerators.max(initial=1) >= 2 ** 28 → numerators.max(initial=1) > 2 ** 28",
            *(f"numerators.max(initial=1) → numerators.max(initial={number})" for number in (0, 2)),
            *(f"(draws.size - done) * each // 8 + 8 → (draws.size - done) * each // 8 + {more}" for more in (7, 9)),
            *(f"(draws.size - done) * each // 8 → (draws.size - done) * each // {less}" for less in (7, 9)),
            "draws.size - done → draws.size + done",
        ),
    ),
    Accepted(
        "src/dawa/noise/discrete.py",
        "as_bytes",
        "A copy has the same bytes.",
        ("words.astype('<u8', copy=False) → words.astype('<u8', copy=True)",),
    ),
    Accepted(
        "src/dawa/noise/discrete.py",
        "_pair",
        "Two shapes have the same common shape in either order.",
        (
            (
                "shape = np.broadcast_shapes(parts[0].shape, parts[1].shape) → "
                "shape = np.broadcast_shapes(parts[1].shape, parts[0].shape)"
            ),
        ),
    ),
    Accepted(
        "src/dawa/noise/discrete.py",
        "_least_above",
        "A scale that fits is found by the walk as well, and so is the first step from another neighbour.",
        ("whole <= most → whole < most", "low, high = ((0, 1), (1, 0)) → low, high = ((1, 1), (1, 0))"),
    ),
    Accepted(
        "src/dawa/noise/discrete.py",
        "_least_above",
        "If one end has just as much room as it needs, their parts add up to too much, and the other end has none.",
        ("room < below // above → room <= below // above", "room < above // below → room <= above // below"),
    ),
    Accepted(
        "src/dawa/noise/gates.py",
        "noisy_large",
        "Sums and noise are added in either order.",
        ("zip(_integers(exact), noise, strict=True) → zip(noise, _integers(exact), strict=True)",),
    ),
    *(
        Accepted(
            f"src/dawa/partition/{name}.py",
            kind,
            "A measured default: every value is as private, since the loss is computed from the one that is used.",
            ("*",),
        )
        for name, kind in (
            *(("gauge", "Gauge"), ("halves", "Halves"), ("php", "Php"), ("privtree", "PrivTree")),
            *(("structure_first", "StructureFirst"), ("walk", "Walk"), ("walk", "on_maps")),
        )
    ),
    Accepted(
        "src/dawa/mechanisms/agrid.py",
        "Agrid.__post_init__",
        "The number that an error suggests.",
        tuple(
            f"check.positive(self.per_box, 'per_box', 10) → check.positive(self.per_box, 'per_box', {number})"
            for number in (9, 11)
        ),
    ),
    Accepted(
        "src/dawa/mechanisms/mwem.py",
        "Queries.sensitivity",
        "Queries whose weights are all 0 would get more noise than they need.",
        ("return max(1, int(np.abs(self.weight).max())) → return max(2, int(np.abs(self.weight).max()))",),
    ),
    Accepted(
        "src/dawa/partition/privtree.py",
        "laplace_table",
        "The loop that follows certifies the table, so these steps decide on a thousandth of the noise alone.",
        (
            "range(6) → range(7)",
            "range(6) → range(5)",
            "(1 - 1e-06) * allowed <= table.loss and Fraction(table.loss) <= epsilon → False",
        ),
    ),
    Accepted(
        "src/dawa/partition/privtree.py",
        "_tail",
        "One more entry with the least chance of stopping, which the last entry stands for anyway.",
        (
            (
                "math.ceil(-scale * math.log(2 * SMALLEST_STOP)) + 1 → "
                "math.ceil(-scale * math.log(2 * SMALLEST_STOP)) + 2"
            ),
        ),
    ),
    Accepted(
        "src/dawa/partition/split.py",
        "log_knots",
        "A hundred halvings of a chance above 2^-60 do not reach 0.",
        ("middle > 0 → middle >= 0",),
    ),
)
"""Grouped by file and function, in the order of the code."""
