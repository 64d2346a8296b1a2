"""How smoothly the page drags, in a real browser: ``python -m dawa_bench.page``.

A mouse drags a range for some hundred frames. The time from frame to frame and the browser's own work in a frame are
measured inside the page; a screen of 60 frames a second has 16.7 ms for each. Answers per frame say whether the numbers
keep up with the mouse: if an answer takes too long, the page draws the range first and answers when the mouse rests.

The browser is Debian's Chromium, driven by Playwright. The tests and the screenshots of the documentation use it too.
"""

import argparse
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import dawa

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
READY = "document.documentElement.dataset.ready !== undefined"
"""Whether the page has its error bars ready."""

PHONE = {"viewport": {"width": 375, "height": 812}, "has_touch": True, "is_mobile": True}
WIDE = {"viewport": {"width": 1920, "height": 1080}}

RECORD = """() => {
  window.frames_ = [];
  window.answers_ = 0;
  new MutationObserver(() => { window.answers_ += 1; }).observe(document.getElementById("value"), { childList: true });
  const tick = (now) => { window.frames_.push(now); window.going_ = requestAnimationFrame(tick); };
  window.going_ = requestAnimationFrame(tick);
}"""
STOP = "() => { cancelAnimationFrame(window.going_); return window.frames_; }"


def installed() -> str | None:
    """Where Chromium is; None if it is not installed."""
    return shutil.which("chromium")


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser that lives as long as the block."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  slow to load

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed(), args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def line(strategy: str) -> dawa.Release:
    """100,000 buckets along one axis."""
    rng = np.random.default_rng(0)
    values = np.concatenate((rng.normal(3e4, 5e3, 400_000), rng.uniform(0, 1e5, 100_000)))
    options: dict[str, Any] = {"effort": "fast"} if strategy == "hats" else {}
    axis = dawa.Axis("x", 0, 100_000)
    options |= {"partition": "none", "strategy": strategy}
    made: dawa.Release = dawa.release({"x": values}, axis, epsilon=1, seed=0, **options)
    return made


def plane(**options: Any) -> dawa.Release:  # noqa: ANN401  the mechanism's
    """A million cells over two axes."""
    rng = np.random.default_rng(1)
    table = {name: np.concatenate((rng.normal(300, 90, 2_000_000), rng.uniform(0, 1000, 50_000))) for name in "ab"}
    axes = [dawa.Axis("a", 0, 1000), dawa.Axis("b", 0, 1000)]
    made: dawa.Release = dawa.release(table, axes, epsilon=1, seed=0, **options)
    return made


def space() -> dawa.Release:
    """A hundred thousand cells over three axes."""
    rng = np.random.default_rng(3)
    sides = {"a": 100, "b": 50, "c": 20}
    table = {name: (side * rng.beta(2, 5, 300_000)) for name, side in sides.items()}
    axes = [dawa.Axis(name, 0, side) for name, side in sides.items()]
    made: dawa.Release = dawa.release(table, axes, epsilon=1, seed=0, effort="fast")
    return made


def groups() -> dawa.GroupedRelease:
    """Sixteen groups of different sizes with a thousand buckets each."""
    rng, names = np.random.default_rng(2), [f"group {i}" for i in range(16)]
    sizes = [200_000 // (1 + i) for i in range(16)]
    table = {
        "x": np.concatenate([rng.normal(300 + 20 * i, 80, size) for i, size in enumerate(sizes)]),
        "group": np.repeat(names, sizes),
    }
    options: dict[str, Any] = {"partition": "none", "strategy": "hats", "effort": "fast", "by": {"group": names}}
    made: dawa.GroupedRelease = dawa.release(table, dawa.Axis("x", 0, 1000), epsilon=1, seed=0, **options)
    return made


CASES: dict[str, Callable[[], dawa.Release | dawa.GroupedRelease]] = {
    "16 groups of 1,000 buckets, hats": groups,
    "100,000 buckets, hats": lambda: line("hats"),
    "100,000 buckets, tree": lambda: line("greedy"),
    "100 × 50 × 20 cells, walk": space,
    "1,000,000 cells, walk": lambda: plane(effort="fast"),
    "1,000,000 cells, each a bucket": lambda: plane(partition="none", strategy="greedy"),
}


def measured(browser: Any, path: Path, frames: int) -> dict[str, float]:  # noqa: ANN401  Playwright's
    """Frame times in milliseconds while a range is dragged, the work in each, and how long the page took to open."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(path.as_uri())
    while not page.evaluate(READY):
        page.wait_for_timeout(20)
    opening = page.evaluate("performance.now()")
    page.wait_for_timeout(2000)  # bands and marks are drawn after the page is ready
    remote = page.context.new_cdp_session(page)
    remote.send("Performance.enable")
    box = page.locator("#chart").bounding_box()
    at = np.linspace(0, 4 * np.pi, frames)
    x = box["x"] + 80 + (box["width"] - 120) * (0.5 - 0.45 * np.cos(at))
    y = box["y"] + 20 + (box["height"] - 110) * (0.5 - 0.45 * np.cos(1.3 * at))
    page.mouse.move(x[0], y[0])
    page.mouse.down()
    before = _working(remote)
    page.evaluate(RECORD)
    for across, down in zip(x.tolist(), y.tolist(), strict=True):
        page.mouse.move(across, down)
    ticks = np.diff(page.evaluate(STOP))
    answers = page.evaluate("window.answers_")
    work = (_working(remote) - before) * 1000 / len(ticks)
    page.mouse.up()
    page.close()
    return {
        "median": float(np.median(ticks)),
        "p95": float(np.quantile(ticks, 0.95)),
        "work": work,
        "answers": answers / len(ticks),
        "opening": opening,
    }


def _working(remote: Any) -> float:  # noqa: ANN401  Playwright's
    """Seconds that the page's thread has worked so far."""
    metrics = remote.send("Performance.getMetrics")["metrics"]
    return next(float(metric["value"]) for metric in metrics if metric["name"] == "TaskDuration")


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=400, help="how many times the mouse moves")
    parser.add_argument("--only", choices=CASES, help="one of the releases")
    options = parser.parse_args()
    print("| release | buckets | file, MB | ready, ms | frame, ms | 95% below | work in a frame | answers per frame |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        for name, make in CASES.items():
            if options.only not in {None, name}:
                continue
            release = make()
            path = release.report(Path(folder) / "page.html")
            found = measured(browser, path, options.frames)
            every = release.values() if isinstance(release, dawa.GroupedRelease) else [release]
            many = sum(len(one.estimate.buckets) for one in every)
            size = f"{many:,} | {path.stat().st_size / 1e6:.1f} | {found['opening']:.0f}"
            times = " | ".join(f"{found[column]:.1f}" for column in ("median", "p95", "work"))
            print(f"| {name} | {size} | {times} | {found['answers']:.2f} |", flush=True)


if __name__ == "__main__":
    main()
