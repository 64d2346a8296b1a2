"""Bounds and caps that are found in the data: what they hold, what they cost, and that nothing found can fail."""

import io
import math
from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dawa
from dawa import Axis, sources
from dawa.axis import AutoAxis
from dawa.bounds import found, search
from dawa.counts import Counts
from dawa.errors import AxisError, BudgetError, DawaError, InvariantError, OptionError
from dawa.limits import MOST_CELLS
from dawa.mechanisms import Identity
from dawa.noise import discrete
from dawa.noise.randomness import Seeded
from helpers.examples import examples


def histogram(numbers, epsilon=1):
    return SimpleNamespace(unbiased=np.array(numbers, float), epsilon=Fraction(epsilon))


# --- reading off ----------------------------------------------------------------------------------------------------


def test_the_hull_holds_what_stands_out():
    assert found.hull(histogram([0, 3, -2, 100, 5, 80, 1, 0])) == found.Hull(3, 6, seen=True)
    assert found.hull(histogram([9] * 40)) == found.Hull(0, 40, seen=True), "many small numbers stand out together"
    assert found.hull(histogram([0, 2, 1, 0])) == found.Hull(1, 2, seen=False), "nothing does: the largest number"
    assert found.hull(histogram([500])) == found.Hull(0, 1, seen=True)


def test_many_years_with_few_records_each_are_found():
    """None of them stands out by itself; a search from both ends inwards found nothing, or the wrong years."""
    days = np.concatenate([np.arange(f"{y}-01-01", f"{y}-10-28", 3, "M8[D]") for y in range(1960, 2020)])
    for seed in range(5):
        axis = dawa.release({"d": days}, Axis.auto("d", "1 day"), epsilon=1, seed=seed, effort="fast").axis
        assert axis.start.year <= 1970
        assert axis.stop.year >= 2010


def test_nothing_seen_is_said():
    rel = dawa.release({"x": [5, 6, 7]}, Axis.auto("x"), epsilon="0.1", seed=0)
    assert "Nothing of 'x' stood out of the noise" in str(rel.privacy)
    assert "They are looked for between" in str(rel.privacy)


def test_values_beyond_the_reach_are_seen():
    prices = np.random.default_rng(0).uniform(50_000, 90_000, 5000).astype(np.float32)
    rel = dawa.release({"p": prices}, Axis.auto("p", "0.01", outside="own"), epsilon=2, seed=0)
    inside, above = rel.answer(rel.axis.start, rel.axis.stop).value, rel.apart()[1].answer.value
    assert inside + above == pytest.approx(5000, abs=50), "floats of 32 bits do not tell such steps apart further out"


@pytest.mark.parametrize("step", ["7995 years", "95900 months", "2920000 days", 0, -1, "1e-44", 10**40])
def test_steps_that_no_bounds_could_have_are_refused_at_once(step):
    with pytest.raises(AxisError, match="Hint:"):
        Axis.auto("x", step)


def test_shares_too_small_to_be_spent_cost_nothing(tmp_path):
    book = dawa.ledger.opened(tmp_path / "ledger.db")
    book.create("hr", 1)
    with pytest.raises(BudgetError, match="Hint:"):
        dawa.release(table(), Axis.auto("tiny", share="1e-9"), epsilon="2e-9", ledger=book, dataset="hr")
    assert book.account("hr").spent == 0


def test_a_cap_can_be_looked_for_with_a_small_epsilon():
    rel = dawa.release(
        table(100), Axis("tiny", -5, 5), epsilon="1e-6", unit="person", max_rows_per_unit="auto", mechanism="identity"
    )
    assert rel.privacy.max_rows_per_unit >= 1


@examples(50)
@given(st.lists(st.integers(-30, 300), min_size=1, max_size=60))
def test_the_hull_is_a_range_of_cells(numbers):
    hull = found.hull(histogram(numbers))
    assert 0 <= hull.first < hull.beyond <= len(numbers)


def test_noise_alone_rarely_widens_a_range():
    """At most 5% of runs, and four standard deviations."""
    runs, wider = 2000, 0
    for seed in range(runs):
        noise = discrete.laplace(Fraction(20), 93, Seeded(seed)).astype(float)
        noise[40] += 10**6
        wider += found.hull(histogram(noise, Fraction(1, 20))) != found.Hull(40, 41, seen=True)
    assert wider <= runs * (0.05 + 4 * math.sqrt(0.05 * 0.95 / runs))


@pytest.mark.parametrize("terms", [1, 2, 10, 90])
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(20)])
def test_sums_of_noise_stay_below_their_bound(terms, scale):
    """A chance of 1%: of 20,000 sums, at most 1% and four standard deviations exceed it."""
    runs, chance = 20_000, 0.01
    sums = discrete.laplace(scale, runs * terms, Seeded(terms)).reshape(runs, terms).sum(axis=1)
    over = (sums > float(found.reached(np.array([terms]), chance)[0]) * float(scale)).mean()
    assert over <= chance + 4 * math.sqrt(chance * (1 - chance) / runs)


def test_a_cap_keeps_the_wanted_part():
    units = np.zeros(len(found.SIZES))
    units[found.SIZES.index(1)], units[found.SIZES.index(4)], units[found.SIZES.index(64)] = 10_000, 5_000, 1_000
    for part in (Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)):
        cap = found.cap(histogram(units), part, 4096)
        kept = 10_000 + 5_000 * min(4, cap) + 1_000 * min(71.5, cap)
        assert kept >= part * (10_000 + 20_000 + 71_500)
    assert found.cap(histogram(units * 0), Fraction(9, 10), 4096) == 1
    assert found.cap(histogram(units), Fraction(99, 100), 5) == 5
    assert list(found.SIZES) == sorted(set(found.SIZES))


# --- where it looks -------------------------------------------------------------------------------------------------

AUTOS = [
    AutoAxis("x"), AutoAxis("x", "0.01"), AutoAxis("x", 100), AutoAxis("x", "1 day"), AutoAxis("x", "1 hour", "UTC"),
    AutoAxis("x", "1 week", "Europe/Berlin"), AutoAxis("x", "15 minutes", "Asia/Kathmandu"), AutoAxis("x", "1 month"),
    AutoAxis("x", "5 months", "America/Sao_Paulo"), AutoAxis("x", "1 second"), AutoAxis("x", "3 years"),
    AutoAxis("x", "7 days"), AutoAxis("x", "1 hour", "Africa/Monrovia"), AutoAxis("x", "1 day", "Pacific/Apia"),
]  # fmt: skip


@pytest.mark.parametrize("axis", AUTOS, ids=lambda axis: f"{axis.step} {axis.zone}")
def test_whatever_is_found_on_a_grid_is_an_axis(axis):
    for grid in axis.grids():
        size = grid.size
        for first, beyond in ((0, size), (size // 2, size // 2 + 1), (0, 1), (size - 1, size), (size // 3, size // 2)):
            made = axis.around(grid, first, beyond)
            assert made.size >= 1
            assert made.outside == axis.outside
            assert made.size <= axis.over(grid, 0, size).size


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Axis.auto("x", 0), lambda: Axis.auto("x", -1), lambda: Axis.auto("x", "1 us"),
        lambda: Axis.auto("x", share=1), lambda: Axis.auto("x", share=0), lambda: Axis.auto("x", "1 fortnight"),
        lambda: Axis.auto("x", "1 day", "Nowhere"), lambda: Axis.auto("x", outside="keep"), lambda: Axis.auto(5),
        lambda: Axis.auto("x", missing="clip"), lambda: Axis.auto("x", 5, "UTC"),
    ],
)  # fmt: skip
def test_wrong_wishes_are_refused_at_once(wrong):
    with pytest.raises(DawaError, match="Hint:"):
        wrong()


# --- whole releases -------------------------------------------------------------------------------------------------


def table(size=20_000, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "income": np.round(rng.lognormal(10, 1, size), 2),
        "small": rng.normal(0, 3, size).astype(np.float32),
        "tiny": rng.integers(-5, 5, size).astype(np.int8),
        "when": np.datetime64("2013-01-01") + rng.integers(0, 365, size).astype("m8[D]"),
        "text": rng.integers(100, 900, size).astype(str).tolist(),
        "person": rng.zipf(1.6, size) % 5000,
    }


@pytest.mark.long_but(1)
@pytest.mark.parametrize(
    ("axis", "low", "high"),
    [
        (Axis.auto("income", 100), 500, 300_000),
        (Axis.auto("small", "0.1"), -8, 8),
        (Axis.auto("tiny"), -5, 5),
        (Axis.auto("when", "1 day"), "2013-01-01", "2014-01-01"),
        (Axis.auto("text"), 100, 900),
    ],
)
def test_bounds_hold_the_data(axis, low, high):
    rel = dawa.release(table(), axis, epsilon=1, seed=1)
    share = rel.answer(low, high).value / 20_000
    assert 0.9 < share < 1.1
    assert rel.privacy.searched == {f"bounds of '{axis.column}'": Fraction(1, 20)}
    assert sum(rel.privacy.split.values()) == rel.privacy.epsilon == 1
    assert rel.estimate.epsilon == rel.privacy.mechanism_epsilon == Fraction(19, 20)
    assert "found in the data, privately, for 5% of epsilon" in str(rel.privacy)


@pytest.mark.long
def test_a_found_range_is_read_back(tmp_path):
    rel = dawa.release(table(), [Axis.auto("income", 100), Axis.auto("when", "1 month", outside="own")], epsilon=1)
    again = dawa.load(rel.save(tmp_path / "r.json"))
    assert again.axes == rel.axes
    assert again.privacy == rel.privacy
    assert again.estimate.epsilon == Fraction(9, 10)


def test_a_cap_is_found_and_everything_adds_up():
    people = np.concatenate(
        (np.arange(6000), np.repeat(np.arange(6000, 9000), 4), np.repeat(np.arange(9000, 10000), 20))
    )
    some = {"person": people, "tiny": people % 10 - 5}
    rel = dawa.release(some, Axis("tiny", -5, 5), epsilon=1, unit="person", max_rows_per_unit="60%")
    assert rel.privacy.max_rows_per_unit > 1
    assert rel.privacy.searched == {"records per value of 'person'": Fraction(1, 20)}
    assert sum(rel.privacy.split.values()) == 1
    assert rel.privacy.mechanism_epsilon * rel.privacy.max_rows_per_unit == Fraction(19, 20)
    everyone = dawa.release(some, Axis("tiny", -5, 5), epsilon=1, unit="person", max_rows_per_unit="99%")
    assert everyone.privacy.max_rows_per_unit > rel.privacy.max_rows_per_unit


@pytest.mark.long
@pytest.mark.parametrize("size", [0, 1, 7])
def test_tables_with_hardly_any_records_have_bounds_too(size):
    """Whether there is a release never depends on the data."""
    some = {name: column[:size] for name, column in table().items()}
    options = {"epsilon": "0.1", "unit": "person", "max_rows_per_unit": "auto", "effort": "fast"}
    for axis in (Axis.auto("income"), Axis.auto("when", "1 day"), Axis.auto("small", "0.001"), Axis.auto("tiny", 10)):
        for seed in range(3):
            assert dawa.release(some, axis, seed=seed, **options).values().size


def test_a_ledger_pays_for_the_looks_too(tmp_path):
    book = dawa.ledger.opened(tmp_path / "ledger.db")
    book.create("hr", 1)
    axis = Axis.auto("income", 100)
    dawa.release(table(), axis, epsilon="0.6", ledger=book, dataset="hr")
    assert book.account("hr").spent == Fraction(6, 10)
    with pytest.raises(dawa.ExhaustedError):
        dawa.release(table(), axis, epsilon="0.6", ledger=book, dataset="hr")


def test_what_cannot_be_found_is_refused_before_anything_is_read(tmp_path):
    book = dawa.ledger.opened(tmp_path / "ledger.db")
    book.create("hr", 10)
    pays = {"epsilon": 1, "ledger": book, "dataset": "hr"}
    with pytest.raises(OptionError, match="workload"):
        dawa.release(table(), Axis.auto("income"), workload=dawa.workloads.prefixes(10), **pays)
    with pytest.raises(AxisError, match="no column 'nothing'"):
        dawa.release(table(), Axis.auto("nothing"), **pays)
    with pytest.raises(AxisError, match="dates or times"):
        dawa.release(table(), Axis.auto("income", "1 day"), **pays)
    with pytest.raises(OptionError, match="all of epsilon"):
        dawa.release(table(), [Axis.auto("income", share="0.5"), Axis.auto("tiny", share="0.5")], **pays)
    assert book.account("hr").spent == 0


def test_what_is_piped_in_is_not_looked_at_first(tmp_path):
    """A look reads all rows, and there would be none left to release."""
    book = dawa.ledger.opened(tmp_path / "ledger.db")
    book.create("hr", 10)
    rows = "tiny,person\n" + "3,1\n4,2\n" * 50
    pays = {"epsilon": 1, "ledger": book, "dataset": "hr"}
    for axis, asked in (
        (Axis.auto("tiny"), {}),
        (Axis("tiny", -5, 5), {"unit": "person", "max_rows_per_unit": "auto"}),
    ):
        with pytest.raises(OptionError, match="can be read once"):
            dawa.release(sources.csv(io.BytesIO(rows.encode())), axis, **pays, **asked)
    assert book.account("hr").spent == 0
    assert len(dawa.release(sources.csv(io.BytesIO(rows.encode())), Axis("tiny", -5, 5), **pays).axes) == 1


def test_axes_whose_farthest_grids_are_too_many_cells_together_get_nearer_ones():
    """Two axes of 2^31 cells and more each cannot be numbered together."""
    axes = Axis.auto("income", "0.0001"), Axis.auto("small", "0.0001")
    together = search.planned(table(100), axes, (), None).widest
    assert math.prod(axis.size for axis in together) <= MOST_CELLS
    alone = [search.planned(table(100), [axis], (), None).widest[0] for axis in axes]
    assert math.prod(axis.size for axis in alone) > MOST_CELLS


@pytest.mark.parametrize("epsilon", ["1e-9", "1e-7"])
def test_a_cap_that_no_epsilon_pays_for_is_refused(tmp_path, epsilon):
    book = dawa.ledger.opened(tmp_path / "ledger.db")
    book.create("hr", 10)
    wanted = {"unit": "person", "max_rows_per_unit": "auto", "partition": "walk", "mechanism": "dawa"}
    with pytest.raises(BudgetError, match="Hint:"):
        dawa.release(table(100), Axis("tiny", -5, 5), epsilon=epsilon, ledger=book, dataset="hr", **wanted)
    assert book.account("hr").spent == 0


# --- the exact check behind bounds.md -------------------------------------------------------------------------------


def probabilities(units, epsilon, reach=60):
    """The exact distribution of the hull of two noisy cells, by summing over all noise that matters."""
    weights = {x: math.exp(-abs(x) * epsilon) for x in range(-reach, reach + 1)}
    total = sum(weights.values())
    chances = {}
    for one, two in product(weights, repeat=2):
        seen = found.hull(histogram([units[0] + one, units[1] + two], Fraction(epsilon).limit_denominator()))
        chances[seen] = chances.get(seen, 0) + weights[one] * weights[two] / total**2
    return chances


@pytest.mark.long_but(1)
@pytest.mark.parametrize("units", [(3, 0), (0, 0), (9, 4)])
def test_one_unit_changes_no_probability_by_more_than_its_share(units):
    epsilon = 0.5
    here = probabilities(units, epsilon)
    for place in (0, 1):
        there = probabilities([number + (i == place) for i, number in enumerate(units)], epsilon)
        assert set(here) == set(there)
        assert all(abs(math.log(here[seen] / there[seen])) <= epsilon + 1e-6 for seen in here)


def test_a_look_that_spends_more_than_its_share_says_nothing(monkeypatch):
    dearer = SimpleNamespace(
        run=lambda counts, asked, epsilon, randomness: Identity().run(counts, asked, 2 * epsilon, randomness)
    )
    monkeypatch.setattr(search, "Identity", lambda: dearer)
    with pytest.raises(InvariantError, match="Looking would lose 2, more than the allowed 1"):
        search._measured(Counts.of([1, 2]), Fraction(1), Seeded(0))


def test_the_loss_adds_up_exactly():
    assert search.loss({"a": Fraction(1, 20), "b": Fraction(1, 10)}, Fraction(17, 60), 3) == 1


@pytest.mark.long
@examples(30)
@given(st.lists(st.tuples(st.integers(0, 6), st.none() | st.integers(-9, 9)), max_size=40), st.integers(0, 6))
def test_a_unit_moves_one_class_by_one(rows, who):
    """Adding or removing a unit with all its rows: at most one count changes, by 1."""

    def classes(some):
        columns = {"p": np.array([p for p, _ in some], np.int64), "x": [x for _, x in some]}
        axis = Axis("x", 0, 5, outside="drop", missing="drop")
        with dawa.sources.query(columns, (axis,), ("p",)) as query:
            return query.units(found.SIZES).exposed.dense(len(found.SIZES))

    more, fewer = classes(rows), classes([row for row in rows if row[0] != who])
    assert (more - fewer).min() >= 0
    assert (more - fewer).sum() <= 1
    kept = [p for p, x in rows if x is not None and 0 <= x < 5]
    assert more.sum() == len(set(kept))
