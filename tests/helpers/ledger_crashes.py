"""Hands at a ledger that may be killed at any step: between two statements, or before its receipt is on the disk.

A script, so that processes are forked from one that has loaded everything and runs no threads. It reads an order on a
line of JSON, lets a child of its own carry it out, and writes a line: ``done``, ``refused``, or ``killed``.

    {"place": FILE, "anchor": FILE, "call": "reserve", "arguments": {...}, "steps": 12}

A step is a call or a return of a function that talks to the database or writes the receipt. The child kills itself
before step number ``steps``, as the system would: nothing is closed, nothing is tidied.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

STEPS = 150
"""More steps than any operation takes."""

TALKING = {"execute", "commit", "connect", "open", "pread", "write", "fsync", "close"}
MODULES = {"_sqlite3", "sqlite3", "posix"}


class Hands:
    """Operations at a ledger, each in a process of its own, started by a process that does nothing else."""

    def __init__(self):
        self.process = subprocess.Popen(  # noqa: S603  our own script
            [sys.executable, str(Path(__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.process.communicate()
        assert self.process.returncode == 0

    def order(self, **order):
        """What came of it: done, refused or killed."""
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()


def killed_at(steps):
    """Let this process be killed after so many steps."""
    passed = 0

    def look(_frame, event, called):
        nonlocal passed
        if event not in {"c_call", "c_return", "c_exception"} or called.__name__ not in TALKING:
            return
        if (called.__module__ or type(called.__self__).__module__) not in MODULES:
            return
        passed += 1
        if passed > steps:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(look)


def carried_out(ledger, call, place, anchor, **arguments):
    """One operation; a reservation is finalised as its run would, which has kept the entry."""
    book = ledger.opened(place, anchor=anchor)
    if call == "finalise":
        number = arguments.pop("number")
        return ledger.Reservation(book, book.history()[number - 1]).finalise(**arguments)
    return getattr(book, call)(**arguments)


def main():
    from dawa import ledger  # noqa: PLC0415  for the script alone
    from dawa.errors import DawaError  # noqa: PLC0415

    for line in sys.stdin:
        order = json.loads(line)
        answer, report = os.pipe()
        child = os.fork()
        if child == 0:
            ledger.opened(order["place"])  # all that a step could load is there before
            killed_at(order["steps"])
            try:
                carried_out(ledger, order["call"], order["place"], order["anchor"], **order["arguments"])
                told = b"done"
            except DawaError:
                told = b"refused"
            sys.setprofile(None)
            os.write(report, told)
            os._exit(0)
        os.close(report)
        told = os.read(answer, 10).decode()
        os.close(answer)
        status = os.waitpid(child, 0)[1]
        assert told or os.WTERMSIG(status) == signal.SIGKILL
        print(told or "killed", flush=True)  # noqa: T201  the answer


if __name__ == "__main__":
    main()
