"""Transform, inverse and errors equal slow loops over every node, number by number."""

import itertools

import numpy as np
import pytest

from dawa.errors import InvariantError
from dawa.kernels import wavelet

SIZES = [*range(1, 20), 31, 32, 33, 100]


def nodes_of(k):
    """Every whole node by its level and number."""
    return [(level, i) for level in range(1, k.bit_length()) for i in range(k >> level)]


def blocks_of(k):
    """The edges of the blocks, in buckets."""
    widths = [2**level for level in reversed(range(k.bit_length())) if k >> level & 1]
    return np.concatenate(([0.0], np.cumsum(widths, dtype=np.float64)))


def on_node(x, level, i):
    """What a prefix that ends at x counts on the row of a node, over the node's width."""
    width = 2**level
    inside = min(max(x - i * width, 0), width)
    return min(inside, width - inside) / width


def by_hand(level):
    answers = []
    while len(level) > 1:
        level = level + [0] * (len(level) % 2)
        answers += [left - right for left, right in zip(level[::2], level[1::2], strict=True)]
        level = [left + right for left, right in zip(level[::2], level[1::2], strict=True)]
    return answers + level


@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("k", SIZES)
def test_every_row_is_transformed(k, rows):
    totals = np.random.default_rng(k).integers(-100, 100, (rows, k))
    given = totals.copy()
    assert wavelet.transforms(totals).tolist() == [by_hand(row) for row in given.tolist()]
    assert (totals == given).all()


@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("k", SIZES)
def test_every_row_is_inverted(k, rows):
    """Buckets are found again from the differences of whole nodes and the blocks' totals: exact for whole numbers."""
    totals = np.random.default_rng(k).integers(-100, 100, (rows, k))
    sizes = [k]
    while sizes[-1] > 1:
        sizes.append((sizes[-1] + 1) // 2)
    start = np.concatenate(([0, 0], np.cumsum(sizes[1:]))).astype(np.int64)
    edges = blocks_of(k).astype(np.int64)
    blocks = np.full((rows, k.bit_length()), np.nan)
    for begin, end in itertools.pairwise(edges):
        blocks[:, int(end - begin).bit_length() - 1] = totals[:, begin:end].sum(axis=1)
    found = wavelet.inverses(wavelet.transforms(totals).astype(np.float64), start, blocks, k)
    assert found.tolist() == totals.tolist()


def cases(k):
    rng = np.random.default_rng(k)
    edges = blocks_of(k)
    top = np.asfortranarray(rng.normal(size=(len(edges), int(rng.integers(0, 4)))))
    ends = np.sort(rng.uniform(0, k, (30, 2)), axis=1)
    ends[::3] = np.round(ends[::3])
    ends[0] = 0, k
    return rng, edges, top, ends[:, 0].copy(), ends[:, 1].copy()


def rows_of(k, x, unit, edges, top):
    """What a prefix that ends at x counts on every row: of the whole nodes, and above the blocks."""
    above = [np.interp(x, edges, column) for column in top.T]
    return np.array([unit**0.5 * on_node(x, *node) for node in nodes_of(k)] + above)


@pytest.mark.parametrize("k", SIZES)
def test_the_variance_of_a_range_is_a_sum_over_all_rows(k):
    _, edges, top, lo, hi = cases(k)
    exact = [
        ((rows_of(k, b, 1.5, edges, top) - rows_of(k, a, 1.5, edges, top)) ** 2).sum()
        for a, b in zip(lo, hi, strict=True)
    ]
    np.testing.assert_allclose(wavelet.range_variances(lo, hi, k, 1.5, edges, top), exact, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("differences", [False, True])
@pytest.mark.parametrize("k", SIZES)
def test_the_total_error_is_a_sum_over_all_queries_and_rows(k, differences):
    rng, edges, top, lo, hi = cases(k)
    first = np.concatenate(([0], np.sort(rng.integers(0, 31, 7)), [30]))
    lo, hi = (np.sort(np.concatenate((lo, hi))).reshape(-1, 2)[:, end].copy() for end in (0, 1))
    weight, omega = rng.normal(size=30), rng.uniform(0.5, 2, 8)
    queries = np.zeros((8, len(rows_of(k, 0.0, 1.5, edges, top))))
    for q in range(8):
        for r in range(first[q], first[q + 1]):
            queries[q] += weight[r] * (rows_of(k, hi[r], 1.5, edges, top) - rows_of(k, lo[r], 1.5, edges, top))
    exact = omega @ (queries**2).sum(axis=1)
    if differences:
        exact = omega.sum() * exact - ((omega @ queries) ** 2).sum()
    found = wavelet.total_error(first, lo, hi, weight, omega, differences, k, 1.5, edges, top)
    assert found == pytest.approx(exact, rel=1e-10, abs=1e-10)


def test_no_ranges_and_no_queries():
    _, edges, top, _, _ = cases(5)
    none = np.zeros(0)
    assert wavelet.range_variances(none, none, 5, 1.0, edges, top).tolist() == []
    assert wavelet.total_error(np.zeros(1, np.int64), none, none, none, none, 0, 5, 1.0, edges, top) == 0


def test_what_does_not_belong_together_is_refused():
    _, edges, top, lo, hi = cases(5)
    one, first = np.ones(30), np.arange(31)
    with pytest.raises(InvariantError, match="bucket"):
        wavelet.transforms(np.zeros((2, 0), np.int64))
    for differences, start, blocks in [
        (np.zeros((1, 2)), np.array([0, 0, 2]), np.zeros((1, 3))),
        (np.zeros((1, 6)), np.array([0, 5, 0]), np.zeros((1, 3))),
        (np.zeros((1, 6)), np.array([0, -1, 3]), np.zeros((1, 3))),
        (np.zeros((1, 6)), np.array([0, 0]), np.zeros((1, 3))),
        (np.zeros((1, 6)), np.array([0, 0, 3]), np.zeros((1, 2))),
        (np.zeros((1, 6)), np.array([0, 0, 3]), np.zeros((2, 3))),
    ]:
        with pytest.raises(InvariantError, match="5 buckets"):
            wavelet.inverses(differences, start, blocks, 5)
    with pytest.raises(InvariantError, match="one end"):
        wavelet.range_variances(lo[1:], hi, 5, 1.0, edges, top)
    with pytest.raises(InvariantError, match="blocks"):
        wavelet.range_variances(lo, hi, 5, 1.0, edges, top[1:])
    with pytest.raises(InvariantError, match="agree"):
        wavelet.total_error(first + 1, lo, hi, one, one, 0, 5, 1.0, edges, top)
    with pytest.raises(InvariantError, match="agree"):
        wavelet.total_error(first, lo, hi, one, one[1:], 0, 5, 1.0, edges, top)
