"""JSON lines: a record is a line, and each line is read by itself. ``reading.md`` has the proof.

A JSON string cannot hold a line break, so lines are cut by bytes, whatever is in them. Values stay the text that they
are written in: no number becomes a float before an axis asks for one.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dawa import kernels
from dawa.arrays import IntArray
from dawa.limits import MOST_JSON_DEPTH, MOST_RECORD_BYTES
from dawa.sources import places
from dawa.sources.delimited import WORKERS, valid
from dawa.sources.dialect import Dialect
from dawa.sources.places import Place


def batches(found: Sequence[Place], dialect: Dialect, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The wanted values of all records, as text; a value that is not valid UTF-8 is missing.

    Numbers get the decimal mark of the dialect, so that numbers and strings are read alike.
    """
    tree, slots = _tree(columns)
    with ThreadPoolExecutor(WORKERS) as workers:
        waiting: deque[Future[pa.RecordBatch]] = deque()
        for place in found:
            for lines in _cut(places.gathered(places.unpacked(place, places.BLOCK))):
                waiting.append(workers.submit(_picked, lines, dialect, tree, slots))
                if len(waiting) > 2 * WORKERS:
                    yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _cut(blocks: Iterable[bytes]) -> Iterator[bytearray]:
    """Whole lines; of a line that is too long, only the end is there to be cut off."""
    held, skip = bytearray(), False
    for block in chain(blocks, [b""]):
        data = held + block
        if skip:
            ends = data.find(b"\n") + 1
            skip = not ends
            data = data[ends:] if ends else bytearray()
        after = data.rfind(b"\n") + 1 if block else len(data)
        if after:
            yield data[:after]
        held = data[after:]
        if len(held) > MOST_RECORD_BYTES:
            held, skip = bytearray(), True


Tree = tuple[IntArray, IntArray, NDArray[np.uint8], IntArray, IntArray, IntArray, IntArray]
"""The wanted keys, as the kernel takes them."""


def _picked(lines: bytearray, dialect: Dialect, tree: Tree, slots: IntArray) -> pa.RecordBatch:
    """The wanted values of some lines."""
    most = lines.count(b"\n") + 1
    text = np.empty((len(slots), len(lines)), np.uint8)
    ends, there = np.zeros((len(slots), most + 1), np.int32), np.empty((len(slots), most), np.bool_)
    rows = kernels.json_lines.pick(
        np.frombuffer(lines, np.uint8),
        MOST_RECORD_BYTES,
        MOST_JSON_DEPTH,
        ord(dialect.decimal),
        tree,
        slots,
        text,
        ends,
        there,
    )
    arrays = []
    for values, after, present in zip(text, ends, there, strict=True):
        mask = np.packbits(present[:rows], bitorder="little")
        buffers = [pa.py_buffer(mask), pa.py_buffer(after), pa.py_buffer(values)]
        arrays.append(valid(pa.Array.from_buffers(pa.binary(), rows, buffers)))
    return pa.RecordBatch.from_arrays(arrays, [str(place) for place in range(len(arrays))])


@dataclass
class _Key:
    """A key on the way to a wanted value.

    Attributes:
        below: The keys inside the object that this one has.
        wanted: Whether its value is that of a column.
        slot: Where the value goes.
    """

    below: dict[str, "_Key"] = field(default_factory=dict)
    wanted: bool = False
    slot: int = -1


def _tree(columns: Sequence[str]) -> tuple[Tree, IntArray]:
    """The wanted keys as a tree, and for every column two slots: by its plain name, and by the parts of its name."""
    root = _Key()
    pairs = [(_reached(root, (name,)), _reached(root, tuple(name.split(".")))) for name in columns]
    names, child, sibling, slot, low, high, slots = [""], [-1], [-1], [-1], [0], [0], 0

    def number(key: _Key, here: int) -> None:
        """Depth first, so that the slots below a key follow its own."""
        nonlocal slots
        low[here] = slots
        if key.wanted:
            key.slot = slot[here] = slots
            slots += 1
        before = -1
        for name, inner in key.below.items():
            there = len(names)
            for one, value in ((names, name), (child, -1), (sibling, -1), (slot, -1), (low, 0), (high, 0)):
                one.append(value)  # type: ignore[arg-type]
            if before < 0:
                child[here] = there
            else:
                sibling[before] = there
            before = there
            number(inner, there)
        high[here] = slots

    number(root, 0)
    encoded = [name.encode(errors="surrogatepass") for name in names]
    at = np.cumsum([0, *map(len, encoded)])
    tree = (child, sibling, np.frombuffer(b"".join(encoded), np.uint8), at, slot, low, high)
    arrays = tuple(one if isinstance(one, np.ndarray) else np.array(one, np.int64) for one in tree)
    return arrays, np.array([(plain.slot, nested.slot) for plain, nested in pairs], np.int64)  # type: ignore[return-value]


def _reached(root: _Key, path: tuple[str, ...]) -> _Key:
    """The key at the end of a path, whose value is wanted."""
    key = root
    for name in path:
        key = key.below.setdefault(name, _Key())
    key.wanted = True
    return key
