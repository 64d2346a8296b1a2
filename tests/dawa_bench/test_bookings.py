"""Long ledgers that are written at once are those that bookings make."""

import pytest

from dawa import ledger
from dawa_bench import bookings


@pytest.mark.parametrize("length", [1, 3, 21])
def test_a_long_ledger_is_whole(tmp_path, length):
    book = ledger.opened(bookings.lengthened(tmp_path / "ledger.db", length))
    summary = book.summary()
    assert (summary.entries, summary.broken, summary.pending) == (length, None, ())
    assert book.account("hr").spent * 20 == length - 1
    book.reserve("hr", "0.1", what={}, mechanism="dawa").finalise("1" * 32, "out/new")
    assert book.summary().entries == length + 2


@pytest.mark.long
def test_the_command_prints_a_line_per_length(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["bookings", "--entries", "11", "--repeats", "1"])
    bookings.main()
    assert capsys.readouterr().out.splitlines()[1].split()[0] == "11"
