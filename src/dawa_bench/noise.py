"""How fast discrete Laplace noise is drawn, beside OpenDP's sampler: ``python -m dawa_bench.noise``.

Both draw from the operating system's randomness. They run warm, in turns, in one process; medians are shown.
"""

import statistics
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import opendp.prelude as dp

from dawa.noise import discrete_laplace

DRAWS = 1_000_000
DRAWS_OPENDP = 200_000
ROUNDS = 5
SCALE = Fraction(65536 * 500, 39)
"""The scale for measuring a strategy of resolution 2^16 at epsilon = 0.078."""


def seconds(action: Callable[[], object]) -> float:
    """How long one call takes."""
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def opendp_sampler() -> Callable[[list[int]], list[int]]:
    """OpenDP's vector mechanism; it adds noise to the integers it is given."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    mechanism: Callable[[list[int]], list[int]] = dp.m.make_laplace(*space, scale=float(SCALE))
    return mechanism


def main() -> None:
    """Measure and print."""
    rng = np.random.default_rng(0)
    numerators = rng.integers(1, 2**28, 4096)[rng.integers(0, 4096, DRAWS)]
    denominators = np.full(DRAWS, 39)
    wide = Fraction(2**55 + 1, 3)
    theirs, zeros = opendp_sampler(), [0] * DRAWS_OPENDP
    samplers: dict[str, tuple[int, Callable[[], object]]] = {
        "dawa, one scale": (DRAWS, lambda: discrete_laplace(SCALE, DRAWS)),
        "dawa, one scale, large numerator": (DRAWS, lambda: discrete_laplace(wide, DRAWS)),
        "dawa, 4096 scales": (DRAWS, lambda: discrete_laplace((numerators, denominators), DRAWS)),
        "OpenDP, one scale": (DRAWS_OPENDP, lambda: theirs(zeros)),
    }
    for _, action in samplers.values():
        action()
    times: dict[str, list[float]] = {name: [] for name in samplers}
    for _ in range(ROUNDS):
        for name, (draws, action) in samplers.items():
            times[name].append(seconds(action) / draws)
    slowest = statistics.median(times["OpenDP, one scale"])
    print(f"{'':34}{'µs a draw':>10}{'draws a second':>16}{'times OpenDP':>14}")
    for name, each in times.items():
        median = statistics.median(each)
        print(f"{name:34}{median * 1e6:10.3f}{1 / median:16,.0f}{slowest / median:14.1f}")


if __name__ == "__main__":
    main()
