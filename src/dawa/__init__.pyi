from . import (
    errors,
    ledger,
    mechanisms,
    noise,
    opendp,
    partition,
    plan,
    plots,
    publish,
    results,
    sources,
    spec,
    workloads,
)
from .axis import Axis, AxisLike, AxisValue
from .budget import Epsilon
from .counts import Counts
from .errors import (
    AbsentError,
    AxisError,
    BudgetError,
    ConditionError,
    CountsError,
    DawaError,
    ExhaustedError,
    FolderError,
    InstallationError,
    InvariantError,
    LargeEpsilonWarning,
    LedgerError,
    OptionError,
    ReleaseError,
    SourceError,
    SpecError,
    TakenBackError,
    UnbookedWarning,
    WorkloadError,
)
from .ledger import Ledger, LedgerLike
from .mechanisms import Mechanism, MechanismLike
from .pipeline import estimate, release
from .queries.workload import Workload
from .results.about import About
from .results.answers import Answer
from .results.estimate import Estimate
from .results.grouped import GroupedRelease
from .results.loading import load
from .results.release import Release
from .results.statement import PrivacyStatement
from .sources.tables import TableLike
from .version import __version__

__all__ = [
    "About",
    "AbsentError",
    "Answer",
    "Axis",
    "AxisError",
    "AxisLike",
    "AxisValue",
    "BudgetError",
    "ConditionError",
    "Counts",
    "CountsError",
    "DawaError",
    "Epsilon",
    "Estimate",
    "ExhaustedError",
    "FolderError",
    "GroupedRelease",
    "InstallationError",
    "InvariantError",
    "LargeEpsilonWarning",
    "Ledger",
    "LedgerError",
    "LedgerLike",
    "Mechanism",
    "MechanismLike",
    "OptionError",
    "PrivacyStatement",
    "Release",
    "ReleaseError",
    "SourceError",
    "SpecError",
    "TableLike",
    "TakenBackError",
    "UnbookedWarning",
    "Workload",
    "WorkloadError",
    "__version__",
    "errors",
    "estimate",
    "ledger",
    "load",
    "mechanisms",
    "noise",
    "opendp",
    "partition",
    "plan",
    "plots",
    "publish",
    "release",
    "results",
    "sources",
    "spec",
    "workloads",
]
