"""MWEM: ask the query that the estimate gets most wrong, correct the estimate, repeat; ``mwem.md`` has the proof.

Hardt, Ligett and McSherry, *A simple and practical algorithm for differentially private data release* (NIPS 2012):
each round chooses a query of the workload by the exponential mechanism, measures it with Laplace noise, and updates
the estimate by multiplicative weights, replaying all measurements.

Adapts to: the workload, whose queries are all it ever asks; and the data, through the queries that it finds wrong and,
by the number of records, through the number of rounds.

Cost: O(m·log t) for the m candidates in round t, and O(replays·t²) for replaying ranges, whatever the number of cells:
with 2,000 queries 3 ms for 10 rounds, 0.13 s for 100, about a second for 200. Rectangles on a map are many runs of the
Hilbert order each: 2,000 of them on 256 × 256 cells take 0.1 s for 10 rounds, 2 s for 100 and 10 s for 200.

Use it for few queries, or for small budgets on data that are close to uniform in large pieces. It cannot learn more
than one number per round: on data with much detail and a good budget, everything else does better.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from dawa import budget, check, infer, kernels
from dawa.arrays import FloatArray, IntArray
from dawa.counts import Counts, Occupied
from dawa.errors import OptionError
from dawa.limits import MOST_CANDIDATES, MOST_CELLS_LISTED, MOST_RECORDS, MOST_ROUNDS
from dawa.mechanisms.base import Mechanism
from dawa.noise import choice, discrete, gates
from dawa.noise.randomness import Randomness
from dawa.queries.bucket_queries import Closed, runs_of
from dawa.queries.workload import Workload
from dawa.results.estimate import Estimate
from dawa.workloads import uniform

LATTICE = 2**10
"""The largest weight of a query, in whole numbers."""


REPEATED, RECORDS = check.Whole(1, 10**4), check.Whole(0, MOST_RECORDS)


@dataclass(frozen=True)
class Mwem(Mechanism):
    """Options of MWEM: all public.

    Attributes:
        rounds: How many queries to measure; None chooses a number. No more than there are candidates.
        replays: How often each round goes through all measurements.
        records: The number of records, if it is public; None measures it with a share of epsilon.
        total_share: The share that measures it; nothing is spent on a public number.
        choice_share: Share of each round for choosing the query; the rest measures it.
    """

    name = "mwem"
    summary = "Rounds of asking the worst query and multiplicative weights (Hardt et al. 2012)."
    error_bars = False

    rounds: Annotated[int | None, REPEATED] = None
    replays: Annotated[int, REPEATED] = 100
    records: Annotated[int | None, RECORDS] = None
    total_share: Annotated[Fraction, check.SHARE] = Fraction(1, 20)
    choice_share: Annotated[Fraction, check.SHARE] = Fraction(1, 2)

    def __post_init__(self) -> None:
        for name, allowed in (("rounds", REPEATED), ("replays", REPEATED), ("records", RECORDS)):
            value = getattr(self, name)
            if value is not None or name == "replays":
                object.__setattr__(self, name, check.whole(value, name, allowed.least, allowed.most))
        for name in ("total_share", "choice_share"):
            object.__setattr__(self, name, budget.share(getattr(self, name), name))

    def run(self, counts: Counts, workload: Workload, epsilon: Fraction, randomness: Randomness) -> Estimate:
        """See the module's function of the same name."""
        return run(counts, workload, epsilon, self, randomness)


DEFAULTS = Mwem()


@dataclass(frozen=True, eq=False)
class Queries:
    """What may be asked in a round, in whole numbers: public.

    Attributes:
        first: Query ``i`` owns runs ``first[i]`` to ``first[i + 1]``.
        lo: First cell of each run.
        hi: One past the last cell of each run.
        weight: The weight of each run, between ``-LATTICE`` and ``LATTICE``.
    """

    first: IntArray
    lo: IntArray
    hi: IntArray
    weight: IntArray

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def sensitivity(self) -> int:
        """By how much one record moves any answer: the runs of a query are disjoint, so the largest weight."""
        return max(1, int(np.abs(self.weight).max()))

    def exact(self, exposed: Occupied) -> IntArray:
        """The answers on the private counts."""
        before = np.concatenate(([0], np.cumsum(exposed.counts)))
        lo, hi = before[np.searchsorted(exposed.cells, self._borders)][self._ends]
        answers: IntArray = np.add.reduceat(self.weight * (hi - lo), self.first[:-1])
        return answers

    def estimated(self, bounds: IntArray, mass: FloatArray) -> IntArray:
        """The answers on a public estimate, to the nearest whole number."""
        lo, hi = infer.records_before(self._borders, mass, bounds)[self._ends]
        return np.rint(np.add.reduceat(self.weight * (hi - lo), self.first[:-1])).astype(np.int64)

    def only(self, picks: IntArray) -> "Queries":
        """Some of the queries, in the given order."""
        first, runs = runs_of(self.first, picks)
        return Queries(first, self.lo[runs], self.hi[runs], self.weight[runs])

    @cached_property
    def _borders(self) -> IntArray:
        """Every place where some run begins or ends, once: rectangles share many of them."""
        return np.unique(np.concatenate((self.lo, self.hi)))

    @cached_property
    def _ends(self) -> IntArray:
        """Where each run's two ends are among the borders."""
        return np.searchsorted(self._borders, np.stack((self.lo, self.hi)))


@dataclass(frozen=True)
class Parameters:
    """The public numbers of the rounds.

    Attributes:
        rounds: The number of rounds.
        sensitivity: By how much one record moves a score, and the answer to a query.
        choice_scale: Scale of the exponential mechanism in each round.
        measure_scale: Scale of the noise in each round.
    """

    rounds: int
    sensitivity: int
    choice_scale: Fraction
    measure_scale: Fraction

    @property
    def loss(self) -> Fraction:
        """The privacy loss of all rounds."""
        each = choice.loss(self.sensitivity, self.choice_scale) + discrete.loss(self.sensitivity, self.measure_scale)
        return self.rounds * each


def candidates(workload: Workload) -> Queries:
    """The workload's queries, at most ``MOST_CANDIDATES``, with weights in whole numbers.

    A fixed sample stands for all ranges of a large domain; other large workloads are thinned evenly.
    """
    listed = _listed(workload)
    largest = float(np.abs(listed.weight).max())
    weight = np.rint(LATTICE * (listed.weight / largest)) if largest > 0 else np.zeros(len(listed.lo))
    queries = Queries(listed.first, listed.lo, listed.hi, weight.astype(np.int64))
    if len(queries) <= MOST_CANDIDATES:
        return queries
    return queries.only(np.linspace(0, len(queries) - 1, MOST_CANDIDATES).astype(np.int64))


def rounds_for(epsilon: Fraction, records: int) -> int:
    """A number of rounds that suits the number of records: half the 2/5-th power of epsilon times records.

    >>> [rounds_for(Fraction(1, 10), n) for n in (1, 10_000, 300_000, 20_000_000)]
    [2, 8, 31, 166]
    """
    return min(max(round(math.pow(float(epsilon) * records, 0.4) / 2), 2), MOST_ROUNDS)


def parameters_for(queries: Queries, epsilon: Fraction, rounds: int, options: Mwem) -> Parameters:
    """Scales for this number of rounds, from public numbers alone."""
    sensitivity, each = queries.sensitivity, epsilon / rounds
    choice_scale = discrete.coarsened(2 * sensitivity / (options.choice_share * each))
    measure_scale = discrete.coarsened(sensitivity / ((1 - options.choice_share) * each))
    return Parameters(rounds, sensitivity, choice_scale, measure_scale)


def loss(total_scale: Fraction | None, parameters: Parameters) -> Fraction:
    """The privacy loss of counting all records, if they are counted, and of the rounds."""
    return parameters.loss + (Fraction(0) if total_scale is None else discrete.loss(1, total_scale))


def run(counts: Counts, workload: Workload, epsilon: Fraction, options: Mwem, randomness: Randomness) -> Estimate:
    """Count the records, then ask, measure and update in rounds."""
    if counts.size > MOST_CELLS_LISTED:
        raise OptionError(
            f"mwem takes at most {MOST_CELLS_LISTED} cells, not {counts.size}.", "use 'dawa', which has no such limit."
        )
    queries = candidates(workload)
    total_scale, spent = None, Fraction(0)
    if options.records is None:
        spent = options.total_share * epsilon
        total_scale = discrete.coarsened(1 / spent)
    left = epsilon - spent
    records = options.records
    if total_scale is not None:
        # The scales of the rounds follow from the noisy total, but their loss is within budget for any number of them.
        (records,) = gates.noisy(np.array([counts.exposed.counts.sum()]), total_scale, randomness).tolist()
    records = min(max(int(records or 0), 1), MOST_RECORDS)
    parameters = parameters_for(queries, left, min(options.rounds or rounds_for(left, records), len(queries)), options)
    check.within(loss(total_scale, parameters), epsilon, "A run of mwem")
    bounds, mass = rounds_of(counts.exposed, counts.size, queries, records, parameters, options.replays, randomness)
    cells = infer.expanded(mass, bounds)
    split = {
        "total": spent,
        "choose": options.choice_share * left,
        "measure": (1 - options.choice_share) * left,
    }
    return Estimate.of_cells(counts.shape, cells, epsilon, _plain(options, parameters), split, randomness.description)


def rounds_of(
    exposed: Occupied,
    size: int,
    queries: Queries,
    records: int,
    parameters: Parameters,
    replays: int,
    randomness: Randomness,
) -> tuple[IntArray, FloatArray]:
    """The private part: bounds, and the records between them; the estimate is even between ends of asked queries."""
    exact = queries.exact(exposed)
    open_, asked = np.arange(len(queries)), np.zeros(0, np.int64)
    answers = np.zeros(0)
    bounds, mass = np.array([0, size]), np.array([float(records)])
    for _ in range(parameters.rounds):
        pick = gates.chosen(scores(exact, queries, bounds, mass)[open_], parameters.choice_scale, randomness)
        chosen, open_ = open_[pick], np.delete(open_, pick)
        (noisy,) = gates.noisy(exact[[chosen]], parameters.measure_scale, randomness).tolist()
        asked, answers = np.append(asked, chosen), np.append(answers, noisy / LATTICE)
        bounds, mass = updated(queries.only(asked), answers, bounds, mass, replays)
    return bounds, mass


def scores(exact: IntArray, queries: Queries, bounds: IntArray, mass: FloatArray) -> IntArray:
    """How wrong the estimate is about each query: private."""
    wrong: IntArray = np.abs(exact - queries.estimated(bounds, mass))
    return wrong


def updated(
    asked: Queries, answers: FloatArray, bounds: IntArray, mass: FloatArray, replays: int
) -> tuple[IntArray, FloatArray]:
    """The estimate after replaying all measurements, cut where the last query begins and ends: post-processing."""
    finer = np.unique(np.concatenate((bounds, asked.lo, asked.hi)))
    parts = np.diff(infer.records_before(finer, mass, bounds))
    lo, hi = np.searchsorted(finer, asked.lo), np.searchsorted(finer, asked.hi)
    kernels.mwem.replay(parts, asked.first, lo, hi, asked.weight / LATTICE, answers, replays)
    return finer, parts


def _listed(workload: Workload) -> Workload:
    """The queries one by one: not many more than are kept."""
    size = workload.size
    if workload.closed is Closed.RANGES and size * (size + 1) // 2 > MOST_CANDIDATES:
        return uniform(size, MOST_CANDIDATES, seed=0)
    if workload.closed in {Closed.CELLS, Closed.PREFIXES} and size > MOST_CANDIDATES:
        ends = np.linspace(1, size, MOST_CANDIDATES).astype(np.int64)
        return Workload.ranges(ends - 1 if workload.closed is Closed.CELLS else 0 * ends, ends, size)
    return workload.enumerated()


def _plain(options: Mwem, parameters: Parameters) -> dict[str, Any]:
    """Options as JSON can hold them, with the rounds that were run."""
    return {
        "rounds": parameters.rounds,
        "replays": options.replays,
        "records": options.records,
        "total_share": str(options.total_share),
        "choice_share": str(options.choice_share),
    }
