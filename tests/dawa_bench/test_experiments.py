"""Every experiment: its tasks, one run of each kind, and what is shown of results."""

import numpy as np
import pytest

import dawa
from dawa_bench import contestants, datasets, printed, published, registry, results, store
from dawa_bench.experiments import errors, growth, optimal_k, scale
from dawa_bench.partition_cost import partition_cost
from dawa_bench.tables import number
from dawa_bench.tasks import Measured, Record, Task


def invented(name, size="quick"):
    """A result for every task of an experiment, the same every time."""
    records = []
    for task in registry.find(name).tasks(size, None):
        value = 1 + task.seed % 1000
        records.append(Record(task, Measured(value, value / 100, value, float(value), float(value))))
    return records


@pytest.fixture(params=registry.names())
def name(request):
    return request.param


@pytest.mark.parametrize("size", ["quick", "full"])
def test_every_task_has_a_key_and_a_seed_of_its_own(name, size):
    tasks = registry.find(name).tasks(size, None)
    assert len(set(tasks)) == len(tasks)
    assert len({task.seed for task in tasks}) == len(tasks)
    assert {task.experiment for task in tasks} == {name}
    assert all(task.data in {"real", "generated"} for task in tasks)


def test_what_is_not_private_says_so_wherever_it_is_shown(name):
    """In every table: also in headings, where a published mechanism gave the numbers below."""
    for table in registry.find(name).tables(invented(name)):
        text = table.markdown()
        for code in published.NAMES:
            assert text.count(code) == text.count(f"{code} (NOT PRIVATE)"), (table.title, code)
        if "published" in text:
            assert "NOT PRIVATE" in text


def test_figures_are_labelled_and_say_what_is_not_private(name):
    figure = registry.find(name).figure(invented(name))
    if figure is None:
        return
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(legend) == len(set(legend)) > 1
    for text in legend:
        assert text not in published.NAMES
    for chart in figure.axes:
        if chart.get_visible():
            assert chart.get_title(loc="left")
            styles = [(line.get_color(), line.get_marker(), line.get_linestyle()) for line in chart.get_lines()]
            assert len(styles) == len(set(styles)), "every line can be told from the others"


def test_tables_are_whole(name):
    for table in registry.find(name).tables(invented(name)):
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert table.title


def test_an_experiment_that_does_not_exist():
    with pytest.raises(dawa.errors.OptionError, match="no experiment 'paper'"):
        registry.find("paper")


@pytest.mark.parametrize("experiment", ["paper.errors", "paper.stages", "paper.scaling", "scale", "paper.partitions"])
def test_one_run_of_every_mechanism(experiment):
    """On the sparsest stand-in, which is quick."""
    found = registry.find(experiment)
    seen = set()
    for task in found.tasks("quick", None):
        kind = (task.mechanism, task.setting)
        if task.dataset in {"adult", "nettrace"} and kind not in seen:
            seen.add(kind)
            measured = found.run(task, None)
            value = measured.cost if experiment == "paper.partitions" else measured.error
            assert value is not None
            assert np.isfinite(value)
            assert value >= 0


def test_ratios_that_equal_the_paper_are_all_reproduced():
    """Errors made up so that every ratio is as printed, its ends on two datasets; then all are made too large."""

    def made(factor):
        records = []
        for task in registry.find("paper.errors").tasks("quick", None):
            ratio = 1.0
            for rival, code in printed.PUBLISHED_AS.items():
                if task.mechanism == code and rival in printed.RIVALS:
                    at = printed.RIVALS.index(rival)
                    table = printed.LARGEST if task.dataset == "adult" else printed.SMALLEST
                    ratio = factor * table[task.epsilon][at]
            records.append(Record(task, Measured(error=ratio)))
        return records

    assert errors.reproduced(made(1)) == 48
    assert errors.reproduced(made(1.34)) == 48
    assert errors.reproduced(made(1.4)) == 0


def test_losses_name_the_best():
    records = []
    for task in registry.find("paper.errors").tasks("quick", None):
        error = {"dawa": 2.0, "hb": 1.0}.get(task.mechanism, 3.0)
        if task.dataset != "adult":
            error = 1.0
        records.append(Record(task, Measured(error=error)))
    lost = errors.losses(records)
    assert lost == [("adult", epsilon, "hb", 2.0) for epsilon in printed.EPSILONS]


def test_regret_is_one_for_the_best():
    records = [
        Record(task, Measured(error=1.0 if task.mechanism == "hb" else 4.0))
        for task in registry.find("scale").tasks("quick", None)
    ]
    found = scale.regrets(records)
    assert {value for (_, name), value in found.items() if name == "hb"} == {1.0}
    assert found[10**5, "dawa"] == pytest.approx(4)


def test_scale_draws_as_many_records_as_it_says():
    found = scale.drawn("adult", None, 1000)
    assert found.sum() == 1000
    assert not found[datasets.load("adult", None).counts == 0].any()


def test_the_optimum_costs_no_more_than_what_is_found():
    counts = datasets.load("medcost", None).counts
    task = Task(optimal_k.NAME, "medcost", "generated", optimal_k.OPTIMUM, "0.1")
    best = optimal_k.run(task, None)
    found = contestants.run("dawa", counts, contestants.workload_named("uniform-0", 4096), "1", 3)
    assert best.cost <= partition_cost(counts, found.bounds, 0.1)


def test_growth_measures_a_process_of_its_own():
    task = growth._task("dawa", "fast", 1024, 10, 16)
    found = growth.run(task, None)
    assert found.buckets == 16
    assert found.seconds > 0
    assert found.megabytes > 20


def test_the_page_of_results(tmp_path):
    """All experiments at once, and what is missing is said."""
    for name in registry.names():
        if name == "growth":
            continue
        folder = tmp_path / "out" / name
        records = invented(name)
        descriptor = store.opened(folder)
        for record in records:
            store.append(descriptor, record)
        store.os.close(descriptor)
        store.note(folder, {"experiment": name, "size": "quick", "workers": 1, "data": None})
    page = results.report(tmp_path / "out", tmp_path / "docs").read_text()
    assert "## What we found" in page
    assert "Where `dawa` loses" in page
    assert "Not run yet: growth." in page
    assert "generated stand-ins" in page
    for name in ("paper.errors", "scale"):
        assert f"results/{name}.svg" in page
        assert (tmp_path / "docs" / "results" / f"{name}.svg").stat().st_size > 1000
    for code in published.NAMES:
        assert page.count(code) == page.count(f"{code} (NOT PRIVATE)")


def test_a_page_of_nothing_is_refused(tmp_path):
    with pytest.raises(dawa.errors.FolderError, match="no results"):
        results.report(tmp_path, tmp_path)


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (None, ""), (0.001, "0.00100"), (99.96, "100.0"), (1e6, "1,000,000")]
)
def test_numbers_as_people_write_them(value, text):
    assert number(value) == text
