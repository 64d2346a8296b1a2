"""Every experiment: its tasks, one run of each kind, and what is shown of results."""

import hashlib

import numpy as np
import pytest

import dawa
from dawa_bench import experiments, published
from dawa_bench.experiments import Task
from helpers.bench import invented

DIGESTS = {
    "paper.errors": ("69a9cdb9f67ec818", "490c1e0c4ebdc911"),
    "paper.optimal-k": ("c0a695e71cc01aa9", "2b302a4f9bdb6e4e"),
    "paper.stages": ("f78e62910f1ae502", "3ee9c0129acc168f"),
    "paper.partitions": ("a61edc71695a792d", "fc470b75dce59495"),
    "paper.scaling": ("0885ba808481d3b1", "ef65b07768d694bb"),
    "paper.spatial": ("d7cead70a459516f", "387a1412573e4aaf"),
    "paper.time": ("c8d69ad425dd8143", "2813942b7f021017"),
    "paper.rounds": ("700227e0c2c61057", "8168be7be7e65d55"),
    "growth": ("092b4eb668ace16f", "503ef9adae013d83"),
    "scale": ("b54ed05dcc5974ee", "9166a32873c99948"),
}
"""Of all keys of an experiment on stand-ins, quick and full. Results are kept by them, and seeds follow from them:
where one changes, nobody's results are found again."""


@pytest.fixture(params=experiments.names())
def name(request):
    return request.param


@pytest.mark.parametrize("size", ["quick", "full"])
def test_every_task_has_a_key_and_a_seed_of_its_own(name, size):
    tasks = experiments.find(name).tasks(size, None)
    assert len(set(tasks)) == len(tasks)
    assert len({task.seed for task in tasks}) == len(tasks)
    assert {task.experiment for task in tasks} == {name}
    assert all(task.data in {"real", "generated"} for task in tasks)


def test_keys_and_seeds_are_those_of_earlier_versions(name):
    found = (experiments.find(name).tasks(size, None) for size in ("quick", "full"))
    seeds = ("\n".join(map(str, sorted(task.seed for task in tasks))) for tasks in found)
    assert tuple(hashlib.sha256(text.encode()).hexdigest()[:16] for text in seeds) == DIGESTS[name]


def test_every_name_has_a_home():
    assert list(DIGESTS) == list(experiments.names())
    for name in experiments.names():
        assert experiments.find(name).name == name


def test_what_is_not_private_says_so_wherever_it_is_shown(name):
    """In every table: also in headings, where a published mechanism gave the numbers below."""
    for table in experiments.find(name).tables(invented(name)):
        text = table.markdown()
        for code in published.NAMES:
            assert text.count(code) == text.count(f"{code} (NOT PRIVATE)"), (table.title, code)
        if "published" in text:
            assert "NOT PRIVATE" in text


def test_figures_are_labelled_and_say_what_is_not_private(name):
    draw = experiments.find(name).figure
    if draw is None:
        return
    figure = draw(invented(name))
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
    for table in experiments.find(name).tables(invented(name)):
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert table.title


def test_an_experiment_that_does_not_exist():
    with pytest.raises(dawa.errors.OptionError, match="no experiment 'paper'"):
        experiments.find("paper")


@pytest.mark.long_but(2)
@pytest.mark.parametrize("experiment", ["paper.errors", "paper.stages", "paper.scaling", "scale", "paper.partitions"])
def test_one_run_of_every_mechanism(experiment):
    """On the sparsest stand-in, which is quick."""
    found = experiments.find(experiment)
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


def test_a_seed_follows_from_every_field():
    base = {"experiment": "e", "dataset": "d", "data": "real", "mechanism": "dawa", "trial": 0}
    changes = ({"trial": 1}, {"epsilon": "0.1"}, {"workload": "u"}, {"setting": "s"}, {"dataset": "x"}, {"data": "y"})
    seeds = {Task(**{**base, **change}).seed for change in ({}, *changes)}
    assert len(seeds) == 7
    assert Task(**base).seed in seeds
    assert all(0 <= seed < 2**63 for seed in seeds)
