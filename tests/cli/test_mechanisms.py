"""``dawa mechanisms``: what there is to choose from, and the ranking of those that do not look at the data."""

from typing import get_args

import pytest

import dawa as library
from dawa import workloads
from dawa.cli.mechanisms import Named
from dawa.mechanisms.ranking import CANDIDATES, recommended
from dawa.queries.workload import Workload
from helpers.commands import dawa, refused


def test_mechanisms_are_listed():
    shown = dawa("mechanisms")
    for name in library.mechanisms.names(with_error_bars=True):
        assert f"\n{name} " in f"\n{shown.out}"
    assert "mwem" not in shown.out, "it makes no release"
    assert {entry["name"] for entry in dawa("mechanisms", "--json").json} == set(library.mechanisms.names())
    shown = " ".join(dawa("mechanisms", "dawa").out.split())
    assert "branching = None For trees: children per node; None takes a suitable number. Takes a whole number" in shown
    (told,) = dawa("mechanisms", "mwem", "--json").json
    assert told["options"][0]["values"] == "a whole number from 1 to 10,000, or None"
    assert [option["default"] for option in told["options"]] == [None, 100, None, "1/20", "1/2"]
    assert dawa("mechanisms", "dewa").code == 1
    assert "dewa" in dawa("mechanisms", "dewa", "--json").json["error"]["problem"]


# --- the ranking ----------------------------------------------------------------------------------------------------


def ranked(*arguments, **environment):
    return dawa("mechanisms", *arguments, "--effort", "fast", **environment)


@pytest.mark.parametrize("name", get_args(Named))
def test_every_workload_by_name(name):
    ran = ranked("--cells", 64, "--workload", name)
    assert ran.code == 0, ran.err
    assert not ran.err, "progress is for terminals"
    assert "RMSE" in ran.out
    assert "epsilon = 1" in ran.out
    assert all(mechanism in ran.out for mechanism in CANDIDATES)
    assert "no data were read" in ran.out


def test_json_is_for_machines():
    ran = ranked("--cells", 64, "--workload", "uniform", "--queries", 7, "--epsilon=0.1", "--json")
    assert (ran.code, ran.json["cells"], ran.json["epsilon"]) == (0, 64, "1/10")
    expected = recommended(workloads.uniform(64, 7), 0.1, "fast")
    assert [found["name"] for found in ran.json["ranking"]] == [found.name for found in expected]
    assert [found["rmse"] for found in ran.json["ranking"]] == [found.rmse for found in expected]
    assert set(ran.json["ranking"][0]) == {"name", "rmse", "strategy", "options"}


def test_the_effort_is_the_best_unless_it_is_said():
    found = dawa("mechanisms", "--cells", 64, "--workload", "prefixes", "--json").json
    assert [one["rmse"] for one in found["ranking"]] == [one.rmse for one in recommended(workloads.prefixes(64))]


def test_a_terminal_sees_that_it_works():
    ran = ranked("--cells", 64, "--workload", "identity", FORCE_COLOR="1")
    assert "Comparing …" in " ".join(ran.err.split())


@pytest.mark.parametrize("text", ["0,90\n90,181\n", "lo,hi\n0, 90\n\n90,181", "\ufefflo,hi\r\n0,90\r\n90,181\r\n"])
def test_ranges_from_a_file(tmp_path, text):
    path = tmp_path / "ranges.csv"
    path.write_bytes(text.encode())
    ran = ranked("--cells", 365, "--ranges", path, "--json")
    expected = recommended(Workload.ranges([0, 90], [90, 181], 365), 1, "fast")
    assert ran.code == 0
    assert ran.json["ranking"][0]["rmse"] == expected[0].rmse


@pytest.mark.parametrize(
    "text", ["", "lo,hi\n", "0,90\n1\n", "0,90\n1,x\n", "0,400\n", "5,5\n", "0,1,2\n", "lo,9\n", "\xff"]
)
def test_broken_files_are_refused_in_a_sentence(tmp_path, text):
    path = tmp_path / "ranges.csv"
    path.write_bytes(text.encode("latin-1"))
    refused(ranked("--cells", 365, "--ranges", path))


def test_a_file_of_ranges_that_never_ends_is_refused():
    refused(ranked("--cells", 64, "--ranges", "/dev/zero"), "a line of more than")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--cells", "0", "--workload", "uniform"), ""),
        (("--cells", "-3", "--workload", "prefixes"), ""),
        (("--cells", "9", "--workload", "uniform", "--epsilon", "nan"), "not a finite number"),
        (("--cells", "8", "--workload", "identity", "--epsilon", "-1"), "epsilon must be positive"),
        (("--cells", "9", "--workload", "uniform", "--queries", "0"), ""),
        (("--cells", "9", "--workload", "clustered", "--queries", "0"), ""),
        (("--cells", "9", "--workload", "prefixes", "--queries", "5"), "--queries says how many ranges are drawn"),
        (("--cells", "9", "--ranges", "no such file.csv", "--queries", "5"), "--queries says how many"),
        (("--cells", "99999999", "--workload", "prefixes"), "too many"),
        (("--cells", "9", "--ranges", "no such file.csv"), "no such file.csv cannot be read"),
    ],
)
def test_bad_input_ends_with_a_sentence_and_code_1(arguments, part):
    refused(ranked(*arguments), part)
    error = ranked(*arguments, "--json")
    assert error.code == 1
    assert part in error.json["error"]["problem"]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--cells", "9"), "either --workload or --ranges"),
        (("--cells", "9", "--workload", "uniform", "--ranges", "x.csv"), "either --workload or --ranges"),
        (("--cells", "x", "--workload", "uniform"), "--cells"),
        (("--cells", "9", "--workload", "unifrom"), "--workload"),
        (("--cells", "9", "--workload", "uniform", "--effort", "lazy"), "--effort"),
        (("--workload", "uniform"), "needs --cells"),
        (("--epsilon", "1"), "--epsilon belongs to a ranking"),
        (("dawa", "--queries", "3"), "--queries belongs to a ranking"),
        (("dawa", "--cells", "9", "--workload", "uniform"), "leave one of them out"),
    ],
)
def test_wrong_usage_is_named_with_code_2(arguments, part):
    ran = dawa("mechanisms", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert part in ran.err


def test_help_has_examples_of_rankings():
    shown = dawa("mechanisms", "--help").out
    for example in ("--cells 4096 --workload uniform", "--ranges quarters.csv", "0,90"):
        assert example in shown
