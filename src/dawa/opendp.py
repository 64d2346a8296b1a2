"""DAWA as a measurement of OpenDP, which chains after its transformations and spends from its compositors.

A measurement is a function that draws noise and a map that says what it loses. The function is ``dawa.release`` or
``dawa.estimate``, unchanged. The map is epsilon times a distance, exactly (``opendp.md``); OpenDP wants a float, so the
product is rounded up to one. OpenDP keeps the budget here, so there is neither a ledger nor a seed.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dawa import budget, mechanisms, pipeline
from dawa.arrays import IntArray
from dawa.axis import AutoAxis, Axis, AxisLike
from dawa.axis.groups import By, groupings
from dawa.budget import Epsilon
from dawa.check import is_number, is_whole
from dawa.errors import BudgetError, InstallationError, OptionError
from dawa.limits import MOST_RECORDS
from dawa.mechanisms import MechanismLike
from dawa.queries.workload import Workload
from dawa.results.about import About
from dawa.results.estimate import Estimate
from dawa.results.grouped import AnyRelease
from dawa.sources.where import Where

if TYPE_CHECKING:
    from opendp.mod import Domain, Measurement, Metric, _PartialConstructor

FEATURES = ("contrib", "honest-but-curious")
"""What OpenDP wants enabled for a measurement whose proof is not its own, and whose callbacks it cannot check."""

NAME = "dawa"
"""What the measurement is called in queries of a ``Context``."""

STEPS = {
    "SymmetricDistance": 1,
    "InsertDeleteDistance": 1,
    "SymmetricIdDistance": 1,
    "ChangeOneDistance": 2,
    "HammingDistance": 2,
    "ChangeOneIdDistance": 2,
}
"""How many records, or identifiers with all of their records, are added or removed at one unit of distance."""

NUMBERS = {f"{kind}{8 * size}": np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)}
NUMBERS["usize"] = NUMBERS["u64"]
"""Rust's types of whole numbers as numpy's."""
TYPES = {**NUMBERS, "f32": np.dtype("f4"), "f64": np.dtype("f8"), "bool": np.dtype("?"), "String": np.dtype("O")}
"""Rust's types of single values as numpy's."""
VECTOR = re.compile(r"VectorDomain<AtomDomain<(\w+)>>")

SPACES = (
    "start from a vector of numbers or texts, or from a LazyFrame, with a metric that counts rows or identifiers; or"
    " from a vector of whole numbers with L1Distance, such as make_count_by_categories gives."
)


@dataclass(frozen=True)
class Rows:
    """Data in rows: a vector of one column's values, or a frame.

    Attributes:
        kind: What is public of it: rows of the same kind have the same columns and types.
        axes: Where they are placed.
        unit: The column of identifiers, if the metric counts these.
        steps: How many rows, or identifiers, are added or removed at one unit of distance.
        table: Turns what OpenDP hands over into a table that ``dawa.release`` reads.
        empty: A frame without any row.
    """

    kind: str
    axes: tuple[Axis | AutoAxis, ...]
    unit: str | None
    steps: int
    table: Callable[[Any], Any] = field(compare=False, repr=False)
    empty: Any = field(default=None, compare=False, repr=False)


def make_dawa(
    input_domain: "Domain",
    input_metric: "Metric",
    axes: AxisLike | int | None,
    epsilon: Epsilon,
    *,
    max_rows_per_unit: int | str | None = None,
    where: Where | str | None = None,
    by: By | None = None,
    groups: Iterable[Any] | None = None,
    other: bool = False,
    workload: Workload | None = None,
    mechanism: MechanismLike = "dawa",
    about: About | None = None,
    **options: Any,  # noqa: ANN401  each mechanism checks its own
) -> "Measurement":
    """Make a measurement that releases how records lie along axes, with pure differential privacy.

    Of rows it makes a ``dawa.Release``, or a ``GroupedRelease`` with ``by``; of counts a ``dawa.Estimate``. Values that
    are missing, unreadable or outside are no error: each row is placed by itself, as ``dawa.release`` does.

    Args:
        input_domain: ``vector_domain(atom_domain(...))``, or the domain of a LazyFrame.
        input_metric: What counts rows (``symmetric_distance()`` and its like) or identifiers
            (``symmetric_id_distance(...)``); ``l1_distance(T=int)`` for a vector of counts.
        axes: The column's axis with public bounds; of a LazyFrame, up to four axes. Of counts, how many there are, or
            None if the domain says so or the length is known to all who may be compared.
        epsilon: What one row, one identifier or one counted record loses at most: the map says epsilon times d_in, and
            twice that where rows change. A float is never exceeded, so that 0.3 fits into a budget of 0.3.
        max_rows_per_unit: How many rows of one identifier are counted, where the metric counts identifiers.
        where: Which rows are counted, such as ``"age >= 18"``.
        by: The column of a LazyFrame that puts rows into groups; see ``dawa.release``.
        groups: The values of that column that are groups.
        other: Whether rows with other values are one more group.
        workload: What will be asked most; None stands for all ranges equally.
        mechanism: A name from ``dawa.mechanisms.names(with_error_bars=True)``, or a mechanism.
        about: Words about the data for those who read the release.
        options: Options of the mechanism.

    Raises:
        DawaError: A subclass of it, before any data is seen: OpenDP or one of its features is missing, the domain or
            the metric is not one for which the map is proven, or an option does not fit.
    """
    dp = _opendp()
    spent, chosen = _spent(epsilon), mechanisms.configured(mechanism, options)
    of_rows = {"max_rows_per_unit": max_rows_per_unit, "where": where, "by": by, "groups": groups, "about": about}
    asked: dict[str, Any] = {"workload": workload, "mechanism": chosen}
    function: partial[Any]
    if _kind(input_metric) == "L1Distance":
        _check_none({**of_rows, "other": other or None})
        size = _size(input_domain, axes)
        _once(_try_counts, size, asked)
        function, steps = partial(_estimated, size=size, epsilon=spent, asked=asked), 1
    else:
        rows = _rows(input_domain, input_metric, axes)
        asked |= {**of_rows, **_grouped(by, groups, other=other), "unit": rows.unit}
        _once(_try_rows, rows, asked)
        function, steps = partial(_released, rows=rows, epsilon=spent, asked=asked), rows.steps
    privacy_map = partial(_mapped, steps=steps, epsilon=spent)
    made: Measurement = dp.m.make_user_measurement(
        input_domain, input_metric, dp.max_divergence(), function, privacy_map
    )
    return made


def then_dawa(*args: Any, **kwargs: Any) -> "_PartialConstructor":  # noqa: ANN401  those of make_dawa
    """The same, for chains: domain and metric are those of what stands before ``>>``."""
    _opendp()
    from opendp.mod import _PartialConstructor  # noqa: PLC0415  loaded when it is used

    chained: Any = _PartialConstructor
    made: _PartialConstructor = chained(lambda domain, metric: make_dawa(domain, metric, *args, **kwargs))
    return made


def register() -> None:
    """Let queries of a ``Context`` end in DAWA: ``context.query().dawa(axis).release()``.

    It may be called again. Without an epsilon, the query finds the largest that its part of the budget allows.
    """
    dp = _opendp(features=())
    from opendp.context import constructors  # noqa: PLC0415  loaded when it is used

    if NAME not in constructors:
        dp.register(make_dawa)


def loss(distance: float, steps: int, epsilon: Fraction) -> Fraction:
    """What data at this distance may lose at most, exactly (``opendp.md``).

    >>> loss(3, 1, Fraction(1, 10)), loss(3, 2, Fraction(1, 10))
    (Fraction(3, 10), Fraction(3, 5))

    Raises:
        OptionError: If it is no distance.
    """
    if not is_number(distance) or distance < 0:
        raise OptionError("The map was asked about something that is no distance.", "pass a finite number from 0 on.")
    return math.floor(distance) * steps * epsilon


def _mapped(distance: float, steps: int, epsilon: Fraction) -> float:
    """The privacy map, as OpenDP calls it."""
    return budget.rounded_up(loss(distance, steps, epsilon))


def _spent(epsilon: Epsilon) -> Fraction:
    """Epsilon as it is written, or just below it: to OpenDP a float is a binary number, and 0.3 is less than 3/10."""
    if isinstance(epsilon, float) and epsilon == 0:  # where the search for an epsilon ends that finds none
        raise BudgetError(
            "epsilon must be positive, not 0.0.",
            "if a query of a Context was to find it, its part of the budget is too small, next to the others: give it"
            " more weight; else pass a positive number such as epsilon=0.1.",
        )
    exact = budget.exact(epsilon)
    if isinstance(epsilon, float) and exact > Fraction(epsilon):
        return budget.exact(math.nextafter(float(epsilon), 0))
    return exact


def _released(data: Any, rows: Rows, epsilon: Fraction, asked: dict[str, Any]) -> AnyRelease:  # noqa: ANN401  OpenDP's
    """The function of a measurement of rows."""
    made: AnyRelease = pipeline.release(rows.table(data), rows.axes, epsilon=epsilon, **asked)
    return made


def _estimated(data: list[int], size: int | None, epsilon: Fraction, asked: dict[str, Any]) -> Estimate:
    """The function of a measurement of counts; all that L1Distance compares have the same length, so it is public."""
    if size is not None and len(data) != size:
        raise OptionError(
            f"There are not {size} counts.", "pass the number of counts that the transformation before this one gives."
        )
    return pipeline.estimate(_counted(data), epsilon=epsilon, **asked)


def _counted(data: list[int]) -> IntArray:
    """Counts that can be summed exactly: each number is moved into range by itself."""
    most = MOST_RECORDS // max(1, len(data))
    return np.array([min(max(number, 0), most) for number in data], np.int64)


def _grouped(by: By | None, groups: Iterable[Any] | None, *, other: bool) -> dict[str, Any]:
    """The groups as they are now: their lists may change afterwards, or be read only once."""
    found = groupings(by, groups, other=other)
    if not found:
        return {"by": None, "groups": None}
    columns, labels = zip(*((one.column, one.axis.labels) for one in found), strict=True)
    return {"by": columns, "groups": labels, "other": other}


def _once(attempt: Callable[..., None], what: Rows | int | None, asked: dict[str, Any]) -> None:
    """Refuse what does not fit before there is data; a search for epsilon asks again and again, and tries once."""
    key = (what, tuple(asked.items()))
    try:
        hash(key)
    except TypeError:  # such as lists
        attempt(*key)
    else:
        _remembered(attempt, *key)


@lru_cache(maxsize=64)
def _remembered(attempt: Callable[..., None], *key: Any) -> None:  # noqa: ANN401  those of the attempt
    attempt(*key)


def _try_rows(rows: Rows, asked: Iterable[tuple[str, Any]]) -> None:
    """Release a table without rows, which says nothing of anybody."""
    _released([] if rows.empty is None else rows.empty, rows, Fraction(1), dict(asked))


def _try_counts(size: int | None, asked: Iterable[tuple[str, Any]]) -> None:
    """Estimate counts of no records; if their number is not known, as many as the workload is about, or one."""
    options = dict(asked)
    shape = options["workload"].shape if isinstance(options["workload"], Workload) else (1,)
    _estimated([0] * (size or shape[0]), None, Fraction(1), options)


def _size(domain: "Domain", axes: Any) -> int | None:  # noqa: ANN401  checked here
    """How many counts there are, if it is known.

    Raises:
        OptionError: If they are not whole numbers, or their number is not what the domain says.
    """
    found = VECTOR.fullmatch(str(domain.type))
    if found is None or found[1] not in NUMBERS:
        raise _unproven(f"{domain.type} with L1Distance")
    if axes is not None and not is_whole(axes, 1):
        raise OptionError(
            "Counts have no axis: they are cells already.",
            "pass how many counts there are, or None; an axis places rows.",
        )
    size = domain.size
    if axes is not None and size not in {None, axes}:
        raise OptionError(f"The domain has {size} counts, not {axes}.", "leave their number out.")
    return size if axes is None else int(axes)


def _rows(domain: "Domain", metric: "Metric", axes: Any) -> Rows:  # noqa: ANN401  checked here
    """What the function reads and the map is about.

    Raises:
        DawaError: A subclass of it, if the map is not proven for them, or the axes place no rows.
    """
    counted, kind = _kind(metric), str(domain.type)
    vector = VECTOR.fullmatch(kind)
    if counted not in STEPS or (vector is None and kind != "LazyFrameDomain") or (vector and vector[1] not in TYPES):
        raise _unproven(f"{kind} with {metric.type}")
    if axes is None or is_whole(axes):
        raise OptionError("Rows need an axis, which says where values lie.", 'pass dawa.Axis("age", 0, 120).')
    along = pipeline.listed_axes(axes)
    if vector is None:
        empty = _empty(domain)
        schema = str(empty.collect_schema())
        return Rows(schema, along, _identifier(metric), STEPS[counted], lambda frame: frame, empty)
    if len(along) > 1:
        raise OptionError("A vector is one column, and there are several axes.", "pass one axis, or a LazyFrame.")
    dtype = TYPES[vector[1]]
    return Rows(kind, along, None, STEPS[counted], lambda values: {along[0].column: np.array(values, dtype)})


def _empty(domain: "Domain") -> Any:  # noqa: ANN401  a LazyFrame
    """A LazyFrame of the domain, without rows."""
    from opendp.domains import _lazyframe_from_domain  # noqa: PLC0415  loaded when it is used

    return _lazyframe_from_domain(domain)


def _identifier(metric: "Metric") -> str | None:
    """The column of identifiers, if the metric counts these."""
    if "Id" not in _kind(metric):
        return None
    import polars as pl  # noqa: PLC0415  a LazyFrame is there, so Polars is

    name: str = metric.identifier.meta.output_name()
    if not metric.identifier.meta.eq(pl.col(name)):
        raise OptionError(
            "The identifier is computed from columns.", "name a column: identifier='person', for example."
        )
    return name


def _check_none(options: Mapping[str, Any]) -> None:
    """Refuse what is about rows where there are counts."""
    for name in (name for name, value in options.items() if value is not None):
        raise OptionError(f"{name} is about rows, and these are counts.", "leave it out.")


def _kind(metric: "Metric") -> str:
    """A metric's name, without its types."""
    return str(metric.type).partition("<")[0]


def _unproven(space: str) -> OptionError:
    return OptionError(f"For {space}, nothing is proven of what DAWA loses.", SPACES)


def _opendp(features: tuple[str, ...] = FEATURES) -> Any:  # noqa: ANN401  a module
    """OpenDP, with what it wants enabled.

    Raises:
        InstallationError: If it is not installed.
        OptionError: If a feature is not enabled.
    """
    try:
        import opendp.prelude as dp  # noqa: PLC0415  slow to load, and optional
    except ImportError:
        raise InstallationError("OpenDP is not installed.", "pip install 'dawa[opendp]'.") from None
    off = [name for name in features if name not in dp.GLOBAL_FEATURES]
    if off:
        raise OptionError(
            f"OpenDP's feature {off[0]} is not enabled: DAWA's proof is not part of OpenDP, which has to take the word"
            " of a measurement that is written in Python.",
            f"read what this means in docs/opendp.md, then dp.enable_features({', '.join(map(repr, FEATURES))}).",
        )
    return dp
