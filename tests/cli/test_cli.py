"""The command line as a whole: its commands, their help, versions, exit codes, and completion."""

import ast
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest

import dawa as library
import dawa.cli as command_line
from helpers.commands import dawa, refused

COMMANDS = (
    "release",
    "query",
    "sample",
    "explore",
    "plan",
    "compare",
    "ledger",
    "serve",
    "audit",
    "mechanisms",
    "demo",
    "bench",
    "warm-up",
)
ROOMS = {
    "__init__",
    "bookings",
    "figures",
    "groups",
    "looks",
    "making",
    "options",
    "receipts",
    "predicted",
    "specs",
    "terminal",
    "together",
    "words",
}
"""What is in ``dawa.cli`` beside commands."""


def test_help_names_every_command_and_exit_code():
    shown = dawa("--help")
    assert shown.code == 0
    for word in (*COMMANDS, "--version", "--install-completion", "0 done", "1 refused", "2 wrong", "3 budget"):
        assert word in shown.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(command):
    shown = dawa(command, "--help")
    assert shown.code == 0
    assert f"dawa {command}" in shown.out.replace("Usage: dawa", "")


def test_each_command_has_a_module_of_its_own():
    found = {path.stem for path in Path(command_line.__file__).parent.glob("*.py")}
    assert set(command_line.COMMANDS) == set(COMMANDS)
    assert found == ROOMS | {name.replace("-", "_") for name in set(COMMANDS) - set(command_line.ELSEWHERE)}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_list_of_commands_says_how_their_help_begins(command):
    """It stands in the list too, so that the list can be shown without importing any of them."""
    home = command_line.ELSEWHERE.get(command, f"dawa.cli.{command.replace('-', '_')}")
    module = import_module(home)
    assert module.HELP.partition("\n\n")[0] == command_line.COMMANDS[command]


def chains():
    """What commands ask ``dawa`` for by name, such as ``dawa.publish.page``: packages and what is in them."""
    for path in sorted(Path(command_line.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            inner = node.value if isinstance(node, ast.Attribute) else None
            if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id == "dawa":
                yield inner.attr, node.attr


@pytest.mark.long
def test_what_commands_ask_for_by_name_is_there_in_a_new_process():
    """In this one, other tests have imported it already; a package that loads lazily has what its list names."""
    asked = {(package, name) for package, name in chains() if package.islower()}
    assert len(asked) > 20
    rest = [(package, name) for package, name in asked if name not in import_module(f"dawa.{package}").__all__]
    for package, name in rest:
        subprocess.run([sys.executable, "-c", f"import dawa; dawa.{package}.{name}"], check=True)  # noqa: S603  our own


def test_no_command_is_imported_by_help():
    loaded = modules_after("--help")
    assert not loaded & {f"dawa.cli.{command.replace('-', '_')}" for command in COMMANDS}
    assert not loaded & {"numpy", "ibis", "sqlalchemy", "dawa.pipeline", "dawa.axis", "dawa_bench"}


@pytest.mark.long_but(3)
@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in command_line.ELSEWHERE])
def test_help_of_a_command_loads_no_engine_and_no_database(command):
    loaded = modules_after(command, "--help")
    assert f"dawa.cli.{command.replace('-', '_')}" in loaded
    heavy = {"ibis", "duckdb", "sqlalchemy", "sqlite3", "psycopg", "dawa.ledger.store", "scipy.optimize", "matplotlib"}
    assert not loaded & (heavy | {"fastapi", "dawa_bench"})


@pytest.mark.parametrize("kind", ["csv", pytest.param("parquet", marks=pytest.mark.long)])
def test_a_release_of_a_file_loads_no_library_of_frames(tmp_path, kind):
    """It would take as long to load as the rest of the release."""
    frame = pd.DataFrame({"age": [20, None, 45]})
    frame.to_csv(tmp_path / "people.csv", index=False)
    frame.to_parquet(tmp_path / "people.parquet")
    asked = ("--column", "age", "--range", "0:100", "--epsilon", "1", "--out", str(tmp_path / "out"))
    loaded = modules_after("release", str(tmp_path / f"people.{kind}"), *asked)
    assert loaded >= {"duckdb", "pyarrow", "matplotlib"}
    assert not loaded & {"pandas", "polars", "scipy.optimize"}


def modules_after(*arguments):
    """The modules of a fresh interpreter after a command; what measures coverage would load a database of its own."""
    code = f"""
import json, sys
from dawa.cli import app
try:
    app({list(arguments)!r}, prog_name="dawa")
finally:
    sys.stderr.write(json.dumps(sorted(sys.modules)))
"""
    alone = {name: value for name, value in os.environ.items() if name != "COVERAGE_PROCESS_CONFIG"}
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, capture_output=True, text=True, check=True, env=alone)  # noqa: S603  ours
    return set(json.loads(found.stderr.splitlines()[-1]))


def test_a_missing_benchmark_says_so(monkeypatch):
    monkeypatch.setattr(command_line, "find_spec", lambda name: None if name == "dawa_bench" else name)
    for arguments in ((), ("paper.errors", "--full"), ("--list",)):
        refused(dawa("bench", *arguments), "dawa bench is not installed", "dawa_bench", "install dawa again")
    assert "│ bench " not in dawa("--help").out
    assert dawa("bench", "--help").code == 0


def test_a_benchmark_that_is_there_is_offered():
    assert "│ bench " in dawa("--help").out
    assert "paper.errors" in dawa("bench", "--list").out


def test_no_arguments_show_help():
    assert "Usage: dawa" in dawa().out


def test_the_version():
    assert dawa("--version").out == f"dawa {library.__version__}\n"


def test_wrong_usage_is_code_2():
    for arguments in (["relase"], ["release"], ["query"], ["release", "x.csv", "--colum", "age"], ["demo", "extra"]):
        ran = dawa(*arguments)
        assert ran.code == 2, arguments
        assert not ran.out


@pytest.mark.parametrize(
    "arguments", [["-m", "dawa", "--version"], ["-c", "from dawa.cli import main; main()", "--version"]]
)
def test_the_entry_points(arguments):
    ran = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)  # noqa: S603  ours
    assert ran.stdout == f"dawa {library.__version__}\n"


def completed(words):
    environment = {
        **os.environ,
        "_DAWA_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - (not words.endswith(" "))),
    }
    ran = subprocess.run([sys.executable, "-m", "dawa"], capture_output=True, text=True, check=False, env=environment)
    assert not ran.stderr
    return set(ran.stdout.split())


@pytest.mark.long_but(3)
@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("dawa ", set(COMMANDS)),
        ("dawa rel", {"release"}),
        ("dawa ledger ta", {"take-back"}),
        ("dawa release x --colu", {"--column"}),
        ("dawa plan x --max", {"--max-rows-per-unit"}),
        ("dawa release x --mechanism ident", {"identity"}),
        ("dawa mechanisms --workload pre", {"prefixes"}),
    ],
)
def test_completion_knows_commands_options_and_mechanisms(words, found):
    assert completed(words) == found
