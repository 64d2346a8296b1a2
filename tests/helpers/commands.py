"""Run the command line as people do, but in this process: for tests of commands."""

import json
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from typer.testing import CliRunner

from dawa.cli import app

RUNNER = CliRunner()


@dataclass(frozen=True)
class Ran:
    """What came of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """The one JSON value on stdout; an error if something else stands there."""
        return json.loads(self.out)


def dawa(*arguments, **environment):
    """Run ``dawa`` with these arguments; no traceback is ever acceptable."""
    typed = [str(argument) for argument in arguments]
    result = RUNNER.invoke(app, typed, env={"COLUMNS": "200", **environment}, prog_name="dawa")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert "Traceback" not in result.output
    return Ran(result.exit_code, result.stdout, result.stderr)


def refused(ran, *parts, code=1):
    """Check that a command was refused in one line on stderr that says all of these, and nothing on stdout."""
    assert ran.code == code, (ran.out, ran.err)
    assert not ran.out
    assert ran.err.count("\n") == 1, ran.err
    assert " Hint: " in ran.err
    for part in parts:
        assert part in ran.err, (part, ran.err)


def taken_back_elsewhere(book, number, who=None):
    """Take back what a run is at work on, as on another machine, where nothing can be seen of it."""
    with mock.patch("dawa.ledger.gone.check"):
        return book.take_back(number, why="it seemed to hang", nothing_was_made=True, who=who)


def names(folder="."):
    """The names of what commands have left in a folder."""
    return {path.name for path in Path(folder).iterdir()}
