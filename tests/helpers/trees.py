"""Every tree over a few cells: shared by the enumerations of the walk, of the gauge and of PrivTree."""

import functools
import itertools
import math

import numpy as np

HEIGHT = 3
CELLS = 1 << HEIGHT


def trees(height):
    """Every binary tree of at most this height: None is a leaf."""
    yield None
    if height:
        yield from itertools.product(list(trees(height - 1)), repeat=2)


def leaves(tree, start=0, height=HEIGHT):
    """(start, height) of each leaf, from left to right."""
    if tree is None:
        return [(start, height)]
    half = height - 1
    return leaves(tree[0], start, half) + leaves(tree[1], start + (1 << half), half)


def brute_score(cells):
    return min(sum(abs(x - m) for x in cells) for m in cells)


def parts(start, stop):
    """The quarters of an interval that is as wide as a power of four, without what lies beyond its end."""
    width = 4
    while width < stop - start:
        width *= 4
    return [(at, min(at + width // 4, stop)) for at in range(start, stop, width // 4)]


def fours(start, stop):
    """Every tree of fan 4 over these cells, as the tuple of its leaves with their depth."""
    yield ((start, stop, 0),)
    if stop - start > 1:
        for below in itertools.product(*(list(fours(*part)) for part in parts(start, stop))):
            yield tuple((a, b, depth + 1) for tree in below for a, b, depth in tree)


class Fours:
    """Log-probabilities of trees of fan 4 under one input, from the shipped integers."""

    def __init__(self, cells, table):
        self.cells, self.table = [int(x) for x in cells], table

    def tree(self, leaves_found, start, stop, depth=0):
        """A node that is among the leaves has stopped, any other has split."""
        if stop - start == 1:
            return 0.0
        split, stopped = self.coin(start, stop, depth)
        if (start, stop) in leaves_found:
            return stopped
        return split + sum(self.tree(leaves_found, a, b, depth + 1) for a, b in parts(start, stop))

    @functools.cache  # noqa: B019  lives as long as a test
    def coin(self, start, stop, depth):
        score = np.array([brute_score(self.cells[start:stop])])
        word = int(self.table.thresholds[self.table.points(score, depth)[0]])
        return math.log(word / 2**64), math.log((2**64 - word) / 2**64)


def spans(tree):
    return {(a, b) for a, b, _ in tree}


def pairs_of_neighbours(size, count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        cells = rng.integers(0, rng.integers(2, 40), size) * rng.integers(0, 2, size)
        other, cell = cells.copy(), int(rng.integers(size))
        other[cell] += 1
        yield cells, other, cell
