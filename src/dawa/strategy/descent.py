"""Descent within bounds, for the entries of hats and bumps."""

from collections import deque
from collections.abc import Callable

import numpy as np

from dawa.arrays import FloatArray

LARGEST_ENTRY = 20.0
"""The bound of entries: with it, a leaf keeps a share of its allowance that survives rounding."""


def descend(
    evaluate: Callable[[FloatArray], tuple[float, FloatArray]], x: FloatArray, most: int, tolerance: float
) -> tuple[float, FloatArray]:
    """The least value found, starting at x, within the bounds of entries, by L-BFGS with projected steps.

    Why not scipy's L-BFGS: its vectors go through a threaded BLAS, which here doubles the processor time for
    nothing and, if other processes keep the cores busy, more than doubles the wait.

    Args:
        evaluate: The function's value and gradient.
        x: Where to begin.
        most: How often the function may be evaluated.
        tolerance: A step that gains less than this is the last.
    """
    value, gradient = evaluate(x)
    pairs: deque[tuple[FloatArray, FloatArray, float]] = deque(maxlen=10)
    step = 0.0
    for _ in range(most - 1):
        if step == 0:
            free = np.where(gradient > 0, x > 0, x < LARGEST_ENTRY)
            downhill = np.where(free, -gradient, 0.0)
            direction = np.where(free, _newton(downhill, pairs), 0.0)
            slope = _dot(direction, gradient)
            if not slope < 0:
                direction, slope = downhill, -_dot(downhill, downhill)
            if not slope < 0:
                break
            step = 1.0 if pairs else 0.25 * np.sqrt(_dot(x, x) / _dot(direction, direction))
        trial = np.clip(x + step * direction, 0, LARGEST_ENTRY)
        new_value, new_gradient = evaluate(trial)
        moved = trial - x
        if not new_value <= value + 1e-4 * _dot(gradient, moved):
            # Back to the minimum of the parabola through what is known, neither too near nor too far.
            excess = new_value - value - slope * step
            step *= float(np.clip(-0.5 * slope * step / excess, 0.1, 0.5)) if excess < np.inf else 0.1
            continue
        turned = new_gradient - gradient
        curvature = _dot(moved, turned)
        if curvature > 1e-10 * _dot(turned, turned):
            pairs.append((moved, turned, curvature))
        gain = value - new_value
        x, value, gradient, step = trial, new_value, new_gradient, 0.0
        if gain < tolerance:
            break
    return value, x


def _newton(direction: FloatArray, pairs: deque[tuple[FloatArray, FloatArray, float]]) -> FloatArray:
    """The direction times the inverse Hessian that the last steps suggest: the two loops of L-BFGS."""
    result = direction.copy()
    parts = []
    for moved, turned, curvature in reversed(pairs):
        parts.append(_dot(moved, result) / curvature)
        result -= parts[-1] * turned
    if pairs:
        _, turned, curvature = pairs[-1]
        result *= curvature / _dot(turned, turned)
    for (moved, turned, curvature), part in zip(pairs, reversed(parts), strict=True):
        result += (part - _dot(turned, result) / curvature) * moved
    return result


def _dot(a: FloatArray, b: FloatArray) -> float:
    """The inner product without BLAS, in one thread."""
    return float(np.einsum("i,i->", a, b))
