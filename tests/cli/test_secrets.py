"""What is secret in an address is in no message, and what no file can hold is refused before it is paid for."""

import pytest

from helpers.commands import dawa, refused

AGES = ("--column", "age", "--range", "0:100", "--epsilon", "1", "--out", "out")


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DAWA_LEDGER", raising=False)


@pytest.mark.parametrize(
    "arguments",
    [
        ("release", "https://bob:s3cret@h/p.csv?sig=s3cret", "--table", "people", *AGES),
        ("release", "s3://key:s3cret@bucket/p.csv", "--table", "people", *AGES),
        ("release", "https://h/p?sig=s3cret.toml", "--column", "age"),
        ("release", "https://bob:s3cret@h/spec.toml"),
        ("plan", "https://bob:s3?cr/et@h/spec.toml"),
        ("query", "https://bob:s3cret@h/release.json", "1:2"),
        ("explore", "https://bob:s3cret@h/release.json"),
    ],
)
def test_no_error_shows_a_password(arguments):
    ran = dawa(*arguments)
    refused(ran)
    assert "s3cret" not in ran.err
    assert "s3?cr" not in ran.err


@pytest.mark.parametrize("odd", ["postgresql://u:pa?ss@h/db", "postgresql://u:pa/ss@h/db", "https://u:p?w@h/x.csv"])
def test_no_spec_holds_a_password(tmp_path, odd):
    table = ("--table", "people") if odd.startswith("postgresql") else ()
    refused(dawa("release", odd, *table, *AGES, "--save-spec", "spec.toml"), "holds a password")
    assert not list(tmp_path.iterdir())


def test_a_unit_that_no_file_can_hold_is_refused_before_it_is_paid_for(tmp_path):
    columns = [f"c{number}" for number in range(65)]
    (tmp_path / "wide.csv").write_text(",".join(["age", *columns]) + "\n", encoding="utf-8")
    dawa("ledger", "create", "hr", "--cap", "2")
    options = ("--unit", ",".join(columns), "--max-rows-per-unit", "1", "--dataset", "hr")
    refused(dawa("release", "wide.csv", *AGES, *options), "more than 64 columns")
    assert dawa("ledger", "show", "hr", "--json").json["accounts"][0]["spent"] == "0"


def test_a_page_is_written_to_what_the_shell_opened(tmp_path):
    (tmp_path / "p.csv").write_text("age\n1\n", encoding="utf-8")
    assert dawa("release", "p.csv", *AGES).code == 0
    assert dawa("explore", "out", "--out", "/dev/null", "--no-open").code == 0
