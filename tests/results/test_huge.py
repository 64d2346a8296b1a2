"""A release of more cells than floats tell apart: single cells are asked exactly."""

import csv

import numpy as np
import pyarrow.parquet
import pytest

import dawa
from dawa import Axis
from dawa.errors import AxisError, ReleaseError
from dawa.publish import files, parquet
from dawa.spec import ranges

SPIKE, NEXT = 2**60 + 5, 2**61 + 1


@pytest.fixture(scope="module")
def release():
    values = np.random.default_rng(0).integers(0, 2**62, 4000)
    table = {"x": np.concatenate((values, np.full(3000, SPIKE), np.full(2000, NEXT), np.full(10, NEXT + 1)))}
    return dawa.release(table, Axis("x", 0, 2**62), epsilon=10, seed=0)


def test_single_cells_are_told_apart(release, tmp_path):
    for cell, records in ((SPIKE, 3000), (NEXT, 2000), (SPIKE + 1, 0), (SPIKE - 1, 0)):
        found = release.answer(cell, cell + 1, confidence=0.9999)
        assert abs(found.value - records) < 60
        assert found.low <= records <= found.high
    one = dawa.Workload.ranges([SPIKE], [SPIKE + 1], 2**62)
    assert release.estimate.answers(one)[0] == pytest.approx(release.answer(SPIKE, SPIKE + 1).value)
    again = dawa.load(release.save(tmp_path / "release.json"))
    assert again.answer(SPIKE, SPIKE + 1) == release.answer(SPIKE, SPIKE + 1)


def test_halves_of_cells_are_asked_exactly(release):
    whole = release.answer(SPIKE, SPIKE + 1).value
    assert release.answer(SPIKE, f"{2 * SPIKE + 1}/2").value == pytest.approx(whole / 2)


def test_figures_and_rows_are_whole_numbers(release, tmp_path):
    median = release.quantile(0.3)
    assert isinstance(median.value, int)
    assert median.low <= SPIKE <= median.high
    drawn = release.sample(2000, seed=1)
    assert drawn.dtype == np.int64
    assert {SPIKE, NEXT} <= set(drawn.tolist())
    assert ((drawn >= 0) & (drawn < 2**62)).all()
    assert len(set((drawn % 512).tolist())) > 100, "the last bits are drawn, too"
    assert SPIKE in release.buckets.lo.tolist()
    files.save_rows(tmp_path / "rows.parquet", release.axes, release.sampled(500, 1))
    assert SPIKE in pyarrow.parquet.read_table(tmp_path / "rows.parquet")["x"].to_pylist()
    files.save_rows(tmp_path / "rows.csv", release.axes, release.sampled(500, 1))
    with (tmp_path / "rows.csv").open(newline="") as file:
        assert [str(SPIKE)] in list(csv.reader(file))
    asked = [ranges.typed(f"{SPIKE}:{SPIKE + 1}", release.axes)]
    table = parquet.answers(release, asked, ranges.answered(release, asked))
    assert SPIKE in [column.to_pylist()[0] for column in table.columns]


def test_it_is_drawn_and_reported(release, tmp_path):
    release.plot(tmp_path / "x.svg")
    release.report(tmp_path / "x.html")
    assert "dawa query" in (tmp_path / "x.html").read_text(encoding="utf-8")
    assert release.mean().low <= release.mean().value <= release.mean().high
    assert len(release.band()) == len(release.estimate.buckets) + 1


def test_beside_others_an_axis_is_shorter():
    with pytest.raises(AxisError, match="beside other axes"):
        dawa.release({"a": [1], "b": [1]}, [Axis("a", 0, 2**49), Axis("b", 0, 2)], epsilon=1, seed=0)
    data = dawa.release({"a": [1], "b": [1]}, [Axis("a", 0, 2**40), Axis("b", 0, 2)], epsilon=1, seed=0).to_json()
    data["axes"][0]["stop"] = str(2**49)
    with pytest.raises(ReleaseError):
        dawa.results.file.read(data)


@pytest.mark.long_but(2)
@pytest.mark.parametrize(
    ("axis", "value", "lo", "hi"),
    [
        (Axis("x", 0, 2**62), 2**61, 2**61, 2**61 + 1),
        (Axis("x", 0, 2**62), 2**62 - 1, 2**62 - 1, 2**62),
        (Axis("x", 0, 2**62), 2**61 - 1, 2**61 - 1, 2**61),
        (Axis("x", 0, 10**18, step=10**17), 10**17 - 1, 10**17 - 1, 2 * 10**17),
    ],
)
def test_a_range_of_one_cell_at_a_bound_holds_what_is_there(axis, value, lo, hi):
    for seed in range(20):
        rel = dawa.release({"x": np.full(200, value)}, axis, epsilon="0.1", seed=seed, partition="one")
        for found in (rel.answer(lo, hi), rel.answers(np.full(101, lo), np.full(101, hi))[7]):
            assert found.low <= 200 <= found.high
        share = rel.share(lo, hi)
        assert share.high >= 1


def test_an_axis_from_the_lowest_whole_number_of_64_bits_on_has_whole_numbers():
    axis = Axis("x", -(2**63), -(2**63) + 2**62)
    rel = dawa.release({"x": [-(2**63), -(2**63) + 1] * 500}, axis, epsilon=1, seed=0)
    drawn = rel.sample(1000, seed=0)
    assert drawn.dtype == np.int64
    assert {-(2**63), -(2**63) + 1} <= set(drawn.tolist()), "floats there are 1,024 apart"
    assert rel.buckets[0].lo == -(2**63)
    assert parquet.kind(axis, whole=True) == pyarrow.int64()
