"""``dawa audit``: what mechanisms and releases really lose, seen from outside.

``dawa`` offers this command if it finds this package, and imports this module to show its help. So this module imports
everything that is slow to load only when the command runs.
"""

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dawa.cli.options import Json
from dawa.cli.terminal import REFUSED, STOPPED, complain, reported, screen, tell, write_json
from dawa.errors import OptionError
from dawa_bench.terminal import progress

if TYPE_CHECKING:
    from dawa_bench.audit.parts import Job, Seen

HELP = """Look for what mechanisms lose beyond the epsilon that they claim, from outside.

\b
  dawa audit                          # every mechanism, in minutes
  dawa audit dawa privtree            # these
  dawa audit --part exact --full      # one part, thoroughly
  dawa audit --part controls          # what is known to be wrong, and must be caught
  dawa audit --list                   # the parts
  dawa audit --report docs/audit.md   # a page of what was found

\b
No data is read: neighbouring tables are made up. The exit code is 1 if a loss
exceeds what is claimed, or if a control was not caught.
"""


def audit(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[MECHANISM]...", help="Only these.", show_default=False)
    ] = None,
    *,
    part: Annotated[
        list[str] | None,
        typer.Option(metavar="PART", help="Only this part; may be repeated. (default: all)", show_default=False),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="More of everything: hours instead of minutes.")] = False,
    runs: Annotated[
        int | None,
        typer.Option(min=100, help="Runs with each of two neighbours where chances are counted.", show_default=False),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Makes an audit repeatable. (default: fresh randomness)")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes. (default: one per core)")] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write a page in Markdown.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the parts and exit.")] = False,
    json: Json = False,
) -> None:
    """Audit."""
    with reported(json):
        from dawa_bench.audit import display, parts  # noqa: PLC0415  see above

        if listed:
            _list(json=json)
            return
        if report is not None and not report.absolute().parent.is_dir():
            raise OptionError(f"There is no folder for {report}.", "name a file in a folder that exists.")
        if report is not None and os.path.isdir(report):  # noqa: PTH112  it fails for no name
            raise OptionError(f"{report} is a folder.", "name a file in it.")
        wanted = parts.Wanted(tuple(names or ()), parts.sized(runs, full=full), seed)
        chosen = tuple(dict.fromkeys(part or ()))
        every = parts.jobs(chosen, wanted)
        found = _done(every, jobs or os.cpu_count() or 1)
        if json:
            write_json(display.plain(found))
        else:
            for name, of in display.lines(found).items():
                screen().print(display.table(name, of))
            tell(display.verdict(found))
        if report is not None:
            display.write(found, " ".join(["dawa audit", *_typed(sys.argv)]), report, len(every) - len(found))
            tell(*([] if json else [f"The page is {report}."]))
        if len(found) < len(every):
            complain(f"Stopped after {len(found)} of {len(every)} looks.")
            raise typer.Exit(STOPPED + signal.SIGINT)
        if not all(one.expected for one in found):
            raise typer.Exit(REFUSED)


def _list(*, json: bool) -> None:
    from dawa_bench.audit.parts import PARTS  # noqa: PLC0415  see above

    if json:
        write_json({name: {"title": part.title, "does": part.does} for name, part in PARTS.items()})
        return
    for name, part in PARTS.items():
        tell(f"{name:<10}{part.title}. {part.does}")


def _done(waiting: "Sequence[Job]", processes: int) -> "list[Seen]":
    """Do all jobs, in processes of their own: some change what a process does while it is watched.

    What was found until somebody stops it is not lost.
    """
    import joblib  # noqa: PLC0415  see above

    from dawa_bench.audit.parts import seen  # noqa: PLC0415  see above

    found: list[Seen] = []
    with progress("audit") as advanced:
        advanced(0, len(waiting))
        several = joblib.Parallel(n_jobs=processes, return_as="generator", batch_size=1)
        with suppress(KeyboardInterrupt), closing(several(joblib.delayed(seen)(job) for job in waiting)) as results:
            for one in results:
                found.append(one)
                advanced(len(found), len(waiting))
    return found


def _typed(arguments: Sequence[str]) -> list[str]:
    """What was typed behind ``dawa audit``, without where the page goes."""
    behind = list(arguments[arguments.index("audit") + 1 :]) if "audit" in arguments else []
    if "--report" in behind:
        at = behind.index("--report")
        del behind[at : at + 2]
    return behind
