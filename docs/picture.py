"""Draw the pictures of the documentation, releases beside their truth: ``python -m docs.picture``."""

from pathlib import Path

import numpy as np

import dawa
from dawa.cli.demo import INCOME, people
from dawa_bench.places import EAST, NORTH, SOUTH, WEST, real_places

WIDTH, HEIGHT, LEFT, TOP = 860, 300, 56, 40
TICKS = (0, 1, 10, 100, 1000)
MOST_INCOME = 120_000


def y(records_per_cell: float) -> float:
    """Where a density goes: square-root-like near 0, logarithmic above."""
    return TOP + HEIGHT * (1 - float(np.arcsinh(max(records_per_cell, 0)) / np.arcsinh(2500)))


def x(income: float) -> float:
    """Where an income goes."""
    return LEFT + WIDTH * income / MOST_INCOME


def main() -> None:
    """Write docs/release.svg and docs/maps.png."""
    incomes_over_truth()
    longitude, latitude = real_places()
    limits = ((SOUTH, NORTH), (WEST, EAST))
    counts = np.histogram2d(latitude, longitude, bins=256, range=limits)[0].astype(np.int64)[::-1]
    estimate = dawa.estimate(counts, epsilon="0.5", seed=2014)
    dawa.plots.maps(counts, estimate, Path(__file__).with_name("maps.png"))


def incomes_over_truth() -> None:
    """A release of generated incomes."""
    incomes = people()["income"]
    release = dawa.release({"income": incomes}, INCOME, epsilon="0.5", seed=2014)
    truth = np.bincount(np.clip(incomes // 100, 0, INCOME.size - 1).astype(int), minlength=INCOME.size)
    shown = MOST_INCOME // 100
    dots = "".join(
        f'<rect x="{x(100 * cell):.1f}" y="{y(count):.1f}" width="0.8" height="{y(0) - y(count):.1f}"/>'
        for cell, count in enumerate(truth[:shown])
        if count
    )
    bounds, widths = release.bounds, np.diff(release.estimate.buckets.bounds)
    density, spread = release.values() / widths, np.sqrt(release.variances()) / widths
    inside = bounds[:-1] < MOST_INCOME
    steps, band = [], []
    for lo, hi, value, sd in zip(bounds[:-1][inside], bounds[1:][inside], density[inside], spread[inside], strict=True):
        right = min(hi, MOST_INCOME)
        steps.append(f"L{x(lo):.1f},{y(value):.1f} L{x(right):.1f},{y(value):.1f}")
        top, bottom = y(value + 2.16 * sd), y(value - 2.16 * sd)
        band.append(f'<rect x="{x(lo):.1f}" y="{top:.1f}" width="{x(right) - x(lo):.1f}" height="{bottom - top:.1f}"/>')
    labels = "".join(
        f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:,}</text>'
        f'<path d="M{LEFT},{y(tick):.1f}h{WIDTH}" stroke="#8884"/>'
        for tick in TICKS
    ) + "".join(
        f'<text x="{x(tick):.1f}" y="{TOP + HEIGHT + 20}" text-anchor="middle">{tick:,}</text>'
        for tick in range(0, MOST_INCOME + 1, 20_000)
    )
    svg = f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + LEFT + 36} {HEIGHT + TOP + 50}"
 font-family="system-ui, sans-serif" font-size="12" role="img"
 aria-label="Released density of incomes over the true one">
<style>text{{fill:#555}} @media (prefers-color-scheme:dark){{text{{fill:#bbb}}}}</style>
<text x="{LEFT}" y="18" font-size="13">20,000 generated people by income. Grey: the truth, one bar per 100.
 Blue: the release at ε = 0.5, {len(widths)} buckets. Light: noise.</text>
{labels}
<g fill="#9a9a9a">{dots}</g>
<g fill="#1f77d0" opacity="0.22">{"".join(band)}</g>
<path d="M{x(0):.1f},{y(density[0]):.1f} {" ".join(steps)}" fill="none" stroke="#0b5cad" stroke-width="1.6"/>
<text x="{LEFT + WIDTH / 2:.0f}" y="{TOP + HEIGHT + 40}" text-anchor="middle">income; upwards, people per 100</text>
</svg>
"""
    Path(__file__).with_name("release.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
