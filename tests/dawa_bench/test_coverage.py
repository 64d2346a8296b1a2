"""The command that counts how often intervals hold: it says so, and fails when they do not."""

import numpy as np
import pytest
from scipy import stats

import dawa
from dawa.results import answers, quantiles
from dawa_bench.coverage import __main__ as command
from dawa_bench.coverage.counting import DOUBT, FRESH, Line, broken, covered, worst
from dawa_bench.coverage.questions import questions
from dawa_bench.coverage.scenes import Scene, few, scenes, spiky, spots


def run(*options):
    with pytest.raises(SystemExit) as ended:
        command.main(["--processes", "1", *options])
    return ended.value.code


def scene(counts, mechanism="greedy-h"):
    return Scene(mechanism, "records", counts, "0.5", {})


def test_every_mechanism_is_listed_with_its_lines_and_maps_or_as_one_without_intervals(capsys):
    assert run("uniform", "mwem", "--releases", "2", "--search", "1") == 0
    rows = [row for row in capsys.readouterr().out.splitlines() if row.startswith("| ")]
    assert sum("uniform" in row for row in rows) == 5
    assert sum("map" in row for row in rows) == 2
    assert [row for row in rows if "mwem" in row and "gives no intervals" in row]
    everything = {one.mechanism for one in scenes(dawa.mechanisms.names(with_error_bars=True))}
    assert everything | {"agrid", "dpcube", "efpa", "mwem"} == set(dawa.mechanisms.names())


def test_a_mechanism_that_does_not_exist_is_refused(capsys):
    assert run("dawn") == 2
    assert "'dawn'" in capsys.readouterr().err


def test_the_table_is_written_into_a_file(tmp_path, capsys):
    path = tmp_path / "coverage.md"
    assert run("uniform", "--releases", "2", "--search", "1", "--report", str(path)) == 0
    assert path.read_text(encoding="utf-8") in capsys.readouterr().out


@pytest.mark.long
def test_counts_without_a_margin_are_called_broken(monkeypatch, capsys):
    monkeypatch.setattr(answers, "factor_of", lambda *_: 0.0)
    assert run("greedy-h", "--releases", "60", "--search", "5") == 1
    assert "greedy-h, spiky line, epsilon 0.5: count" in capsys.readouterr().out


def test_intervals_that_forget_what_floats_lose_are_called_broken(monkeypatch):
    monkeypatch.setattr(answers, "rounding", lambda ranged, _: np.zeros(len(ranged[0].queries)))
    found = {one.name: one for one in scenes(["greedy-h"])}
    [lines] = covered([found["line of 2^44 records"]], 60, 10, 0.9)
    assert broken(lines)


def test_other_questions_without_a_margin_are_called_broken(monkeypatch):
    for module in (quantiles, answers, dawa.results.statistics, dawa.results.comparing):
        monkeypatch.setattr(module, "factor_of", lambda *_: 0.0)
    [lines] = covered([scene(spiky())], 60, 5, 0.9)
    assert any(not line.question.startswith("count") for line in broken(lines))


def test_as_many_tests_are_allowed_for_as_there_are_lines():
    held = int(stats.binom.ppf(DOUBT / 10, 1000, 0.9))
    line = Line("a scene", "a question", held - 1, 1000, 0.9)
    assert line.chance < DOUBT / 10
    assert broken([line] * 10)
    assert not broken([line] * 1000)


def test_questions_are_counted_in_releases_that_the_search_did_not_see(monkeypatch):
    seeds, real = [], Scene.release
    monkeypatch.setattr(Scene, "release", lambda self, seed: seeds.append(seed) or real(self, seed))
    [lines] = covered([scene(few())], 5, 3, 0.9)
    assert seeds == [0, 1, 2, *range(FRESH, FRESH + 5)]
    assert {line.releases for line in lines} == {5}


def test_the_search_picks_what_held_least_often():
    asked = questions(spots())
    held = np.full(len(asked), 50)
    held[[7, 900, len(asked) - 2]] = 3
    assert {7, 900, len(asked) - 2} <= set(worst(asked, held))
    chosen = asked.only(worst(asked, held))
    assert asked.names[7] in chosen.names
    assert len(chosen) == len(chosen.names) == len(worst(asked, held))


@pytest.mark.parametrize("counts", [spiky(), few(), spots()])
def test_the_truth_of_every_question_is_that_of_the_counts(counts):
    """A release with next to no noise, every cell by itself, answers them all."""
    asked = questions(counts, bands=counts.ndim == 1)
    for at, (lo, hi) in enumerate(zip(asked.lo.tolist(), asked.hi.tolist(), strict=True)):
        assert asked.truth[at] == counts[tuple(slice(*ends) for ends in zip(lo, hi, strict=True))].sum()
    assert Scene("identity", "exact", counts, "1000000", {}).release(0).estimate.cells == pytest.approx(counts, abs=0.1)
    assert asked.held(Scene("identity", "exact", counts, "1000000", {}).release(0), 0.999999).all()


@pytest.mark.long
def test_processes_find_the_same():
    one, two = (list(covered([scene(spots())], 40, 10, 0.9, processes)) for processes in (1, 2))
    assert one == two
