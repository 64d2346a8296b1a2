"""Every command of the command line, with its options, read off the application itself."""

import re
import textwrap
from typing import Any

import typer

from dawa.cli import COMMANDS, Later, app

HEAD = """# Every command and option

What `dawa COMMAND --help` says, for all commands, made from the program itself. [The command line](../command-line.md)
explains it in order.
"""


def page() -> str:
    """The page."""
    group: Any = typer.main.get_command(app)
    parts = [HEAD]
    for name in COMMANDS:
        found = group.commands[name]
        if isinstance(found, Later):
            parts += command(f"dawa {name}", found.loaded())
    return "\n".join(parts)


def command(name: str, found: Any, depth: int = 2) -> list[str]:  # noqa: ANN401  Typer's own classes are private
    """The sections of a command, and of those that it has of its own."""
    context = typer.Context(found, info_name=name)
    parts = [f"{'#' * depth} `{name}`\n", *paragraphs(found.help or "")]
    parts.append(f"```text\n{name} {' '.join(found.collect_usage_pieces(context))}\n```\n")
    records = [param.get_help_record(context) for param in found.params if not param.hidden]
    rows = [row(*told) for told in records if told]
    if rows:
        parts += ["| argument or option | what it says |\n|---|---|", *rows, ""]
    for inner, one in getattr(found, "commands", {}).items():
        parts += command(f"{name} {inner}", one, depth + 1)
    return parts


def row(name: str, text: str) -> str:
    """An argument or an option as a row of a table."""
    return f"| `{name.replace('|', '&#124;')}` | {escaped(' '.join(text.split()))} |"


def paragraphs(text: str) -> list[str]:
    """Help as it was written: paragraphs, and examples whose lines are kept after a line with a backspace."""
    found = []
    for part in re.split(r"\n\s*\n", text.strip()):
        lines = part.removeprefix("\b\n").split("\n")
        if lines[0].startswith("  "):
            found.append("```text\n" + textwrap.dedent("\n".join(lines)) + "\n```\n")
        else:
            found.append(escaped(" ".join(" ".join(lines).split())) + "\n")
    return found


def escaped(text: str) -> str:
    """Text in which Markdown and HTML find nothing."""
    return re.sub(r"([\\*_<>|\[\]`])", r"\\\1", text)
