"""Results are kept line by line, and survive what stops a process."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import dawa
from dawa_bench import store
from dawa_bench.experiments import Measured, Record, Task

FLOATS = st.none() | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=["C"]), max_size=12)


def task(trial=0, **changes):
    return Task(**{"experiment": "e", "dataset": "d", "data": "real", "mechanism": "dawa", "trial": trial, **changes})


def write(folder, *records):
    descriptor = store.opened(folder)
    for record in records:
        store.append(descriptor, record)
    os.close(descriptor)


@given(mechanism=TEXTS, setting=TEXTS, error=FLOATS, buckets=st.none() | st.integers(0, 10**9))
def test_what_is_written_is_read(tmp_path_factory, mechanism, setting, error, buckets):
    folder = tmp_path_factory.mktemp("bench")
    record = Record(task(mechanism=mechanism, setting=setting), Measured(error=error, buckets=buckets))
    write(folder, record)
    assert store.records(folder) == [record]


def test_records_come_in_the_order_of_their_keys(tmp_path):
    kept = [Record(task(trial), Measured(error=float(trial))) for trial in range(5)]
    write(tmp_path, *kept[::-1])
    assert store.records(tmp_path) == kept


def test_of_two_results_of_a_task_the_first_counts(tmp_path):
    write(tmp_path, Record(task(), Measured(error=1.0)), Record(task(), Measured(error=2.0)))
    assert [record.measured.error for record in store.records(tmp_path)] == [1.0]


@pytest.mark.parametrize("cut", range(1, 30, 4))
def test_a_line_that_was_cut_is_dropped(tmp_path, cut):
    first, second, third = (Record(task(trial), Measured(error=0.5 * trial)) for trial in range(3))
    write(tmp_path, first, second)
    path = tmp_path / store.LINES
    path.write_bytes(path.read_bytes()[:-cut])
    assert store.records(tmp_path) == [first]
    write(tmp_path, third)
    assert store.records(tmp_path) == [first, third]


def test_a_second_process_costs_no_record(tmp_path):
    """It may be opened while the first one is in the middle of a line."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom dawa_bench import store\n"
        "from dawa_bench.experiments import Measured, Record, Task\n"
        "for n in range(100):\n"
        "    found = store.opened(Path(sys.argv[1]))\n"
        "    task = Task(experiment='e', dataset=sys.argv[2] * 5000, data='real', mechanism='dawa', trial=n)\n"
        "    store.append(found, Record(task, Measured(error=1.0)))\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name])  # noqa: S603  our own
        for name in ("a", "b", "c")
    ]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert len(store.records(tmp_path)) == 300


def test_a_heading_that_was_cut_is_written_again(tmp_path):
    (tmp_path / store.LINES).write_text("experi")
    write(tmp_path, Record(task(), Measured(error=1.0)))
    assert len(store.records(tmp_path)) == 1


def test_no_folder_has_no_records(tmp_path):
    assert store.records(tmp_path / "none") == []
    assert store.noted(tmp_path / "none") == {}


@pytest.mark.parametrize(("contents", "says"), [("a,b\n1,2\n", "the columns of results"), (None, "damaged")])
def test_what_is_no_file_of_records_is_refused(tmp_path, contents, says):
    write(tmp_path, Record(task(), Measured(error=1.0)))
    path = tmp_path / store.LINES
    path.write_text(contents or path.read_text().replace("1.0", "one"))
    with pytest.raises(dawa.errors.FolderError, match=says):
        store.records(tmp_path)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(dawa.errors.FolderError, match="cannot be written"):
        store.opened(tmp_path / "file" / "folder")


def test_parquet_holds_the_same(tmp_path):
    kept = [Record(task(trial), Measured(error=trial / 3, buckets=trial or None)) for trial in range(3)]
    store.finish(tmp_path, kept)
    rows = parquet.read_table(tmp_path / store.TABLE).to_pylist()
    assert [row["error"] for row in rows] == [0, 1 / 3, 2 / 3]
    assert [row["buckets"] for row in rows] == [None, 1, 2]
    assert {row["mechanism"] for row in rows} == {"dawa"}


def test_machine_and_versions_are_noted(tmp_path):
    store.note(tmp_path, {"size": "quick"})
    found = store.noted(tmp_path)
    assert found["size"] == "quick"
    assert found["versions"]["dawa"] == dawa.__version__
    assert found["machine"]["cores"] >= 1


def test_a_store_of_an_earlier_version_is_read(tmp_path):
    """As 0.1.0 wrote it, when these modules were others."""
    (tmp_path / store.LINES).write_text(
        "experiment,dataset,data,mechanism,epsilon,workload,setting,trial,error,seconds,buckets,cost,megabytes,version\n"
        "paper.rounds,adult,generated,mwem-2012-code,0.1,uniform-0,10,2,98.5,0.25,,,,0.1.0\n"
    )
    old = Task("paper.rounds", "adult", "generated", "mwem-2012-code", "0.1", "uniform-0", "10", 2)
    assert store.records(tmp_path) == [Record(old, Measured(98.5, 0.25), "0.1.0")]
    assert old.seed == 4970969529932624946
