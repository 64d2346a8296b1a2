"""The two main calls: estimate counts, and turn a table into a release.

Both check everything that is public first, then hand the private part, unread, to the mechanism.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dawa import budget, mechanisms
from dawa.axis import Axis
from dawa.counts import Counts
from dawa.errors import AxisError, OptionError, WorkloadError
from dawa.estimates import Estimate
from dawa.noise.source import source_for
from dawa.releases import Release
from dawa.statement import PrivacyStatement
from dawa.version import __version__
from dawa.workload import Workload
from dawa.workloads import all_ranges


def estimate(
    counts: ArrayLike | Counts,
    workload: Workload | None = None,
    *,
    epsilon: object,
    mechanism: str = "dawa",
    seed: int | None = None,
    **options: Any,  # noqa: ANN401  each mechanism checks its own
) -> Estimate:
    """Estimate counts under epsilon-differential privacy, as well as possible for a workload.

    Args:
        counts: Records per cell.
        workload: What will be asked; None stands for all ranges.
        epsilon: The budget, all of which is spent. Floats are read as they are written: 0.1 is one tenth.
        mechanism: A name out of ``dawa.mechanisms.names()``.
        seed: For experiments on public data only: makes the run repeatable and voids its privacy.
        options: The mechanism's own; see ``dawa.mechanisms.describe(name)``.

    Raises:
        DawaError: One of its kinds, on any bad input, before anything private is used.

    >>> import dawa
    >>> counts = [0] * 20 + [50] * 12
    >>> est = dawa.estimate(counts, dawa.workloads.prefixes(32), epsilon=1, seed=0)
    >>> est.cells.shape, est.epsilon
    ((32,), Fraction(1, 1))
    """
    total = budget.exact(epsilon)
    run, settings = mechanisms.configured(mechanism, options)
    source = source_for(seed)
    private = Counts.of(counts)
    found = run(private, _asked(workload, private.size), total, settings, source)
    return replace(found, mechanism=mechanism)


def release(
    table: Mapping[str, ArrayLike],
    axes: Axis,
    *,
    epsilon: object,
    workload: Workload | None = None,
    mechanism: str = "dawa",
    seed: int | None = None,
    **options: Any,  # noqa: ANN401  each mechanism checks its own
) -> Release:
    """Release how a table's records lie along an axis, under epsilon-differential privacy for each record.

    Args:
        table: Columns by name: a dict of arrays, or a data frame.
        axes: The attribute with its public bounds and step.
        epsilon: The budget, all of which is spent.
        workload: What will be asked most; None stands for all ranges alike.
        mechanism: A name out of ``dawa.mechanisms.names(with_error_bars=True)``.
        seed: For experiments on public data only: makes the release repeatable and voids its privacy.
        options: The mechanism's own.

    >>> import dawa
    >>> rel = dawa.release({"age": [31, 45, 45, 62]}, dawa.Axis("age", 0, 100), epsilon=1)
    >>> rel.answer(40, 50).confidence
    0.95
    """
    if not isinstance(axes, Axis):
        raise AxisError("A release needs an axis with public bounds.", 'pass dawa.Axis("age", 0, 120), for example.')
    total = budget.exact(epsilon)
    source = source_for(seed)
    mechanisms.configured(mechanism, options)
    if mechanism not in mechanisms.names(with_error_bars=True):
        raise OptionError(
            f"The mechanism {mechanism!r} does not know the noise of its answers, so it makes no release.",
            "use 'dawa', or dawa.estimate if you need no error bars.",
        )
    asked = _asked(workload, axes.size)
    try:
        column = table[axes.column]
    except (KeyError, TypeError, ValueError, IndexError):
        raise AxisError(f"The table has no column {axes.column!r}.", "name one of its columns in the axis.") from None
    counts = np.bincount(axes.cells(column), minlength=axes.size)
    found = estimate(counts, asked, epsilon=total, mechanism=mechanism, seed=seed, **options)
    statement = PrivacyStatement(
        found.epsilon, found.split, found.mechanism, found.options, found.randomness, source.secure, __version__
    )
    return Release((axes,), found, statement)


def _asked(workload: Workload | None, size: int) -> Workload:
    """The workload, if it is one for so many cells; None stands for all ranges."""
    if workload is None:
        return all_ranges(size)
    if not isinstance(workload, Workload):
        raise WorkloadError(
            f"The workload is a {type(workload).__name__}.", "make one with Workload.ranges or dawa.workloads."
        )
    if workload.shape != (size,):
        raise WorkloadError(
            f"The workload is for {workload.shape} cells, but there are {size}.",
            f"make the workload with shape={size}.",
        )
    return workload
