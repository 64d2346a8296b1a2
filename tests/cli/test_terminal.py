"""What people and machines are told: errors that lead on, a sign of life, and nothing that was not asked for."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from dawa import progress
from dawa.cli.terminal import reported, screen, tell, working
from dawa.errors import ExhaustedError, OptionError, printable


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


def test_lines_are_lines(capsys):
    tell("a\nb\x1b[2J é [bold]", "c")
    assert capsys.readouterr().out == "a\\nb\\x1b[2J é [bold]\nc\n"


def test_pipes_are_wide(capsys):
    screen().print("word " * 30)
    assert capsys.readouterr().out.count("\n") == 1


def test_a_sign_of_life_is_for_terminals(capsys, monkeypatch):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    with working("Checking"):
        progress.reached("Reading")
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with working("Checking"):
        progress.reached("Reading")
    out, err = capsys.readouterr()
    assert not out
    assert "Reading …" in err, "the stage that was reached last"


def run(*arguments, **options):
    return subprocess.run([sys.executable, *arguments], check=False, capture_output=True, **options)  # noqa: S603  ours


def test_a_folder_that_was_removed(tmp_path):
    (tmp_path / "gone").mkdir()
    code = "import os\nfrom dawa.cli import main\nos.rmdir(os.getcwd())\nmain()"
    ran = run("-c", code, "query", "out", "1:2", cwd=tmp_path / "gone")
    assert ran.returncode == 1
    assert ran.stderr.decode() == "The current folder was removed. Hint: change to one that exists: cd.\n"


@pytest.mark.long
@pytest.mark.parametrize("name", [b"line\nbreak \x1b[31m", b"not \xff text", b"[bold]x[bold]"])
def test_folders_of_any_name(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age\n30\n", encoding="utf-8")
    ages = ("--column", "age", "--range", "0:100", "--epsilon", "1")
    said = run("-m", "dawa", "release", "people.csv", *ages, "--out", name).stdout
    shown = printable(os.fsdecode(name))
    assert f"into {shown}: release.json" in said.decode()
    assert not set(said) & {0x1B, 0xFF}
    assert {os.fsencode(path.name) for path in Path().iterdir()} == {name, b"people.csv"}
    assert run("-m", "dawa", "explore", name).stdout.decode() == f"{shown}/report.html\n"


@pytest.mark.long
def test_a_full_disk_is_no_defect(tmp_path):
    """Nothing is lost: what a command found can be asked for again."""
    command = [sys.executable, "-m", "dawa", "ledger"]
    book = str(tmp_path / "book.db")
    subprocess.run([*command, "create", "hr", "--cap", "5", "--ledger", book], check=True, capture_output=True)  # noqa: S603
    for asked in (["show"], ["recover"], ["show", "--json"]):
        with Path("/dev/full").open("w") as full:
            found = subprocess.run(  # noqa: S603
                [*command, *asked, "--ledger", book], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert found.returncode == 1
        assert "defect" not in found.stderr
        assert "No space left on device" in found.stderr
        assert "Traceback" not in found.stderr
