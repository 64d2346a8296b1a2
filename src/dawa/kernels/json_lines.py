"""Lines of JSON, and the values of a few keys in each, in one pass. ``sources/reading.md`` says why that is stable.

Wanted keys form a tree, because ``visit.age`` is the key ``age`` of the object under the key ``visit``. Node 0 stands
for a line's own object. ``child`` and ``sibling`` lead from a node to its first child and to the next one of its
parent's (-1: none), ``name`` holds the node's key as bytes between ``name_at[node]`` and ``name_at[node + 1]``, and
``slot`` is the value that is wanted there (-1: none). Slots are numbered so that those at a node and below it are
``low[node]`` to ``high[node]``, without the last.
"""

import numpy as np
from numpy.typing import NDArray

from dawa.arrays import BoolArray, IntArray
from dawa.errors import InvariantError
from dawa.kernels.native import Kernel

Tree = tuple[IntArray, IntArray, NDArray[np.uint8], IntArray, IntArray, IntArray, IntArray]
"""``child``, ``sibling``, ``name``, ``name_at``, ``slot``, ``low`` and ``high``, as above."""

_pick = Kernel("json_lines_pick")


def pick(
    data: NDArray[np.uint8],
    most: int,
    deepest: int,
    point: int,
    tree: Tree,
    column: IntArray,
    text: NDArray[np.uint8],
    ends: NDArray[np.int32],
    there: BoolArray,
) -> int:
    """Copy the wanted values of every line.

    A line ends with a line feed. Lines of white space are not records, and lines that are too long are left out. A line
    that is not a JSON object has no values.

    Args:
        data: Bytes that begin with a line.
        most: How many bytes a line may have, without its end.
        deepest: How many objects and lists may lie in one another.
        point: What becomes of the decimal point of a number: a byte.
        tree: ``child``, ``sibling``, ``name``, ``name_at``, ``slot``, ``low`` and ``high``, as the module says.
        column: For every wanted column, its two slots: of the plain key, and of the keys that its dots separate.
        text: One row of bytes for every wanted column, as long as ``data``.
        ends: For every wanted column, where its values end in ``text``; the first entry is 0.
        there: For every wanted column, whether each value is there.

    Returns:
        How many records there are.
    """
    columns, room = there.shape
    if data.size >= 2**31 or deepest < 1 or min(len(tree[0]), columns) < 1:
        raise InvariantError("Lines of JSON have to be shorter than 2^31 bytes, and something has to be wanted.")
    if column.shape != (columns, 2) or text.shape != (columns, data.size) or ends.shape != (columns, room + 1):
        raise InvariantError("The results for lines of JSON do not belong to the same lines.")
    child, sibling, name, name_at, slot, low, high = tree
    if not len(child) == len(sibling) == len(name_at) - 1 == len(slot) == len(low) == len(high):
        raise InvariantError("The wanted keys of lines of JSON do not belong to the same tree.")
    slots = int(column.max()) + 1
    if min(column.min(), low.min()) < 0 or max(slot.max(), high.max() - 1) >= slots or name_at[-1] > name.size:
        raise InvariantError("The wanted keys of lines of JSON lead nowhere.")
    kind, begin, end = np.empty(slots, np.uint8), np.empty(slots, np.int64), np.empty(slots, np.int64)
    kinds, nodes = np.empty(deepest, np.uint8), np.empty(deepest, np.int64)
    rows: int = _pick(
        data.size, data, most, deepest, point, *tree, slots, kind, begin, end, kinds, nodes,
        columns, column, room, text, ends, there.view(np.uint8),
    )  # fmt: skip
    if rows < 0:
        raise InvariantError("There are more lines of JSON than there is room for.")
    return rows
