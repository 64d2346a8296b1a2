"""``import dawa`` is light: heavy libraries are loaded when they are first needed."""

import json
import subprocess
import sys

import pytest

import dawa
from dawa import errors


@pytest.fixture(scope="module")
def loaded():
    """The modules of a fresh interpreter after ``import dawa`` and a look at its main call."""
    return modules_after("import dawa; dawa.release")


def modules_after(code):
    code = f"import json, sys; {code}; print(json.dumps(sorted(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert not found.stderr
    return set(json.loads(found.stdout))


def test_names_are_imported_when_they_are_used():
    """So that the command line answers at once."""
    found = modules_after("import dawa, dawa.cli")
    assert "typer" in found
    assert not found & {"numpy", "rich", "ibis", "sqlalchemy", "dawa.pipeline", "dawa.axis"}


def test_every_name_is_there():
    assert all(getattr(dawa, name) is not None for name in dawa.__all__)
    assert dir(dawa) == dawa.__all__
    with pytest.raises(AttributeError, match="relase"):
        dawa.relase  # noqa: B018  looking is enough


@pytest.mark.parametrize("name", ["errors", "ledger", "mechanisms", "sources", "workloads"])
def test_modules_are_attributes_of_a_fresh_package(name):
    """Without anything else having been touched."""
    assert f"dawa.{name}" in modules_after(f"import dawa; dawa.{name}")


def test_every_error_is_exported():
    own = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)}
    assert own <= set(dawa.__all__)


def test_the_library_is_there(loaded):
    assert {"dawa", "dawa.pipeline", "dawa.partition.walk", "numpy"} <= loaded


@pytest.mark.parametrize(
    "heavy",
    ["ctypes.util", "scipy.optimize", "scipy.stats", "pandas", "rich", "hypothesis", "dawa.cli"],
)
def test_heavy_libraries_are_not(loaded, heavy):
    assert heavy not in loaded


def test_nothing_is_compiled(loaded):
    assert not {name for name in loaded if name.startswith("dawa.kernels.")}


def test_the_optimum_which_is_not_private_is_not_loaded(loaded):
    assert "dawa_bench.optimum" not in loaded


def test_several_threads_may_be_the_first():
    """Large libraries cannot be imported by two threads at once."""
    code = """
import threading, dawa
first, found = threading.Barrier(8), []
def use(name):
    first.wait()
    found.append(getattr(dawa, name))
names = ["estimate", "release", "Workload", "mechanisms", "Axis", "plots", "load", "workloads"]
threads = [threading.Thread(target=use, args=(name,)) for name in names]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert len(found) == len(names)
"""
    for _ in range(3):
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603
        assert (ran.returncode, ran.stderr) == (0, "")
