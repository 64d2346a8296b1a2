"""``pip install dawa`` alone: what it is enough for, how large it is, and what is said where more is needed.

Programs here run in an environment that has exactly what the package requires without extras, taken from the one that
runs the tests.
"""

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import dawa
from dawa.errors import InstallationError
from dawa.host import extras

RELEASES = Path(__file__).parent / "results" / "files"
MOST = 300e6
"""Bytes of the core."""


def required(name="dawa"):
    """The names of all distributions that one needs, itself first."""
    found, left = [], [name]
    while left:
        one = left.pop()
        if one in found:
            continue
        found.append(one)
        for line in metadata.requires(one) or []:
            need = Requirement(line)
            if need.marker is None or need.marker.evaluate({"extra": ""}):
                left.append(need.name.lower().replace("_", "-"))
    return found


def files(name):
    return [Path(file.locate()) for file in metadata.files(name) or [] if "__pycache__" not in file.parts]


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A folder of links: the libraries of the core, and dawa as it is here."""
    folder = tmp_path_factory.mktemp("core")
    for name in required():
        for file in metadata.files(name) or []:
            top = file.parts[0]
            if top in {"..", "__pycache__"} or top.endswith(".pth") or (folder / top).exists():
                continue
            (folder / top).symlink_to(
                Path(file.locate()).parents[len(file.parts) - 2] if len(file.parts) > 1 else file.locate()
            )
    for package in ("dawa", "dawa_bench"):
        if not (folder / package).exists():
            (folder / package).symlink_to(Path(dawa.__file__).parents[1] / package)
    return folder


@pytest.fixture
def core(bare, tmp_path):
    """Run Python there."""

    def run(*arguments):
        kept = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(bare)}
        command = [sys.executable, "-S", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, env=kept, cwd=tmp_path, check=False)  # noqa: S603

    return run


def test_the_core_is_small():
    names = required()
    assert not {"ibis-framework", "duckdb", "pyarrow", "pandas", "matplotlib", "sqlalchemy"} & set(names)
    assert {"numpy", "scipy", "typer", "rich"} <= set(names)
    assert sum(file.stat().st_size for name in names for file in files(name) if file.exists()) < MOST


def test_the_environment_is_bare(core):
    """Else nothing below says anything."""
    for name in extras.BROUGHT_BY:
        assert core("-c", f"import {name}").stderr.strip().endswith(f"No module named '{name}'")


def test_an_estimate_needs_no_more(core):
    ran = core("-c", "import dawa; print(dawa.estimate([9] * 64, epsilon=1).cells.shape)")
    assert (ran.stdout.strip(), ran.stderr) == ("(64,)", "")


def test_a_map_needs_no_more(core):
    ran = core("-c", "import dawa; print(dawa.estimate([[9] * 40] * 40, epsilon=1).cells.shape)")
    assert (ran.stdout.strip(), ran.stderr) == ("(40, 40)", "")


@pytest.mark.long
def test_a_release_is_asked_and_looked_at(core, tmp_path):
    file = RELEASES / "age-dawa.json"
    asked = core("-m", "dawa", "query", file, "20:60", "--json")
    assert asked.returncode == 0, asked.stderr
    assert json.loads(asked.stdout)
    for command in (
        ("explore", file, "--out", "page.html"),
        ("query", file, "20:60", "--out", "answers.csv"),
        ("sample", file, "--rows", 10, "--out", "rows.csv"),
        ("mechanisms",),
    ):
        ran = core("-m", "dawa", *command)
        assert ran.returncode == 0, ran.stderr
    assert {path.name for path in tmp_path.iterdir()} >= {"page.html", "answers.csv", "rows.csv"}


TABLE = ("people.csv", "--column", "age", "--range", "0:100", "--epsilon", "1")


@pytest.mark.long_but(2)
@pytest.mark.parametrize(
    ("command", "extra"),
    [
        (("release", *TABLE, "--out", "out"), "release"),
        (("plan", *TABLE), "release"),
        (("ledger", "show", "--ledger", "ledger.db"), "release"),
        (("ledger", "key", "a.key"), "signing"),
        (("query", RELEASES / "age-dawa.json", "20:60", "--out", "answers.parquet"), "release"),
        (("serve", RELEASES / "age-dawa.json"), "serve"),
        (("audit", "identity"), "release"),
    ],
)
def test_what_needs_more_says_so(core, tmp_path, command, extra):
    (tmp_path / "people.csv").write_text("age\n31\n45\n", encoding="utf-8")
    before = set(tmp_path.iterdir())
    ran = core("-m", "dawa", *command)
    assert ran.returncode == 1
    assert f"Hint: pip install 'dawa[{extra}]'." in ran.stderr
    assert "defect" not in ran.stderr
    assert {path.name for path in set(tmp_path.iterdir()) - before} <= {".cache"}


@pytest.mark.long_but(3)
@pytest.mark.parametrize(
    ("code", "extra"),
    [
        ("dawa.release({'age': [1]}, dawa.Axis('age', 0, 9), epsilon=1)", "release"),
        ("dawa.Ledger", "release"),
        ("dawa.sources.query", "release"),
        ("dawa.ledger.opened('ledger.db')", "release"),
        (f"dawa.load({str(RELEASES / 'age-dawa.json')!r}).plot()", "plots"),
        (f"dawa.load({str(RELEASES / 'age-dawa.json')!r}).to_arrow(0, 50)", "release"),
        (f"dawa.load({str(RELEASES / 'age-dawa.json')!r}).to_ibis(0, 50)", "release"),
        (f"dawa.load({str(RELEASES / 'age-dawa.json')!r}).to_duckdb(None)", "release"),
    ],
)
def test_so_it_does_in_python(core, code, extra):
    last = core("-c", f"import dawa; {code}").stderr.strip().splitlines()[-2:]
    assert last[0].startswith("dawa.errors.InstallationError: ")
    assert last[1] == f"Hint: pip install 'dawa[{extra}]'."


def test_a_notebook_shows_a_release_without_its_picture(core):
    ran = core("-c", f"import dawa; print(dawa.load({str(RELEASES / 'age-dawa.json')!r})._repr_html_())")
    assert ran.stderr == ""
    assert "dawa[plots]" in ran.stdout
    assert "epsilon" in ran.stdout


def test_every_extra_that_is_named_is_there():
    known = set(metadata.metadata("dawa").get_all("Provides-Extra"))
    assert set(extras.BROUGHT_BY.values()) <= known


def test_an_error_of_somebody_elses_import_stays_as_it_is():
    assert extras.explained(ModuleNotFoundError("No module named 'colours'", name="colours")) is None
    told = extras.explained(ModuleNotFoundError("No module named 'ibis.expr'", name="ibis.expr"))
    assert isinstance(told, InstallationError)
    assert isinstance(told, ImportError)
