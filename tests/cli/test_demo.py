"""The demonstration runs, and what it writes can be asked."""

import subprocess
import sys
from pathlib import Path

import dawa as library
from helpers.commands import dawa, refused


def test_the_demo_and_a_question(tmp_path):
    shown = dawa("demo", "--epsilon", "1", "--out", tmp_path / "demo")
    assert shown.code == 0
    assert "How many earn" in shown.out
    assert library.load(tmp_path / "demo" / "release.json").privacy.epsilon == 1
    answers = dawa("query", tmp_path / "demo", "0:200000", "--json", "--confidence", 1 - 1e-8).json["answers"]
    assert answers[0]["low"] <= 20_000 <= answers[0]["high"]


def test_it_runs_as_a_program(tmp_path):
    command = [sys.executable, "-m", "dawa", "demo", "--out", str(tmp_path)]
    assert "Median income" in subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603  ours


def test_wrong_steps(tmp_path):
    refused(dawa("demo", "--epsilon", "much", "--out", tmp_path), "'much' is not a finite number")
    (tmp_path / "file").touch()
    ran = dawa("demo", "--out", tmp_path / "file")
    assert ran.code == 1
    assert "cannot be written" in ran.err


def test_make_demo_is_the_command():
    makefile = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")
    assert "\n\t$(BIN)/dawa demo\n" in makefile
