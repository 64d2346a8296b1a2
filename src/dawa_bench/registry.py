"""Every experiment by name, each loaded when it is asked for."""

from importlib import import_module

from dawa.errors import OptionError
from dawa_bench.experiment import Experiment

HOMES = {
    "paper.errors": "errors",
    "paper.optimal-k": "optimal_k",
    "paper.stages": "stages",
    "paper.partitions": "partitions",
    "paper.scaling": "scaling",
    "paper.spatial": "spatial",
    "paper.time": "running_time",
    "paper.rounds": "rounds",
    "growth": "growth",
    "scale": "scale",
}
"""Which module has it, in the order of the page of results."""


def names() -> tuple[str, ...]:
    """Every experiment, by name."""
    return tuple(HOMES)


def find(name: str) -> Experiment:
    """An experiment by name.

    >>> find("paper.errors").title
    'Average error on uniform intervals'

    Raises:
        OptionError: If there is none of that name.
    """
    if name not in HOMES:
        raise OptionError(f"There is no experiment {name!r}.", f"choose one of {', '.join(HOMES)}.")
    found: Experiment = import_module(f"dawa_bench.experiments.{HOMES[name]}").EXPERIMENT
    return found
