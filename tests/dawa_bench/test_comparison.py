"""What to measure on, how far answers are, and the options of those who compare."""

import numpy as np
import pytest

import dawa
from dawa_bench import comparison
from dawa_bench.comparison import Errors


@pytest.mark.parametrize(("axes", "shape"), [(1, (4096,)), (2, (256, 256))])
def test_without_a_folder_data_is_generated_and_says_so(axes, shape, monkeypatch, tmp_path):
    monkeypatch.setenv("DAWA_DATA", str(tmp_path))
    kind, found = comparison.measured_on(axes)
    assert kind.startswith("generated (set DAWA_DATA")
    assert len(found) > 2
    assert {counts.shape for counts in found.values()} == {shape}
    again = comparison.measured_on(axes)[1]
    assert all(np.array_equal(counts, again[name]) for name, counts in found.items())


def test_a_folder_has_the_real_ones(monkeypatch, tmp_path):
    (tmp_path / "1d").mkdir()
    np.save(tmp_path / "1d" / "b.npy", np.array([1.0, 2.0]))
    np.save(tmp_path / "1d" / "a.npy", np.array([3, 4]))
    monkeypatch.setenv("DAWA_DATA", str(tmp_path))
    kind, found = comparison.measured_on(1)
    assert kind == "real"
    assert list(found) == ["a", "b"]
    assert found["b"].dtype == np.int64


def test_reference_errors_are_by_algorithm_dataset_and_epsilon(tmp_path):
    path = tmp_path / "peers.csv"
    assert comparison.reference_errors(path) == {}
    path.write_text("algorithm,dataset,epsilon,mean_abs_error\nDAWA,adult,0.1,12.5\n")
    assert comparison.reference_errors(path) == {("DAWA", "adult", "0.1"): 12.5}


def test_errors_are_of_given_and_of_fresh_queries():
    counts = np.array([5, 0, 9, 1])
    given, fresh = dawa.Workload.ranges([0], [4], 4), dawa.Workload.ranges([0, 1], [1, 2], 4)
    found = dawa.estimate(counts, given, epsilon=1000, mechanism="uniform", seed=0)
    errors = Errors.of(found, counts, given, fresh)
    assert errors.given < 1
    assert errors.fresh == pytest.approx(2.5, abs=1)
    assert Errors.mean([errors, Errors(0, 0)]) == Errors(errors.given / 2, errors.fresh / 2)


@pytest.mark.parametrize(
    ("text", "value"), [("rounds=10", 10), ("merge=True", True), ("share=1/2", "1/2"), ("strategy=None", None)]
)
def test_options_of_mechanisms_are_read(text, value):
    assert comparison.option(text) == (text.partition("=")[0], value)


def test_options_of_commands_are_shared():
    parser = comparison.parser_of_many("Compare.", comparison.REFERENCE, trials=3)
    chosen = parser.parse_args(["mwem", "--set", "rounds=10", "--against", "MWEM"])
    assert chosen.mechanisms == ["mwem"]
    assert (chosen.set, chosen.against, chosen.trials) == ([("rounds", 10)], "MWEM", 3)
