"""The page of results, from records alone."""

import pytest

import dawa
from dawa_bench import experiments, published, results, store
from helpers.bench import invented


@pytest.mark.long
def test_the_page_of_results(tmp_path):
    """All experiments at once, and what is missing is said."""
    for name in experiments.names():
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
