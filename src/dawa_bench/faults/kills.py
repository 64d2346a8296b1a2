"""Kill releases at every moment: ``python -m dawa_bench.faults.kills``.

Each run is a real ``dawa release`` that a ledger pays for. It is stopped by SIGKILL, SIGTERM or SIGINT, after a random
time, or with strace at the n-th system call that writes, for every n. After each, ``dawa ledger recover`` is called,
and then:

- the ledger is whole, and its sum is at most its cap;
- a folder that people see is complete, and the ledger knows its release;
- no release is left anywhere without its ledger knowing it;
- a run that reported success has its folder; a run that was asked to stop (not killed) either has its folder or has
  made nothing, and said which.

It prints counts, and leaves with exit code 1 if one of these fails.
"""

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import dawa
from dawa.publish import recovery
from dawa.results import traces
from dawa.results.keeping import RELEASE

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
CALLS = (
    "write,pwrite64,writev,fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir,"
    "ftruncate,fallocate,chmod,fchmod,fchmodat"
)
"""The system calls that change something, for strace."""

Run = tuple[str, signal.Signals, subprocess.CompletedProcess[str]]
"""The folder that a run was to write, how it was stopped, and what it said."""

EPSILON = Fraction(1, 10)
ROWS = 20_000


@dataclass
class Field:
    """Where the runs take place, and what became of them.

    Attributes:
        folder: A folder of its own.
        files: The names of the files in a complete folder.
        seconds: What a run takes that nobody disturbs.
        counts: What happened how often.
        failures: What must not happen.
    """

    folder: Path
    files: frozenset[str] = frozenset()
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    @property
    def book(self) -> dawa.ledger.Ledger:
        """The ledger that pays."""
        return dawa.ledger.opened(self.folder / "ledger.db")

    def command(self, out: str) -> list[str]:
        """A release into a folder."""
        table, ledger = self.folder / "people.csv", self.folder / "ledger.db"
        asked = ["--column", "age", "--range", "0:100", "--queries", str(self.folder / "asked.csv")]
        paid = ["--epsilon", str(EPSILON), "--ledger", str(ledger), "--dataset", "people"]
        return [sys.executable, "-m", "dawa", "release", str(table), *asked, *paid, "--out", str(self.folder / out)]


def prepared(folder: Path, cap: Fraction) -> Field:
    """A table, a ledger, and one run that nobody disturbs."""
    draw = random.Random(1)  # noqa: S311  a table of nobody
    rows = "\n".join(str(draw.randrange(100)) for _ in range(ROWS))
    (folder / "people.csv").write_text(f"age\n{rows}\n", encoding="utf-8")
    (folder / "asked.csv").write_text("lo,hi\n18,65\n0,50\n", encoding="utf-8")
    found = Field(folder)
    found.book.create("people", cap, unit="record")
    begin = time.monotonic()
    subprocess.run(found.command("first"), check=True, capture_output=True)  # noqa: S603  our own command
    found.seconds = time.monotonic() - begin
    found.files = frozenset(path.name for path in (folder / "first").iterdir())
    return found


def at_random(field: Field, kills: int, seed: int) -> Iterator[Run]:
    """Runs that are stopped after a random time, up to a little more than one takes."""
    draw = random.Random(seed)  # noqa: S311  moments
    for number in range(kills):
        out, sent = f"random-{number}", SIGNALS[number % len(SIGNALS)]
        with subprocess.Popen(  # noqa: S603  our own command
            field.command(out),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_heard,  # noqa: PLW1509
        ) as process:
            time.sleep(draw.uniform(0.3, 1.1) * field.seconds)
            process.send_signal(sent)
            told, error = process.communicate()
        yield out, sent, subprocess.CompletedProcess([], process.returncode, told, error)


def _heard() -> None:
    """Let a run hear Ctrl-C: a shell lets what runs in its background ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def at_calls(field: Field, every: int) -> Iterator[Run]:
    """Runs that are stopped at the n-th call of a system call that writes, for every such call and every n."""
    number = 0
    for call, times in _calls(field).items():
        for when in range(1, times + 1):
            number += 1
            if number % every:
                continue
            out, sent = f"{call}-{when}", SIGNALS[(number // every) % len(SIGNALS)]
            inject = f"inject={call}:signal={sent.name}:when={when}"
            traced = ["strace", "-f", "-o", "/dev/null", "-e", f"trace={call}", "-e", inject]
            ran = subprocess.run(  # noqa: S603  our own command
                [*traced, *field.command(out)], check=False, capture_output=True, text=True, preexec_fn=_heard
            )
            yield out, sent, ran


def _calls(field: Field) -> dict[str, int]:
    """How often a run that nobody disturbs makes each of the calls that write, in all of its threads."""
    listed = field.folder / "calls"
    traced = ["strace", "-f", "-c", "-o", str(listed), "-e", f"trace={CALLS}"]
    subprocess.run([*traced, *field.command("counted")], check=True, capture_output=True)  # noqa: S603  our own
    rows = [line.split() for line in listed.read_text(encoding="utf-8").splitlines()]
    return {row[-1]: int(row[3]) for row in rows if len(row) >= 5 and row[-1] in CALLS.split(",")}


def judge(field: Field, out: str, sent: signal.Signals, ran: "subprocess.CompletedProcess[str]") -> None:
    """Recover, and see that nothing is lost or half done."""
    here, folder = field.folder, field.folder / out
    before = _releases(here)
    found = recovery.recovered(field.book)
    known = {entry.release_id for entry in field.book.history() if entry.kind == "finalise"}
    complete = folder.is_dir() and {path.name for path in folder.iterdir()} == field.files
    account, summary = field.book.account("people"), field.book.summary()
    checks = {
        "the ledger is whole": summary.broken is None,
        "no more is spent than the cap": account.spent <= account.cap,
        "a folder is complete or absent": complete or not folder.exists(),
        "every release is known to the ledger": set(_releases(here).values()) <= known,
        "a release is never lost": set(before.values()) <= set(_releases(here).values()),
        "what is at its place is a release": not complete or dawa.load(folder / RELEASE).id in known,
        "success means a folder": ran.returncode != 0 or complete,
        "who is asked to stop says what it made": sent is signal.SIGKILL or _honest(ran, complete=complete),
        "nothing is at work": not any(trace.state == traces.WORKING for trace in found),
    }
    field.failures += [
        f"{out}, {sent.name}: not so: {name}. {ran.stderr.strip()}" for name, fine in checks.items() if not fine
    ]
    booked = sum(trace.state == traces.BOOKED for trace in found)
    lost = sum(trace.state == traces.NOTHING for trace in found)
    state = "recovered" if booked else "complete" if complete else "paid, nothing made" if lost else "nothing paid"
    field.counts[f"{sent.name}: {state}"] += 1
    for trace in found:
        if trace.state == traces.NOTHING:
            field.book.take_back(trace.entry.number, why="killed before anything was made", nothing_was_made=True)
    shutil.rmtree(folder, ignore_errors=True)


def _releases(folder: Path) -> dict[Path, str | None]:
    """All releases anywhere under a folder, by the paths of their files."""
    return {path: dawa.load(path).id for path in folder.rglob(RELEASE)}


def _honest(ran: "subprocess.CompletedProcess[str]", *, complete: bool) -> bool:
    """Whether a run that was asked to stop says what it did."""
    if ran.returncode == 0:
        return complete
    if complete:
        return "finished first" in ran.stderr or "Released" in ran.stdout
    return ran.returncode in {-sig for sig in (2, 15)} or "Stopped" in ran.stderr or "exhausted" in ran.stderr


def run(kills: int, every: int, seed: int, *, calls: bool, told: bool = True) -> Field:
    """Stop this many runs at random moments, and others at system calls."""
    with tempfile.TemporaryDirectory(prefix="dawa-kills-") as folder:
        found = prepared(Path(folder), Fraction(10_000))
        runs: list[Iterator[Run]] = [at_random(found, kills, seed)]
        if calls:
            runs.append(at_calls(found, every))
        done = 0
        for source in runs:
            for out, sent, ran in source:
                judge(found, out, sent, ran)
                done += 1
                if told and done % 10 == 0:
                    print(f"{done} runs, {len(found.failures)} failures", file=sys.stderr, flush=True)
        return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what happened how often."""
    parser = argparse.ArgumentParser(prog="python -m dawa_bench.faults.kills", description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--kills", type=int, default=300, help="how many runs are stopped at random moments")
    parser.add_argument("--every", type=int, default=1, help="stop at every so many system calls that write")
    parser.add_argument("--no-calls", action="store_true", help="only at random moments; strace is not needed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(arguments)
    if not asked.no_calls and shutil.which("strace") is None:
        parser.error("strace is not installed: install it, or pass --no-calls.")
    found = run(asked.kills, asked.every, asked.seed, calls=not asked.no_calls)
    if asked.json:
        print(json.dumps({"counts": found.counts, "failures": found.failures}, indent=1))
        return bool(found.failures)
    for name, count in sorted(found.counts.items()):
        print(f"{count:>6}  {name}")
    print(f"{sum(found.counts.values()):>6}  runs, of which {len(found.failures)} broke a rule")
    print("\n".join(found.failures))
    return bool(found.failures)


if __name__ == "__main__":
    sys.exit(main())
