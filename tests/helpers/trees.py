"""Every binary tree over a few cells: shared by the enumerations of the walk and of PrivTree."""

import itertools

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
