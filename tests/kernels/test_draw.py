"""The sampling kernel against a slow twin that reads the same bytes, and its coins by enumeration."""

import itertools
import math
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dawa.arrays import IntArray
from dawa.errors import InvariantError
from dawa.kernels import draw as kernel
from dawa.kernels import native
from dawa.kernels.native import Kernel
from helpers.examples import examples

SCALES = [
    (1, 1),
    (1, 3),
    (7, 2),
    (10, 1),
    (65536 * 500, 39),
    (2**28 - 1, 5),
    (2**28, 1),
    (2**56 - 1, 2**55 + 1),
]

BOUNDARIES = [0, 1, 2, 9, 10, 39, 40, 119, 120, 239, 240, 255]
PARTS = st.integers(1, 2**56 - 1)


class Twin:
    """Canonne, Kamath and Steinke's sampler in fractions, as the paper states it."""

    def __init__(self, stream: bytes):
        self.stream = iter(stream)
        self.used = 0

    def byte(self) -> int:
        value = next(self.stream)
        self.used += 1
        return value

    def below(self, bound: int) -> int:
        size, bits = (4, 32) if bound < 2**28 else (8, 63)
        while True:
            number = int.from_bytes([self.byte() for _ in range(size)], "little") % 2**bits
            if number < 2**bits // bound * bound:
                return number % bound

    def run(self) -> int:
        byte = self.byte()
        while byte >= 240:
            byte = self.byte()
        length = next((k for k in range(1, 5) if byte >= Fraction(240, math.factorial(k + 1))), 5)
        while length >= 5 and self.below(length + 1) == 0:
            length += 1
        return length

    def less(self, chance: Fraction) -> bool:
        low, width = Fraction(0), Fraction(1)
        while True:
            width /= 128
            low += (self.byte() // 2) * width
            if low >= chance:
                return False
            if low + width <= chance:
                return True

    def coin(self, exponent: Fraction) -> bool:
        length, k = self.run(), 1
        while k <= length and self.less(exponent):
            k += 1
        return k % 2 == 1

    def geometric(self, scale: int) -> int:
        unit = self.below(scale)
        while not self.coin(Fraction(unit, scale)):
            unit = self.below(scale)
        wholes = 0
        while self.run() % 2 == 0:
            wholes += 1
        return unit + scale * wholes

    def draw(self, numerator: int, denominator: int, *, signed: bool) -> int:
        while True:
            value = math.floor(Fraction(self.geometric(numerator), denominator))
            if not signed:
                return value
            negative = self.byte() % 2 == 1
            if not (negative and value == 0):
                return -value if negative else value


def twin_draws(stream: bytes, scales: list[tuple[int, int]], *, signed: bool) -> tuple[list[int], int]:
    """All draws that the bytes suffice for, and how many bytes they took."""
    twin, draws, used = Twin(stream), [], 0
    try:
        for scale in scales:
            draws.append(twin.draw(*scale, signed=signed))
            used = twin.used
    except StopIteration:
        pass
    return draws, used


def kernel_draws(stream: bytes, scales: list[tuple[int, int]], *, signed: bool) -> tuple[list[int], int]:
    out = np.zeros(len(scales), np.int64)
    numerators, denominators = columns(scales)
    done, used, too_large = kernel.draw(
        np.frombuffer(bytearray(stream), np.uint8), numerators, denominators, signed, out
    )
    assert not too_large
    return out[:done].tolist(), used


def columns(scales: list[tuple[int, int]]) -> tuple[IntArray, IntArray]:
    array = np.array(scales, np.int64)
    return array[:, 0].copy(), array[:, 1].copy()


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("scale", SCALES)
def test_matches_its_twin(scale: tuple[int, int], *, signed: bool):
    stream = np.random.default_rng(1).bytes(4000)
    draws, used = kernel_draws(stream, [scale] * 1000, signed=signed)
    assert len(draws) > 100
    assert (draws, used) == twin_draws(stream, [scale] * 1000, signed=signed)


@pytest.mark.long
@examples(300)
@given(
    stream=st.lists(st.sampled_from(BOUNDARIES) | st.integers(0, 255), max_size=80),
    scales=st.lists(st.sampled_from(SCALES) | st.tuples(PARTS, PARTS), min_size=1, max_size=6),
    signed=st.booleans(),
)
@example(stream=[255] * 4 + [0] * 8 + [128, 0], scales=[(2**28 - 1, 1)], signed=True)
@example(stream=[0] * 80, scales=[(3, 1)], signed=True)
def test_matches_its_twin_on_unlikely_bytes(stream: list[int], scales: list[tuple[int, int]], *, signed: bool):
    """Boundary bytes make rejections, ties and long runs common; the stream may end anywhere."""
    assert kernel_draws(bytes(stream), scales, signed=signed) == twin_draws(bytes(stream), scales, signed=signed)


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 60))
def test_more_bytes_do_not_change_finished_draws(seed: int, size: int):
    stream = np.random.default_rng(seed).bytes(200)
    short, _ = kernel_draws(stream[:size], SCALES, signed=True)
    whole, _ = kernel_draws(stream, SCALES, signed=True)
    assert whole[: len(short)] == short


COINS = {name: Kernel(f"draw_{name}") for name in ("below", "run", "less", "exponential_coin")}


def tossed(name: str, stream: Any, *numbers: int) -> tuple[int, int]:
    """What a coin of the kernel says at the beginning of a stream, and how many bytes it took."""
    at = np.zeros(1, np.int64)
    return COINS[name](len(stream), stream, at, *numbers), int(at[0])


def test_one_byte_decides_runs_with_factorial_chances():
    """Of the 240 bytes that count, 240/k! give a run of k or more."""
    lengths = Counter()
    for byte in range(240):
        length, _ = tossed("run", np.array([byte], np.uint8))
        lengths[5 if length == kernel.ENDED else length] += 1  # a longer run asks for more bytes
    assert [sum(lengths[i] for i in range(k, 6)) for k in range(1, 6)] == [240, 120, 40, 10, 2]
    for byte in range(240, 256):
        assert tossed("run", np.array([byte, 120], np.uint8)) == (1, 2)


@pytest.mark.parametrize("bound", [1, 2, 3, 6, 1000, 2**27 + 1, 2**28 - 1, 2**28, 3 * 2**40, 2**56 - 1])
def test_whole_blocks_of_numbers_are_kept_and_the_rest_is_not(bound: int):
    size, bits = (4, 32) if bound < 2**28 else (8, 63)
    kept = 2**bits // bound * bound
    for number in (0, 1, bound - 1, bound, kept - bound, kept - 1, min(kept, 2**bits - 1), 2**bits - 1):
        stream = np.frombuffer(bytearray(number.to_bytes(size, "little")), np.uint8)
        expected = number % bound if number < kept else kernel.ENDED
        assert tossed("below", stream, bound) == (expected, size)
        assert tossed("below", stream[:-1], bound)[0] == kernel.ENDED


@pytest.mark.long_but(1)
@pytest.mark.parametrize("chance", [Fraction(0), Fraction(1, 2), Fraction(1, 3), Fraction(2**56 - 2, 2**56 - 1)])
def test_comparison_has_its_chance_to_14_bits(chance: Fraction):
    outcomes = enumerated(lambda stream: tossed("less", stream, chance.numerator, chance.denominator))
    assert outcomes["open"] <= 4  # of 65536: one pair of 7-bit digits
    assert outcomes[True] <= chance * 2**16 <= outcomes[True] + outcomes["open"]


@pytest.mark.long_but(1)
@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(8, 9)])
def test_exponential_coin_is_bracketed_by_enumeration(exponent: Fraction):
    outcomes = enumerated(lambda stream: tossed("exponential_coin", stream, exponent.numerator, exponent.denominator))
    chance = math.exp(-exponent) * 2**16
    assert outcomes[True] <= chance <= outcomes[True] + outcomes["open"]
    assert outcomes["open"] < 0.55 * 2**16


def enumerated(coin: Callable[[np.ndarray], tuple[int, int]]) -> Counter:
    """What a coin says on every stream of two bytes; ``open`` where two are not enough."""
    outcomes: Counter = Counter()
    for pair in itertools.product(range(256), repeat=2):
        value, _ = coin(np.array(pair, np.uint8))
        assert value in (False, True, kernel.ENDED)
        outcomes["open" if value == kernel.ENDED else bool(value)] += 1
    return outcomes


def climbing(wholes: int) -> bytes:
    """Bytes that draw 0 from a numerator of 8 bytes, accept it, and add the numerator that often."""
    return bytes(8) + bytes([120, 0]) + bytes([40]) * wholes + bytes([120]) + bytes([0])


def climbed(numerator: int, wholes: int) -> tuple[int, bool]:
    """What the kernel makes of a climb: the draw, and whether it was refused."""
    out = np.zeros(1, np.int64)
    stream = np.frombuffer(bytearray(climbing(wholes)), np.uint8)
    done, _, too_large = kernel.draw(stream, np.array([numerator]), np.array([1]), signed=True, out=out)
    assert done == 1 - too_large
    return int(out[0]), too_large


def test_the_largest_draw_fits_and_a_larger_one_is_refused():
    assert climbed(2**56 - 1, 128) == (128 * (2**56 - 1), False)
    assert climbed(2**56 - 1, 129)[1]
    assert climbed(2**56 - 1, 300)[1]  # this one would wrap to a positive number
    assert climbed(2**40, 5000) == (5000 * 2**40, False)


@examples(300)
@given(
    stream=st.lists(st.sampled_from(BOUNDARIES) | st.integers(0, 255), max_size=80),
    candidates=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2**56 - 1)), min_size=1, max_size=9),
    whole=st.sampled_from([1, 2, 1000, 2**56 - 1]),
)
def test_chooses_as_its_twin_does(stream: list[int], candidates: list[tuple[int, int]], whole: int):
    pairs = [(count, part % whole) for count, part in candidates]
    wholes, parts = columns(pairs)
    found = kernel.choose(np.frombuffer(bytearray(stream), np.uint8), wholes, parts, whole)
    assert found == twin_choice(bytes(stream), pairs, whole)


def twin_choice(stream: bytes, pairs: list[tuple[int, int]], whole: int) -> int:
    """Candidates are proposed evenly; each of them is kept if all of its coins say so, tossed up to the first no."""
    twin = Twin(stream)
    try:
        while True:
            pick = twin.below(len(pairs))
            wholes, part = pairs[pick]
            while wholes and twin.run() % 2 == 0:
                wholes -= 1
            if not wholes and (not part or twin.coin(Fraction(part, whole))):
                return pick
    except StopIteration:
        return kernel.ENDED


def drawn(numerators: list[int], denominators: list[int], size: int) -> tuple[int, int, bool]:
    stream, out = np.zeros(100, np.uint8), np.empty(size, np.int64)
    return kernel.draw(stream, np.array(numerators, np.int64), np.array(denominators, np.int64), signed=True, out=out)


@pytest.mark.parametrize(("numerator", "denominator"), [(0, 1), (-1, 1), (2**56, 1), (1, 0), (1, -1)])
def test_a_scale_that_cannot_be_drawn_is_refused(numerator: int, denominator: int):
    """What would divide by zero or exceed 63 bits ends in an error, not in a draw."""
    with pytest.raises(InvariantError, match="not made of numbers"):
        drawn([numerator], [denominator], 1)


@pytest.mark.parametrize("sizes", [(2, 1, 2), (1, 2, 2), (2, 2, 3), (3, 3, 2), (0, 0, 1)])
def test_scales_that_are_too_few_or_too_many_are_refused(sizes: tuple[int, int, int]):
    with pytest.raises(InvariantError, match="draws were asked for"):
        drawn([1] * sizes[0], [1] * sizes[1], sizes[2])


def test_nothing_to_draw_takes_nothing():
    assert drawn([], [], 0) == drawn([1], [1], 0) == (0, 0, False)


@pytest.mark.parametrize(
    ("wholes", "parts", "whole"), [([], [], 2), ([0], [], 2), ([-1], [0], 2), ([0], [2], 2), ([0], [0], 2**56)]
)
def test_a_choice_that_cannot_be_made_is_refused(wholes: list[int], parts: list[int], whole: int):
    numbers = np.array(wholes, np.int64), np.array(parts, np.int64)
    with pytest.raises(InvariantError):
        kernel.choose(np.zeros(100, np.uint8), *numbers, whole)


def test_no_float_is_made(tmp_path: Path):
    """C makes floats of integers without a word; the compiler tells which types it works with, and what is called."""
    command = [sys.executable, "-m", "ziglang", "cc", "-std=c11", "-O0", "-fno-sanitize=undefined", "-S", "-emit-llvm"]
    source, told = native.COMPILE.parent / "draw.c", tmp_path / "draw.ll"
    subprocess.run([*command, str(source), "-o", str(told)], check=True, capture_output=True)  # noqa: S603  our own
    functions = re.findall(r"^define .*?^}", told.read_text(), re.MULTILINE | re.DOTALL)
    made = {name for function in functions for name in re.findall(r"define [^@\n]*@(\w+)\(", function)}
    assert {"draw_draw", "draw_choose", "below", "geometric"} <= made
    for function in functions:
        assert not re.search(r"\b(half|bfloat|float|double|x86_fp80|fp128)\b", function), function
        assert set(re.findall(r"\bcall [^@\n]*@([\w.]+)\(", function)) <= made | {"llvm.memcpy.p0.p0.i64"}, function
