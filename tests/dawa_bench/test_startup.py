"""Every command is timed beside an interpreter that does nothing."""

from dawa_bench import startup


def test_a_line_for_each_command(monkeypatch, capsys):
    monkeypatch.setattr(startup, "REPEATS", 1)
    startup.main()
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line[:22].strip() for line in lines] == list(startup.COMMANDS)
    assert lines[0].split()[-1] == "1.0"
