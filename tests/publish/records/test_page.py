"""What docs/records.md shows runs as it is written."""

import re
import shlex
from pathlib import Path

from helpers import blocks, prepared
from helpers.commands import dawa, names

PAGE = Path(__file__).parents[3] / "docs/records.md"


def test_the_commands_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age\n" + "\n".join(str(age % 90) for age in range(400)) + "\n", encoding="utf-8")
    lines = re.findall(r"^    dawa (.*)$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(lines) == 5
    said = [dawa(*shlex.split(line)) for line in lines]
    assert [ran.code for ran in said] == [0] * 5, [ran.err for ran in said]
    assert "Paid for: entry 2" in said[2].out
    assert "from 1 receipt" in said[3].out
    assert names() >= {"out", "again", "draft.yaml"}


def test_the_blocks_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepared.records()
    found = blocks.blocks(PAGE.read_text("utf-8"))
    assert [block.kind for block in found] == ["shell", "shell", "python", "python", "python", "python"]
    shared = {}
    for block in found:
        if block.kind == "shell":
            blocks.shell(PAGE, block)
        else:
            exec(compile(block.code, str(PAGE), "exec"), shared)  # noqa: S102  our own page
    assert set(shared["croissant"].left(shared["release"])) == {"url", "creator", "citeAs", "version"}
    assert Path("ages.yaml").exists()
