"""The coasts and borders that dawa draws: ``python -m docs.borders countries-110m.json``.

The file is that of the npm package world-atlas 2.0.2: Natural Earth's countries at 1:110 million, as TopoJSON. They are
in the public domain. What is written is ``src/dawa/plots/borders.txt``: a line of text for each coast or border.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from dawa.plots.geography import GRID, encoded

TARGET = Path(__file__).parent.parent / "src" / "dawa" / "plots" / "borders.txt"


def main() -> None:
    """Write the file."""
    atlas = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    used = Counter(
        arc if arc >= 0 else ~arc for shape in atlas["objects"]["countries"]["geometries"] for arc in arcs(shape)
    )
    lines = [
        f"{'b' if used[number] > 1 else 'c'}{encoded(part)}"
        for number in sorted(used)
        for part in parts(points(atlas, number))
        if len(part) > 1
    ]
    TARGET.write_text("\n".join(lines) + "\n", encoding="ascii")
    sys.stdout.write(f"{len(lines)} lines, {TARGET.stat().st_size} bytes\n")


def arcs(shape: dict[str, Any]) -> Iterator[int]:
    """The numbers of the arcs around a country; a negative one is an arc that is followed backwards."""
    rings = shape["arcs"] if shape["type"] == "Polygon" else [ring for polygon in shape["arcs"] for ring in polygon]
    for ring in rings:
        yield from ring


def points(atlas: dict[str, Any], number: int) -> list[tuple[int, int]]:
    """An arc on our grid, without points that fall on the one before."""
    (wide, tall), (west, south) = atlas["transform"]["scale"], atlas["transform"]["translate"]
    x = y = 0
    found: list[tuple[int, int]] = []
    for dx, dy in atlas["arcs"][number]:
        x, y = x + dx, y + dy
        point = round((west + x * wide) * GRID), round((south + y * tall) * GRID)
        if not found or found[-1] != point:
            found.append(point)
    return found


def parts(line: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """A line without what is no coast: steps around the world, along the date line, and below Antarctica."""
    part = line[:1]
    for before, point in pairwise(line):
        around = abs(point[0] - before[0]) > 180 * GRID
        along = abs(before[0]) == abs(point[0]) == 180 * GRID
        beneath = before[1] < -85 * GRID and point[1] < -85 * GRID
        if around or along or beneath:
            yield part
            part = []
        part.append(point)
    yield part


if __name__ == "__main__":
    main()
