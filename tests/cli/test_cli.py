"""The command line as a whole: help, versions, exit codes, and errors that lead on."""

import json
import subprocess
import sys

import pytest
import typer

import dawa as library
from dawa.cli.errors import reported
from dawa.errors import ExhaustedError, OptionError
from helpers.commands import dawa

COMMANDS = ("release", "query", "plan", "ledger", "mechanisms", "demo")


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


def test_completion_knows_commands_and_mechanisms():
    environment = {
        "_DAWA_COMPLETE": "complete_bash",
        "COMP_WORDS": "dawa release x --mechanism ident",
        "COMP_CWORD": "4",
    }
    ran = subprocess.run([sys.executable, "-m", "dawa"], capture_output=True, text=True, check=False, env=environment)
    assert "identity" in ran.stdout.split()


def leave(error, *, json_asked=False):
    with pytest.raises(typer.Exit) as caught, reported(json_asked):
        raise error
    return caught.value.exit_code


def test_an_error_is_one_line(capsys):
    assert leave(OptionError("It is wrong.", "do it right.")) == 1
    assert capsys.readouterr() == ("", "It is wrong. Hint: do it right.\n")


def test_names_do_not_move_the_cursor(capsys):
    leave(OptionError("No column 'a\nb\x1b[2J'.", "look at é."))
    assert capsys.readouterr().err == "No column 'a\\nb\\x1b[2J'. Hint: look at é.\n"


def test_an_exhausted_budget_is_code_3(capsys):
    assert leave(ExhaustedError("None left.", "ask what exists.")) == 3
    assert "None left" in capsys.readouterr().err


def test_machines_find_errors_on_stdout(capsys):
    assert leave(OptionError("It is wrong.", "do it right."), json_asked=True) == 1
    out, err = capsys.readouterr()
    assert not err
    assert json.loads(out) == {"error": {"kind": "OptionError", "problem": "It is wrong.", "hint": "do it right."}}


def test_a_defect_shows_its_kind_and_no_value(capsys, monkeypatch):
    monkeypatch.delenv("DAWA_DEBUG", raising=False)
    assert leave(ZeroDivisionError("777 records")) == 1
    err = capsys.readouterr().err
    assert "ZeroDivisionError" in err
    assert "777" not in err
    monkeypatch.setenv("DAWA_DEBUG", "1")
    with pytest.raises(ZeroDivisionError, match="777"), reported():
        raise ZeroDivisionError("777 records")


def test_being_stopped_says_what_that_means(capsys):
    assert leave(KeyboardInterrupt()) == 130
    assert "stays spent" in capsys.readouterr().err


def test_mechanisms_are_listed():
    shown = dawa("mechanisms")
    for name in library.mechanisms.names(with_error_bars=True):
        assert f"\n{name} " in f"\n{shown.out}"
    assert "mwem" not in shown.out, "it makes no release"
    assert {entry["name"] for entry in dawa("mechanisms", "--json").json} == set(library.mechanisms.names())
    assert "effort" in dawa("mechanisms", "dawa").out
    assert dawa("mechanisms", "dewa").code == 1
    assert "dewa" in dawa("mechanisms", "dewa", "--json").json["error"]["problem"]
