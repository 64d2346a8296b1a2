"""Every mechanism behind one call: ``dawa.estimate(counts, workload, epsilon=…, mechanism="dawa")``.

A mechanism is given by name, or with its own options: ``mechanism=dawa.mechanisms.Dawa(effort="fast")``.
"""

from dawa.mechanisms.agrid import Agrid
from dawa.mechanisms.base import Mechanism, MechanismLike, Option
from dawa.mechanisms.catalogue import (
    Dawa2014,
    Dawa2014All,
    GreedyH,
    Hb,
    Hierarchical,
    Identity,
    PartitionGeometric,
    PartitionLaplace,
    PartitionUniform,
    Php,
    Privelet,
    PrivTree,
    Quadtree,
    StructureFirst,
    Ugrid,
    Uniform,
)
from dawa.mechanisms.dawa import Dawa
from dawa.mechanisms.dpcube import Dpcube
from dawa.mechanisms.efpa import Efpa
from dawa.mechanisms.hybrid_tree import HybridTree
from dawa.mechanisms.mwem import Mwem
from dawa.mechanisms.named import configured, describe, names, options
from dawa.mechanisms.ranking import Ranked, recommended

__all__ = [
    "Agrid",
    "Dawa",
    "Dawa2014",
    "Dawa2014All",
    "Dpcube",
    "Efpa",
    "GreedyH",
    "Hb",
    "Hierarchical",
    "HybridTree",
    "Identity",
    "Mechanism",
    "MechanismLike",
    "Mwem",
    "Option",
    "PartitionGeometric",
    "PartitionLaplace",
    "PartitionUniform",
    "Php",
    "PrivTree",
    "Privelet",
    "Quadtree",
    "Ranked",
    "StructureFirst",
    "Ugrid",
    "Uniform",
    "configured",
    "describe",
    "names",
    "options",
    "recommended",
]
