"""Compiled loops are called as they say, or not at all; and what is missing is said."""

import os
import platform
import re
import runpy
import subprocess
import sys
import threading

import numpy as np
import pytest

from dawa.errors import InstallationError, InvariantError
from dawa.kernels import native
from dawa.kernels.native import Kernel


def arrays(n=3):
    cells = np.arange(n)
    return cells, np.ones(n, np.int64), np.arange(n + 1)


def call(**changed):
    """Scores of one interval over three cells, with some arguments changed."""
    cells, counts, before = arrays()
    given = {
        "occupied": 3,
        "cells": cells,
        "counts": counts,
        "before": before,
        "nodes": 1,
        "lo": np.array([0]),
        "hi": np.array([3]),
        "scratch": np.empty(3, np.int64),
        "scores": np.empty(1, np.int64),
    }
    assert not set(changed) - set(given)
    given.update(changed)
    Kernel("walk_median_deviations")(*given.values())
    return given["scores"]


def test_a_kernel_fills_what_it_is_given():
    assert call().tolist() == [0]


@pytest.mark.parametrize(
    "changed",
    [
        {"cells": np.arange(3.0)},
        {"cells": np.arange(3, dtype=np.int32)},
        {"cells": np.arange(6)[::2]},
        {"cells": np.arange(3).astype(">i8")},
        {"cells": np.frombuffer(bytes(25), np.uint8)[1:].view(np.int64)},
        {"scores": np.empty(2, np.int64)[::-1][:1][::-1][::-1].astype(np.float64)},
    ],
    ids=["floats", "narrow", "strided", "other byte order", "unaligned", "float results"],
)
def test_arrays_that_do_not_suit_are_refused(changed):
    with pytest.raises(InvariantError, match="does not suit"):
        call(**changed)


def test_results_that_cannot_be_written_are_refused():
    scores = np.empty(1, np.int64)
    scores.flags.writeable = False
    with pytest.raises(InvariantError):
        call(scores=scores)


def test_what_is_only_read_may_be_frozen():
    cells = np.arange(3)
    cells.flags.writeable = False
    assert call(cells=cells).tolist() == [0]


@pytest.mark.parametrize("size", [2**63, -(2**63) - 1, 1.5, "3", None])
def test_numbers_that_do_not_fit_are_refused(size):
    with pytest.raises((InvariantError, TypeError)):
        call(nodes=size)


def test_numbers_of_arguments_are_compared():
    with pytest.raises(InvariantError, match="takes 9 arguments and was given 3"):
        Kernel("walk_median_deviations")(1, 2, 3)


def test_a_name_that_the_library_lacks():
    with pytest.raises(InvariantError, match="no_such_kernel"):
        Kernel("no_such_kernel")()


def test_first_use_by_many_threads():
    found = []

    def use():
        found.append(call().tolist())

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[0]] * 8


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A package whose library is in a folder of its own."""
    library = tmp_path / native.LIBRARY.name
    monkeypatch.setattr(native, "LIBRARY", library)
    native.library.cache_clear()
    yield library
    native.library.cache_clear()


@pytest.mark.usefixtures("elsewhere")
def test_a_missing_library_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(native, "COMPILE", tmp_path / "compile.py")
    with pytest.raises(InstallationError, match=r"missing or made for another kind of machine.*\nHint: install"):
        call()


def test_a_library_of_another_machine_is_named(elsewhere, monkeypatch, tmp_path):
    monkeypatch.setattr(native, "COMPILE", tmp_path / "compile.py")
    elsewhere.write_bytes(b"\xcf\xfa\xed\xfe" + bytes(100))
    with pytest.raises(InstallationError, match="Hint: install"):
        call()


@pytest.mark.long
def test_a_checkout_compiles_what_is_missing_or_older_than_its_sources(elsewhere, capfd):
    assert call().tolist() == [0]
    assert elsewhere.exists()
    assert capfd.readouterr().err.startswith("Compiling dawa's loops")
    native.library.cache_clear()
    assert call().tolist() == [0]
    assert capfd.readouterr().err == ""


def test_sources_that_do_not_compile_are_told(elsewhere, monkeypatch, tmp_path):
    script = tmp_path / "c" / "compile.py"
    script.parent.mkdir()
    script.write_text(native.COMPILE.read_text())
    (script.parent / "wrong.c").write_text("int wrong(void) { return nothing; }")
    monkeypatch.setattr(native, "COMPILE", script)
    with pytest.raises(InstallationError, match=r"could not be compiled.*\nHint: "):
        call()
    assert not elsewhere.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


@pytest.mark.long
def test_two_builds_are_the_same_to_the_last_byte(tmp_path):
    built = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        library = folder / native.LIBRARY.name
        subprocess.run([sys.executable, native.COMPILE, library], check=True)  # noqa: S603  our own
        built.append(library.read_bytes())
    assert built[0] == built[1]


def test_nothing_is_compiled_when_dawa_runs():
    """Not even an import of what could compile."""
    code = """
import sys, dawa
dawa.estimate([1, 2, 3], epsilon=1)
sys.exit(bool({"numba", "llvmlite", "cffi", "ziglang"} & set(sys.modules)))
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603  our own


def test_every_kernel_is_there_for_each_kind_of_processor():
    """And takes the same in all forms."""
    sources = "".join(path.read_text() for path in native.COMPILE.parent.glob("*.c"))
    names = re.findall(r"^KERNEL\(\w+, (\w+),", sources, re.MULTILINE)
    assert "walk_median_deviations" in names
    forms = ("", "_wide") if platform.machine() == "x86_64" else ("",)
    for name in names:
        assert len({native._text(native.library(), f"{name}_takes{form}") for form in forms}) == 1, name


@pytest.mark.skipif(not native.has_wide_registers(), reason="this processor has no wide registers")
def test_the_forms_of_a_kernel_compute_the_same():
    rng = np.random.default_rng(0)
    cells = np.unique(rng.integers(0, 3000, 1000))
    counts = rng.integers(0, 50, len(cells))
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    lo = rng.integers(0, 3000, 200)
    hi = lo + rng.integers(1, 500, 200)
    found = []
    for wide in (False, True):
        scores = np.empty(len(lo), np.int64)
        scratch = np.empty(len(cells), np.int64)
        kernel = Kernel("walk_median_deviations", wide=wide)
        kernel(len(cells), cells, counts, before, len(lo), lo, hi, scratch, scores)
        found.append(scores.tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("home", ["/proc/nowhere", "/dev/null", "/nowhere/at/all"])
def test_a_compiler_that_cannot_keep_anything_keeps_it_in_the_build(home, monkeypatch, tmp_path):
    """In such a place Zig itself would try for ever to make a folder."""
    if os.access("/", os.W_OK) and home == "/nowhere/at/all":
        home = "/dev/null/at/all"  # root can make folders anywhere else
    monkeypatch.delenv("ZIG_GLOBAL_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", home)
    assert runpy.run_path(str(native.COMPILE), run_name="compile")["cache"](tmp_path) == tmp_path / "cache"


def test_a_compiler_keeps_things_where_the_user_says(monkeypatch, tmp_path):
    monkeypatch.setenv("ZIG_GLOBAL_CACHE_DIR", str(tmp_path / "kept"))
    assert runpy.run_path(str(native.COMPILE), run_name="compile")["cache"](tmp_path) == tmp_path / "kept"


PRIVATE = {
    "walk": ["walk_median_deviations"],
    "bisect": ["bisect_bisections", "bisect_absolute", "bisect_squared", "bisect_prefixes"],
    "costs": ["costs_windows", "costs_starting_at", "costs_powers", "costs_extend", "costs_traced"],
    "fourier": ["fourier_sums", "fourier_largest_columns"],
    "hilbert": ["hilbert_positions"],
    "hats": ["hats_times_exactly"],
    "bumps": ["bumps_times_i64"],
    "tree": ["tree_node_totals"],
    "wavelet": ["wavelet_transforms"],
    "draw": ["draw_draw", "draw_choose"],
    "records": ["records_count_marks", "records_find_marks", "records_split"],
    "json_lines": ["json_lines_pick"],
}
"""Loops that see records, their cells, their counts, or randomness before it is noise."""
FLOATS = re.compile(r"\b(half|bfloat|float|double|x86_fp80|fp128)\b")


def made_of(source, folder):
    """Every function of a C file as the compiler understands it, by name."""
    command = [sys.executable, "-m", "ziglang", "cc", "-std=c11", "-O0", "-fno-sanitize=undefined", "-S", "-emit-llvm"]
    told = folder / "told.ll"
    subprocess.run([*command, str(source), "-o", str(told)], check=True, capture_output=True)  # noqa: S603  our own
    found = re.findall(r"^define .*?^}", told.read_text(), re.MULTILINE | re.DOTALL)
    return {re.search(r"@(\w+)\(", function).group(1): function for function in found}


def floats_in(functions, name):
    """The functions with floats that a function calls, however deep; and itself."""
    seen, waiting = set(), [name]
    while waiting:
        here = waiting.pop()
        if here in functions and here not in seen:
            seen.add(here)
            waiting += re.findall(r"\bcall [^@\n]*@([\w.]+)\(", functions[here])
    return {one for one in seen if FLOATS.search(functions[one])}


@pytest.mark.parametrize("name", PRIVATE)
def test_no_float_touches_what_is_private(name, tmp_path):
    """C makes floats of integers without a word; the compiler tells which types it works with."""
    functions = made_of(native.COMPILE.parent / f"{name}.c", tmp_path)
    for loop in PRIVATE[name]:
        assert loop in functions
        assert not floats_in(functions, loop), loop


def test_a_float_would_be_noticed(tmp_path):
    """Even one that a helper makes, of whole numbers and for whole numbers."""
    source = tmp_path / "leak.c"
    source.write_text("static long inner(long n) { return n * 0.5; } long outer(long n) { return inner(n); }")
    assert floats_in(made_of(source, tmp_path), "outer") == {"inner"}
