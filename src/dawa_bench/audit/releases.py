"""Whole releases, audited from table to folder: ``python -m dawa_bench.audit.releases [SOURCE…]``.

A release says something about records at its gates alone (``watch``); all the rest must follow from that, and from what
is public. So two neighbouring tables are released, and the second run is given at every gate what the first one was
given. Then whatever is said and written must be the same, byte by byte: the folder with its files, standard output and
error, logs, warnings, exit codes, errors, the ledger (``left`` says what is held still meanwhile). What the gates were
asked may differ, by no more than epsilon allows.

A line for each source, way and question: the largest loss over all neighbours, beside epsilon, and what differs, if
anything does. The command fails if anything is wrong.

Examples:
  python -m dawa_bench.audit.releases                    every source that is installed, but Spark
  python -m dawa_bench.audit.releases CSV PostgreSQL     these alone
"""

import argparse
import math
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner

import dawa
from dawa import ledger
from dawa.cli import app
from dawa.publish import folder as folders
from dawa_bench.audit.chances import lost, most
from dawa_bench.audit.finding import Finding
from dawa_bench.audit.holders import Held, Holder, named
from dawa_bench.audit.left import DATA, LEDGER, Left, Ran, difference, emptied, held_still, left
from dawa_bench.audit.tables import ASKED, Asked, Odd, Table, neighbours, odds
from dawa_bench.audit.watch import Answering, Asking, Given, Interrupted, Watched

EPSILON = "1"
ACCOUNT = "people"
PYTHON, COMMAND, JSON = WAYS = ("Python", "command", "command, JSON")
"""How a release is asked for."""
NOISY = ("noisy", "noisy_large")
"""Gates that add noise: what lies beyond both exact numbers tells most, whatever passed the other gates."""
RUNNER = CliRunner()
Told = Callable[[int, int], object]
"""Hears how many questions are done, and how many there are."""


def findings(
    sources: tuple[str, ...] = (),
    seed: int | None = None,
    told: Told = lambda _done, _total: None,
    asked: Iterable[Asked] = ASKED,
    ways: Iterable[str] = WAYS,
) -> Iterator[Finding]:
    """A finding for each source, way and question.

    Args:
        sources: The names of the sources; none stands for all that are installed and not slow.
        seed: Of what passes the gates.
        told: Hears of progress.
        asked: The questions.
        ways: The ways to ask.
    """
    holders, asked, ways = named(sources), tuple(asked), tuple(ways)
    total, done = len(holders) * len(asked), 0
    for holder in holders:
        with holder.running() as running:
            for question in asked:
                yield from audited(holder, question, seed, ways=ways, running=running)
                done += 1
                told(done, total)


def audited(
    holder: Holder,
    asked: Asked,
    seed: int | None = None,
    *,
    ways: Iterable[str] = WAYS,
    running: Any = None,  # noqa: ANN401  whatever a holder needs
    among: Iterable[Odd] | None = None,
) -> Iterator[Finding]:
    """Ask one question in several ways, about every pair of neighbours that a source can hold."""
    chosen = tuple(odds(holder.kinds, asked) if among is None else among)
    with tempfile.TemporaryDirectory(prefix="dawa-audit-") as name:
        place = Path(name).resolve()
        for way in ways:
            if way == PYTHON or _on_the_command_line(holder, place, running):
                yield _largest(holder, asked, way, chosen, place, running, seed)


def worst(source: str, question: str, few: int | None, seed: int | None) -> Finding:
    """The worst finding over all ways to ask one question, by names, so that it may run in any process.

    Args:
        source: The name of a source.
        question: The name of a question.
        few: With how many odd records; None for all.
        seed: Of what passes the gates.
    """
    (holder,), (asked,) = named((source,)), (asked for asked in ASKED if asked.name == question)
    every = list(odds(holder.kinds, asked))
    among = every if few is None else every[:: math.ceil(len(every) / few)]
    with holder.running() as running:
        found = list(audited(holder, asked, seed, running=running, among=among))
    return replace(max(found, key=lambda each: each.loss), runs=sum(each.runs for each in found))


def pair(one: Left, two: Left) -> tuple[Decimal, str]:
    """What two runs on neighbours tell, and what differs although their gates gave the same."""
    told = difference(one, two)
    return (Decimal("Infinity"), told) if told else (loss(one.passed, two.passed), "")


def loss(one: Watched, two: Watched) -> Decimal:
    """The most that is told by a transcript with these coins.

    What coins and choices tell is computed for those that were given, as it is a sum that has a bound only as a whole.
    Noise may lie on either side, so it adds to them the most that any noise tells.
    """
    coins = sum(
        (
            lost(mine, theirs, given)
            for mine, theirs, given in zip(one.asked, two.asked, one.given, strict=True)
            if mine.gate not in NOISY
        ),
        Decimal(0),
    )
    noise = (most(mine, theirs) for mine, theirs in zip(one.asked, two.asked, strict=True) if mine.gate in NOISY)
    return sum(noise, abs(coins))


def likely(seed: int | None) -> Answering:
    """Give at every gate what it might have given, by numbers of the audit's own.

    The sampler under the gates is audited by itself (``sampler``). Here it would take bytes from the operating system,
    and so make other names of what comes after it.
    """
    rng = np.random.default_rng(seed)

    def answer(asking: Asking, _: Callable[[], Given]) -> Given:
        if asking.gate == "tossed":
            return tuple(int(rng.random() * 2**64 < chance) for chance in asking.exact)
        if asking.gate == "chosen":
            (scale,) = asking.scales
            return (int(np.argmax([float(score / scale) + rng.gumbel() for score in asking.exact])),)
        scales = asking.scales if len(asking.scales) > 1 else asking.scales * len(asking.exact)
        return tuple(
            exact + round(rng.laplace(0, float(scale))) for exact, scale in zip(asking.exact, scales, strict=True)
        )

    return answer


def again(passed: Watched) -> Answering:
    """Give what was given before, and stop the run where something else is asked."""
    before = iter(zip(passed.asked, passed.given, strict=True))

    def answer(asking: Asking, _: Callable[[], Given]) -> Given:
        for then, given in before:
            if then.public == asking.public:
                return given
            break
        raise Interrupted(asking)

    return answer


def _largest(
    holder: Holder, asked: Asked, way: str, chosen: Iterable[Odd], place: Path, running: object, seed: int | None
) -> Finding:
    """The largest loss over neighbours."""
    largest, event, refused, count = Decimal(-1), "", 0, 0
    one: Left | None = None
    for odd in chosen:
        fewer, more = neighbours(asked, odd)
        if one is None:  # the first run is not compared: it imports what it needs, and some libraries log that
            first = _left(holder, fewer, asked, way, place, running, likely(seed))
            one = _left(holder, fewer, asked, way, place, running, again(first.passed))
        two = _left(holder, more, asked, way, place, running, again(one.passed))
        found, differs = pair(one, two)
        count += 1
        refused += not one.made
        if found > largest:
            largest, event = found, f"{odd.name}: {differs}" if differs else odd.name
    if refused:
        event += f" ({refused} of {count} were refused)"
    exact = float(largest)
    return Finding(f"{holder.name}, {way}: {asked.name}", float(Fraction(EPSILON)), exact, exact, event, runs=count + 1)


def _left(
    holder: Holder, table: Table, asked: Asked, way: str, place: Path, running: object, answering: Answering
) -> Left:
    """What is left of a run on a table."""
    emptied(place)
    held = holder.made(place / DATA, table, running)
    with held_still():
        ledger.opened(place / LEDGER).create(ACCOUNT, cap=10)
    run = _in_python if way == PYTHON else _on_command
    return left(lambda: run(held, asked, way, place), place, answering)


def _in_python(held: Held, asked: Asked, _: str, place: Path) -> Ran:
    table, _typed = held
    with folders.prepared(place / "out") as keeper:
        made = dawa.release(
            table,
            asked.axes,
            epsilon=EPSILON,
            ledger=place / LEDGER,
            dataset=ACCOUNT,
            out=keeper,
            effort="fast",
            **asked.options,
        )
    return Ran({"repr": repr(made), "statement": str(made.privacy), "release": made.as_text()}, made=True)


def _on_command(held: Held, asked: Asked, way: str, place: Path) -> Ran:
    _table, typed = held
    paid = ("--epsilon", EPSILON, "--ledger", str(place / LEDGER), "--dataset", ACCOUNT, "--out", str(place / "out"))
    options = ("--option", "effort=fast", *(["--json"] if way == JSON else []))
    ran = RUNNER.invoke(app, ["release", *(typed or ()), *asked.typed, *paid, *options], prog_name="dawa")
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        raise ran.exception
    said = {"exit code": str(ran.exit_code), "standard output": ran.stdout, "standard error": ran.stderr}
    return Ran(said, made=ran.exit_code == 0)


def _on_the_command_line(holder: Holder, place: Path, running: object) -> bool:
    """Whether a source can be named there."""
    emptied(place)
    return holder.made(place / DATA, Table((), ()), running)[1] is not None


def main() -> None:
    """Print what is found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", nargs="*", metavar="SOURCE", help="one or several; all that are installed by default")
    parser.add_argument("--seed", type=int, help="of what passes the gates")
    typed = parser.parse_args()
    wrong = 0
    print(f"{'source, way: question':50} {'loss':>8} {'epsilon':>8}  neighbours that tell most, and what differs")
    for found in findings(tuple(typed.source), typed.seed):
        print(f"{found.what:50} {found.loss:8.4f} {found.claimed:8g}  {found.event}", flush=True)
        wrong += found.wrong
    sys.exit(f"{wrong} are wrong." if wrong else None)


if __name__ == "__main__":
    main()
