"""A container that cannot be written, without a home, as nobody, with little memory."""

import pytest

from dawa_bench.faults import bare


@pytest.mark.skipif(not bare.possible(), reason="namespaces need root; .ci/run has it")
def test_release_query_and_serve_work_where_there_is_nothing():
    found = bare.run()
    assert found.returncode == 0, found.stderr
    told = dict(line.split(": ", 1) for line in found.stdout.splitlines())
    assert told["release"].startswith("Released ")
    assert told["query"].startswith('{"answers":[')
    assert told["serve"].startswith('{"value":')
    assert not found.stderr, "and nothing is complained about"
