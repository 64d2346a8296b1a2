"""The command: ``python -m checks.mutants [PART … | MODULE …] [--sample N] [--seed S] [--jobs J] [--report FILE]``."""

import argparse
import os
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from checks.mutants import reach, scopes
from checks.mutants.accepted import ACCEPTED, Accepted, unknown
from checks.mutants.kept import Kept
from checks.mutants.mutant import Mutant, found
from checks.mutants.report import LEAST, Part, page, survivors
from checks.mutants.scopes import DAWA, Project
from checks.mutants.trials import Trials, Verdict

COMMAND = "python -m checks.mutants"
MISUSED = 2
"""What the command ends with if it cannot know what to do."""


@dataclass(frozen=True)
class Wanted:
    """A part of the code, and its mutants that are tried."""

    name: str
    tests: tuple[str, ...]
    everything: list[Mutant]
    drawn: list[Mutant]


def main(arguments: Sequence[str] | None = None) -> int:
    """Try mutants, say which survived, and return 1 if too many did or one that nobody accepted."""
    options = _options(sys.argv[1:] if arguments is None else arguments)
    project = scopes.at(options.root.resolve()) if options.root else DAWA
    project = replace(project, kept=options.kept or project.kept)
    accepted = () if options.root else ACCEPTED
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    texts = {path: (project.root / path).read_text(encoding="utf-8") for path in project.chosen(["*"])}
    try:
        wanted = [_wanted(project, name, texts, options) for name in options.parts or [next(iter(project.scopes))]]
    except ValueError as error:
        console.print(str(error), markup=False)
        return MISUSED
    verdicts = _tried(project, wanted, texts, options, console)
    parts = [Part(one.name, [verdicts[each] for each in one.drawn], len(one.everything)) for one in wanted]
    if options.report:
        about = (Path(__file__).with_name("about.md")).read_text(encoding="utf-8")
        options.report.write_text(page(parts, accepted, _repeated(options), about), encoding="utf-8")
    return _judged(parts, wanted, accepted, console)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument(
        "parts", nargs="*", metavar="PART[:N]", help="core, ledger, sources, or a file; N of its mutants"
    )
    parser.add_argument("--sample", type=int, metavar="N", help="try N mutants of each part, drawn at random")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="which ones are drawn")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, metavar="J", help="how many are tried at a time"
    )
    parser.add_argument("--report", type=Path, metavar="FILE", help="write a page in Markdown")
    parser.add_argument("--again", action="store_true", help="forget what earlier runs have found out")
    parser.add_argument("--tests", nargs="+", metavar="PATH", help="ask these tests, instead of all about the part")
    parser.add_argument("--kept", metavar="FOLDER", help="where is written what the next run can use: build/mutants")
    parser.add_argument("--root", type=Path, metavar="FOLDER", help="another project, with folders src and tests")
    return parser.parse_args(arguments)


def _repeated(options: argparse.Namespace) -> str:
    """The command that finds the same."""
    drawn = [] if options.sample is None else ["--sample", str(options.sample)]
    seeded = ["--seed", str(options.seed)] if options.seed else []
    return " ".join([COMMAND, *options.parts, *drawn, *seeded])


def _wanted(project: Project, name: str, texts: dict[str, str], options: argparse.Namespace) -> Wanted:
    """The mutants of a part, or so many of them."""
    part, _, number = name.partition(":")
    chosen = project.chosen([part])
    everything = [one for path in sorted(chosen) for one in found(path, texts[path])]
    size = int(number) if number.isdecimal() else options.sample
    drawn = everything
    if size is not None and size < len(everything):
        shuffled = [*range(len(everything))]
        random.Random(options.seed).shuffle(shuffled)  # noqa: S311  no secret
        drawn = [everything[at] for at in sorted(shuffled[:size])]  # so a larger sample holds every smaller one
    tests = tuple(dict.fromkeys(test for scope in chosen.values() for test in scope.tests))
    return Wanted(part, tests, everything, drawn)


def _tried(
    project: Project, wanted: Sequence[Wanted], texts: dict[str, str], options: argparse.Namespace, console: Console
) -> dict[Mutant, Verdict]:
    """A verdict for each mutant: of earlier runs where it still holds."""
    tests = tuple(dict.fromkeys(test for one in wanted for test in options.tests or one.tests))
    kept = Kept(project, texts, tests)
    drawn = [each for one in wanted for each in one.drawn]
    old = [] if options.again else [one for one in map(kept.verdict, drawn) if one is not None]
    verdicts = {one.mutant: one for one in old}
    left = [one for one in drawn if one not in verdicts]
    console.print("Finding out which test executes which line …")
    known = reach.known(project, tests, options.jobs)
    for name in known.failing:
        console.print(f"{name} is not asked: it fails on the unchanged code when run here.", markup=False)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, auto_refresh=False) as progress:
        bar = progress.add_task("mutants", total=len(left))

        def tell(verdict: Verdict) -> None:
            verdicts[verdict.mutant] = verdict
            kept.add(verdict)
            progress.update(bar, advance=1, description=f"{verdict.outcome:>11}", refresh=True)
            done = int(progress.tasks[bar].completed)
            if done % SAVED == 0:
                kept.save()
                if not console.is_terminal:
                    console.print(f"{done} of {len(left)}")

        if left:
            Trials(project, tests, texts, known, options.jobs).run(left, tell)
    kept.save()
    return verdicts


SAVED = 25
"""Verdicts are written after so many."""


def _judged(parts: Sequence[Part], wanted: Sequence[Wanted], accepted: Sequence[Accepted], console: Console) -> int:
    """Say what was found, and whether that is enough."""
    for part in parts:
        for one in survivors(part.verdicts, accepted):
            sys.stdout.write(f"survived  {one.mutant}\n")
        console.print(f"{part.name}: {part.summary()}", markup=False)
    unused = unknown((each for one in wanted for each in one.everything), accepted)
    for entry in unused:
        sys.stdout.write(f"accepted, and no such mutant  {entry}\n")
    few = [part for part in parts if part.rate < LEAST]
    return int(bool(few or unused or any(survivors(part.verdicts, accepted) for part in parts)))


if __name__ == "__main__":
    sys.exit(main())
