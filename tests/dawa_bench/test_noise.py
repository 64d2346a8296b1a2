"""Both samplers are timed."""

from dawa_bench import noise


def test_a_line_for_each_sampler(monkeypatch, capsys):
    for name, value in {"DRAWS": 500, "DRAWS_OPENDP": 100, "ROUNDS": 1}.items():
        monkeypatch.setattr(noise, name, value)
    noise.main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert lines[-1].startswith("OpenDP, one scale")
    assert lines[-1].split()[-1] == "1.0"
