"""The parts of an audit: what each looks at, and the jobs that it consists of, which may run in any process."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import dawa
from dawa.errors import OptionError
from dawa_bench.audit import controls, exact, holders, outside, releases, sampler, search, table_controls
from dawa_bench.audit.finding import Finding
from dawa_bench.audit.subjects import EPSILONS, LINES, MAPS, ON_MAPS, QUICK, pairs, subjects, walked
from dawa_bench.audit.tables import ASKED

CONTROLS = (*controls.CONTROLS, *table_controls.CONTROLS)
"""Of all parts."""


@dataclass(frozen=True)
class Size:
    """How much an audit does.

    Attributes:
        epsilons: That mechanisms are called with on tiny domains.
        effort: Of the exact part.
        steps: Of a search.
        neighbours: Pairs that are looked at from outside.
        runs: With each of two neighbours, from outside.
        draws: Of each gate.
        odd: With how many odd records each question about a table is asked; None for all.
    """

    epsilons: tuple[str, ...]
    effort: exact.Effort
    steps: int
    neighbours: int
    runs: int
    draws: int
    odd: int | None = None


QUICK_SIZE = Size(("1",), exact.Effort(), 20, 2, 2_000, 200_000, 3)
FULL_SIZE = Size(EPSILONS, exact.Effort(16, 150, 20_000), 200, 4, 100_000, 10_000_000)
"""Minutes, and hours."""


def sized(runs: int | None = None, *, full: bool = False) -> Size:
    """Quick or full, but with so many runs where chances are counted, if a number is given."""
    size = FULL_SIZE if full else QUICK_SIZE
    return size if runs is None else replace(size, runs=runs, effort=replace(size.effort, runs=runs))


@dataclass(frozen=True)
class Wanted:
    """What somebody asked for.

    Attributes:
        names: Of mechanisms; none for all.
        size: How much is done.
        seed: Of all that is drawn; None for the operating system's randomness.
    """

    names: tuple[str, ...] = ()
    size: Size = QUICK_SIZE
    seed: int | None = None


@dataclass(frozen=True)
class Job:
    """One thing to look at.

    Attributes:
        part: Which part of the audit it belongs to.
        about: What is looked at, in a table's first column.
        run: Looks.
        wrong: Whether something wrong must be found: it is a control.
    """

    part: str
    about: str
    run: Callable[[], Finding]
    wrong: bool = False


@dataclass(frozen=True)
class Seen:
    """What a job found."""

    part: str
    about: str
    finding: Finding
    wrong: bool = False

    @property
    def expected(self) -> bool:
        """Whether it is as it should be: sound, or a control that was caught."""
        return self.finding.wrong == self.wrong


def seen(job: Job) -> Seen:
    """Do a job, in any process."""
    return Seen(job.part, job.about, job.run(), job.wrong)


def _exact(wanted: Wanted) -> Iterator[Job]:
    for subject in subjects(wanted.names, wanted.size.epsilons):
        yield Job("exact", subject.title, partial(exact.audited, subject, wanted.size.effort, wanted.seed or 0))
    for subject in walked(wanted.names, wanted.size.epsilons):
        yield Job("exact", f"{subject.title}, swept", partial(exact.swept, subject))


def _search(wanted: Wanted) -> Iterator[Job]:
    for name in wanted.names or dawa.mechanisms.names():
        subject = search.searched(name)
        yield Job("search", subject.title, partial(search.climbed, subject, wanted.size.steps, seed=wanted.seed or 0))


def _outside(wanted: Wanted) -> Iterator[Job]:
    for name in wanted.names or dawa.mechanisms.names():
        shape = MAPS[0] if name in ON_MAPS else LINES[2]
        for one, two in pairs(shape, wanted.size.neighbours):
            options: dict[str, Any] = {"mechanism": name, "seed": wanted.seed, **QUICK.get(name, {})}
            yield Job("outside", name, partial(outside.estimates, one, two, wanted.size.runs, **options))


def _draws(wanted: Wanted) -> Iterator[Job]:
    for at, case in enumerate(sampler.cases()):
        yield Job("draws", case.what.partition(",")[0], partial(_drawn, at, wanted.size.draws, wanted.seed))


def _drawn(at: int, draws: int, seed: int | None) -> Finding:
    case = list(sampler.cases())[at]
    return sampler.audited(case, draws, None if seed is None else seed + at)


def _tables(wanted: Wanted) -> Iterator[Job]:
    for holder in holders.named():
        for asked in ASKED:
            run = partial(releases.worst, holder.name, asked.name, wanted.size.odd, wanted.seed)
            yield Job("tables", holder.name, run)


def _controls(wanted: Wanted) -> Iterator[Job]:
    for at, control in enumerate(CONTROLS):
        yield Job("controls", control.name, partial(_caught, at, wanted.seed), wrong=True)
        if control.sound is not None:
            yield Job("controls", f"{control.name}, done right", partial(_spared, at, wanted.seed))


def _caught(at: int, seed: int | None) -> Finding:
    return CONTROLS[at].audit(seed)


def _spared(at: int, seed: int | None) -> Finding:
    sound = CONTROLS[at].sound
    if sound is None:
        raise OptionError(f"Nothing is known to be right in the place of {CONTROLS[at].name!r}.", "audit the control.")
    return sound(seed)


@dataclass(frozen=True)
class Part:
    """A part of the audit.

    Attributes:
        title: A heading.
        does: What it does, in sentences.
        jobs: What it consists of.
        mechanisms: Whether it looks at mechanisms one by one, and so at those alone that somebody names.
    """

    title: str
    does: str
    jobs: Callable[[Wanted], Iterator[Job]]
    mechanisms: bool = True


PARTS = {
    "exact": Part(
        "Exact losses on tiny domains",
        "Two neighbours are made to say the same at every gate through which anything private becomes public, and the "
        "chances of saying it are computed in rational and 60-digit numbers, from definitions alone. Where the choice "
        "is made among noisy costs that stay inside, chances are counted.",
        _exact,
    ),
    "search": Part(
        "A search for bad neighbours on larger domains",
        "Counts are changed a little at a time, and a change is kept if the loss rises. What is found really occurs; "
        "that nothing is found proves nothing.",
        _search,
    ),
    "outside": Part(
        "Losses that are seen from outside",
        "Nothing is known but outputs. Half of the runs choose the event that tells two neighbours apart, the other "
        "half counts it: a lower bound that holds with the confidence stated.",
        _outside,
    ),
    "draws": Part(
        "The noise itself",
        "Every gate's draws, by the hundred thousand and more, beside exact chances: cell by cell, the last bits, and "
        "pairs that follow each other.",
        _draws,
        mechanisms=False,
    ),
    "tables": Part(
        "Whole releases, from table to folder",
        "Two tables of which one has one record more, or one person, are released, and the second run is given at "
        "every gate what the first one was given. Then everything that is said, written and booked must be the same, "
        "byte by byte: files, output, logs, warnings, errors, exit codes, the ledger. A difference is an endless loss.",
        _tables,
        mechanisms=False,
    ),
    "controls": Part(
        "Controls",
        "What is known to be wrong must be caught, and the same done right must not.",
        _controls,
        mechanisms=False,
    ),
}
"""All parts, by their names."""


def jobs(chosen: tuple[str, ...], wanted: Wanted) -> list[Job]:
    """All jobs of these parts; of all that say anything about the mechanisms named, if no part is chosen."""
    if unknown := sorted(set(chosen) - set(PARTS)):
        raise OptionError(f"There is no part {unknown[0]!r}.", f"choose among {', '.join(PARTS)}.")
    for name in wanted.names:
        dawa.mechanisms.describe(name)  # or says that there is none
    asked = chosen or tuple(name for name, part in PARTS.items() if part.mechanisms or not wanted.names)
    if wanted.names and (aside := [name for name in asked if not PARTS[name].mechanisms]):
        raise OptionError(
            f"The part {aside[0]!r} is not about single mechanisms.", "name no mechanism, or other parts."
        )
    return [job for name in asked for job in PARTS[name].jobs(wanted)]
