"""Where the buckets of a map lie: cell by cell."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dawa.layout.curve import Order
from dawa.partition.buckets import Buckets
from dawa.strategy.bumps import Patches
from helpers.dense import random_bounds
from helpers.examples import examples
from helpers.grids import random_shape, random_tiling

seeds = st.integers(0, 2**32)


def random_case(seed):
    """Buckets on a map: stretches of the curve, or boxes."""
    rng = np.random.default_rng(seed)
    shape = random_shape(rng)
    boxes = random_tiling(rng, shape, cuts=10)
    partition = (
        Buckets(boxes.bounds, boxes=boxes) if rng.random() < 0.5 else Buckets(random_bounds(rng, int(np.prod(shape))))
    )
    return rng, Patches(shape, partition.order(shape), partition.bounds)


def cells_of(patches, bucket):
    """The coordinates of a bucket's cells."""
    flat = patches.order[patches.bounds[bucket] : patches.bounds[bucket + 1]]
    return [tuple(cell) for cell in np.stack(np.unravel_index(flat, patches.shape), axis=1).tolist()]


@examples(60)
@given(seeds)
def test_a_centre_is_the_mean_of_the_buckets_cells(seed):
    _, patches = random_case(seed)
    assert len(patches) == len(patches.bounds) - 1
    expected = [np.mean(cells_of(patches, bucket), axis=0) for bucket in range(len(patches))]
    np.testing.assert_allclose(patches.centres, expected, rtol=1e-12, atol=1e-12)


@examples(60)
@given(seeds)
def test_stretches_touch_where_two_of_their_cells_are_side_by_side(seed):
    rng, patches = random_case(seed)
    k = len(patches)
    first = np.unique(np.concatenate(([0], rng.integers(0, k, 5))))
    stops = [*first[1:].tolist(), k]
    stretches = [
        set(itertools.chain.from_iterable(cells_of(patches, bucket) for bucket in range(a, b)))
        for a, b in zip(first.tolist(), stops, strict=True)
    ]
    near = patches.touching(first)
    for i, one in enumerate(stretches):
        beside = {
            (*cell[:axis], cell[axis] + step, *cell[axis + 1 :])
            for cell in one
            for axis in range(len(patches.shape))
            for step in (-1, 1)
        }
        assert near[i].tolist() == [j for j, other in enumerate(stretches) if j == i or beside & other]


def test_one_stretch_touches_itself():
    patches = Patches((3, 3), Order((3, 3)).flat(), np.arange(10))
    assert [near.tolist() for near in patches.touching(np.array([0]))] == [[0]]
