"""``make test`` leaves long tests out, and still tests every part."""

from types import SimpleNamespace

import pytest

from helpers import long


def case(law, *marks, **params):
    """A case of a law, as pytest collects it."""
    found = [mark.mark for mark in marks]
    return SimpleNamespace(
        nodeid=f"{law}[{'-'.join(map(str, params.values()))}]",
        path=law.partition("::")[0],
        fixturenames=list(params),
        callspec=SimpleNamespace(params=params),
        get_closest_marker=lambda name: next((mark for mark in found if mark.name == name), None),
        add_marker=lambda mark: found.append(mark.mark),
    )


def short(cases):
    return [one.nodeid for one in cases if not one.get_closest_marker("long")]


def test_every_file_has_a_test_that_is_not_long(request):
    assert request.config.stash[long.FOUND].files == set()


def test_every_server_has_a_test_that_is_not_long(request):
    """Tables in PostgreSQL and Spark, and pages in a browser; the other sources have files of tests of their own."""
    if [*request.config.args] != request.config.getini("testpaths"):
        pytest.skip("this is a part of the tests")
    assert request.config.stash[long.FOUND].used >= {"browser", "postgres", "spark"}


def test_all_cases_but_so_many_are_long():
    cases = [case("a.py::law", pytest.mark.long_but(3), number=i) for i in range(10)]
    long.mark(cases)
    assert short(cases) == ["a.py::law[0]", "a.py::law[3]", "a.py::law[6]"]
    few = [case("a.py::law", pytest.mark.long_but(3), number=i) for i in range(2)]
    long.mark(few)
    assert len(short(few)) == 2


def test_each_value_of_a_parameter_keeps_other_cases():
    keep = pytest.mark.long_but(1, of="kind")
    cases = [case("a.py::law", keep, kind=kind, number=i) for kind in "xyz" for i in range(4)]
    long.mark(cases)
    assert short(cases) == ["a.py::law[x-0]", "a.py::law[y-1]", "a.py::law[z-2]"]


def test_what_long_tests_alone_try_is_noticed():
    cases = [
        case("a.py::law", pytest.mark.long, spark=1),
        case("b.py::law", pytest.mark.long, postgres=1),
        case("b.py::other", postgres=1),
    ]
    found = long.mark(cases)
    assert found.files == {"a.py"}
    assert found.used == {"postgres"}
