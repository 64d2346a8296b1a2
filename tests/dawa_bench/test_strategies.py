"""Expected errors are exact, so they can be written down."""

from dawa_bench import strategies


def test_a_column_for_each_strategy(monkeypatch, capsys):
    monkeypatch.setattr(strategies, "CASES", strategies.CASES[:1])
    strategies.main()
    row = capsys.readouterr().out.splitlines()[2]
    assert row[:32].strip() == "all ranges, n = 256"
    numbers = [float(number) for number in row[32:].split()][:-1]
    assert len(numbers) == len(strategies.STRATEGIES)
    assert numbers[0] == 13.11
    assert min(numbers) == numbers[-1]
