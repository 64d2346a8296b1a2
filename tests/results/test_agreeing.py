"""Releases that contradict themselves are refused; none that the library makes does."""

import json
from fractions import Fraction

import numpy as np
import pytest

import dawa
from dawa.errors import ReleaseError
from dawa.partition.buckets import Buckets
from dawa.results import conform
from dawa.results.loading import loaded
from dawa_bench.faults import releases


@pytest.fixture(scope="module")
def seeds():
    return releases.seeds()


def load(data):
    return loaded(json.dumps(data).encode())


def refused(data, named):
    with pytest.raises(ReleaseError, match="Hint:") as caught:
        load(data)
    assert named in caught.value.problem
    assert len(caught.value.problem) < 300


# --- what contradicts itself ----------------------------------------------------------------------------------------


@pytest.mark.long_but(10)
@pytest.mark.parametrize("variance", [0, 0.0, 1e-300, 1e-17, 1e-16, 1.0, 7.99, 1e6, 1e38])
@pytest.mark.parametrize("number", range(16))
def test_noise_is_what_the_budget_gives(seeds, number, variance):
    data = json.loads(seeds[number])
    for part in ("noise", "apart"):
        if data[part] is not None:
            refused({**data, part: {**data[part], "unit_variance": variance}}, f"{part}.unit_variance")


def other_epsilon(data, epsilon):
    """The same numbers with another budget, told without a contradiction but for the noise."""
    privacy = data["privacy"]
    before, after = Fraction(privacy["epsilon"]), Fraction(epsilon)
    split = {step: str(Fraction(part) * after / before) for step, part in privacy["split"].items()}
    inner = str(Fraction(privacy["mechanism_epsilon"]) * after / before)
    said = privacy["statement"].replace(" 0.5-diff", f" {dawa.budget.shown(after)}-diff")
    return {**data, "privacy": {**privacy, "epsilon": epsilon, "split": split, "mechanism_epsilon": inner,
                                "statement": said}}  # fmt: skip


@pytest.mark.parametrize("number", range(16))
def test_another_epsilon_needs_other_noise(seeds, number):
    data = json.loads(seeds[number])
    load(other_epsilon(data, "1/2"))
    for epsilon in ("1/1000000", "1/20", "1/4", "9", "1000000"):
        refused(other_epsilon(data, epsilon), "unit_variance")


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"unit": "person"}, "privacy.unit "),
        ({"unit": "person (a value of 'who')"}, "privacy.unit "),
        ({"neighbours": "nobody"}, "privacy.neighbours"),
        ({"neighbours": ""}, "privacy.neighbours"),
        ({"unit_columns": ["who"]}, "privacy.unit "),
        ({"unit_column": "who", "unit_columns": []}, "privacy.unit_column "),
        ({"private": True}, "privacy.randomness"),
        ({"private": True, "randomness": "seed 1"}, "privacy.randomness"),
        ({"private": True, "randomness": "operating system"}, "privacy.statement"),
        ({"randomness": "operating system"}, "privacy.randomness"),
        ({"randomness": "dice"}, "privacy.randomness"),
        ({"statement": "This release is perfectly private."}, "privacy.statement"),
        ({"statement": ""}, "privacy.statement"),
        ({"split": {"partition": "1/2", "measure": "0"}}, "privacy.split"),
    ],
    ids=str,
)
def test_words_follow_from_fields(seeds, changes, named):
    data = json.loads(seeds[0])
    data["privacy"] |= changes
    refused(data, named)


def test_a_statement_of_another_unit_or_budget_is_refused(seeds):
    data = json.loads(seeds[0])
    for before, after in ((" 0.5-", " 0.1-"), ("each record:", "each person:"), ("NOT PRIVATE", "PRIVATE")):
        said = data["privacy"]["statement"].replace(before, after, 1)
        assert said != data["privacy"]["statement"]
        refused({**data, "privacy": {**data["privacy"], "statement": said}}, "privacy.statement")


def test_totals_apart_follow_from_what_was_measured(seeds):
    data = json.loads(seeds[0])
    for total in (1e9, -1.0, 0.5):
        refused({**data, "apart": {**data["apart"], "totals": [total] * len(data["apart"]["totals"])}}, "apart.totals")


def test_two_axes_have_two_columns(seeds):
    data = json.loads(seeds[11])
    data["axes"][1]["column"] = data["axes"][0]["column"]
    refused(data, "axes have the same column twice")


def test_names_are_compared_whatever_a_python_can_show():
    """Another version of Python may write a new character where this one writes its number, and the other way round."""
    table = {"age": [1, 2, 3], "who\u0378é\\'": [1, 2, 3]}
    rel = dawa.release(table, dawa.Axis("age", 0, 5), epsilon=1, seed=1, unit="who\u0378é\\'", max_rows_per_unit=1)
    data = rel.to_json()
    for name in ("unit", "neighbours", "statement"):
        assert "\\u0378é" in data["privacy"][name]
        data["privacy"][name] = data["privacy"][name].replace("\\u0378", "\u0378").replace("é", "\\xe9")
    load(data)
    data["privacy"]["unit"] = data["privacy"]["unit"].replace("\u0378", "\u0379")
    refused(data, "privacy.unit")


# --- what the library makes -----------------------------------------------------------------------------------------

AXES = {
    1: (dawa.Axis("a", 0, 40),),
    2: (dawa.Axis("a", 0, 40, 5), dawa.Axis("b", 0, 8, outside="own")),
    3: (dawa.Axis("a", 0, 40, 10), dawa.Axis("b", 0, 8, 2), dawa.Axis.ordered("c", ["x", "y"])),
    4: (dawa.Axis("a", 0, 40, 10), dawa.Axis("b", 0, 8, 4), dawa.Axis.ordered("c", ["x", "y"]), dawa.Axis("d", 0, 3)),
}
KINDS = {
    "private": {},
    "seeded": {"seed": 1},
    "persons": {"seed": 1, "unit": "who", "max_rows_per_unit": 3},
    "persons a day": {"unit": ("who", "d"), "max_rows_per_unit": 2, "where": "a < 30"},
    "persons with a cap to find": {"unit": "who", "max_rows_per_unit": "auto"},
    "thirds": {"epsilon": "1/3"},
    "much": {"epsilon": 10**6, "seed": 1},
    "little": {"epsilon": "1/100000", "seed": 1},
}

MEASURED = ({}, {"strategy": "wavelet"}, {"partition": "none", "postprocess": "rounded"})


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(2)
    n = 500
    return {
        "a": np.concatenate((rng.integers(-2, 43, n // 2), rng.integers(3, 6, n // 2))),
        "b": rng.gamma(2, 2, n),
        "c": rng.choice(["x", "y", "z"], n),
        "d": rng.integers(0, 3, n),
        "who": rng.integers(0, 90, n),
    }


def same(rel):
    data = json.loads(rel.as_text())
    assert load(data).to_json() == data


@pytest.mark.long_but(4)
@pytest.mark.parametrize("name", dawa.mechanisms.names(with_error_bars=True))
@pytest.mark.parametrize("axes", AXES)
def test_every_mechanism_along_all_axes(table, axes, name):
    for options in ({}, {"seed": 1, "epsilon": 5}, {"unit": "who", "max_rows_per_unit": 3}):
        same(dawa.release(table, AXES[axes], mechanism=name, **{"epsilon": "1/2", **options}))


@pytest.mark.long_but(1)
@pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)
def test_every_kind_of_release(table, options):
    bounded = [(axes, more) for axes in (AXES[1], AXES[2]) for more in MEASURED]
    for axes, more in [*bounded, (dawa.Axis.auto("a"), {})]:
        try:
            rel = dawa.release(table, axes, **{"epsilon": 1, **options, **more})
        except dawa.errors.BudgetError:
            assert options.get("epsilon") == "1/100000", "there is too little for bounds"
            continue
        same(rel)


def test_walks_that_spare_buckets(table):
    """Where cells are full of records, buckets are spared the second walk; the noise is scaled to what they have."""
    rng = np.random.default_rng(5)
    spread = {"x": rng.choice(4096, 400_000, p=rng.dirichlet(np.full(4096, 0.3)))}
    axis = dawa.Axis("x", 0, 4096)
    rel = dawa.release(spread, axis, epsilon=1, seed=3)
    plain = dawa.release(table, AXES[1], epsilon=1, seed=3)
    assert rel.privacy.split == plain.privacy.split
    assert rel.estimate.unit_variance < 0.95 * plain.estimate.unit_variance, "some were spared"
    same(rel)
    ranges = dawa.Workload.ranges([0, 50], [50, 3000], 4096)
    same(dawa.release(spread, axis, epsilon=1, seed=3, workload=ranges, merge=True))


@pytest.mark.parametrize("spent", [("0", "0"), ("1/4", "0"), ("1/4", "1/8"), ("1/4", "1/4")])
def test_buckets_that_were_paid_for_elsewhere(table, spent):
    buckets = Buckets(np.array([0, 3, 10, 40]), *map(Fraction, spent))
    same(dawa.release(table, AXES[1], epsilon="1/2", seed=1, partition=buckets))


def test_the_schema_has_an_if_with_two_branches():
    schema = {"if": {"const": 1}, "then": {"type": "integer"}, "else": {"type": "string"}}
    check = conform.Compiler(schema).compiled()
    assert (check(1, ()), check("x", ())) == (1, "x")
    with pytest.raises(ReleaseError):
        check(2, ())
