"""How fast a release of a million buckets is kept and asked: ``python -m dawa_bench.bulk``.

Medians in seconds of the processor's time, and as ratios to sorting as many integers as there are buckets, in the same
process. Each line is about a release that was just loaded, so that nothing is known from an earlier question. For both
forms of a file, the bytes that it needs for each bucket.
"""

import argparse
import gc
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import dawa

FORMS = ("json", "npz")
REPEATS = 5


def processor_seconds(
    action: Callable[[dawa.Release], object], fresh: Callable[[], dawa.Release], repeats: int
) -> float:
    """The median time of an action on a release that is new every time; the first one does not count."""
    times = []
    for _ in range(repeats + 1):
        release = fresh()
        gc.collect()
        begin = time.process_time()
        action(release)
        times.append(time.process_time() - begin)
    return float(np.median(times[1:]))


def made(buckets: int) -> dawa.Release:
    """A release of records that lie anywhere, with a bucket for each cell."""
    values = np.random.default_rng(0).integers(0, buckets, buckets)
    axis = dawa.Axis("v", 0, buckets)
    return dawa.release({"v": values}, axis, epsilon=1, seed=0, partition="none", effort="fast")


def questions(buckets: int, ranges: int) -> dict[str, Callable[[dawa.Release], object]]:
    """What is asked, by what to call it."""
    ends = np.sort(np.random.default_rng(1).integers(0, buckets + 1, (ranges, 2)), axis=1)
    lo, hi = ends[ends[:, 0] < ends[:, 1]].T
    return {
        "first answer": lambda rel: rel.answer(buckets // 4, buckets // 2),
        "rel.buckets": lambda rel: rel.buckets,
        "rel.quantiles([0.1, 0.5])": lambda rel: rel.quantiles([0.1, 0.5]),
        f"rel.values, {ranges:,} ranges": lambda rel: rel.values(lo, hi),
        f"rel.variances, {ranges:,} ranges": lambda rel: rel.variances(lo, hi),
        f"rel.answers, {ranges:,} ranges": lambda rel: rel.answers(lo, hi),
    }


def main(arguments: list[str] | None = None) -> None:
    """Print a line for each measurement."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--buckets", type=int, default=2**20)
    parser.add_argument("--ranges", type=int, default=10**6)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    chosen = parser.parse_args(arguments)
    numbers = np.random.default_rng(0).integers(0, 2**62, chosen.buckets)
    release = made(chosen.buckets)
    unit = processor_seconds(lambda _: np.sort(numbers), lambda: release, chosen.repeats)

    def line(name: str, seconds: float, size: str = "") -> None:
        print(f"{name:<40}{seconds:>10.3f}{seconds / unit:>10.1f}{size:>18}", flush=True)

    print(f"{'':<40}{'seconds':>10}{'ratio':>10}{'bytes a bucket':>18}")
    line(f"sorting {chosen.buckets:,} integers", unit)
    with tempfile.TemporaryDirectory() as folder:
        paths = {form: Path(folder) / f"release.{form}" for form in FORMS}
        for form, path in paths.items():
            seconds = processor_seconds(lambda rel, path=path: rel.save(path), lambda: release, chosen.repeats)  # type: ignore[misc]
            line(f"save {form}", seconds, f"{path.stat().st_size / len(release.estimate.buckets):.1f}")
        for form, path in paths.items():
            seconds = processor_seconds(lambda _, path=path: dawa.load(path), lambda: release, chosen.repeats)  # type: ignore[misc]
            line(f"load {form}", seconds)

        def fresh() -> dawa.Release:
            found = dawa.load(paths["npz"])
            assert isinstance(found, dawa.Release)  # noqa: S101  it was saved as one
            return found

        for name, action in questions(chosen.buckets, chosen.ranges).items():
            repeats = 1 if name.startswith("rel.answers") else chosen.repeats
            line(name, processor_seconds(action, fresh, repeats))


if __name__ == "__main__":
    main()
