"""The noise itself, drawn by the million: is it what was claimed, and does it hide what it should?

Every gate that publishes is called as private steps call it, for two neighbours, and so is the sampler of one-sided
noise. What comes out is compared with chances that are computed here, from the definitions alone:

- cell by cell, by the last bits of large noise, and in pairs of draws that follow each other. Pearson's test says how
  surprising the counts are; cells that expect few draws are joined, and have a test of their own;
- for privacy: every event of a list that was fixed beforehand, that a draw lies in a cell, or beyond an edge. What is
  lost at least in any of them must not exceed what is claimed: the distance of the neighbours over the scale.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import stats

from dawa.arrays import FloatArray, IntArray
from dawa.noise import discrete, discrete_laplace, gates
from dawa.noise.randomness import Randomness, Seeded, randomness_for
from dawa_bench.audit.finding import Finding
from dawa_bench.audit.outside import Told, least_loss

Draw = Callable[[int, Randomness], IntArray]
"""So many draws."""

CONFIDENCE = 1 - 1e-6
"""Of a loss, and one less the chance that sound draws are called unfit, for each case."""
FEWEST = 20
"""Draws that a cell must expect to be tested by itself."""
CELLS = 96
"""Cells on each side of the centre."""
GROUPS = 8
"""Groups of cells whose pairs are counted."""
MODULUS = 32
"""Noise is also looked at by its remainders: its last five bits."""
SCALES = (
    Fraction(1, 50),
    Fraction(1, 3),
    Fraction(1),
    Fraction(7, 2),
    Fraction(10),
    Fraction(355, 113),
    Fraction(65536 * 10),
    Fraction(65536 * 500, 39),
    Fraction(2**40),
    Fraction(2**55, 3),
)


@dataclass(frozen=True)
class Law:
    """Exact chances of whole numbers.

    Attributes:
        edges: Where the second cell begins, and all that follow.
        chances: Of each cell.
        remainders: Of each remainder of the noise; none if they are not tested.
        centre: What the noise was added to.
        sign: -1 if noise was subtracted.
    """

    edges: IntArray
    chances: FloatArray
    remainders: FloatArray | None = None
    centre: int = 0
    sign: int = 1

    def cells(self, draws: IntArray) -> IntArray:
        """The cell of each draw."""
        return np.searchsorted(self.edges, draws, side="right")


@dataclass(frozen=True)
class Case:
    """A gate, called for two neighbours.

    Attributes:
        what: The gate, and its scale.
        claimed: What it claims to lose.
        one: Its draws for a neighbour.
        two: Its draws for the other.
        laws: What they should be.
        one_way: Whether the claim is only that ``one`` makes nothing much likelier than ``two``.
        slowness: How much slower it is than noise: so much fewer draws are made.
    """

    what: str
    claimed: float
    one: Draw
    two: Draw
    laws: tuple[Law, Law]
    one_way: bool = False
    slowness: int = 1


def laplace(scale: Fraction, centre: int) -> Law:
    """``P(x) ∝ exp(-|x - centre| / scale)``."""
    step = float(1 / scale)
    grown = math.exp(-step)
    right = _edges(scale)
    tails = np.concatenate((np.exp(-right * step), [0.0])) / (1 + grown)
    side = -np.diff(tails)
    inner = -math.expm1(-step) / (1 + grown)
    chances = np.concatenate((side[::-1], [inner], side))
    edges = np.concatenate((1 - right[::-1], right)) + centre
    return Law(edges, chances, _remainders(step, both=True), centre)


def one_sided(scale: Fraction, centre: int) -> Law:
    """``P(x) ∝ exp(-(centre - x) / scale)`` for x up to the centre, and nothing above it."""
    step = float(1 / scale)
    down = _edges(scale)
    tails = np.concatenate(([1.0], np.exp(-down * step), [0.0]))
    chances = np.concatenate((-np.diff(tails)[::-1], [0.0]))
    edges = np.concatenate((centre + 1 - down[::-1], [centre + 1]))
    return Law(edges, chances, _remainders(step, both=False), centre, -1)


def choices(scores: Sequence[int], scale: Fraction) -> Law:
    """``P(i) ∝ exp(score_i / scale)``."""
    most = max(scores)
    weights = np.array([math.exp(float((score - most) / scale)) for score in scores])
    return Law(np.arange(1, len(scores)), weights / weights.sum())


def coins(heads: int) -> Law:
    """Heads with a chance of so many 2^64ths."""
    return Law(np.array([1]), np.array([(2**64 - heads) / 2**64, heads / 2**64]))


def surprise(seen: IntArray, chances: FloatArray) -> float:
    """The chance to see what fits no better: Pearson's test, and a test of all that is rare together.

    >>> surprise(np.array([50, 50]), np.array([0.5, 0.5])), surprise(np.array([90, 1]), np.array([1.0, 0.0]))
    (1.0, 0.0)
    """
    draws = int(seen.sum())
    common = chances * draws >= FEWEST
    rare, chance = int(seen[~common].sum()), float(chances[~common].sum())
    tail = float(stats.binom.sf(rare - 1, draws, min(chance, 1.0))) if rare else 1.0
    expected = np.append(chances[common], chance if chance * draws >= FEWEST else 0.0) * draws
    counted = np.append(seen[common], rare)
    counted, expected = counted[expected > 0], expected[expected > 0]
    pearson = 1.0
    if len(counted) > 1:
        pearson = float(stats.chi2.sf((((counted - expected) ** 2) / expected).sum(), len(counted) - 1))
    return min(1.0, 2 * min(tail, pearson))


def fit(draws: IntArray, law: Law) -> float:
    """The chance that draws from this law fit no better, over all tests."""
    cells = law.cells(draws)
    found = [surprise(np.bincount(cells, minlength=len(law.chances)), law.chances)]
    if law.remainders is not None:
        left = (law.sign * (draws - law.centre)) % MODULUS
        found.append(surprise(np.bincount(left, minlength=MODULUS), law.remainders))
    group = np.minimum((np.cumsum(law.chances) - law.chances / 2) * GROUPS, GROUPS - 1).astype(np.int64)
    chances = np.bincount(group, law.chances, GROUPS).astype(np.float64)
    followed = group[cells[: len(cells) // 2 * 2]].reshape(-1, 2)
    pairs = np.bincount(followed[:, 0] * GROUPS + followed[:, 1], minlength=GROUPS**2)
    found.append(surprise(pairs, np.outer(chances, chances).ravel()))
    return min(1.0, len(found) * min(found))


def audited(case: Case, draws: int, seed: int | None = None, confidence: float = CONFIDENCE) -> Finding:
    """Draw, compare with the exact chances, and look for the largest loss."""
    count = max(draws // case.slowness, 1)
    first, second = (Seeded(2 * seed), Seeded(2 * seed + 1)) if seed is not None else (randomness_for(None),) * 2
    one, two = case.one(count, first), case.two(count, second)
    unfit = 2 * min(fit(one, case.laws[0]), fit(two, case.laws[1]))
    edges = np.union1d(case.laws[0].edges, case.laws[1].edges)
    here, there = (
        np.bincount(np.searchsorted(edges, each, side="right"), minlength=len(edges) + 1) for each in (one, two)
    )
    seen, other = _events(here), _events(there)
    error = (1 - confidence) / len(seen) / (1 if case.one_way else 2)
    bounds = [least_loss(seen, other, count, error)]
    if not case.one_way:
        bounds.append(least_loss(other, seen, count, error))
    way = int(np.argmax([each.max() for each in bounds]))
    at = int(bounds[way].argmax())
    likely, rare = (int(each[at]) for each in ((seen, other) if way == 0 else (other, seen)))
    return Finding(
        what=case.what,
        claimed=case.claimed,
        loss=max(float(bounds[way][at]), 0.0),
        estimate=_logarithm(likely, rare),
        event=_words(at, edges),
        confidence=confidence,
        runs=count,
        seen=(likely, rare),
        fit=min(unfit, 1.0),
    )


def cases() -> Iterator[Case]:
    """Every gate, at small, large and broken scales."""
    for scale in SCALES:
        moved = max(1, round(scale))
        yield from sums(scale, moved)
        if moved > 1 and scale < 100:  # where the scale is larger, one record's loss cannot be seen
            yield from sums(scale, 1)
    yield from _mixed(Fraction(7, 2), Fraction(65536 * 10))
    for scale in (Fraction(1), Fraction(7, 2), Fraction(2**40, 3)):
        unit = max(1, round(scale))
        for one, two in (([5, 5, 5, 5], [6, 5, 5, 4]), ([0, 1, 1, 3], [1, 1, 2, 2]), ([0, 1], [1, 0])):
            yield _choice(one, two, unit, scale)
    for chance, likelier in ((0.5, 0.6), (0.001, 0.0015), (0.99, 0.995)):
        yield _toss(int(chance * 2**64), int(likelier * 2**64))


def findings(
    draws: int,
    seed: int | None = None,
    confidence: float = CONFIDENCE,
    told: Told = lambda _done, _total: None,
) -> Iterator[Finding]:
    """What is found of each case."""
    every = list(cases())
    for done, case in enumerate(every):
        finding = audited(case, draws, None if seed is None else seed + done, confidence)
        told(done + 1, len(every))
        yield finding


def _edges(scale: Fraction) -> IntArray:
    """Cells of about the same chance, then ever rarer ones: whole numbers from 1 on."""
    even = -np.log1p(-np.arange(CELLS) / CELLS)
    far = np.arange(math.ceil(even[-1]), 30)
    return np.unique(np.maximum(np.rint(np.concatenate((even, far)) * float(scale)), 1).astype(np.int64))


def _remainders(step: float, *, both: bool) -> FloatArray:
    """Chances of the remainders of noise: sums of geometric series."""
    place = np.arange(MODULUS)
    scaled = -math.expm1(-step) / -math.expm1(-step * MODULUS)
    upwards: FloatArray = np.exp(-step * place) * scaled
    downwards: FloatArray = np.exp(-step * (MODULUS - place)) * scaled
    return (upwards + downwards) / (1 + math.exp(-step)) if both else upwards


def sums(scale: Fraction, moved: int) -> Iterator[Case]:
    """Sums of two neighbours with noise, by each gate that adds some, the public call, and noise to one side."""
    loss, shown = float(moved / scale), f"scale {scale}, {moved} apart"
    large = 2**70

    def plain(exact: int) -> Draw:
        return lambda count, randomness: gates.noisy(np.full(count, exact), scale, randomness)

    def wide(exact: int) -> Draw:
        return lambda count, randomness: np.array(
            [each - large for each in gates.noisy_large([large + exact] * count, scale, randomness)], np.int64
        )

    def below(exact: int) -> Draw:
        return lambda count, randomness: exact - discrete.exponential(scale, count, randomness)

    def public(exact: int) -> Draw:
        return lambda count, randomness: exact + discrete_laplace(scale, count, _seed(randomness))

    laws = laplace(scale, 3), laplace(scale, 3 + moved)
    yield Case(f"noisy, {shown}", loss, plain(3), plain(3 + moved), laws)
    yield Case(f"noisy_large, {shown}", loss, wide(3), wide(3 + moved), laws, slowness=8)
    yield Case(f"discrete_laplace, {shown}", loss, public(3), public(3 + moved), laws)
    sided = one_sided(scale, 3), one_sided(scale, 3 + moved)
    yield Case(f"one-sided, {shown}", loss, below(3), below(3 + moved), sided, one_way=True)


def _seed(randomness: Randomness) -> int | None:
    """The public call takes no randomness, but a seed."""
    return None if randomness.secure else int(randomness.words(1)[0])


def _mixed(narrow: Fraction, wide: Fraction) -> Iterator[Case]:
    """Sums with two scales in turns: both must be right, and independent of their neighbours'."""
    for at, scale in enumerate((narrow, wide)):
        moved = round(scale)

        def mixed(exact: int, at: int = at) -> Draw:
            def draw(count: int, randomness: Randomness) -> IntArray:
                above, below = (
                    np.tile([getattr(each, part) for each in (narrow, wide)], count)
                    for part in ("numerator", "denominator")
                )
                return gates.noisy(np.full(2 * count, exact), (above, below), randomness)[at::2]

            return draw

        laws = laplace(scale, 0), laplace(scale, moved)
        loss = float(moved / scale)
        yield Case(f"noisy, scale {scale} among others, {moved} apart", loss, mixed(0), mixed(moved), laws)


def _choice(one: list[int], two: list[int], unit: int, scale: Fraction) -> Case:
    """A choice among scores, of which a neighbour moves some; the loss is that of these scores, exactly."""
    shown = f"chosen, scale {scale}, {one} and {two}" + (f" times {unit}" if unit > 1 else "")
    one, two = ([unit * score for score in scores] for scores in (one, two))

    def choosing(scores: list[int]) -> Draw:
        array = np.array(scores)
        return lambda count, randomness: np.array(
            [gates.chosen(array, scale, randomness) for _ in range(count)], np.int64
        )

    laws = choices(one, scale), choices(two, scale)
    loss = float(np.abs(np.log(laws[0].chances / laws[1].chances)).max())
    return Case(shown, loss, choosing(one), choosing(two), laws, slowness=50)


def _toss(one: int, two: int) -> Case:
    """A coin, whose chance a neighbour moves."""

    def tossing(heads: int) -> Draw:
        return lambda count, randomness: gates.tossed(np.full(count, heads, np.uint64), randomness).astype(np.int64)

    laws = coins(one), coins(two)
    loss = float(np.abs(np.log(laws[0].chances / laws[1].chances)).max())
    return Case(f"tossed, {one / 2**64:.4g} and {two / 2**64:.4g}", loss, tossing(one), tossing(two), laws)


def _events(cells: IntArray) -> IntArray:
    """How often each event happened: below every edge, at or above it, and in every cell."""
    below = np.cumsum(cells)[:-1]
    return np.concatenate((below, cells.sum() - below, cells))


def _words(event: int, edges: IntArray) -> str:
    """An event of ``_events`` in words."""
    kind, at = divmod(event, len(edges))
    if kind == 0:
        return f"below {edges[at]}"
    if kind == 1:
        return f"at least {edges[at]}"
    at = event - 2 * len(edges)
    if at == 0:
        return f"below {edges[0]}"
    if at == len(edges):
        return f"at least {edges[-1]}"
    return f"from {edges[at - 1]} to {edges[at] - 1}"


def _logarithm(likely: int, rare: int) -> float:
    if not likely:
        return 0.0
    return math.log(likely / rare) if rare else math.inf
