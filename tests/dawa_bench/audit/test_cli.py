"""``dawa audit`` as people type it."""

import json
import math

import pytest

import dawa as library
from dawa_bench.audit import cli, display, parts
from dawa_bench.audit.finding import Finding
from dawa_bench.audit.parts import Job, Seen
from helpers.commands import dawa, refused

SOUND = Finding("identity, 3 cells", 1.0, 0.9, 0.9, "3 gates", 1.0, 60)
WRONG = Finding("identity, 3 cells", 1.0, math.inf, math.inf, "differs in the end", 1.0, 60)
COUNTED = Finding("php | 2 cells", 2.0, 0.5, 0.6, "cell 1 at most 3", 0.9999, 1000, (40, 20))
UNFIT = Finding("noisy, scale 1", 1.0, 0.5, 0.6, "below 4", 0.9999, 1000, (40, 20), fit=1e-9)


def test_parts_are_listed():
    ran = dawa("audit", "--list")
    assert ran.code == 0
    assert [line.split()[0] for line in ran.out.splitlines()] == list(parts.PARTS)
    assert list(dawa("audit", "--list", "--json").json) == list(parts.PARTS)


@pytest.mark.long
def test_one_mechanism(tmp_path):
    """With a page, and the same for machines in processes of its own."""
    page = tmp_path / "audit.md"
    typed = ("audit", "identity", "--part", "exact", "--part", "outside", "--runs", 200, "--seed", 3)
    ran = dawa(*typed, "--jobs", 1, "--report", page)
    assert ran.code == 0, ran.err
    assert "Exact losses on tiny domains" in ran.out
    assert "no loss above what is claimed" in ran.out
    text = page.read_text()
    assert "| identity | 1 | 1 | 1.000 | exact, 30 outputs, worst of 7 |" in text
    assert "## Losses that are seen from outside" in text
    again = dawa(*typed, "--jobs", 2, "--json")
    assert again.code == 0
    assert again.json["sound"]
    assert len(again.json["found"]) == 9
    assert again.json["version"] == library.__version__


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (("dwa",), "no mechanism 'dwa'"),
        (("--part", "exakt"), "no part 'exakt'"),
        (("dawa", "--part", "draws"), "not about single mechanisms"),
        (("--report", "nowhere/audit.md"), "no folder for nowhere/audit.md"),
        (("--report", "."), ". is a folder"),
    ],
)
def test_wrong_input(typed, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(dawa("audit", *typed), says)


def test_wrong_numbers():
    for typed in (("--runs", 3), ("--jobs", 0), ("--seed", -1)):
        assert dawa("audit", *typed).code == 2


@pytest.fixture
def found(monkeypatch):
    """What the next audit finds, without any work."""

    def finds(*seen):
        waiting = [Job(one.part, one.about, lambda: SOUND, one.wrong) for one in seen]
        monkeypatch.setattr(parts, "jobs", lambda *_: waiting)
        monkeypatch.setattr(cli, "_done", lambda *_: list(seen))

    return finds


def test_a_loss_above_the_claim_fails_the_command(found):
    found(Seen("exact", "identity", SOUND), Seen("exact", "identity", WRONG))
    ran = dawa("audit")
    assert ran.code == 1
    assert "1 of 2 looks found something WRONG; the first: identity, 3 cells loses endless and claims 1." in ran.out
    ran = dawa("audit", "--json")
    assert ran.code == 1
    assert not ran.json["sound"]
    assert [one["loss"] for one in ran.json["found"]] == [0.9, None]
    assert "Infinity" not in ran.out


def test_a_control_that_is_not_caught_fails_the_command(found):
    caught, missed = (Seen("controls", name, each, wrong=True) for name, each in (("a", WRONG), ("b", SOUND)))
    found(caught, Seen("controls", "a, done right", SOUND))
    ran = dawa("audit")
    assert ran.code == 0
    assert "1 of 1 controls were caught." in ran.out
    found(caught, missed)
    ran = dawa("audit")
    assert ran.code == 1
    assert "1 of 2 controls were caught." in ran.out


def test_what_was_found_until_a_stop_is_shown(found, monkeypatch):
    found(Seen("exact", "identity", SOUND))
    monkeypatch.setattr(parts, "jobs", lambda *_: [Job("exact", "identity", lambda: SOUND)] * 3)
    ran = dawa("audit")
    assert ran.code == 130
    assert "Exact losses" in ran.out
    assert "Stopped after 1 of 3 looks." in ran.err


def test_each_thing_has_the_line_of_its_worst():
    every = display.lines([Seen("exact", "identity", SOUND), Seen("exact", "identity", WRONG)])
    (line,) = every["exact"]
    assert line.worst is WRONG
    assert line.looked == 2
    assert not line.expected
    assert line.cells == (
        "identity",
        "1",
        "endless",
        "-",
        "exact, 60 outputs, worst of 2",
        "3 cells; differs in the end",
    )
    every = display.lines([Seen("outside", "php", COUNTED), Seen("draws", "noisy", UNFIT)])
    assert every["outside"][0].cells[2:5] == ("0.5", "0.250", "counted, 1,000 runs, wrong once in 10,000")
    assert every["draws"][0].cells[5] == "scale 1; draws do not fit: chance 1e-09"


def test_a_page_keeps_its_columns():
    page = display.page([Seen("outside", "php", COUNTED), Seen("exact", "identity", SOUND)], "dawa audit --seed 1")
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert len(rows) == 6
    assert all(row.replace("\\|", "").count("|") == 7 for row in rows)
    assert "`dawa audit --seed 1`" in page
    assert "stopped" not in page
    assert "stopped: 3 looks were not made" in display.page([Seen("exact", "identity", SOUND)], "dawa audit", 3)


def test_a_page_that_cannot_be_written_says_so(found, tmp_path):
    found(Seen("exact", "identity", SOUND))
    ran = dawa("audit", "--report", tmp_path / ("a" * 300))
    assert ran.code == 1
    assert "cannot be written" in ran.err


def test_every_part_has_jobs():
    for name, part in parts.PARTS.items():
        every = parts.jobs((name,), parts.Wanted())
        assert every
        assert all(job.part == name for job in every)
        assert any(job.wrong for job in every) == (name == "controls")
        assert part.title
        assert part.does.endswith(".")
    named = parts.jobs((), parts.Wanted(("hb",)))
    assert {job.part for job in named} == {name for name, part in parts.PARTS.items() if part.mechanisms}
    assert {job.about for job in named} == {"hb"}


def test_the_full_size_is_larger_in_everything():
    quick, full = parts.sized(), parts.sized(full=True)
    assert set(quick.epsilons) < set(full.epsilons)
    for name in ("steps", "neighbours", "runs", "draws"):
        assert getattr(quick, name) < getattr(full, name)
    for name in ("pairs", "transcripts", "runs"):
        assert getattr(quick.effort, name) < getattr(full.effort, name)
    assert parts.sized(5000).runs == parts.sized(5000).effort.runs == 5000


def test_help_has_examples():
    ran = dawa("audit", "--help")
    assert ran.code == 0
    assert "dawa audit --part controls" in ran.out


def test_json_is_one_value(found):
    found(Seen("draws", "noisy", UNFIT))
    ran = dawa("audit", "--json")
    assert json.loads(ran.out)["found"][0]["wrong"]
