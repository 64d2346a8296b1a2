"""``import dawa`` is light: heavy libraries are loaded when they are first needed."""

import json
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def loaded():
    """The modules of a fresh interpreter after ``import dawa``."""
    code = "import json, sys, dawa; print(json.dumps(sorted(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert not found.stderr
    return set(json.loads(found.stdout))


def test_the_library_is_there(loaded):
    assert {"dawa", "dawa.pipeline", "dawa.partition.walk", "numpy"} <= loaded


@pytest.mark.parametrize(
    "heavy",
    ["numba", "llvmlite", "scipy.optimize", "scipy.stats", "pandas", "rich", "hypothesis", "dawa.demo"],
)
def test_heavy_libraries_are_not(loaded, heavy):
    assert heavy not in loaded


def test_nothing_is_compiled(loaded):
    assert not {name for name in loaded if name.startswith("dawa.kernels.")}


def test_the_optimum_which_is_not_private_is_not_loaded(loaded):
    assert "dawa.partition.optimum" not in loaded
