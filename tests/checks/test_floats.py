"""Floats on private numbers are found however they get there, and nothing else is."""

import pytest

from checks import floats, rules
from helpers.checking import WHOLE, parts, snippet, whole

UNSOUND = {
    "division": """
        def half(exposed: Occupied) -> Any:
            return exposed.counts / 2  # here
    """,
    "float()": """
        def total(exposed: Occupied) -> Any:
            return float(exposed.counts.sum())  # here
    """,
    "astype": """
        def cast(exposed: Occupied) -> Any:
            cells = exposed.counts
            return cells.astype(np.float64)  # here
    """,
    "astype by a name": """
        def cast(exposed: Occupied) -> Any:
            return exposed.counts.astype("f4")  # here
    """,
    "Arrow's cast": """
        def cast(exposed: Occupied) -> Any:
            return exposed.counts.cast("double")  # here
    """,
    "a dtype by keyword": """
        def total(exposed: Occupied) -> Any:
            return exposed.counts.sum(dtype=np.float64)  # here
    """,
    "an array of floats made of them": """
        def made(exposed: Occupied) -> Any:
            return np.array(exposed.counts, float)  # here
    """,
    "a literal": """
        def scaled(exposed: Occupied) -> Any:
            return exposed.counts * 0.5  # here
    """,
    "infinity": """
        def bounded(exposed: Occupied) -> Any:
            return np.minimum(exposed.counts, np.inf)  # here
    """,
    "an empty list, which is an array of floats": """
        def before(exposed: Occupied) -> Any:
            return np.append([], np.cumsum(exposed.counts))  # here
    """,
    "a float among the arguments": """
        def scaled(exposed: Occupied, rate: float) -> Any:
            return exposed.counts.max() + rate  # here
    """,
    "a float's field": """
        @dataclass(frozen=True)
        class Options:
            rate: float = 1.0

        def scaled(exposed: Occupied, options: Options) -> Any:
            return exposed.counts * options.rate  # here
    """,
    "augmented assignment": """
        def scaled(exposed: Occupied) -> Any:
            cells = exposed.counts.copy()
            cells /= 3  # here
            return cells
    """,
    "augmented assignment by a literal": """
        def scaled(exposed: Occupied) -> Any:
            total = int(exposed.counts.sum())
            total += 0.5  # here
            return total
    """,
    "a comparison with a float": """
        def many(exposed: Occupied) -> Any:
            return exposed.counts > 1.5  # here
    """,
    "a method of arrays": """
        def middle(exposed: Occupied) -> Any:
            return exposed.counts.mean()  # here
    """,
    "a function of NumPy": """
        def roots(exposed: Occupied) -> Any:
            return np.sqrt(exposed.counts)  # here
    """,
    "a function of NumPy that nobody thought of": """
        def odd(exposed: Occupied) -> Any:
            return np.spacing(exposed.counts)  # here
    """,
    "math": """
        def logarithm(exposed: Occupied) -> Any:
            return math.log2(int(exposed.counts.max()))  # here
    """,
    "a true power": """
        def root(exposed: Occupied) -> Any:
            return int(exposed.counts.max()) ** 0.5  # here
    """,
    "a negative power": """
        def inverse(exposed: Occupied) -> Any:
            return int(exposed.counts.max()) ** -1  # here
    """,
    "a power of a private number": """
        def inverse(exposed: Occupied) -> Any:
            return 2 ** int(exposed.counts.max())  # here
    """,
    "weights of a histogram": """
        def summed(exposed: Occupied) -> Any:
            return np.bincount(exposed.cells % 4, weights=exposed.counts)  # here
    """,
    "a library": """
        def middle(exposed: Occupied) -> Any:
            return statistics.mean(exposed.counts.tolist())  # here
    """,
    "an operator as a function": """
        def half(exposed: Occupied) -> Any:
            return operator.truediv(int(exposed.counts.sum()), 2)  # here
    """,
    "a call": """
        def outer(exposed: Occupied) -> Any:
            return inner(exposed.counts, 2)

        def inner(values: Any, parts: int) -> Any:
            return values / parts  # here
    """,
    "a call by keyword, two deep": """
        def outer(exposed: Occupied) -> Any:
            return middle(parts=2, values=exposed.counts)

        def middle(parts: int, values: Any) -> Any:
            return inner(values, parts)

        def inner(values: Any, parts: int) -> Any:
            return values / parts  # here
    """,
    "a call with unpacked arguments": """
        def outer(exposed: Occupied) -> Any:
            given = (2, exposed.counts)
            return inner(*given)

        def inner(parts: int, values: Any) -> Any:
            return values / parts  # here
    """,
    "a call with unpacked names": """
        def outer(exposed: Occupied) -> Any:
            given = {"values": exposed.counts}
            return inner(**given)

        def inner(values: Any) -> Any:
            return values / 2  # here
    """,
    "what a call gives back": """
        def outer(exposed: Occupied) -> Any:
            return summed(exposed) / 2  # here

        def summed(exposed: Occupied) -> Any:
            return exposed.counts.sum()
    """,
    "a recursion": """
        def outer(exposed: Occupied) -> Any:
            return down(exposed.counts, 3)

        def down(values: Any, depth: int) -> Any:
            if depth == 0:
                return values
            return down(values, depth - 1) / 2  # here
    """,
    "functions that call each other": """
        def outer(exposed: Occupied) -> Any:
            return even(exposed.counts, 3)

        def even(values: Any, depth: int) -> Any:
            return odd(values, depth - 1) if depth else values

        def odd(values: Any, depth: int) -> Any:
            return even(values, depth - 1) / 2  # here
    """,
    "a closure that is handed back": """
        def outer(exposed: Occupied, sizes: IntArray, parts: int) -> Any:
            private, public = sharing(exposed.counts), sharing(sizes)
            return private(2) if parts else public  # here

        def sharing(values: Any) -> Any:
            def share(parts: int) -> Any:
                return values / parts  # here

            return share
    """,
    "a type with a name of its own": """
        def outer(exposed: Occupied) -> Any:
            kind = np.dtype("f8")
            return exposed.counts.astype(kind)  # here
    """,
    "a type that is not known": """
        def outer(exposed: Occupied, kind: Any) -> Any:
            return exposed.counts.astype(kind), np.array(exposed.counts, dtype=kind)  # here
    """,
    "a type by its name": """
        def outer(exposed: Occupied) -> Any:
            return getattr(np, "float64")(exposed.counts.max())  # here
    """,
    "a number that a library gives": """
        def outer(exposed: Occupied, sizes: list[int]) -> Any:
            return exposed.counts * statistics.mean(sizes)  # here
    """,
    "a mean of public numbers": """
        def outer(exposed: Occupied, sizes: IntArray) -> Any:
            return exposed.counts - sizes.mean()  # here
    """,
    "a function of NumPy on public numbers": """
        def outer(exposed: Occupied, sizes: IntArray) -> Any:
            return exposed.counts - np.median(sizes)  # here
    """,
    "what a method of public numbers returns": """
        def outer(exposed: Occupied, epsilon: Fraction) -> Any:
            return exposed.counts * rate(epsilon)  # here

        def rate(epsilon: Fraction):
            return 1 / float(epsilon)
    """,
    "a type as text, in order": """
        def outer(exposed: Occupied) -> Any:
            return np.array(exposed.counts, "f8")  # here
    """,
    "a function with the name of a builtin": """
        def outer(exposed: Occupied) -> Any:
            return statistics.max(exposed.counts)  # here
    """,
    "a method of a class": """
        @dataclass(frozen=True)
        class Half:
            parts: int

            def of(self, values: Any) -> Any:
                return values / self.parts  # here

        def outer(exposed: Occupied) -> Any:
            return Half(2).of(exposed.counts)
    """,
    "a method of whatever has it": """
        class Half:
            def shrunk(self, values: Any) -> Any:
                return values / 2  # here

        def outer(exposed: Occupied, what: Any) -> Any:
            return what.shrunk(exposed.counts)
    """,
    "a field of a dataclass": """
        @dataclass(frozen=True)
        class Totals:
            held: IntArray

            def share(self) -> Any:
                return self.held / 2  # here

        def outer(exposed: Occupied) -> Any:
            totals = Totals(held=exposed.counts)
            return totals.share(), totals.held * 0.1  # here
    """,
    "a field that is a float": """
        class Totals(NamedTuple):
            held: FloatArray

        def outer(exposed: Occupied) -> Any:
            return Totals(exposed.counts)  # here
    """,
    "a field that is assigned": """
        class Totals:
            held: Any

        def outer(exposed: Occupied, totals: Totals) -> Any:
            totals.held = exposed.counts
            return totals.held / 2  # here
    """,
    "a property": """
        @dataclass(frozen=True)
        class Totals:
            held: IntArray

            @property
            def middle(self) -> Any:
                return self.held.sum() / len(self.held)  # here

        def outer(exposed: Occupied) -> Any:
            return Totals(exposed.counts).middle
    """,
    "a comprehension": """
        def shares(exposed: Occupied) -> Any:
            return [count / 2 for count in exposed.counts.tolist()]  # here
    """,
    "a dict and its items": """
        def shares(exposed: Occupied) -> Any:
            held = {"all": exposed.counts}
            return {name: values / 2 for name, values in held.items()}  # here
    """,
    "pairs of a loop": """
        def shares(exposed: Occupied, names: list[str]) -> Any:
            found = []
            for name, (place, count) in zip(names, enumerate(exposed.counts.tolist()), strict=True):
                found.append((name, place / 2, count / 2))  # here
            return found
    """,
    "unpacked tuples": """
        def shares(exposed: Occupied) -> Any:
            first, (second, *rest) = 1, exposed.counts.tolist()
            return first / 2, rest[0] / 2  # here
    """,
    "a list that is filled": """
        def shares(exposed: Occupied) -> Any:
            found: list[Any] = []
            found.append(exposed.counts.sum())
            return found[0] / 2  # here
    """,
    "an array that is filled": """
        def shares(exposed: Occupied) -> Any:
            totals = np.zeros(4, np.int64)
            np.add.at(totals, exposed.cells % 4, exposed.counts)
            return totals / 2  # here
    """,
    "an array of floats that is filled": """
        def shares(exposed: Occupied) -> Any:
            totals = np.zeros(4)
            totals[0] = exposed.counts.sum()  # here
            return totals
    """,
    "an argument that is filled": """
        def outer(exposed: Occupied) -> Any:
            totals = np.zeros(4, np.int64)
            fill(totals, exposed)
            return totals / 2  # here

        def fill(into: IntArray, exposed: Occupied) -> None:
            into[:] = exposed.counts.sum()
    """,
    "an array that a loop in C fills": """
        _windows = Kernel("draw_choose")
        _draw = Kernel("draw_draw")

        def outer(exposed: Occupied, stream: Any) -> Any:
            out, end = np.empty(3, np.int64), np.empty(2, np.int64)
            _draw(3, stream, 1, exposed.counts, exposed.cells, 1, 3, out, end)
            return stream / 2, out / 2  # here
    """,
    "a closure": """
        def outer(exposed: Occupied) -> Any:
            cells = exposed.counts

            def share(parts: int) -> Any:
                return cells / parts  # here

            return share(2)
    """,
    "a lambda": """
        def outer(exposed: Occupied) -> Any:
            share = lambda values: values / 2  # here
            return share(exposed.counts)
    """,
    "a function that is handed over": """
        def outer(exposed: Occupied) -> Any:
            return applied(half, exposed.counts)

        def applied(function: Any, values: Any) -> Any:
            return function(values)

        def half(values: Any) -> Any:
            return values / 2  # here
    """,
    "map": """
        def outer(exposed: Occupied) -> Any:
            return list(map(float, exposed.counts))  # here
    """,
    "map of a function": """
        def outer(exposed: Occupied) -> Any:
            return list(map(half, exposed.counts))

        def half(value: int) -> Any:
            return value / 2  # here
    """,
    "a key for sorting": """
        def outer(exposed: Occupied) -> Any:
            return sorted(exposed.counts, key=lambda count: count / 2)  # here
    """,
    "a choice between floats": """
        def outer(exposed: Occupied, rates: FloatArray) -> Any:
            return rates[exposed.counts.max()]  # here
    """,
    "a declaration": """
        def outer(exposed: Occupied, known: Any) -> Any:
            found: FloatArray = known.take(exposed.counts)  # here
            return found
    """,
    "a parameter that is a float": """
        def outer(exposed: Occupied) -> Any:
            return inner(exposed.counts)  # here

        def inner(values: FloatArray) -> Any:
            return values
    """,
    "a result that is a float": """
        def outer(exposed: Occupied) -> float:
            return exposed.counts.max()  # here
    """,
    "a branch": """
        def outer(exposed: Occupied) -> Any:
            if exposed.counts.max() > 3:  # here
                return 1.5
            return 2.5
    """,
    "a branch on how many cells are occupied": """
        def outer(exposed: Occupied) -> Any:
            cells = exposed.cells
            return 1.5 if len(cells) > 3 else 2.5  # here
    """,
    "how many cells are occupied": """
        def outer(exposed: Occupied) -> Any:
            return exposed.cells.size / 2, len(exposed.counts) / 2  # here
    """,
    "a loop while": """
        def outer(exposed: Occupied) -> Any:
            left = int(exposed.counts.max())
            while left:  # here
                left -= 1
    """,
    "a name in a condition": """
        def outer(exposed: Occupied) -> Any:
            if (most := exposed.counts.max()) is not None:
                return most / 2  # here
    """,
    "what is not known": """
        def outer(exposed: Occupied, unknown: Any) -> Any:
            return unknown(exposed.counts)  # here
    """,
    "opened counts, before and after a gate": """
        def outer(counts: Counts, scale: Fraction, randomness: Randomness) -> Any:
            cells = counts.exposed.dense(counts.size)
            mean = cells / 2  # here
            cells = gates.noisy(cells, scale, randomness)
            return cells / 2, mean
    """,
    "noisy costs, which are not published": """
        def outer(exposed: Occupied, scale: Fraction, randomness: Randomness) -> Any:
            return gates.costs(exposed.dense(9), scale, None, randomness) * 0.5  # here
    """,
    "a text that is shown": """
        def outer(exposed: Occupied) -> str:
            return f"{exposed.counts.sum() / 2}"  # here
    """,
    "a type of NumPy": """
        def outer(exposed: Occupied) -> Any:
            return np.float64(exposed.counts.max())  # here
    """,
    "whole division by a float": """
        def outer(exposed: Occupied) -> Any:
            return exposed.counts // 2.0, divmod(exposed.counts, 0.5)  # here
    """,
    "a product of matrices": """
        def outer(exposed: Occupied, rates: FloatArray) -> Any:
            return exposed.counts @ rates  # here
    """,
    "floats that are chosen": """
        def outer(exposed: Occupied) -> Any:
            return np.where(exposed.counts > 3, 0.5, 1.5)  # here
    """,
    "a sum that begins with a float": """
        def outer(exposed: Occupied) -> Any:
            return sum(exposed.counts.tolist(), 0.0)  # here
    """,
    "a method that is handed over": """
        @dataclass(frozen=True)
        class Half:
            parts: int

            def of(self, values: Any) -> Any:
                return values / self.parts  # here

        def outer(exposed: Occupied) -> Any:
            half = Half(2).of
            return list(map(half, exposed.counts))
    """,
    "a method of a private object that is handed over": """
        @dataclass(frozen=True)
        class Totals:
            held: IntArray

            def share(self, parts: int) -> Any:
                return self.held / parts  # here

        def outer(exposed: Occupied) -> Any:
            share = Totals(exposed.counts).share
            return share(2)
    """,
    "an object that is called": """
        @dataclass(frozen=True)
        class Share:
            held: IntArray

            def __call__(self, place: int) -> Any:
                return self.held[place] / 2  # here

        def outer(exposed: Occupied) -> Any:
            return applied(Share(exposed.counts))

        def applied(share: Any) -> Any:
            return share(3)
    """,
    "a key for sorting in place": """
        def outer(exposed: Occupied) -> Any:
            found = exposed.counts.tolist()
            found.sort(key=lambda count: count / 2)  # here
            return found
    """,
    "folding": """
        import functools

        def outer(exposed: Occupied) -> Any:
            return functools.reduce(lambda one, other: one / other, exposed.counts.tolist())  # here
    """,
    "a generator": """
        def outer(exposed: Occupied) -> Any:
            for count in each(exposed):
                yield count / 2  # here

        def each(exposed: Occupied) -> Any:
            for count in exposed.counts.tolist():
                yield count
    """,
    "a context": """
        from contextlib import contextmanager

        def outer(exposed: Occupied) -> Any:
            with opened(exposed) as cells:
                return cells / 2  # here

        @contextmanager
        def opened(exposed: Occupied) -> Any:
            yield exposed.cells
    """,
    "any number of arguments": """
        def outer(exposed: Occupied) -> Any:
            return inner(1, exposed.counts), named(some=exposed.counts)

        def inner(*values: Any) -> Any:
            return values[1] / 2  # here

        def named(**values: Any) -> Any:
            return values["some"] / 2  # here
    """,
    "what is left after an error": """
        def outer(exposed: Occupied) -> Any:
            cells = 1
            try:
                cells = exposed.counts
            finally:
                shares = cells / 2  # here
            return shares
    """,
    "a case of a pattern": """
        def outer(exposed: Occupied) -> Any:
            match exposed.counts:  # here
                case [first, *_]:
                    return first / 2  # here
    """,
    "a default of a lambda": """
        def outer(exposed: Occupied) -> Any:
            share = lambda parts, cells=exposed.counts: cells / parts  # here
            return share(2)
    """,
    "a key of a dict": """
        def outer(exposed: Occupied) -> Any:
            held = {}
            held["cells"] = exposed.counts
            return held["cells"] / 2  # here
    """,
    "an inherited method": """
        class Base:
            def share(self, values: Any) -> Any:
                return values / 2  # here

        class Derived(Base):
            def share(self, values: Any) -> Any:
                return super().share(values)

        def outer(exposed: Occupied, what: Derived) -> Any:
            return what.share(exposed.counts)
    """,
    "whoever keeps to a protocol": """
        from typing import Protocol

        class Shares(Protocol):
            def shares_of(self, values: Any) -> Any: ...

        class Halves:
            def shares_of(self, values: Any) -> Any:
                return values / 2  # here

        def outer(exposed: Occupied, how: Shares) -> Any:
            return how.shares_of(exposed.counts)
    """,
    "a variable of the module": """
        RATE = 0.25

        def outer(exposed: Occupied) -> Any:
            return exposed.counts * RATE  # here
    """,
    "one of several functions": """
        def outer(exposed: Occupied, kind: str) -> Any:
            return WAYS[kind](exposed.counts)

        def whole(values: Any) -> Any:
            return values // 2

        def half(values: Any) -> Any:
            return values / 2  # here

        WAYS = {"whole": whole, "half": half}
    """,
}
SOUND = {
    "names that end with a comprehension": """
        def outer(exposed: Occupied, count: int) -> Any:
            doubled = [2 * count for count in exposed.counts.tolist()]
            return doubled, count / 2
    """,
    "whole arithmetic": """
        def totals(exposed: Occupied, bounds: IntArray) -> IntArray:
            before = np.concatenate(([0], np.cumsum(exposed.counts)))
            found = np.diff(before[np.searchsorted(exposed.cells, bounds)])
            return (found * 3 // 2) ** 2 % 7 - (found >> 1)
    """,
    "whole numbers of Python": """
        def root(exposed: Occupied) -> list[int]:
            return [math.isqrt(count**2 + 1) for count in exposed.counts.tolist()]
    """,
    "floats of what a gate gave": """
        def shares(exposed: Occupied, scale: Fraction, randomness: Randomness) -> FloatArray:
            noisy = gates.noisy(exposed.dense(9), scale, randomness)
            if noisy.max() > 3:
                return np.sqrt(np.maximum(noisy, 0) / 2.0)
            return noisy.astype(np.float64)
    """,
    "floats of what was chosen": """
        def share(exposed: Occupied, scale: Fraction, randomness: Randomness) -> float:
            chosen = gates.chosen(-np.abs(exposed.dense(9) - 3), scale, randomness)
            return chosen / 2 if chosen else 0.5
    """,
    "coins from a table of words": """
        def split(exposed: Occupied, words: Any, rate: float, randomness: Randomness) -> Any:
            coins = gates.tossed(words[np.clip(exposed.dense(9), 0, 9)], randomness)
            return coins * rate
    """,
    "floats of public numbers beside them": """
        def scaled(exposed: Occupied, size: int, epsilon: Fraction) -> tuple[IntArray, float]:
            return exposed.dense(size), size / 2 + float(1 / epsilon)
    """,
    "fractions, which are exact": """
        def scaled(exposed: Occupied, epsilon: Fraction) -> Any:
            return Fraction(int(exposed.counts.sum())) * epsilon
    """,
    "how many cells a domain has": """
        def mean(exposed: Occupied, size: int, scale: Fraction, randomness: Randomness) -> Any:
            cells = exposed.dense(size)
            noisy = gates.noisy(cells, scale, randomness)
            return noisy / len(cells) if len(cells) > 3 else noisy / cells.size
    """,
    "counts that stay closed": """
        @dataclass(frozen=True)
        class Table:
            counts: Counts

            @property
            def mean(self) -> float:
                return 1 / self.counts.size

        def made(cells: Any) -> float:
            table = Table(Counts.of(cells))
            return table.mean if len(table.counts.shape) > 1 else 0.5
    """,
    "functions that see both": """
        def outer(exposed: Occupied, rate: float) -> Any:
            return frozen(exposed.counts), same(rate) / 2, same(exposed.counts) // 2

        def same(value: Any) -> Any:
            return value
    """,
    "one of two numbers of a tuple": """
        def outer(exposed: Occupied) -> Any:
            held, rate = pair(exposed)
            return held // 2, rate / 2

        def pair(exposed: Occupied) -> tuple[IntArray, float]:
            return exposed.counts, 0.5
    """,
    "a name that is used again": """
        def outer(exposed: Occupied, sizes: IntArray) -> Any:
            for values in (exposed.counts, exposed.cells):
                values.sum()
            values = sizes
            return values / 2
    """,
    "whether something is there at all": """
        def outer(exposed: Occupied | None) -> Any:
            if exposed is None or not isinstance(exposed, Occupied):
                return 0.5
            return 1.5
    """,
    "an array of whole numbers as long as the occupied cells": """
        def outer(exposed: Occupied) -> IntArray:
            ranks = np.empty(len(exposed.cells), np.int64)
            ranks[np.argsort(exposed.counts)] = np.arange(len(exposed.cells))
            return ranks
    """,
    "a type that follows the numbers": """
        def outer(exposed: Occupied) -> IntArray:
            return np.zeros(3, exposed.counts.dtype) + exposed.counts.astype(np.int64)[:3]
    """,
}


@pytest.mark.parametrize("way", UNSOUND)
def test_a_float_is_found(way):
    found, expected = snippet(UNSOUND[way])
    assert expected
    assert found == expected


@pytest.mark.parametrize("way", SOUND)
def test_sound_code_is_left_alone(way):
    found, expected = snippet(SOUND[way])
    assert found == expected == set()


@pytest.mark.long
def test_the_package_is_sound():
    """As make check finds, too."""
    assert [str(one) for one in floats.found(whole(), WHOLE)] == []


def test_an_excuse_without_use_is_refused_and_so_is_what_loses_its_excuse():
    where, code = "dawa.counts.Counts.sparse", "(np.diff(placed) == 0).any() or (held == 0).any()"
    core = parts("arrays", "counts", "layout/curve", "kernels/hilbert", "kernels/native", "kernels/c/")
    rest = {key: why for key, why in rules.EXCUSED.items() if key[0].startswith("dawa.counts.") and key[1] != code}

    def found(excused):
        listed = floats.found(floats.followed(core, excused), core)
        return [(one.path, one.code, one.why) for one in listed if one.where == where]

    assert found(rest) == [("src/dawa/counts.py", code, "a branch on private numbers")]
    assert found({**rest, (where, code): "", (where, "cells / 2"): ""}) == [
        (floats.EXCUSES, "cells / 2", f"{where} needs no such excuse any more")
    ]


def test_every_exception_has_a_reason():
    assert all(len(why) > 20 and why.endswith(".") for why in [*rules.EXCUSED.values(), *rules.OPENED.values()])


@pytest.mark.parametrize(
    ("path", "old", "new", "missing"),
    [
        ("counts.py", "class Occupied(", "class Taken(", "dawa.counts.Occupied"),
        ("counts.py", "    def sparse(", "    def thin(", "dawa.counts.Counts.sparse"),
        (
            "counts.py",
            "cells: IntArray, counts: IntArray) ->",
            "at: IntArray, counts: IntArray) ->",
            "dawa.counts.Counts.sparse(cells)",
        ),
        ("noise/gates.py", "def tossed(", "def flipped(", "dawa.noise.gates.tossed"),
        ("sources/tables.py", "    fetch: Callable", "    get: Callable", "dawa.sources.tables.Source.fetch"),
        ("kernels/native.py", "class Kernel:", "class Loop:", "dawa.kernels.native.Kernel"),
    ],
)
def test_a_rule_about_what_is_not_there_is_refused(path, old, new, missing):
    """Otherwise a new name would make the checker blind, and it would find nothing."""
    changed = {f"src/dawa/{path}": WHOLE[f"src/dawa/{path}"].replace(old, new)}
    assert changed[f"src/dawa/{path}"] != WHOLE[f"src/dawa/{path}"]
    core = {**parts("counts", "noise/", "kernels/", "sources/"), **changed}
    found = floats.found(floats.followed(core, {}, "nothing"), core)
    assert [(one.path, one.code) for one in found] == [(floats.EXCUSES, missing)]


@pytest.mark.long
def test_the_gates_are_all_that_there_are():
    """But for noisy costs, which stay private until they are compared."""
    functions = {name for name in whole().package.functions if name.startswith("dawa.noise.gates.")}
    gates = {name for name in functions if not name.rpartition(".")[2].startswith("_")}
    assert gates - {"dawa.noise.gates.costs"} == rules.GATES


def test_the_command_fails_and_names_the_place(monkeypatch, capsys):
    path = "src/dawa/counts.py"
    changed = {**parts("counts"), path: WHOLE[path].replace("np.cumsum(self.counts)", "self.counts / 2")}
    monkeypatch.setattr(floats, "texts", lambda: changed)
    line = changed[path].split("self.counts / 2")[0].count("\n") + 1
    with pytest.raises(SystemExit, match="place"):
        floats.main()
    assert f"{path}:{line}: private numbers are divided with /: self.counts / 2\n" in capsys.readouterr().out
