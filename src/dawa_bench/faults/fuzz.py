"""Hostile input by the million: ``python -m dawa_bench.faults.fuzz [loader|archives|spec|http …] --runs 1000000``.

Every run makes one input from the seed and the run's number, and hands it to the code that reads such input. A run must
end with a result or with an error of dawa's. It may take 2 seconds of the processor's time, and 200 MB of memory beyond
what the process had before. What fails is written to a folder, and ``--replay FILE`` runs it again. Runs are made in
processes of their own: one that hangs or dies is noticed, written down and replaced.
"""

import argparse
import faulthandler
import json
import multiprocessing
import os
import random
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as ready
from pathlib import Path
from typing import Any

from dawa_bench.faults.targets import TARGETS, Target

SECONDS, MEGABYTES = 2.0, 200
"""What one run may take."""
STUCK, COMPILING = 60.0, 600.0
"""Seconds without a word after which a process is replaced, and before its first report, while it may compile."""
REPORT = 2.0
"""Seconds between reports of a process."""
MOST_FAILURES = 50
"""Failures after which a target is given up."""
WARM = 300
"""Runs before memory is measured: what is read and compiled once is not counted."""


@dataclass
class Tally:
    """What happened so far."""

    outcomes: Counter[str] = field(default_factory=Counter)
    slowest: tuple[float, int] = (0.0, -1)
    grown: float = 0.0
    failures: list[str] = field(default_factory=list)

    def add(self, report: dict[str, Any]) -> None:
        """Add what one process reports."""
        self.outcomes.update(report["outcomes"])
        self.slowest = max(self.slowest, tuple(report["slowest"]))
        self.grown = max(self.grown, report["grown"])
        self.failures += report["failures"]

    @property
    def runs(self) -> int:
        """How many runs have ended."""
        return sum(self.outcomes.values())


class StuckError(BaseException):
    """A run that takes too long, interrupted where it was."""


def generator(target: str, seed: int, run: int) -> random.Random:
    """The random choices of one run."""
    return random.Random(f"{target}:{seed}:{run}")  # noqa: S311  reproducible, not secret


def once(target: Target, content: bytes, rng: random.Random) -> tuple[str, float]:
    """Take one input; returns what happened and the seconds of the processor's time that it took."""
    signal.setitimer(signal.ITIMER_PROF, 5 * SECONDS)
    began = time.process_time()
    try:
        outcome = target.take(content, rng)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return outcome, time.process_time() - began


def worked(name: str, seed: int, first: int, step: int, last: int, folder: str, pipe: Connection) -> None:
    """Make every ``step``-th run up to the last, and report."""
    faulthandler.enable()
    signal.signal(signal.SIGPROF, _interrupted)
    target = TARGETS[name]()
    tally, told, base = Tally(), time.monotonic(), 0.0
    for number, run in enumerate(range(first, last, step)):
        rng = generator(name, seed, run)
        content = target.made(rng)
        problem = ""
        if number == min(WARM, (last - first) // step // 2):
            base = _peak()
        pipe.send({"run": run, "content": content}) if number % 64 == 0 or time.monotonic() - told > REPORT else None
        try:
            outcome, seconds = once(target, content, rng)
            tally.slowest = max(tally.slowest, (seconds, run))
            if seconds > SECONDS and number > WARM:
                problem = f"it took {seconds:.1f} seconds"
        except StuckError:
            outcome, problem = "hang", traceback.format_exc()
        except Exception:  # noqa: BLE001  whatever is raised is a finding
            outcome, problem = "crash", traceback.format_exc()
        grown = _peak() - base if base else 0.0
        if grown > max(tally.grown, MEGABYTES) and not problem:
            problem = f"memory grew by {grown:.0f} MB"
        tally.grown = max(tally.grown, grown)
        tally.outcomes[outcome] += 1
        if problem:
            tally.failures.append(_kept(folder, name, seed, run, content, problem))
        if time.monotonic() - told > REPORT:
            _report(pipe, tally, run)
            tally, told = Tally(grown=tally.grown), time.monotonic()
    _report(pipe, tally, last)
    pipe.close()


def _report(pipe: Connection, tally: Tally, run: int) -> None:
    known = {"outcomes": dict(tally.outcomes), "slowest": tally.slowest, "grown": tally.grown}
    pipe.send({"tally": {**known, "failures": tally.failures}, "run": run})


def _peak() -> float:
    """The most memory that this process ever had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _interrupted(_signal: int, _frame: object) -> None:
    raise StuckError


def _kept(folder: str, name: str, seed: int, run: int, content: bytes, problem: str) -> str:
    """Write a failing input down, with what it did."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{name}-{seed}-{run}"
    path.with_suffix(".input").write_bytes(content)
    known = {"target": name, "seed": seed, "run": run, "problem": problem}
    path.with_suffix(".json").write_text(json.dumps(known, indent=1), encoding="utf-8")
    return f"{path}.json: {problem.strip().splitlines()[-1][:200]}"


@dataclass
class Worker:
    """A process that runs, and where it was when it last said something."""

    process: Any
    pipe: Connection
    offset: int
    run: int
    content: bytes = b""
    warm: bool = False
    heard: float = field(default_factory=time.monotonic)


def fuzzed(name: str, runs: int, seed: int, jobs: int, seconds: float, folder: str, *, quiet: bool = False) -> Tally:
    """Fuzz one target; returns what happened."""
    context = multiprocessing.get_context("spawn")
    tally, began, told = Tally(), time.monotonic(), time.monotonic()

    def started(offset: int, first: int) -> Worker:
        ours, theirs = context.Pipe(duplex=False)
        arguments = (name, seed, first, jobs, runs, folder, theirs)
        process = context.Process(target=worked, args=arguments, daemon=True)
        process.start()
        theirs.close()
        return Worker(process, ours, offset, first)

    workers = [started(offset, offset) for offset in range(jobs)]
    while workers and time.monotonic() - began < seconds and len(tally.failures) < MOST_FAILURES:
        ready([worker.pipe for worker in workers], timeout=1)
        for worker in list(workers):
            if _listened(worker, tally):
                continue
            workers.remove(worker)
            if worker.run >= runs:
                worker.process.join()
                continue
            worker.process.join(1)
            problem = f"the process died or hung at run {worker.run} or shortly after (exit {worker.process.exitcode})"
            worker.process.kill()
            tally.failures.append(_kept(folder, name, seed, worker.run, worker.content, problem))
            workers.append(started(worker.offset, worker.run + 64 * jobs))
        if not quiet and time.monotonic() - told > 20:
            told = time.monotonic()
            print(_line(name, tally, time.monotonic() - began), flush=True)
    for worker in workers:
        worker.process.kill()
    if not quiet:
        print(_line(name, tally, time.monotonic() - began), flush=True)
    return tally


def _listened(worker: Worker, tally: Tally) -> bool:
    """Take what a process said; False if it has ended, or said nothing for too long."""
    try:
        while worker.pipe.poll():
            message = worker.pipe.recv()
            worker.run, worker.heard = message["run"], time.monotonic()
            worker.content = message.get("content", worker.content)
            if "tally" in message:
                worker.warm = True
                tally.add(message["tally"])
    except (EOFError, OSError):
        return False
    return time.monotonic() - worker.heard < (STUCK if worker.warm else COMPILING)


def _line(name: str, tally: Tally, seconds: float) -> str:
    outcomes = ", ".join(f"{outcome} {count:,}" for outcome, count in tally.outcomes.most_common())
    return (
        f"{name}: {tally.runs:,} runs in {seconds:.0f} s; {outcomes}; slowest {tally.slowest[0]:.2f} s"
        f" (run {tally.slowest[1]}); memory +{tally.grown:.0f} MB; {len(tally.failures)} failures"
    )


def replayed(path: Path) -> int:
    """Run a failing input again, in this process."""
    known = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    target = TARGETS[known["target"]]()
    rng = generator(known["target"], known["seed"], known["run"])
    content = target.made(rng)
    stored = path.with_suffix(".input").read_bytes()
    if content != stored:
        print("The seed makes another input now; the stored one is run.")
    before = _peak()
    signal.signal(signal.SIGPROF, _interrupted)
    outcome, seconds = once(target, stored, rng)
    print(f"{outcome} in {seconds:.2f} s, memory +{_peak() - before:.0f} MB")
    return 0


def main() -> int:
    """Read the options, fuzz the targets one after the other, and say what failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", help=f"any of {', '.join(TARGETS)}; all of them if none is named")
    parser.add_argument("--runs", type=int, default=1_000_000, help="runs of each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop a target after this time")
    parser.add_argument("--folder", default="fuzz-failures", help="where failing inputs are written")
    parser.add_argument("--replay", type=Path, help="run one of these again")
    options = parser.parse_args()
    if options.replay is not None:
        return replayed(options.replay)
    unknown = set(options.targets) - set(TARGETS)
    if unknown:
        parser.error(f"there is no target {', '.join(sorted(unknown))}")
    failures: list[str] = []
    for name in options.targets or TARGETS:
        failures += fuzzed(name, options.runs, options.seed, options.jobs, options.seconds, options.folder).failures
    print("\n".join(failures) or "Nothing failed.")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
