"""A server that is missing skips its tests, visibly; where CI is set, it fails them."""

import pytest

from helpers.servers import missing


def test_a_missing_server_skips_or_fails(monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="Spark could not be started: OSError: no Java"):
        missing("Spark", OSError("no Java"))
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="nothing is skipped where CI is set"):
        missing("Spark", OSError("no Java"))
