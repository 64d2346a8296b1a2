"""Whole releases of neighbours: few questions to every source, and all of them in the long run."""

import logging
import math
import os
import sys
import warnings
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from dawa_bench.audit import left as everything
from dawa_bench.audit import releases, table_controls
from dawa_bench.audit.finding import Finding
from dawa_bench.audit.holders import HOLDERS
from dawa_bench.audit.left import DATA, Left, Ran, difference, emptied, left
from dawa_bench.audit.releases import COMMAND, JSON, PYTHON, again, audited, likely, loss, pair
from dawa_bench.audit.tables import ASKED, FEW, ODDS, odds
from dawa_bench.audit.watch import Asking, Interrupted, Watched, drawn

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

QUESTIONS = {asked.name: asked for asked in ASKED}
SOURCES = {holder.name: holder for holder in HOLDERS if holder.name not in {"PostgreSQL", "Spark"}}
TWICE = {"bounds that are found", "a cap that is found"}
"""What reads a table twice, which an open file does not allow."""
ORDINARY, WORST = ODDS[0], ODDS[4]
PERSON = next(odd for odd in ODDS if len(odd.records) == 9)


def held(findings):
    """Check that nothing is wrong, that something was made, and that it was of some use to look.

    A source that cannot be named on the command line has no findings there.
    """
    found = list(findings)
    for each in found:
        assert not each.wrong, each
        assert each.loss > 0, each
        assert "refused" not in each.event, each
    return found


# --- every source ---------------------------------------------------------------------------------------------------


@pytest.mark.long_but(1)
@pytest.mark.parametrize("name", SOURCES)
def test_neighbours_leave_the_same(name):
    """Two neighbours that hurt in Python; the long run has all, on the command line too."""
    holder = SOURCES[name]
    last = list(odds(holder.kinds, QUESTIONS["days apart"]))[-1]
    held(audited(holder, QUESTIONS["days apart"], 1, ways=[PYTHON], among=[WORST, last]))


def test_postgres_leaves_the_same(postgres):
    server = next(holder for holder in HOLDERS if holder.name == "PostgreSQL")
    assert (
        len(held(audited(server, QUESTIONS["groups"], 1, ways=[PYTHON, COMMAND], running=postgres, among=[WORST]))) == 2
    )


@pytest.mark.long_but(1)
@pytest.mark.parametrize("question", ["a map", "persons in groups", "bounds that are found", "a cap that is found"])
def test_the_command_line_says_the_same(question):
    ways = [JSON] if question == "a map" else [COMMAND]
    held(audited(SOURCES["CSV"], QUESTIONS[question], 1, ways=ways, among=[ORDINARY, WORST]))


@pytest.mark.long
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("name", SOURCES)
def test_all_neighbours_leave_the_same(name, question):
    holder, asked = SOURCES[name], QUESTIONS[question]
    every = list(odds(holder.kinds, asked))
    if name == "open file" and question in TWICE:
        (found,) = audited(holder, asked, 2, ways=[PYTHON], among=every)
        assert (found.loss, f"({len(every)} of {len(every)} were refused)" in found.event) == (0, True)
        return
    held(audited(holder, asked, 2, ways=[PYTHON], among=every))
    held(audited(holder, asked, 3, ways=[COMMAND, JSON], among=every[::4]))


@pytest.mark.long
@pytest.mark.parametrize("question", QUESTIONS)
def test_all_neighbours_leave_the_same_in_postgres(postgres, question):
    server = next(holder for holder in HOLDERS if holder.name == "PostgreSQL")
    held(audited(server, QUESTIONS[question], 2, ways=[PYTHON, COMMAND], running=postgres))


@pytest.mark.long
def test_neighbours_leave_the_same_in_spark(spark):
    cluster = next(holder for holder in HOLDERS if holder.name == "Spark")
    held(audited(cluster, QUESTIONS["days apart"], 2, running=spark, among=[ORDINARY, WORST]))


def test_what_was_drawn_at_the_gates_does_not_matter():
    found = [next(audited(SOURCES["lists"], QUESTIONS["numbers"], seed, among=[ORDINARY])) for seed in (1, 2)]
    assert not any(each.wrong for each in found)


# --- the audit itself -----------------------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path):
    emptied(tmp_path)
    return tmp_path


def said(place, run):
    def ran():
        run()
        return Ran({}, made=True)

    emptied(place)
    return left(ran, place, drawn)


NOISES = {
    "stdout": lambda word: sys.stdout.write(word + "\n"),
    "below Python": lambda word: os.write(1, word.encode()),
    "stderr": lambda word: sys.stderr.write(word + "\n"),
    "log": lambda word: logging.getLogger("some.library").debug(word),
    "warnings": lambda word: warnings.warn(word, stacklevel=1),
}


@pytest.mark.parametrize("where", NOISES)
def test_whatever_is_said_is_heard(place, where):
    def run(word):
        return said(place, lambda: NOISES[where](word))

    one, same, two = run("a"), run("a"), run("b")
    assert not difference(one, same)
    assert "differs: byte" in difference(one, two)
    assert pair(one, two)[0].is_infinite()


def test_what_is_excused_is_not_heard(place):
    def run(word):
        def excused():
            logging.getLogger("py4j.clientserver").debug(word)
            warnings.warn(word, ResourceWarning, stacklevel=1)

        return said(place, excused)

    assert not difference(run("a"), run("b"))
    loud = [said(place, lambda: logging.getLogger("py4j").info(word)) for word in "ab"]  # noqa: B023  called at once
    assert "log differs" in difference(*loud)


def test_whatever_is_written_is_seen(place):
    def run(name, data, mode=0o644):
        def written():
            (place / name).write_bytes(data)
            (place / name).chmod(mode)

        return said(place, written)

    one = run("a", b"1")
    assert not difference(one, run("a", b"1"))
    assert "a differs" in difference(one, run("a", b"2"))
    assert "the list of files differs" in difference(one, run("b", b"1"))
    assert "the rights of a differs" in difference(one, run("a", b"1", 0o600))
    assert not difference(said(place, lambda: None), run(f"{DATA}/x", b"1"))


def test_errors_are_what_they_say(place):
    def failing(word, note=""):
        def run():
            error = ValueError(word)
            error.add_note(note)
            raise error

        return said(place, run)

    assert not difference(failing("a"), failing("a"))
    assert "outcome differs" in difference(failing("a"), failing("b"))
    assert "outcome differs" in difference(failing("a", "n"), failing("a", "m"))
    assert "outcome is there for one alone" in difference(failing("a"), said(place, lambda: None))


def test_names_and_clocks_are_held_still():
    with everything.held_still():
        one = os.urandom(8), everything.drafts.datetime.now()
    with everything.held_still():
        two = os.urandom(8), everything.drafts.datetime.now()
    assert one == two
    assert os.urandom(8) != one[0]


COIN = Asking("tossed", (2**63,), ())
NOISE = Asking("noisy", (5, 6), (Fraction(4),))


def passed(*asked):
    return Watched(list(asked), [(1,) * len(each.exact) for each in asked])


def test_losses_of_coins_and_noise_add_up():
    likelier = replace(COIN, exact=(2**62,))
    more = replace(NOISE, exact=(6, 6))
    assert loss(passed(NOISE), passed(more)) == Decimal("0.25")
    coins = loss(passed(COIN), passed(likelier))
    assert abs(coins - Decimal(2).ln()) < Decimal("1e-25")
    assert loss(passed(likelier, NOISE), passed(COIN, more)) == coins + Decimal("0.25")


def test_what_is_asked_must_be_the_same():
    def came(*asked):
        return Left({}, passed(*asked), made=True)

    assert not difference(came(COIN, NOISE), came(COIN, NOISE))
    assert "what is asked at gate 2" in difference(came(COIN, NOISE), came(COIN, replace(NOISE, scales=(Fraction(5),))))
    assert "gates are passed" in difference(came(COIN), came(COIN, COIN))


def test_gates_give_again_what_they_gave():
    answer = again(passed(COIN, NOISE))
    assert (answer(COIN, None), answer(replace(NOISE, exact=(1, 1)), None)) == ((1,), (1, 1))
    with pytest.raises(Interrupted):
        answer(NOISE, None)
    with pytest.raises(Interrupted):
        again(passed(COIN))(NOISE, None)


def test_gates_give_what_is_likely():
    answer = likely(1)
    coins = [answer(COIN, None)[0] for _ in range(1000)]
    assert abs(sum(coins) - 500) < 5 * 250**0.5
    picks = [answer(Asking("chosen", (0, 10), (Fraction(10),)), None)[0] for _ in range(1000)]
    chance = 2.718281828 / 3.718281828
    assert abs(sum(picks) - 1000 * chance) < 5 * (1000 * chance * (1 - chance)) ** 0.5
    noise = [answer(NOISE, None)[0] - 5 for _ in range(1000)]
    assert abs(sum(noise)) < 5 * (1000 * 2 * 4**2) ** 0.5


@pytest.mark.parametrize("control", table_controls.CONTROLS, ids=lambda control: control.name)
def test_what_is_wrong_is_caught_and_the_same_done_right_is_not(control):
    found = control.audit(1)
    assert found.wrong
    assert found.loss > found.claimed == control.claimed
    assert not control.sound(1).wrong
    assert control.wrong.endswith(".")


def test_findings_go_through_sources_and_questions(monkeypatch):
    monkeypatch.setattr(releases, "odds", lambda *_: [ORDINARY])
    told = []
    found = list(
        releases.findings(
            ("lists", "CSV"), 1, lambda *done: told.append(done), [QUESTIONS["numbers"]], [PYTHON, COMMAND]
        )
    )
    assert [each.what for each in held(found)] == [
        "lists, Python: numbers",
        "CSV, Python: numbers",
        "CSV, command: numbers",
    ]
    assert told == [(1, 2), (2, 2)]


def test_the_worst_of_a_question_is_found_by_names(monkeypatch):
    known = {PYTHON: 0.5, COMMAND: math.inf, JSON: 0.7}

    def some(holder, asked, seed, *, running, among):
        assert (holder.name, asked.name, seed, running) == ("SQLite", "a map", 3, None)
        assert [odd.name for odd in among] == [odd.name for odd in odds(holder.kinds, asked)][::3]
        yield from (Finding(way, 1.0, loss, loss, "", runs=2) for way, loss in known.items())

    monkeypatch.setattr(releases, "audited", some)
    found = releases.worst("SQLite", "a map", 4, 3)
    assert (found.what, found.loss, found.runs) == (COMMAND, math.inf, 6)


def test_the_command_prints_and_fails(monkeypatch, capsys):
    wrong = Finding("lists, Python: numbers", 1.0, 2.0, 2.0, "an ordinary record")
    for found, code in ((replace(wrong, loss=0.5), None), (wrong, "1 are wrong.")):
        monkeypatch.setattr(releases, "findings", lambda *_, found=found: iter([found]))
        monkeypatch.setattr(sys, "argv", ["releases", "lists"])
        with pytest.raises(SystemExit) as stopped:
            releases.main()
        assert stopped.value.code == code
        assert "an ordinary record" in capsys.readouterr().out


def test_refusals_are_told():
    """Text in a column of numbers that is no number is missing; a column that is not there refuses both neighbours."""
    asked = replace(QUESTIONS["numbers"], options={"where": "absent = 1"})
    (found,) = audited(SOURCES["lists"], asked, 1, ways=[PYTHON], among=[ORDINARY])
    assert not found.wrong
    assert found.event == "an ordinary record (1 of 1 were refused)"
    assert asked.rows == FEW
