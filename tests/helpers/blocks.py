"""Blocks of code in pages, run as a reader would: one after the other, in an empty folder.

``python`` blocks of a page share one namespace, ``shell`` blocks one folder. A block with a title is a file that the
reader writes. Nothing is installed: what ``pip install`` names must be there.
"""

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

RUN = {"python", "shell", "toml", "json"}
NOT_RUN = {"text", "pycon", "mermaid"}
BLOCK = re.compile(r"^```(?P<kind>[\w-]*)(?P<rest>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
ROOT = Path(__file__).parents[2]
TARGETS = {
    *re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)[1].split(),
    *json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["scripts"],
}
TITLE = re.compile(r'title="([^"]+)"')


@dataclass(frozen=True)
class Block:
    """A block of code, and where it begins."""

    kind: str
    code: str
    line: int
    title: str | None = None


def blocks(text):
    """All blocks of a page, in order."""
    found = []
    for match in BLOCK.finditer(text):
        title = TITLE.search(match["rest"])
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(match["kind"], match["code"], line, title and title[1]))
    return found


def run(page, text, names=None):
    """Run all blocks of a page in the current folder; ``names`` are there from the start."""
    space = {"__name__": "__main__"} | (names or {})
    for block in blocks(text):
        if block.title:
            Path(block.title).write_text(block.code, encoding="utf-8")
        elif block.kind == "python":
            exec(compile("\n" * block.line + block.code, str(page), "exec"), space)  # noqa: S102  the page's own code
        elif block.kind == "shell":
            shell(page, block)
        elif block.kind == "toml":
            tomllib.loads(block.code)
        elif block.kind == "json":
            json.loads(block.code)


def shell(page, block):
    """Run the lines of a block as a person would type them; each must succeed."""
    lines = [line for line in block.code.splitlines() if not installed(line)]
    scripts = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "BROWSER": "true"}
    ran = subprocess.run(  # noqa: S603  the page's own lines
        ["/bin/bash", "-euo", "pipefail", "-c", "\n".join(lines)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert ran.returncode == 0, f"{page}:{block.line}\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"
    assert "Traceback" not in ran.stderr


def installed(line):
    """Whether a line installs packages, all of which are here, or makes what the Makefile and package.json know."""
    words = line.partition("#")[0].split()
    if words[:1] == ["make"] or words[:2] == ["npm", "run"]:
        assert words[-1] in TARGETS, line
        return True
    if not line.startswith("pip install "):
        return False
    for name in words[2:]:
        wanted = Requirement(name.strip("'"))
        assert wanted.specifier.contains(importlib.metadata.version(wanted.name), prereleases=True), name
    return True
