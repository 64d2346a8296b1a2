"""The comparison on huge domains: it runs, and knows the truth."""

import numpy as np
import pytest

from dawa_bench import huge


@pytest.mark.parametrize("table", [False, True])
def test_a_small_run(capsys, table):
    huge.main(["--records", "2000", "--trials", "1", "--data", "clusters", *(["--table"] if table else [])])
    head, line = capsys.readouterr().out.splitlines()
    assert head.startswith("2^62 cells, 2,000 records")
    assert "buckets" in line
    errors, widths = line.split(";")[1:]
    ratio, _, _, where = errors.rpartition(",")[2].split()
    assert where == "(records)"
    assert 0 < float(ratio) < 20
    assert 0 < float(widths.split()[1].replace(",", "")) <= 2000


@pytest.mark.parametrize("kind", huge.DATA)
def test_data_fill_the_domain_and_true_answers_have_no_error(kind):
    task = huge.Task.of(kind, 62, 500, seed=3)
    assert ((task.values >= 0) & (task.values < 2**62)).all()
    assert len(np.unique(task.values)) > 100

    def answered(lo, hi):
        return np.array([((a <= task.values) & (task.values < b)).sum() for a, b in zip(lo, hi, strict=True)])

    assert set(task.errors(answered).values()) == {0.0}
