"""Laws of what the library offers: what one record more may change, and what follows from a release without any."""

import math
import string
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dawa
from dawa import Axis, Counts, mechanisms, noise, sources, workloads
from dawa.bounds import search
from dawa.budget import exact
from dawa.errors import OptionError, ReleaseError
from dawa.measure import measure
from dawa.noise.randomness import randomness_for
from dawa.partition.buckets import every_cell
from dawa.partition.buckets import given as named_buckets
from dawa.results.answers import finished
from dawa.sources import check_rows, unit_columns
from dawa.sources.where_text import parsed
from dawa.strategy.base import RESOLUTION
from dawa.strategy.choose import choose
from helpers.axes import dated, edged, numbered
from helpers.examples import examples

FEW = examples(8)
COUNTS = st.lists(st.integers(0, 50), min_size=1, max_size=40)
SEEDS = st.integers(0, 2**32)
AGES = Axis("age", 0, 12, 3, outside="own")
ROWS = st.lists(st.one_of(st.none(), st.integers(-3, 15)), min_size=1, max_size=30)
WHERE = {"age below 0": lambda age: age < 0, "age from 12 on": lambda age: age >= 12}


def more(counts, cell):
    """A neighbour: one record more."""
    return [*counts[:cell], counts[cell] + 1, *counts[cell + 1 :]]


# --- one record more ------------------------------------------------------------------------------------------------

BLIND = ("identity", "hb", "hierarchical", "privelet", "greedy-h")
"""Mechanisms that measure the same sums whatever the counts are."""


@FEW
@given(COUNTS, st.data(), SEEDS, st.sampled_from(BLIND))
def test_with_the_same_noise_one_record_moves_one_unbiased_total_by_one(counts, data, seed, mechanism):
    cell = data.draw(st.integers(0, len(counts) - 1))
    wanted = {"workload": workloads.all_ranges(len(counts)), "epsilon": 1, "mechanism": mechanism, "seed": seed}
    fewer, one_more = (dawa.estimate(each, **wanted) for each in (counts, more(counts, cell)))
    moved = one_more.unbiased - fewer.unbiased
    assert moved == pytest.approx(np.eye(len(counts))[cell], abs=1e-6)
    assert (fewer.options, fewer.split, fewer.epsilon) == (one_more.options, one_more.split, one_more.epsilon)


@FEW
@given(COUNTS, st.data(), SEEDS, st.sampled_from(["greedy", "uniform", "leaves", "hb", "hats"]), st.booleans())
def test_with_the_same_noise_one_record_moves_measurements_by_its_column(counts, data, seed, name, cut):
    """And that column is what the record loses: its sum over the scale is within epsilon."""
    size, cell = len(counts), data.draw(st.integers(0, len(counts) - 1))
    buckets = named_buckets([0, *range(1 + size // 2, size + 1)], size) if cut and size > 2 else every_cell(size)
    workload = workloads.all_ranges(size)
    strategy = choose(buckets.queries(workload), buckets.allowance(Fraction(1), RESOLUTION), name)
    fewer, one_more = (
        measure(Counts.of(each), buckets, strategy, Fraction(1), randomness_for(seed))
        for each in (counts, more(counts, cell))
    )
    bucket = np.searchsorted(buckets.bounds, cell, "right") - 1
    column = strategy.apply(np.eye(len(buckets), dtype=np.int64)[bucket])
    assert (one_more.answers - fewer.answers).tolist() == column.tolist()
    assert fewer.scale == one_more.scale
    assert np.abs(column).sum() == strategy.column_sums()[bucket]
    assert Fraction(int(np.abs(column).sum())) / fewer.scale <= 1


@FEW
@given(ROWS, st.one_of(st.none(), st.integers(-3, 15)), SEEDS)
def test_with_the_same_noise_one_record_moves_one_number_of_a_release(rows, one, seed):
    """In its cell, or apart in its own way; nothing else that the release says changes."""
    wanted = {"epsilon": 1, "mechanism": "identity", "seed": seed, "postprocess": "none"}
    fewer, one_more = (dawa.release({"age": each}, AGES, **wanted) for each in (rows, [*rows, one]))
    inside = np.rint(one_more.values() - fewer.values())
    beyond = "age missing" if one is None else next((label for label, holds in WHERE.items() if holds(one)), None)
    assert inside.tolist() == [float(beyond is None and place == (one or 0) // 3) for place in range(4)]
    apart = np.rint(one_more.others.unbiased - fewer.others.unbiased).tolist()
    assert apart == [float(kind.label == beyond) for kind in fewer.apart()]
    assert replace(one_more.privacy, id=None) == replace(fewer.privacy, id=None)


@pytest.mark.long
@FEW
@given(ROWS, st.lists(st.one_of(st.none(), st.floats(), st.integers(-(2**40), 2**40)), max_size=3), st.booleans())
def test_what_is_planned_to_be_found_does_not_depend_on_rows(rows, others, unit):
    axes = (Axis.auto("age"),)
    asked = (("who",), "auto") if unit else ((), None)

    def planned(values):
        table = {"age": np.array([np.nan if one is None else one for one in values]), "who": np.arange(len(values))}
        return search.planned(table, axes, *asked)

    one, two = planned(rows), planned([*rows, *others])
    assert (one.widest, one.shares, one.caps, one.describe()) == (two.widest, two.shares, two.caps, two.describe())
    assert sum(one.shares.values()) < 1


# --- units ----------------------------------------------------------------------------------------------------------

NAMES = st.text(string.ascii_letters + " _äé人", min_size=1, max_size=8)


@given(st.lists(NAMES, min_size=1, max_size=4, unique=True), st.integers(1, 10**6))
def test_a_unit_is_its_columns_and_has_so_many_rows(names, most):
    assert unit_columns(names) == unit_columns(tuple(names)) == tuple(names)
    assert unit_columns(names[0]) == (names[0],)
    assert check_rows(tuple(names), most) == most
    assert sources.loss(Fraction(1, most), most) == 1
    with pytest.raises(OptionError, match="Hint:"):
        check_rows((), most)
    with pytest.raises(OptionError, match="Hint:"):
        unit_columns([*names, names[0]])


# --- noise ----------------------------------------------------------------------------------------------------------


@FEW
@given(st.fractions(Fraction(1, 10), 1000, max_denominator=1000), st.integers(1, 50), SEEDS)
def test_draws_are_whole_as_many_as_asked_and_repeat_with_their_seed(scale, size, seed):
    drawn = noise.discrete_laplace(scale, size, seed)
    assert (drawn.dtype, drawn.shape) == (np.int64, (size,))
    assert drawn.tolist() == noise.discrete_laplace(scale, size, seed).tolist()
    each = noise.discrete_laplace(([scale.numerator] * size, [scale.denominator] * size), size, seed)
    assert each.tolist() == drawn.tolist(), "one scale for each draw, and the same for all"


# --- what follows from a release -----------------------------------------------------------------------------------


@FEW
@given(COUNTS)
def test_an_estimate_of_cells_answers_with_their_sums(counts):
    cells = np.array(counts, float)
    made = dawa.Estimate.of_cells((len(counts),), cells, Fraction(1), {}, {}, "a seed")
    wanted = [sum(counts[lo:hi]) for lo in range(len(counts)) for hi in range(lo + 1, len(counts) + 1)]
    assert sorted(made.answers(workloads.all_ranges(len(counts)).enumerated())) == pytest.approx(sorted(wanted))


@FEW
@given(COUNTS, SEEDS)
def test_the_mean_error_is_that_of_the_variances(counts, seed):
    workload = workloads.all_ranges(len(counts))
    made = dawa.estimate(counts, workload, epsilon=1, seed=seed)
    assert made.noise_rmse(workload) == pytest.approx(np.sqrt(made.variances(workload).mean()), rel=1e-6)
    with pytest.warns(DeprecationWarning, match="noise_rmse"):
        assert made.rmse(workload) == made.noise_rmse(workload)


@st.composite
def released(draw):
    """A release of few records along an axis of numbers."""
    axis = draw(numbered())
    values = draw(st.lists(st.integers(-100, 100), min_size=1, max_size=40))
    wanted = draw(st.sampled_from([{}, {"mechanism": "identity"}, {"mechanism": "hb"}]))
    return dawa.release({"x": values}, axis, epsilon=draw(st.sampled_from(["0.1", 1, 50])), seed=draw(SEEDS), **wanted)


@FEW
@given(released(), st.data(), st.sampled_from([0.5, 0.9, 0.99]))
def test_a_table_of_ranges_is_their_answers(rel, data, confidence):
    borders = [rel.axis.start + i * rel.axis.step for i in range(rel.axis.size + 1)]
    pairs = data.draw(st.lists(st.sets(st.sampled_from(borders), min_size=2, max_size=2).map(sorted), min_size=1))
    lows, highs = ([str(pair[end]) for pair in pairs] for end in (0, 1))
    table, answers = rel.to_pandas(lows, highs, confidence), rel.answers(lows, highs, confidence)
    for name in ("value", "low", "high"):
        assert table[name].tolist() == pytest.approx([getattr(one, name) for one in answers])
    assert all(one.low <= one.value <= one.high for one in answers)
    for one, other in zip(rel.answers(lows, highs, 0.5), rel.answers(lows, highs, 0.999), strict=True):
        assert other.low <= one.low <= one.high <= other.high, "who wants to be surer gets more room"


@FEW
@given(released(), st.integers(0, 300), SEEDS)
def test_sampled_records_have_a_cell_and_come_again(rel, size, seed):
    try:
        drawn = rel.sample(size, seed)
    except ReleaseError:
        assert rel.values().sum() <= 1e-6, "there is nothing to draw from"
        return
    assert len(drawn) == size
    assert (drawn >= float(rel.axis.start)).all()
    assert (drawn <= float(rel.axis.stop)).all()
    assert drawn.tolist() == rel.sample(size, seed).tolist()
    assert np.concatenate([piece[0] for piece in rel.sampled(size, seed)]).tolist() == drawn.tolist()


@FEW
@given(released())
def test_means_and_sums_are_in_their_intervals(rel):
    mean, total = rel.mean_and_sum()
    assert total == rel.sum()
    assert total.low <= total.value <= total.high
    if math.isnan(mean.value):
        assert rel.values().sum() <= 1e-6, "nothing has a mean"
    else:
        assert mean == rel.mean()
        assert float(rel.axis.start) <= mean.low <= mean.value <= mean.high <= float(rel.axis.stop)


@FEW
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), min_size=1, max_size=40), SEEDS, st.integers(0, 50)
)
def test_groups_are_answered_one_by_one_and_together(rows, seed, size):
    table = {"g": [group for group, _ in rows], "x": [x for _, x in rows]}
    rel = dawa.release(table, Axis("x", 0, 10), epsilon=1, by="g", groups=["a", "b"], seed=seed, postprocess="none")
    apiece = rel.answers_by_group(2, 7)
    assert [group for group, _ in apiece] == list(rel.groups)
    assert rel.answer(2, 7).value == pytest.approx(sum(answer.value for _, answer in apiece))
    at_once, in_steps = rel.answers([2, 0], [7, 10]), finished(rel.answers_in_steps([2, 0], [7, 10]))
    assert [one.row() for one in in_steps] == [one.row() for one in at_once]
    assert len(rel.to_pandas()) == sum(len(one.to_pandas()) for one in rel.values())
    try:
        drawn = rel.sample(size, seed)
    except ReleaseError:
        return
    assert drawn.shape == (size, 2)
    assert set(drawn[:, 0]) <= {"a", "b"}
    assert drawn.tolist() == np.concatenate([np.stack(piece, 1) for piece in rel.sampled(size, seed)]).tolist()


# --- axes, words and questions --------------------------------------------------------------------------------------


@FEW
@given(numbered() | dated(), st.data(), st.fractions(0, 1))
def test_a_value_in_a_cell_is_in_that_cell(axis, data, part):
    cell = data.draw(st.integers(0, axis.size - 1))
    border = axis.border(axis.value_in(cell, part))
    assert cell <= border < cell + 1 or (border < cell and axis.border(axis.value_in(cell, Fraction(0))) == border)


@given(numbered() | edged() | dated())
def test_an_axis_is_read_back_and_described_alike(axis):
    again = Axis.from_json(axis.to_json())
    assert again == axis
    assert again.describe() == axis.describe()
    assert axis.column in axis.describe()


@given(st.integers(0, 2**32 - 1), st.integers(0, 32), st.integers(0, 128))
def test_addresses_of_both_versions(address, length, longer):
    network = address >> (32 - length) << (32 - length)
    text = ".".join(str(byte) for byte in network.to_bytes(4, "big"))
    axis = Axis.ipv4("x", f"{text}/{length}")
    assert axis.size == 2 ** (32 - length)
    assert Axis.from_json(axis.to_json()) == axis
    assert axis.border(text) == 0
    wide = Axis.ipv6("x", f"::/{longer}", min(longer + 20, 128))
    assert wide.size == 2 ** min(20, 128 - longer)
    assert Axis.from_json(wide.to_json()) == wide


@given(st.text(string.ascii_letters, min_size=1, max_size=20), st.sampled_from([None, "today", "2013-01-31"]))
def test_words_about_data_are_dated_once(title, released_):
    about = dawa.About(title=title, released=released_)
    day = about.dated()
    assert day.dated() == day
    assert day.title == title
    assert str(day.released) == {None: "None", "2013-01-31": "2013-01-31"}.get(released_, str(datetime.now(UTC).date()))
    assert dawa.About.from_json(day.to_json()) == day


@given(st.lists(st.text(string.ascii_uppercase, min_size=2, max_size=5), max_size=3, unique=True), st.booleans())
def test_what_is_declared_about_text_is_said(words, comma):
    dialect = sources.Dialect(missing=tuple(words), decimal="," if comma else ".", delimiter=";")
    said = " ".join((*dialect.describe(), *dialect.describe_values()))
    assert all(word in said for word in words)
    assert "semicolon" in said or ";" in said


@given(st.sampled_from(["x", '"odd name"', "人"]), st.sampled_from(["=", "<", "!="]), st.integers(-99, 99))
def test_a_condition_says_itself(column, operator, number):
    asked = parsed(f"{column} {operator} {number}")
    assert str(asked) in asked.describe()
    assert parsed(str(asked)) == asked


@given(st.integers(1, 3000), st.integers(1, 5), st.integers(1, 50), SEEDS)
def test_clustered_questions_are_inside_and_repeat(size, clusters, per_cluster, seed):
    made = workloads.clustered(size, clusters, per_cluster, seed=seed)
    large = workloads.large_clustered(size, clusters, per_cluster, seed=seed)
    for one in (made, large):
        assert one.size == clusters * per_cluster or len(one.lo) == clusters * per_cluster
        assert (one.lo >= 0).all()
        assert (one.lo < one.hi).all()
        assert (one.hi <= size).all()
    again = workloads.clustered(size, clusters, per_cluster, seed=seed)
    assert (again.lo.tolist(), again.hi.tolist()) == (made.lo.tolist(), made.hi.tolist())


@given(st.sampled_from(mechanisms.names()))
def test_every_mechanism_has_its_name_its_options_and_a_description(name):
    made = mechanisms.configured(name, {})
    assert made.name == name
    assert mechanisms.configured(made, {}) == made
    assert mechanisms.describe(name)
    assert {option.name for option in mechanisms.options(name)} >= set(made.changed())
    with pytest.raises(OptionError, match="Hint:"):
        mechanisms.configured(name, {"colour": "red"})


@given(st.fractions(Fraction(1, 10**9), 10**4, max_denominator=10**9))
def test_a_budget_is_read_exactly(epsilon):
    assert exact(epsilon) == exact(str(epsilon)) == epsilon
