"""What is run, and what came of it: one task is one run of one mechanism, one record its result.

A task's seed is a hash of its key, so a result depends on nothing but its task: not on the order in which tasks are
run, nor on where, nor on whether the run was interrupted.
"""

import hashlib
from dataclasses import dataclass, fields

from dawa.version import __version__


@dataclass(frozen=True, order=True)
class Task:
    """One run; all fields together are its key.

    Attributes:
        experiment: The experiment that it belongs to.
        dataset: On what.
        data: What the dataset is: ``real``, ``other`` or ``generated``.
        mechanism: What is run.
        epsilon: With which budget, as it is written.
        workload: What is asked, with its number where there are several: ``uniform-3``.
        setting: What else is varied, such as ``rounds=10``.
        trial: Which repetition.
    """

    experiment: str
    dataset: str
    data: str
    mechanism: str
    epsilon: str = ""
    workload: str = ""
    setting: str = ""
    trial: int = 0

    @property
    def seed(self) -> int:
        """A number of 63 bits that follows from the key.

        >>> Task("paper.errors", "adult", "real", "dawa", "0.1", "uniform-0").seed
        3230854783247691014
        """
        key = "\n".join(str(getattr(self, field.name)) for field in fields(self))
        return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") >> 1


@dataclass(frozen=True)
class Measured:
    """What a run gave; None where it does not apply.

    Attributes:
        error: Mean absolute error per query, in records.
        seconds: How long it took.
        buckets: Of the partition.
        cost: Of the partition: the deviation inside its buckets, and 1/ε2 for each of them.
        megabytes: Peak memory of a process that does nothing else.
    """

    error: float | None = None
    seconds: float | None = None
    buckets: int | None = None
    cost: float | None = None
    megabytes: float | None = None


@dataclass(frozen=True)
class Record:
    """A task and what it gave, with the version of dawa that ran it."""

    task: Task
    measured: Measured
    version: str = __version__


KEYS = tuple(field.name for field in fields(Task))
VALUES = tuple(field.name for field in fields(Measured))
COLUMNS = (*KEYS, *VALUES, "version")
