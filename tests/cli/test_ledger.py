"""``dawa ledger``: what people and machines read, and the exit codes."""

import csv
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dawa import ledger
from dawa.cli.ledger import app

DONE, REFUSED, USAGE, EXHAUSTED = 0, 1, 2, 3
COMMANDS = ("create", "raise", "bind", "relate", "spend", "take-back", "show", "history", "export", "upgrade")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Every test starts in an empty folder, with no ledger named."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DAWA_LEDGER", raising=False)
    return tmp_path


def run(*arguments, code=DONE):
    found = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert found.exit_code == code, found.output
    return found


def parsed(*arguments, code=DONE):
    return json.loads(run(*arguments, "--json", code=code).stdout)


def edited(path="dawa-ledger.db"):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER dawa_ledger_entries_update")
        connection.execute("UPDATE dawa_ledger_entries SET epsilon = '1/100' WHERE number = 2")


def test_a_year_of_a_dataset(folder):
    assert "'hr' has 2 left of its cap of 2" in run("create", "hr", "--cap", 2).stdout
    assert "'hr' has 1.9 left" in run("spend", "hr", 0.1, "--what", "Table 3", "--release", "t3").stdout
    assert "'hr' has 0.1 left" in run("spend", "hr", "9/5", "--what", "Table 4", "--file", "t4.pdf").stdout
    refused = run("spend", "hr", 0.2, "--what", "Table 5", code=EXHAUSTED)
    assert "Dataset 'hr' has 0.1 left of its cap of 2, less than epsilon=0.2. Hint: spend at most 0.1" in refused.stderr
    assert "'hr' has 1.1 left of its cap of 3" in run("raise", "hr", "--cap", 3, "--why", "Board").stdout
    run("spend", "hr", 1.1, "--what", "Table 5")
    assert "nothing left" in run("spend", "hr", "1e-6", "--what", "x", code=EXHAUSTED).stderr
    shown = run("show").stdout
    assert "hr" in shown
    assert "█" * 20 in shown
    assert "8 entries, unbroken" in shown
    told = run("history", "hr").stdout
    told = " ".join(told.replace("│", " ").split())
    for words in ("opened with a cap of 2", "Table 3", "became release t3", "t4.pdf", "cap raised to 3 (why: Board)"):
        assert words in told
    assert (folder / "dawa-ledger.db").is_file()


def test_the_bar_never_shows_what_is_spent_as_unspent():
    run("create", "hr", "--cap", 1000)
    assert "░" * 20 in run("show").stdout
    run("spend", "hr", "0.001", "--what", "little")
    assert "█" + "░" * 19 in run("show").stdout


def test_pending_reservations_are_shown():
    run("create", "hr", "--cap", 1)
    ledger.opened("dawa-ledger.db").reserve("hr", 0.5, what={}, mechanism="dawa", who="ada")
    assert "Pending: entry 2 reserved 0.5 of hr for ada" in run("show").stdout
    assert [entry["number"] for entry in parsed("show")["pending"]] == [2]


def test_a_failed_run_is_taken_back():
    run("create", "hr", "--cap", 2)
    ledger.opened("dawa-ledger.db").reserve("hr", 0.5, what={}, mechanism="dawa")
    assert "does not say where its release is" in run("take-back", 2, "--why", "x", code=REFUSED).stderr
    done = run("take-back", 2, "--nothing-was-made", "--why", "The server was down", "--who", "ada").stdout
    assert done == "Took entry 2 back, as entry 3: 'hr' has 2 left of its cap of 2.\n"
    shown = " ".join(run("show").stdout.split())
    assert "Pending" not in shown
    assert "Taken back: entry 2 of hr by ada on " in shown
    assert "UTC (why: The server was down)." in shown
    told = " ".join(run("history").stdout.replace("│", " ").split())
    assert "spent 0.5 for each record by dawa" in told
    assert "entry 2 was taken back (why: The server was down)" in told
    rows = list(csv.DictReader(io.StringIO(run("export").stdout)))
    assert (rows[2]["kind"], rows[2]["reservation"], rows[2]["epsilon"]) == ("take-back", "2", "")
    again = run("take-back", 2, "--why", "x", code=REFUSED).stderr
    assert again.startswith("Entry 2 was already taken back, by ada in entry 3. Hint: ")


def test_a_take_back_for_machines():
    run("create", "hr", "--cap", "1/3")
    ledger.opened("dawa-ledger.db").reserve("hr", "1/7", what={}, mechanism="dawa")
    found = parsed("take-back", 2, "--nothing-was-made", "--why", "down", "--who", "ada")
    assert (found["take_back"]["reservation"], found["take_back"]["what"]) == (2, {"why": "down"})
    assert (found["take_back"]["kind"], found["take_back"]["who"]) == ("take-back", "ada")
    assert (found["account"]["left"], found["account"]["spent"], found["account"]["reserved"]) == ("1/3", "0", "0")
    shown = parsed("show")
    assert shown["pending"] == []
    assert shown["taken_back"] == [found["take_back"]] == parsed("history")[2:]
    assert parsed("take-back", 9, "--why", "x", code=REFUSED)["error"]["problem"].endswith("has no entry 9.")


def test_only_what_is_pending_is_taken_back():
    run("create", "hr", "--cap", 1)
    run("spend", "hr", 0.5, "--what", "Table 3", "--release", "t3")
    refused = run("take-back", 2, "--why", "x", code=REFUSED).stderr
    assert refused.startswith("Entry 2 has a release: 't3' (entry 3). Hint: it stays spent")
    assert "is not a reservation but a 'create'" in run("take-back", 1, "--why", "x", code=REFUSED).stderr
    assert "has no entry 9" in run("take-back", 9, "--why", "x", code=REFUSED).stderr
    assert "why must be a line of text" in run("take-back", 2, "--why", " ", code=REFUSED).stderr
    assert parsed("show")["accounts"][0]["spent"] == "1/2"


def test_the_help_of_take_back_says_when_it_is_honest():
    told = " ".join(run("take-back", "--help").stdout.split())
    assert "nothing at all of its result was seen by anyone" in told
    assert "That a run failed may itself depend on the data" in told
    assert "a person decides" in told


def test_descriptions_are_told_in_a_few_words():
    run("create", "hr", "--cap", 1)
    what = {"axes": [{"column": "age", "stop": "120"}, {"column": "zip"}], "unit": None, "options": {"effort": "fast"}}
    ledger.opened("dawa-ledger.db").reserve("hr", 0.5, what=what, mechanism="dawa")
    told = " ".join(run("history").stdout.replace("│", " ").split())
    assert 'spent 0.5 for each record by dawa (axes: age and zip, options: {"effort": "fast"})' in told
    assert parsed("history")[1]["what"] == {**what, "for": {"unit": [], "table": None}}


def test_json_for_machines():
    assert parsed("create", "hr", "--cap", "1/3") == {
        "dataset": "hr",
        "cap": "1/3",
        "spent": "0",
        "reserved": "0",
        "left": "1/3",
        "unit": None,
        "table": None,
        "relations": [],
        "parts": [],
    }
    spent = parsed("spend", "hr", "1/7", "--what", "x", "--who", "ada", "--mechanism", "geometric", "--release", "r")
    assert spent["account"]["left"] == "4/21"
    assert (spent["reservation"]["epsilon"], spent["reservation"]["who"]) == ("1/7", "ada")
    assert (spent["reservation"]["mechanism"], spent["reservation"]["what"]) == (
        "geometric",
        {"note": "x", "for": {"unit": [], "table": None}},
    )
    assert (spent["release"]["release_id"], spent["release"]["reservation"]) == ("r", 2)
    assert parsed("raise", "hr", "--cap", 1, "--why", "x")["left"] == "6/7"
    shown = parsed("show", "hr")
    assert (shown["entries"], shown["broken"]) == (4, None)
    assert shown["head"] == parsed("history")[-1]["hash"]
    assert [entry["kind"] for entry in parsed("history", "hr")] == ["create", "reserve", "finalise", "raise"]


def test_errors_for_machines():
    run("create", "hr", "--cap", 1)
    refused = parsed("spend", "hr", 2, "--what", "x", code=EXHAUSTED)["error"]
    assert refused["problem"].startswith("Dataset 'hr' has 1 left")


def test_exports_hold_every_field(folder):
    run("create", "hr", "--cap", 1)
    run("spend", "hr", 0.5, "--what", 'quotes " and, commas')
    entries = [entry.to_json() for entry in ledger.opened("dawa-ledger.db").history()]
    assert parsed("export") == {"broken": None, "entries": entries}
    assert json.loads(run("export", "--format", "json").stdout) == {"broken": None, "entries": entries}
    rows = list(csv.DictReader(io.StringIO(run("export").stdout)))
    run("export", "--out", "out.csv")
    assert list(csv.DictReader(io.StringIO((folder / "out.csv").read_text(encoding="utf-8")))) == rows
    assert [row["hash"] for row in rows] == [entry["hash"] for entry in entries]
    assert rows[1]["epsilon"] == "1/2"
    assert json.loads(rows[1]["what"])["note"] == 'quotes " and, commas'


def test_exports_overwrite_nothing(folder):
    run("create", "hr", "--cap", 1)
    before = (folder / "dawa-ledger.db").read_bytes()
    assert "is the ledger" in run("export", "--out", "dawa-ledger.db", code=REFUSED).stderr
    (folder / "mine.csv").write_text("mine", encoding="utf-8")
    assert "exists already" in run("export", "--out", "mine.csv", code=REFUSED).stderr
    assert (folder / "mine.csv").read_text(encoding="utf-8") == "mine"
    assert (folder / "dawa-ledger.db").read_bytes() == before
    assert "cannot be written" in run("export", "--out", "nowhere/x.csv", code=REFUSED).stderr
    run("export", "--json", "--format", "csv", code=USAGE)


@pytest.mark.long_but(1)
@pytest.mark.parametrize("command", [["show"], ["show", "hr"], ["history"], ["export"]])
def test_an_edited_ledger_is_shown_and_called_so(command):
    run("create", "hr", "--cap", 1)
    run("spend", "hr", 0.5, "--what", "x")
    edited()
    found = run(*command, code=REFUSED)
    assert "hr" in found.stdout
    assert "EDITED: from number 2 on" in found.stderr
    assert "Hint:" in found.stderr
    data = parsed(*command, code=REFUSED)
    assert isinstance(data, list) or data["broken"] == 2


def test_the_ledger_is_named_by_option_then_by_environment_then_by_default(folder, monkeypatch):
    monkeypatch.setenv("DAWA_LEDGER", "team.db")
    run("create", "hr", "--cap", 1)
    run("create", "hr", "--cap", 2, "--ledger", "mine.db")
    assert sorted(path.name for path in folder.iterdir()) == ["mine.db", "team.db"]
    assert parsed("show")["accounts"][0]["cap"] == "1"
    assert "team" not in run("show", "--help").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "answer"),
    [
        (["show"], REFUSED, "There is no ledger at 'dawa-ledger.db'. Hint: check the path"),
        (["history"], REFUSED, "There is no ledger"),
        (["export"], REFUSED, "There is no ledger"),
        (["spend", "hr", "1", "--what", "x"], REFUSED, "There is no ledger"),
        (["create", "hr"], USAGE, "--cap"),
        (["create", "hr", "--cap", "0"], REFUSED, "cap must be positive"),
        (["create", "hr", "--cap", "lots"], REFUSED, "is not a finite number"),
        (["create", " ", "--cap", "1"], REFUSED, "must be a line of text"),
        (["create", "hr", "--cap", "1", "--ledger", "."], REFUSED, "is a folder"),
        (["spend", "hr", "1"], USAGE, "--what"),
        (["raise", "hr", "--cap", "1"], USAGE, "--why"),
        (["bind", "hr", "--unit", "person"], USAGE, "--why"),
        (["bind", "hr", "--unit", "person", "--why", "x"], REFUSED, "There is no ledger"),
        (["relate", "hr", "--times", "3", "--why", "x"], USAGE, "--unit"),
        (["relate", "hr", "--unit", "record", "--why", "x"], USAGE, "--times"),
        (["relate", "hr", "--unit", "record", "--times", "half", "--why", "x"], USAGE, "--times"),
        (["relate", "hr", "--unit", "record", "--times", "0", "--why", "x"], REFUSED, "whole number of at least 1"),
        (["create", "hr", "--cap", "1", "--unit", ","], REFUSED, "names no unit. Hint: write --unit record"),
        (["create", "hr", "--cap", "1", "--unit", "a,A"], REFUSED, "names a column twice"),
        (["create", "hr", "--cap", "1", "--table", "postgresql://me:pa55@h/d"], REFUSED, "names no table"),
        (["upgrade"], REFUSED, "There is no ledger"),
        (["upgrade", "--dry-run"], REFUSED, "There is no ledger"),
        (["take-back", "2"], USAGE, "--why"),
        (["take-back", "two", "--why", "x"], USAGE, "ENTRY"),
        (["take-back", "2", "--why", "x"], REFUSED, "There is no ledger"),
        (["show", "--ledger", "mysql://me:pa55@h/d"], REFUSED, "A ledger cannot live at a mysql:// address"),
        (["show", "--ledger", "postgresql://me:pa55@127.0.0.1:1/d"], REFUSED, "cannot be reached. Hint:"),
        (["shwo"], USAGE, "show"),
    ],
)
def test_wrong_steps_lead_on(folder, arguments, code, answer):
    found = run(*arguments, code=code)
    assert answer in found.stderr
    assert found.stdout == ""
    assert "Traceback" not in found.output
    assert "pa55" not in found.output
    assert list(folder.iterdir()) == []


def test_an_unknown_dataset_is_answered_with_the_known_ones():
    run("create", "hr", "--cap", 1)
    for command in (["show", "rh"], ["history", "rh"], ["spend", "rh", 1, "--what", "x"]):
        assert "it has accounts for 'hr'; open one with dawa ledger create" in run(*command, code=REFUSED).stderr


# --- for whom an account counts ---------------------------------------------------------------------------------------


def words(*arguments, code=DONE):
    """What a person reads, without frames and line breaks."""
    found = run(*arguments, code=code)
    return " ".join((found.stdout + found.stderr).replace("│", " ").split())


def test_an_account_says_for_whom_it_counts(folder):
    table = folder / "visits.parquet"
    assert words("create", "hr", "--cap", 2, "--unit", "person, day", "--table", "visits.parquet") == (
        f"Opened: 'hr' has 2 left of its cap of 2. It counts what each combination of 'person' and 'day' in {table}"
        " loses."
    )
    assert words("create", "open", "--cap", 1).endswith(
        "Its first release decides for whom it counts: for which unit, in which table."
    )
    assert "It counts what each record loses; the first" in words("spend", "open", "0.1", "--what", "x")
    said = f"hr: It counts what each combination of 'person' and 'day' in {table} loses."
    assert "".join(said.split()) in "".join(words("show").split()), "wherever its lines are broken"
    assert parsed("show", "HR")["accounts"][0]["unit"] == ["person", "day"]
    assert "opened with a cap of 2 for each combination of 'person' and 'day'" in words("history")


def test_unlike_things_are_refused_and_related(folder):
    run("create", "hr", "--cap", 2, "--unit", "person", "--table", "memory")
    refused = words("spend", "hr", "0.1", "--what", "Table 3", code=REFUSED)
    assert refused == (
        "Dataset 'hr' counts what each 'person' in memory loses, and this is spent for each record. Hint: protect the"
        " same (--unit person); or open another account; or let somebody say how the two relate: dawa ledger relate hr"
        " --unit record --times … --why '…' --ledger dawa-ledger.db; it counts as many times as 'person' has records at"
        " most."
    )
    assert words("relate", "HR", "--unit", "record", "--times", 3, "--why", "At most 3 rows", "--who", "ada") == (
        "Related: 'hr' has 2 left of its cap of 2. It counts what each 'person' in memory loses. What each record loses"
        " counts 3 times."
    )
    assert "'hr' has 1.7 left" in words("spend", "hr", "0.1", "--what", "Table 3")
    elsewhere = words("spend", "hr", "0.1", "--unit", "person", "--table", "moved.csv", "--what", "x", code=REFUSED)
    assert f"this is spent on another table, {folder / 'moved.csv'}." in elsewhere
    assert f"--unit person --table {folder / 'moved.csv'} --times … --why '…'" in elsewhere
    why = "The same persons"
    found = parsed("relate", "hr", "--unit", "person", "--table", "moved.csv", "--times", 1, "--why", why)
    assert found["relations"] == [
        {"unit": [], "table": None, "times": 3},
        {"unit": ["person"], "table": str(folder / "moved.csv"), "times": 1},
    ]
    run("spend", "hr", "0.1", "--unit", "person", "--table", "moved.csv", "--what", "x")
    account = parsed("show")["accounts"][0]
    assert account["left"] == "8/5"
    assert account["parts"] == [
        {"unit": [], "table": None, "epsilon": "1/10", "times": 3},
        {"unit": ["person"], "table": str(folder / "moved.csv"), "epsilon": "1/10", "times": 1},
    ]
    assert "what is spent for each record counts 3 times (why: At most 3 rows)" in words("history")
    error = parsed("spend", "hr", "0.1", "--unit", "ward", "--what", "x", code=REFUSED)["error"]
    assert (error["kind"], "2k times" in error["hint"]) == ("LedgerError", True)


def test_an_account_is_bound_with_a_reason():
    run("create", "hr", "--cap", 2)
    assert "Bound: 'hr' has 2 left of its cap of 2. It counts what each 'person' loses;" in words(
        "bind", "hr", "--unit", "person", "--why", "We protect persons"
    )
    assert parsed("bind", "hr", "--table", "memory", "--why", "x")["table"] == "memory"
    run("spend", "hr", "0.1", "--unit", "person", "--what", "x")
    assert "and 0.1 of it is spent" in words("bind", "hr", "--unit", "record", "--why", "x", code=REFUSED)
    assert "counts for each 'person' (why: We protect persons)" in words("history")


def test_an_overspent_account_is_shown_as_such():
    run("create", "hr", "--cap", 1, "--unit", "person")
    run("relate", "hr", "--unit", "record", "--times", 1, "--why", "x")
    run("spend", "hr", "0.5", "--what", "x")
    told = words("relate", "hr", "--unit", "record", "--times", 4, "--why", "Somebody has 4 rows")
    assert told.startswith("Related: 'hr' is overspent by 1, beyond its cap of 1.")
    assert "-1" in run("show").stdout
    assert "█" * 20 in run("show").stdout
    assert parsed("show")["accounts"][0]["left"] == "-1"


def test_a_column_may_be_called_record():
    run("create", "hr", "--cap", 1, "--unit", '"record"')
    assert parsed("show")["accounts"][0]["unit"] == ["record"]
    assert "--unit '\"record\"'" in words("spend", "hr", "0.1", "--what", "x", code=REFUSED)


@pytest.mark.parametrize("version", [1, 2])
def test_an_old_ledger_is_upgraded_after_a_dry_run(folder, version):
    from helpers.ledger_places import old  # noqa: PLC0415  needs a driver

    old(version, "dawa-ledger.db")
    before = (folder / "dawa-ledger.db").read_bytes()
    assert "nothing more is spent in it before an upgrade" in words("show")
    assert "spent 0.5 by dawa (axes: age" in words("history")
    refused = words("spend", "rows", "0.1", "--what", "x", code=REFUSED)
    assert refused.endswith(
        "Hint: see what an upgrade would do: dawa ledger upgrade --dry-run --ledger dawa-ledger.db."
    )
    told = run("upgrade", "--dry-run").stdout.splitlines()
    assert told[0] == f"The ledger 'dawa-ledger.db' has version {version}."
    assert told[1] == "hr: counts what each 'person' loses: 1 for each 'person' (entries 8, 10, of age and income)."
    assert told[2] == "rows: counts what each record loses: 0.225 for each record (entries 12, 26, of age)."
    assert told[3].startswith(
        "mixed: MIXED, 0.1 for each record (entries 14, of age); 0.2 for each 'person' (entries 16, of age); 0.25 for"
        " a unit that nobody named (entries 18). Nothing more is spent on it until somebody says"
    )
    assert told[6] == "new: nothing is spent; its first release decides for whom it counts."
    assert told[8].startswith("Earlier entries do not say which table they were spent on.")
    assert told[9] == "These names differ in case alone, and have to be written exactly: Sales, sales."
    assert told[10].startswith("Pending: 26. If their runs are at work in an earlier dawa")
    assert told[11] == "Nothing was changed. Leave out --dry-run to upgrade."
    assert parsed("upgrade", "--dry-run")["entry"] is None
    assert (folder / "dawa-ledger.db").read_bytes() == before
    number = 27 if version == 1 else 30
    assert run("upgrade", "--who", "ada").stdout.splitlines()[-1] == f"Upgraded to version 3, as entry {number}."
    assert words("upgrade") == "The ledger 'dawa-ledger.db' has version 3 already: there is nothing to upgrade."
    assert parsed("upgrade")["accounts"] == []
    shown = words("show")
    assert "mixed: It mixes 0.1 for each record, 0.2 for each 'person', 0.25 for a unit that nobody named" in shown
    assert f"{number} entries, unbroken" in shown
    assert f"upgraded from version {version}" in words("history")
    run("spend", "rows", "0.1", "--what", "x")


def test_a_mixed_account_is_settled_step_by_step():
    from helpers.ledger_places import old  # noqa: PLC0415  needs a driver

    old(1, "dawa-ledger.db")
    run("upgrade")
    told = words("bind", "mixed", "--unit", "person", "--why", "We protect persons")
    assert "Hint: say how often the others count: dawa ledger relate mixed --unit record --times …" in told
    assert "dawa ledger relate mixed --unit unknown --times …" in told
    run("relate", "mixed", "--unit", "record", "--times", 3, "--why", "At most 3 rows")
    run("relate", "mixed", "--unit", "unknown", "--times", 1, "--why", "Table 3 was for persons")
    assert parsed("show", "mixed")["accounts"][0]["left"] == "5/4"
    assert "'mixed' has 1 left" in words("spend", "mixed", "0.25", "--unit", "person", "--what", "x")


def test_names_are_neither_markup_nor_terminal_commands():
    run("create", "[red]hr[/red]", "--cap", 1)
    run("spend", "[red]hr[/red]", 0.5, "--what", "\x1b[31m [bold]")
    assert "[red]hr[/red]" in run("show").stdout
    told = run("history").stdout
    assert "\x1b" not in told
    assert "[bold]" in told


def test_a_team_shares_a_ledger_in_postgres(postgres):
    from helpers.ledger_places import in_new_schema  # noqa: PLC0415  needs a driver

    place = in_new_schema(postgres)
    run("create", "hr", "--cap", 1, "--ledger", place)
    run("spend", "hr", 1, "--what", "x", "--ledger", place)
    run("spend", "hr", 1, "--what", "x", "--ledger", place, code=EXHAUSTED)
    assert parsed("show", "--ledger", place)["accounts"][0]["left"] == "0"
    run("raise", "hr", "--cap", 2, "--why", "x", "--ledger", place)
    ledger.opened(place).reserve("hr", 1, what={}, mechanism="dawa")
    assert "'hr' has 1 left" in run("take-back", 5, "--nothing-was-made", "--why", "x", "--ledger", place).stdout


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help_has_examples(command):
    assert "dawa ledger" in run(*command, "--help").stdout.split("Usage:", 1)[1].split("\n", 1)[1]


def test_the_documentation_names_every_command():
    text = (Path(__file__).parents[2] / "docs" / "ledger.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        assert f"dawa ledger {command}" in text


@pytest.mark.parametrize(
    "arguments",
    [
        ("create", "hr", "--cap", 1, "--table", ""),
        ("create", "hr", "--cap", 1, "--unit", ""),
        ("create", "hr", "--cap", 1, "--ledger", ""),
        ("create", "", "--cap", 1),
        ("bind", "hr", "--why", "x", "--table", ""),
        ("relate", "hr", "--unit", "a", "--times", 1, "--why", "x", "--table", ""),
        ("spend", "hr", 1, "--what", "x", "--table", ""),
        ("spend", "hr", 1, "--what", "x", "--release", ""),
        ("show", ""),
    ],
)
def test_an_empty_value_is_not_the_same_as_none(folder, arguments):
    assert " is empty. Hint: " in run(*arguments, code=REFUSED).stderr
    assert not list(folder.iterdir())


def test_a_variable_that_is_empty_names_no_ledger(folder, monkeypatch):
    monkeypatch.setenv("DAWA_LEDGER", "")
    assert "DAWA_LEDGER is empty" in run("create", "hr", "--cap", 1, code=REFUSED).stderr
    assert not list(folder.iterdir())
    assert "Open an account" in run("create", "--help").stdout
    run("create", "hr", "--cap", 1, "--ledger", "here.db")


def test_a_cap_comes_once():
    assert "--cap is given 2 times" in run("create", "hr", "--cap", 1, "--cap", 2, code=REFUSED).stderr


def test_nobody_spends_for_a_unit_that_is_called_unknown():
    run("create", "hr", "--cap", 1)
    wrong = [
        ("create", "more", "--cap", 1, "--unit", "unknown"),
        ("create", "more", "--cap", 1, "--unit", " unknown "),
        ("spend", "hr", 1, "--what", "x", "--unit", "unknown"),
        ("bind", "hr", "--unit", "unknown", "--table", "memory", "--why", "x"),
    ]
    for arguments in wrong:
        assert "'unknown' is not a unit" in run(*arguments, code=REFUSED).stderr
    run("bind", "hr", "--unit", "person", "--why", "x")
    said = run("relate", "hr", "--unit", "unknown", "--times", 2, "--why", "x", code=REFUSED).stderr
    assert """--unit '"unknown"'""" in said
    assert parsed("show")["entries"] == 2
    assert "each 'unknown'" in run("create", "more", "--cap", 1, "--unit", '"unknown"').stdout
