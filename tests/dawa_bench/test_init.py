"""The package: a docstring that warns, and commands that say what they are."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import dawa_bench

COMMANDS = {
    path.stem for path in Path(dawa_bench.__file__).parent.glob("*.py") if '__name__ == "__main__"' in path.read_text()
}
WITHOUT_OPTIONS = {"noise", "startup", "strategies"}


def modules_after(code):
    code = f"import json, sys; {code}; print(json.dumps(sorted(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    return set(json.loads(found.stdout))


def test_it_says_what_is_not_private_and_where_all_else_is():
    said = dawa_bench.__doc__
    assert "NOT PRIVATE: " in said
    assert "``published``" in said.split("EVERYTHING")[0]
    assert "``optimum``" in said.split("EVERYTHING")[0]
    for name in COMMANDS:
        assert f"``{name}``" in said or f"``python -m dawa_bench.{name}``" in said, name


def test_importing_it_loads_nothing():
    assert {name for name in modules_after("import dawa_bench") if "dawa" in name} == {"dawa_bench"}


def test_the_command_line_loads_nothing_that_is_not_private():
    found = modules_after("import dawa.cli")
    assert {name for name in found if name.startswith("dawa_bench")} == set()
    assert not found & {"numpy", "rich", "joblib", "matplotlib"}


@pytest.mark.parametrize("name", sorted(COMMANDS - WITHOUT_OPTIONS))
def test_every_command_has_help(name, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit) as caught:
        import_module(f"dawa_bench.{name}").main()
    assert caught.value.code == 0
    assert f"dawa_bench.{name}" in " ".join(capsys.readouterr().out.split()).replace("python -m ", "")
