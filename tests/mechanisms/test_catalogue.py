"""The registry: every mechanism by name, and options that arrive where they should."""

import json
from contextlib import suppress
from dataclasses import fields
from fractions import Fraction
from typing import get_type_hints

import numpy as np
import pytest

import dawa
from dawa import check, ledger, mechanisms
from dawa.errors import BudgetError, InvariantError, OptionError
from dawa.partition import Buckets, NoisyCost, Walk, given

CELLS = [0, 0, 40, 42, 39, 41, 0, 7] * 4


def test_the_names_are_those_of_the_contract():
    assert mechanisms.names()[:8] == (
        "dawa",
        "dawa-2014",
        "dawa-2014-all",
        "greedy-h",
        "partition-laplace",
        "partition-uniform",
        "partition-geometric",
        "identity",
    )


@pytest.mark.parametrize("name", mechanisms.names())
def test_each_describes_itself_and_its_options(name):
    text = mechanisms.describe(name)
    assert text.startswith(f"{name}: ")
    settings = mechanisms.configured(name, {})
    for option in fields(settings):
        assert f"{option.name} = {getattr(settings, option.name)!r}" in text


OPTIONS = [(name, option) for name in mechanisms.names() for option in mechanisms.options(name)]


@pytest.mark.parametrize(("name", "option"), OPTIONS, ids=[f"{name}-{option.name}" for name, option in OPTIONS])
def test_every_option_says_what_it_means_and_takes(name, option):
    assert len(option.meaning) > 20, "its docstring says what it means"
    assert "``" not in option.meaning
    assert option.values, "its annotation says which values it takes"
    text = " ".join(mechanisms.describe(name).split())
    assert f"{option.name} = {option.default!r} {option.meaning} Takes {option.values}." in " ".join(text.split())


@pytest.mark.parametrize(("name", "option"), OPTIONS, ids=[f"{name}-{option.name}" for name, option in OPTIONS])
def test_an_option_takes_what_it_says_and_nothing_beyond(name, option):
    kind = type(mechanisms.configured(name, {}))
    (noted,) = getattr(get_type_hints(kind, include_extras=True)[option.name], "__metadata__", (None,))
    good, bad = [], ["nonsense", -1, 0.5]
    if isinstance(noted, check.Whole):
        good, bad = [noted.least, noted.most], [noted.least - 1, noted.most + 1, "nonsense"]
    elif isinstance(noted, check.Names):
        good, bad = noted.choices, ["nonsense"]
    elif noted in {check.SHARE, check.POSITIVE}:
        good, bad = ["1/4", 0.999], [0, -1, "nonsense", *([1] if noted == check.SHARE else [])]
    elif option.values == "true or false":
        good, bad = [True, False], ["true", 1, None]
    else:
        good = option.values.removesuffix(", or None").replace(" or ", ", ").split(", ")
    good = [*good, *([None] if option.values.endswith(", or None") else [])]
    assert [value for value in good if not taken(kind, option.name, value)] == []
    assert [value for value in bad if taken(kind, option.name, value)] == []


def taken(kind, name, value):
    """Whether some instance takes a value: others of its options may forbid it, such as levels above a height."""
    besides = [
        {},
        {"branching": None},
        {"strategy": "best"},
        {"strategy": "hats"},
        {"levels": 0},
        {"height": 64},
        {"postprocess": "nonnegative"},
    ]
    for others in besides:
        if set(others) <= set(kind.options()) - {name}:
            with suppress(OptionError, BudgetError):
                made = kind(**others, **{name: value})
                if name == "partition":
                    dawa.partition.choose.method(made.partition, (32,))
                return True
    return False


@pytest.mark.parametrize(
    ("name", "partition", "weighting"),
    [
        ("dawa-2014", "noisy-cost", "greedy"),
        ("dawa-2014-all", NoisyCost(lengths="all"), "greedy"),
        ("greedy-h", "none", "greedy"),
        ("partition-laplace", "walk", "leaves-only"),
        ("partition-uniform", "walk", "uniform"),
        ("partition-geometric", "walk", "geometric"),
        ("identity", "none", "leaves-only"),
    ],
)
def test_each_is_put_together_as_it_says(name, partition, weighting):
    settings = mechanisms.configured(name, {})
    assert settings.partition == partition
    est = dawa.estimate(CELLS, epsilon=1, mechanism=name, seed=0)
    assert (est.strategy.weighting, est.strategy.branching) == (weighting, 2)
    np.testing.assert_array_equal(est.totals, est.unbiased)
    share = {"walk": Fraction(17, 100), "none": Fraction(0)}.get(partition, Fraction(1, 4))
    assert est.split == {"partition": share, "measure": 1 - share}


@pytest.mark.parametrize(
    "options",
    [
        {"partition": "noisy-cost"},
        {"partition": Walk(many=np.int64(3))},
        {"partition": NoisyCost(share=0.5, noise="exponential")},
        {"partition": [0, 10, 32]},
        {"partition": np.array([0, 10, 32])},
        {"partition": given([0, 10, 32], 32)},
        {"partition": None},
        {"branching": np.int64(4), "strategy": "uniform"},
        {"merge": np.False_},
        {"postprocess": "rounded", "effort": "fast"},
    ],
    ids=str,
)
def test_options_arrive_and_are_recorded_in_plain_values(options):
    est = dawa.estimate(CELLS, epsilon=1, seed=0, **options)
    assert json.loads(json.dumps(est.options)) == est.options
    assert set(est.options) == {"partition", "strategy", "effort", "branching", "merge", "postprocess", "inside", "aim"}
    for option, value in options.items():
        if option != "partition":
            assert est.options[option] == value


def test_a_public_partition_is_used_and_named():
    for bounds in ([0, 10, 32], given([0, 10, 32], 32)):
        est = dawa.estimate(CELLS, epsilon=1, seed=0, partition=bounds)
        assert est.partition.tolist() == [0, 10, 32]
        assert est.split == {"partition": 0, "measure": 1}
        assert est.options["partition"] == {"method": "given", "buckets": 2}


def test_the_split_is_that_of_the_records_that_spent_most_on_the_partition():
    walk = Walk(many=2, block=4, dense=2)
    cells = [0, 900] * 8 + [5] * 48
    est = dawa.estimate(cells, epsilon=2, seed=1, partition=walk)
    assert est.buckets.spared.any()
    assert not est.buckets.spared.all()
    assert est.split == {"partition": Fraction(34, 100), "measure": Fraction(166, 100)}
    assert est.buckets.spent_least == Fraction(14, 100)


def test_what_a_ready_partition_has_spent_counts():
    ready = dawa.partition.Buckets(np.array([0, 10, 32]), Fraction(1, 2), Fraction(1, 2))
    assert dawa.estimate(CELLS, epsilon=2, seed=0, partition=ready).split == {
        "partition": Fraction(1, 2),
        "measure": Fraction(3, 2),
    }
    with pytest.raises(BudgetError, match="Hint:"):
        dawa.estimate(CELLS, epsilon="1/2", seed=0, partition=ready)


@pytest.mark.parametrize("name", ["laplace", "", None, 3, ["dawa"]])
def test_unknown_mechanisms_are_refused(name):
    for call in (mechanisms.describe, lambda wrong: mechanisms.configured(wrong, {})):
        with pytest.raises(OptionError, match="Hint:"):
            call(name)


@pytest.mark.parametrize("option", ["name", "epsilon1", "Buckets"])
def test_unknown_options_are_refused(option):
    with pytest.raises(OptionError, match=r"Hint: its options are partition"):
        mechanisms.configured("dawa", {option: 1})


@pytest.mark.parametrize("cells", [[5], [0] * 6, [3, 90, 91, 0, 7]])
@pytest.mark.parametrize(("name", "atol", "seed"), [("php", 1, 0), ("structure-first", 0.5, 0), ("privtree", None, 3)])
def test_partitions_of_the_rivals_run_from_counts_to_estimate(name, atol, seed, cells):
    """With next to no noise: cell by cell, or in all where the tree may leave several cells together."""
    est = dawa.estimate(cells, epsilon=10**4, mechanism=name, seed=seed)
    assert est.split["partition"] + est.split["measure"] == 10**4
    if atol is None:
        assert est.cells.sum() == pytest.approx(sum(cells), abs=0.5)
    else:
        np.testing.assert_allclose(est.cells, cells, atol=atol)


# --- options as their dataclass -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", mechanisms.names())
def test_a_mechanism_is_its_options(name):
    kind = type(mechanisms.configured(name, {}))
    assert kind is getattr(mechanisms, kind.__name__), "it is exported"
    assert kind.__doc__.strip(), "it says what it is"
    assert not kind().changed()
    by_name, by_value = (dawa.estimate([3] * 16, epsilon=1, mechanism=one, seed=1) for one in (name, kind()))
    np.testing.assert_array_equal(by_name.cells, by_value.cells)
    assert (by_name.mechanism, by_name.options) == (by_value.mechanism, by_value.options)


def test_options_may_be_given_either_way():
    fast = mechanisms.Dawa(effort="fast", strategy="hats")
    assert fast.changed() == {"effort": "fast", "strategy": "hats"}
    assert mechanisms.configured("dawa", {"effort": "fast", "strategy": "hats"}) == fast
    assert mechanisms.configured(fast, {"strategy": "best"}) == mechanisms.Dawa(effort="fast")
    assert fast.strategy == "hats", "it is not changed itself"
    with pytest.raises(OptionError, match="has no option 'efort'"):
        mechanisms.configured(fast, {"efort": "fast"})
    with pytest.raises(OptionError, match=r"make one: Dawa\("):
        mechanisms.configured(mechanisms.Dawa, {})


def test_bounds_as_an_option_differ_from_the_default():
    assert list(mechanisms.Dawa(partition=np.array([0, 3, 8])).changed()) == ["partition"]


def test_a_release_says_what_was_not_as_usual(tmp_path):
    book = ledger.opened(tmp_path / "ledger.db")
    book.create("hr", cap=2)
    for how in ({"mechanism": mechanisms.Hb(branching=4)}, {"mechanism": "hb", "branching": 4}):
        rel = dawa.release({"x": [1, 2]}, dawa.Axis("x", 0, 8), epsilon=1, ledger=book, dataset="hr", **how)
        assert rel.privacy.mechanism == "hb"
    first, second = (entry for entry in book.history("hr") if entry.kind == "reserve")
    assert first.mechanism == second.mechanism == "hb"
    assert first.what == second.what
    assert first.what["options"] == {"branching": 4}


# --- error bars -----------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("name", mechanisms.names(with_error_bars=True))
def test_the_spread_of_totals_is_the_stated_one(name):
    """Of all records, whatever the buckets: no bucket is cut, so the unbiased total is right on average.

    The square of an error in standard deviations has mean 1 and, for mixtures of Laplace noise, a variance of
    5 at most: over 400 runs its mean stays within five of its own standard deviations, which are 0.112 at most.
    """
    cells = np.array([0, 0, 0, 0, 9, 9, 8, 40] * 4)
    asked = dawa.Workload.ranges([0], [32], 32)
    squares = []
    for seed in range(400):
        est = dawa.estimate(cells, epsilon=1, mechanism=name, seed=seed)
        total = est.totals_of(est.buckets.queries(asked), unbiased=True)[0]
        squares.append((total - cells.sum()) ** 2 / est.variances(asked)[0])
    assert abs(np.mean(squares) - 1) < 5 * np.sqrt(5 / len(squares))


# --- mechanisms of one's own ----------------------------------------------------------------------------------------


class Greedy(mechanisms.Dawa):
    """Spends more than it may."""

    def run(self, counts, workload, epsilon, randomness):
        return super().run(counts, workload, epsilon * 2, randomness)


def test_a_mechanism_may_spend_what_it_was_given_and_no_more():
    with pytest.raises(InvariantError, match="'Greedy' was given 1 to spend and spent 2"):
        dawa.estimate([1, 2], epsilon=1, mechanism=Greedy())


def test_buckets_cannot_bring_budget_along():
    for spent in ({"spent": Fraction(-5)}, {"spent_least": Fraction(-5)}):
        with pytest.raises(BudgetError, match="cannot have spent -5"):
            Buckets(np.array([0, 3, 10]), **spent)


def test_a_mechanism_without_options_says_what_is_missing():
    class Plain(mechanisms.Mechanism):
        def run(self, *arguments):
            raise NotImplementedError

    with pytest.raises(OptionError, match="frozen dataclass"):
        dawa.estimate([1, 2], epsilon=1, mechanism=Plain())
