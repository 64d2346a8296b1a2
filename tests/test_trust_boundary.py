"""Only the partition and measure steps see the counts and draw noise: read off the source code itself."""

import ast
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest

import dawa
import dawa_bench
from dawa.counts import Counts, Occupied

ROOT, BENCH = (Path(package.__file__).parent for package in (dawa, dawa_bench))
MODULES = {
    path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in ROOT.rglob("*.py")
}
OWN_SHAPE = {"mechanisms/agrid.py", "mechanisms/dpcube.py", "mechanisms/efpa.py", "mechanisms/mwem.py"}
"""Mechanisms that are not a partition and measurements: private steps of their own, with proofs of their own."""
STEPS = {name for name in MODULES if name.startswith("partition/")} | {"measure.py"} | OWN_SHAPE
WIRING = {"pipeline.py", "bounds/search.py"} | {
    f"mechanisms/{name}.py" for name in ("base", "catalogue", "hybrid_tree", "two_stage")
}
"""These pass randomness on, without drawing from it."""
BENCHMARK = {
    f"dawa_bench/{path.relative_to(BENCH).as_posix()}": ast.parse(path.read_text(encoding="utf-8"))
    for path in BENCH.rglob("*.py")
}
"""Another package, which compares on public data, also with what is not private."""
TIMED = {
    "dawa_bench/huge.py": {"dawa.counts.Counts"},
    "dawa_bench/noise.py": {"dawa.noise.discrete_laplace"},
    "dawa_bench/sources.py": {"dawa.sources", "dawa.sources.counting"},
}
"""Commands of it that time a private step on generated data, and what each may import of the private steps."""
WATCHED = {
    "dawa_bench/audit/watch.py": {"dawa.noise.gates"},
    "dawa_bench/audit/sampler.py": {
        "dawa.noise.discrete",
        "dawa.noise.discrete_laplace",
        "dawa.noise.gates",
        "dawa.noise.randomness.Randomness",
        "dawa.noise.randomness.Seeded",
        "dawa.noise.randomness.randomness_for",
    },
    "dawa_bench/audit/tampered.py": {"dawa.noise", "dawa.noise.discrete", "dawa.noise.randomness.Randomness"},
    "dawa_bench/audit/holders.py": {"dawa.sources"},
    "dawa_bench/audit/table_controls.py": {"dawa.sources.counting", "dawa.sources.placed.Expression"},
}
"""The audit replaces the gates for as long as it watches a run, and draws noise to test it. Its controls break noise
and sources on purpose."""
LEAKING = "dawa_bench/audit/table_controls.py"
"""Controls of the audit open counts of tables that are made up, to leak them on purpose."""


def imports(name):
    """Everything that a module imports, in full: ``dawa.noise.randomness.Randomness``."""
    for node in ast.walk((MODULES | BENCHMARK)[name]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} has a relative import, which this test does not follow"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def attributes(name):
    return {node.attr for node in ast.walk((MODULES | BENCHMARK)[name]) if isinstance(node, ast.Attribute)}


def test_the_modules_are_where_this_test_looks_for_them():
    assert STEPS | WIRING | {"counts.py", "noise/randomness.py"} <= set(MODULES)
    assert {name for name in MODULES if "exposed" in attributes(name)}, "counts are read somewhere"


def test_only_partition_and_measure_open_the_counts():
    assert {name for name in MODULES if "exposed" in attributes(name)} <= STEPS
    strings = {
        name
        for name, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value == "exposed"
    }
    assert not strings, "nor do they by getattr"
    matched = {
        name
        for name, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.MatchClass) and "exposed" in node.kwd_attrs
    }
    assert not matched, "nor by a pattern"
    with pytest.raises(TypeError):
        vars(Counts.of([1]))


def test_tables_in_the_open_are_read_in_one_place():
    """What an engine gives back is put into counts unread, but for tables that somebody calls public."""
    calls = {
        name
        for name, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "rows"
    }
    assert calls == {"plan/data.py"}
    read = {
        name
        for name, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "read"
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "data"
    }
    assert read == {"plan/planning.py", "plan/comparison.py"}, "for like= and for dawa compare"
    assert not {name for name in MODULES if "dawa.plan.data.read" in set(imports(name))}


def test_only_partition_and_measure_know_the_opened_counts():
    users = {name for name in MODULES if any(found == "dawa.counts.Occupied" for found in imports(name))}
    assert users <= STEPS


def named(name, module):
    """What a module uses of another one that it imported by name: ``discrete.variance`` is ``variance``."""
    return {
        node.attr
        for node in ast.walk((MODULES | BENCHMARK)[name])
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == module
    }


def test_only_partition_and_measure_draw_noise():
    """Others may pass a source on, and may ask for a scale's variance; the package re-exports the sampler."""
    others = {name for name in MODULES if not name.startswith("noise/")} - STEPS - {"__init__.py"}
    for name in others:
        found = {found for found in imports(name) if found.startswith("dawa.noise")}
        allowed = (
            {"dawa.noise.randomness.Randomness", "dawa.noise.randomness.randomness_for"} if name in WIRING else set()
        )
        assert found <= allowed | {"dawa.noise.discrete"}, name


def test_private_steps_speak_through_the_gates_alone():
    """They ask the sampler for scales, losses and variances; noise, choices and coins come from ``noise/gates.py``."""
    gates = {node.name for node in MODULES["noise/gates.py"].body if isinstance(node, ast.FunctionDef)}
    gates = {name for name in gates if not name.startswith("_")}
    assert gates == {"noisy", "noisy_large", "costs", "chosen", "tossed"}
    passed = set()
    for name in MODULES:
        if not name.startswith("noise/"):
            assert named(name, "discrete") <= {"variance", "coarsened", "loss", "LIMIT", "Scale"}, name
            assert named(name, "choice") <= {"loss"} or name == "mechanisms/base.py", name
            assert named(name, "gates") <= gates, name
            assert "words" not in attributes(name), name
            passed |= named(name, "gates")
            found = {found for found in imports(name) if found.startswith("dawa.noise.") and found.count(".") > 2}
            assert found <= {"dawa.noise.discrete.Scale"} | {one for one in found if ".randomness." in one}, name
    assert passed == gates, "each is used"


def test_private_steps_have_no_other_randomness():
    """By whatever name it is imported; ``noise/randomness.py`` alone asks the operating system."""
    others = {"random", "secrets", "stats", "urandom", "default_rng", "SystemRandom", "rvs"}
    for name in MODULES:
        if name in STEPS | WIRING or name.startswith(("kernels/", "strategy/", "noise/discrete", "noise/choice")):
            assert not attributes(name) & others, f"{name} draws from elsewhere"
            parts = {part for found in imports(name) for part in found.split(".")}
            assert not parts & (others | ({"uuid"} if name in STEPS else set())), name


def test_lower_layers_do_not_reach_up_by_name():
    """The package imports its public names when they are used, so that no contract sees who uses them through it."""
    for name in MODULES:
        if not name.startswith("cli/"):
            found = set(imports(name))
            assert "dawa" not in found, f"{name} reaches for public names"
            assert "importlib.import_module" not in found, name
            assert "import_module" not in attributes(name), name


def test_what_holds_counts_is_not_taken_apart():
    holders = {name for name in MODULES if "dawa.counts.Counts" in set(imports(name))} - STEPS
    assert "pipeline.py" in holders
    for name in holders:
        used = {found.rpartition(".")[2] for found in imports(name)} | attributes(name)
        assert not used & {"attrgetter", "astuple", "pickle", "dumps", "copy", "deepcopy", "__dict__"}, name


def private_steps():
    """Modules of the partition step that choose buckets by looking at counts, and mechanisms of their own shape."""
    choosing = {
        name
        for name in STEPS - OWN_SHAPE
        if name != "partition/buckets.py"
        and any(
            isinstance(node, ast.FunctionDef) and node.name in {"choose_buckets", "choose_boxes"}
            for node in ast.walk(MODULES[name])
        )
    }
    return sorted(choosing | OWN_SHAPE | {"measure.py"})


def test_there_are_private_steps():
    assert len(private_steps()) == 15


@pytest.mark.parametrize("name", private_steps())
def test_a_private_step_has_a_proof_a_loss_and_an_assertion(name):
    assert (ROOT / name).with_suffix(".md").exists(), "a proof beside it"
    functions = {node.name for node in MODULES[name].body if isinstance(node, ast.FunctionDef)}
    assert "loss" in functions, "a function that computes what a record loses"
    calls = (node.func for node in ast.walk(MODULES[name]) if isinstance(node, ast.Call))
    assert any(isinstance(call, ast.Attribute) and call.attr == "within" for call in calls), "and an assertion on it"


def test_what_is_not_private_is_out_of_reach():
    """The optimum and the mechanisms as they were published live in another package, which nothing here imports."""
    assert "dawa_bench/optimum.py" in BENCHMARK
    assert not {name for name in MODULES if any(found.startswith("dawa_bench") for found in imports(name))}
    assert not any("optimum" in name or name.endswith("-code") for name in dawa.mechanisms.names())
    with pytest.raises(dawa.DawaError):
        dawa.estimate([1, 2], epsilon=1, mechanism="dawa-2014-code")


def test_the_benchmark_sees_public_arrays_only():
    """It may not open anyone's counts, nor draw the noise that releases draw, but for three commands that time them."""
    assert set(TIMED) <= set(BENCHMARK)
    private = ("noise", "counts", "sources")
    for name, tree in BENCHMARK.items():
        assert "exposed" not in attributes(name) or name == LEAKING
        found = {one for one in imports(name) if one.startswith(tuple(f"dawa.{step}" for step in private))}
        assert found == (TIMED | WATCHED).get(name, set()), name
        reached = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "dawa"
        }
        assert not reached & set(private), name


def test_what_is_timed_is_far_from_what_is_not_private():
    """The experiments and the published code import neither of those commands, nor do those import them."""
    apart = {name.removesuffix(".py").replace("/", ".") for name in TIMED}
    unsound = {"dawa_bench.published", "dawa_bench.optimum", "dawa_bench.experiments", "dawa_bench.paper"}
    for name in BENCHMARK:
        found = {".".join(one.split(".")[:2]) for one in imports(name)}
        assert not found & (unsound if name in TIMED else apart), name


def test_strategies_know_nothing_of_counts():
    """They are public because they are computed from public things alone."""
    for name in MODULES:
        if name.startswith(("strategy/", "queries/", "results/")) or name == "workloads.py":
            assert not any(found.startswith("dawa.counts") for found in imports(name))


def held(value, seen):
    """All that hangs on a value, through fields, dicts and sequences."""
    if id(value) in seen:
        return
    seen[id(value)] = value
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            held(getattr(value, field.name), seen)
        held(vars(value), seen)
    elif isinstance(value, dict):
        for item in value.values():
            held(item, seen)
    elif isinstance(value, (tuple, list)):
        for item in value:
            held(item, seen)
    elif isinstance(value, np.ndarray) and value.base is not None:
        held(value.base, seen)


@pytest.mark.parametrize("mechanism", dawa.mechanisms.names(with_error_bars=True))
def test_a_release_holds_no_counts(mechanism):
    cells = np.arange(7, 47) * 1001
    rel = dawa.release({"x": np.repeat(np.arange(40), cells)}, dawa.Axis("x", 0, 40), epsilon=1, mechanism=mechanism)
    seen = {}
    held(rel, seen)
    assert len(seen) > 20
    assert not any(isinstance(value, (Counts, Occupied)) for value in seen.values())
    arrays = [value for value in seen.values() if isinstance(value, np.ndarray) and value.shape == cells.shape]
    assert not any(np.array_equal(array, cells) for array in arrays)


def test_nothing_prints_a_count():
    counts = Counts.of([777_777, 0, 0])
    for shown in (repr(counts), str(counts), f"{counts}", f"{counts.exposed!r}", str([counts.exposed]), f"{(counts,)}"):
        assert "777" not in shown


def test_errors_that_follow_from_counts_name_none():
    for wrong in ([777_777, -1], [777_777, 0.5], [2**45, 777_777], [[[[[777_777]]]]]):
        with pytest.raises(dawa.DawaError) as caught:
            dawa.estimate(wrong, epsilon=1)
        assert "777" not in str(caught.value)
    with pytest.raises(dawa.DawaError) as caught:
        dawa.release({"x": np.array([b"777777"])}, dawa.Axis("x", 0, 5), epsilon=1)
    assert "777" not in str(caught.value)
