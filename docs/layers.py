"""Draw the import graph of dawa, layer by layer, from its code: ``python -m docs.layers``.

The layers are those of the contract in pyproject.toml. An arrow leads from a package to what it imports. The command
fails if one leads upwards that the contract does not name; those are dashed.
"""

import sys
import tomllib
from pathlib import Path

import grimp
from matplotlib import patches, rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

ROOT = Path(__file__).parents[1]
PICTURE = Path(__file__).with_name("layers.svg")
WIDTH, HEIGHT = 0.9, 0.42
COLOURS = {"private": "#f6d5c9", "noise": "#f3e6b3", "public": "#dce6f2"}
PRIVATE = {"sources", "counts", "partition", "measure", "mechanisms"}


def main() -> None:
    """Write docs/layers.svg, or say which import leads upwards."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = [[name.strip() for name in layer.split("|")] for layer in contract["contracts"][0]["layers"]]
    excused = {_pair(*line.split(" -> ")) for line in contract["contracts"][0]["ignore_imports"]}
    edges = imports()
    level = {name: depth for depth, layer in enumerate(layers) for name in layer}
    upwards = {(one, other) for one, other in edges if level[one] >= level[other]}
    if upwards - excused:
        sys.exit(f"These imports lead upwards or sideways: {sorted(upwards - excused)}")
    with rc_context({"svg.hashsalt": "dawa"}):  # the same file for the same code
        drawn(layers, edges, upwards).savefig(PICTURE, bbox_inches="tight", metadata={"Date": None})
    print(f"{PICTURE.name}: {len(level)} packages and modules in {len(layers)} layers, {len(edges)} arrows")  # noqa: T201  a command


def imports() -> set[tuple[str, str]]:
    """Which package or module of dawa imports which other, by the names right below dawa."""
    graph = grimp.build_graph("dawa", exclude_type_checking_imports=True)
    pairs = (
        _pair(module, found)
        for module in graph.modules - {"dawa"}
        for found in graph.find_modules_directly_imported_by(module) - {"dawa"}
    )
    return {(one, other) for one, other in pairs if one != other}


def _pair(one: str, other: str) -> tuple[str, str]:
    return one.split(".")[1], other.split(".")[1]


def drawn(layers: list[list[str]], edges: set[tuple[str, str]], upwards: set[tuple[str, str]]) -> Figure:
    """A row of boxes for every layer, and arrows from each box to those that it needs."""
    figure = Figure(figsize=(11, 0.86 * len(layers)))
    axes = figure.add_axes((0, 0, 1, 1))
    widest = max(len(layer) for layer in layers)
    place = {
        name: ((i - (len(layer) - 1) / 2) * widest * 1.15 / max(len(layer), 3), -float(depth))
        for depth, layer in enumerate(layers)
        for i, name in enumerate(layer)
    }
    for one, other in sorted(edges):
        _arrow(axes, place[one], place[other], dashed=(one, other) in upwards)
    for name, (x, y) in place.items():
        kind = "noise" if name == "noise" else "private" if name in PRIVATE else "public"
        box = patches.FancyBboxPatch(
            (x - WIDTH / 2, y - HEIGHT / 2),
            WIDTH,
            HEIGHT,
            boxstyle="round,pad=0.03",
            fc=COLOURS[kind],
            ec="#555",
            zorder=3,
        )
        axes.add_patch(box)
        axes.text(x, y, name, ha="center", va="center", fontsize=10, family="monospace", zorder=4)
    axes.set_xlim(min(x for x, _ in place.values()) - 1, max(x for x, _ in place.values()) + 1)
    axes.set_ylim(-len(layers) + 0.4, 0.6)
    axes.axis("off")
    return figure


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], *, dashed: bool) -> None:
    """From the lower side of a box to the upper side of one below; upwards along a bow, dashed."""
    down = -1 if end[1] < start[1] else 1
    style = {"ls": (0, (4, 3)), "color": "#b3402a", "lw": 1.2} if dashed else {"color": "#8a98a8", "lw": 0.6}
    axes.annotate(
        "",
        xy=(end[0], end[1] - down * (HEIGHT / 2 + 0.03)),
        xytext=(start[0], start[1] + down * (HEIGHT / 2 + 0.03)),
        arrowprops={"arrowstyle": "-|>", "connectionstyle": f"arc3,rad={0.25 if dashed else 0.04}", **style},
        zorder=2 if dashed else 1,
    )


if __name__ == "__main__":
    main()
