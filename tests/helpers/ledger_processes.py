"""Many processes at one ledger: they race for the last of a budget, or are killed at any point.

A script, so that processes are forked from one that has loaded everything and runs no threads:

    python ledger_processes.py create LEDGER          16 processes open the same account in a ledger that is not there
    python ledger_processes.py race LEDGER ATTEMPTS   16 processes try to take 1/10 of 1, so many times each
    python ledger_processes.py close LEDGER ROUNDS    8 processes finalise a reservation, 8 take it back, round by round
    python ledger_processes.py decide LEDGER          8 processes spend for records, 8 for persons: one decides
    python ledger_processes.py relate LEDGER          8 processes spend, 8 raise a factor, at the same time
    python ledger_processes.py upgrade LEDGER         16 processes upgrade an old ledger
    python ledger_processes.py crash LEDGER FILE KILLS [careless]

It prints what happened as JSON. ``careless`` uses first and reserves then: the check must notice.
"""

import json
import os
import random
import signal
import sys
import time
from fractions import Fraction
from pathlib import Path

from dawa import ledger
from dawa.errors import ExhaustedError, LedgerError, TakenBackError

PROCESSES = 16
STEPS = [Fraction(1, 10), Fraction(1, 7), Fraction(2, 3)]


def together(attempt):
    """What 16 processes that start at the same moment write: one letter for each thing that they did."""
    gate, open_gate = os.pipe()
    results, report = os.pipe()
    children = []
    for hand in range(PROCESSES):
        child = os.fork()
        if child == 0:
            os.close(open_gate)
            os.read(gate, 1)
            for letter in attempt(hand):
                os.write(report, letter)
            os._exit(0)
        children.append(child)
    os.close(report)
    os.close(open_gate)
    seen = b""
    while part := os.read(results, 1000):
        seen += part
    assert all(os.waitpid(child, 0)[1] == 0 for child in children)
    return seen.decode()


def create(place):
    def attempt(_hand):
        try:
            ledger.opened(place).create("hr", 1)
            yield b"t"
        except LedgerError as error:
            yield b"r" if "already" in error.problem else b"x"

    return {"seen": "".join(sorted(together(attempt)))}


def race(place, attempts):
    ledger.opened(place).create("hr", 1)

    def attempt(_hand):
        for _ in range(int(attempts)):
            try:
                ledger.opened(place).reserve("hr", "1/10", what={}, mechanism="race")
                yield b"t"
            except ExhaustedError:
                yield b"r"
            except LedgerError:
                yield b"x"

    seen = together(attempt)
    account = ledger.opened(place).account("hr")
    return {"seen": "".join(sorted(seen)), "spent": str(account.spent), "left": str(account.left)}


def close(place, rounds):
    """What ended each reservation, and what the sixteen were told: a letter for each."""
    book = ledger.opened(place)
    book.create("hr", 10**6)
    found = []
    for _ in range(int(rounds)):
        reservation = book.reserve("hr", "1/10", what={}, mechanism="close")
        number, before = reservation.entry.number, book.account("hr").spent

        def attempt(hand, reservation=reservation, number=number):
            try:
                if hand % 2:
                    reservation.finalise(f"release-{number}-{hand}")
                    yield b"F"
                else:
                    book.take_back(number, why="a race", nothing_was_made=True)
                    yield b"T"
            except TakenBackError:
                yield b"b"
            except LedgerError as error:
                yield (
                    b"t"
                    if "already taken back" in error.problem
                    else b"f"
                    if "has a release" in error.problem
                    else b"x"
                )

        seen = "".join(sorted(together(attempt)))
        closing = [entry.kind for entry in book.history() if entry.reservation == number]
        found.append({"seen": seen, "booked": closing, "given back": str(before - book.account("hr").spent)})
    return found


def decide(place):
    ledger.opened(place).create("hr", 100)

    def attempt(hand):
        unit = ("person",) if hand % 2 else ()
        try:
            ledger.opened(place).reserve("hr", 1, what={}, mechanism="decide", unit=unit, table=f"t{hand % 2}")
            yield b"p" if hand % 2 else b"r"
        except LedgerError as error:
            yield b"." if "counts what" in error.problem else b"x"

    seen = together(attempt)
    account = ledger.opened(place).account("hr")
    return {"seen": "".join(sorted(seen)), "unit": account.unit, "table": account.table, "spent": str(account.spent)}


def relate(place):
    """Factors from 2 to 9 in any order: those that come too late are refused, and the largest counts for all."""
    book = ledger.opened(place)
    book.create("hr", 10, unit="person")
    book.relate("hr", unit="record", times=1, why="a start")

    def attempt(hand):
        try:
            if hand % 2:
                ledger.opened(place).reserve("hr", "1/2", what={}, mechanism="relate")
                yield b"t"
            else:
                ledger.opened(place).relate("hr", unit="record", times=2 + hand // 2, why="a race")
                yield b"u"
        except ExhaustedError:
            yield b"r"
        except LedgerError as error:
            yield b"l" if "never lowers" in error.hint else b"x"

    seen = together(attempt)
    account = book.account("hr")
    return {"seen": "".join(sorted(seen)), "spent": str(account.spent), "broken": book.summary().broken}


def upgrade(place):
    def attempt(_hand):
        yield b"." if ledger.opened(place).upgrade().entry is None else b"u"

    seen = together(attempt)
    return {"seen": "".join(sorted(seen)), "kinds": [entry.kind for entry in ledger.opened(place).history()]}


def cycle(book, side, epsilon, *, careless=False):
    """Reserve, use, finalise. A use is a line on the disk that says which entry allowed it."""
    if careless:
        use(side, len(book.history()) + 1, epsilon)
    reservation = book.reserve("hr", epsilon, what={}, mechanism="crash")
    if not careless:
        use(side, reservation.entry.number, epsilon)
    reservation.finalise(f"release-{reservation.entry.number}")


def use(side, number, epsilon):
    os.write(side, f"{number} {epsilon}\n".encode())
    os.fsync(side)


def crash(place, file, kills, careless=""):
    book = ledger.opened(place)
    book.create("hr", 10**6)
    side = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    started = time.monotonic()
    cycle(book, side, STEPS[0])
    longest = 3 * (time.monotonic() - started)
    moments = random.Random(1)  # noqa: S311  when to kill
    parent = os.getpid()
    short, before = 0, 1
    for _ in range(int(kills)):
        child = os.fork()
        if child == 0:
            while os.getppid() == parent:
                cycle(book, side, random.choice(STEPS), careless=bool(careless))  # noqa: S311  how much to use
            os._exit(0)
        time.sleep(moments.uniform(0, longest))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        lines = [line.split() for line in Path(file).read_text(encoding="ascii").splitlines()]
        used = {int(number): Fraction(epsilon) for number, epsilon in lines}
        # Two of three children get as far as a use, however busy the machine is.
        longest *= 0.95 if len(used) > before else 1.1
        before = len(used)
        summary = book.summary()
        assert summary.broken is None
        spent = {entry.number: entry.epsilon for entry in book.history() if entry.kind == "reserve"}
        short += any(spent.get(number) != epsilon for number, epsilon in used.items())
        short += summary.accounts[0].spent < sum(used.values())
    finalised = spent.keys() - {entry.number for entry in summary.pending}
    assert careless or finalised <= used.keys()
    assert summary.accounts[0].spent == sum(spent.values())
    return {"short": short, "used": len(used), "pending": len(summary.pending), "spent": len(spent)}


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    commands = (create, race, close, decide, relate, upgrade, crash)
    sys.stdout.write(json.dumps({one.__name__: one for one in commands}[command](*arguments)))
