"""Datasets of the benchmark: real where a folder has them, stand-ins otherwise, fetched by checksum."""

import threading
from dataclasses import replace
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import dawa
from dawa_bench import datasets
from dawa_bench.datasets import Recipe, generated
from dawa_bench.optimum import optimum

HARDNESS = {
    "nettrace": 29,
    "adult": 22,
    "medcost": 20,
    "searchlogs": 498,
    "income": 1535,
    "patent": 1870,
    "hepth": 2160,
}
"""Buckets of the optimal partition of the real datasets at ε2 = 0.05."""


@pytest.mark.parametrize("name", datasets.ALL)
def test_stand_ins_are_as_large_and_as_sparse(name):
    found, recipe = datasets.load(name, None), datasets.ALL[name].recipe
    assert found.kind == "generated"
    assert found.counts.shape == recipe.shape
    assert found.counts.sum() == recipe.records
    assert (found.counts > 0).sum() == recipe.occupied


@pytest.mark.long_but(2)
@pytest.mark.parametrize("name", HARDNESS)
def test_stand_ins_are_as_hard(name):
    buckets = len(optimum(datasets.load(name, None).counts, Fraction(1, 20), "all")) - 1
    assert HARDNESS[name] / 1.25 <= buckets <= 1.25 * HARDNESS[name]


def test_stand_ins_are_the_same_every_time():
    recipe = Recipe((64,), 500, 20, 1.0)
    assert np.array_equal(generated(recipe), generated(recipe))
    assert not np.array_equal(generated(recipe), generated(recipe, seed=1))


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A folder with one dataset of four cells, which the registry knows by its checksum."""
    counts = np.array([3, 0, 7, 1])
    checksum = datasets.checksum(counts)
    one = datasets.Dataset("tiny", "nothing", Recipe((4,), 11, 3, 1.0), "tiny.npy", checksum)
    monkeypatch.setitem(datasets.ALL, "tiny", one)
    (tmp_path / "1d").mkdir()
    np.save(tmp_path / "1d" / "tiny.npy", counts)
    return one, tmp_path, counts


def test_a_file_is_real_by_its_contents(small):
    one, folder, counts = small
    found = datasets.load(one.name, folder)
    assert found.kind == "real"
    assert np.array_equal(found.counts, counts)
    assert not found.counts.flags.writeable


def test_floats_that_are_whole_are_counts_too(small):
    one, folder, counts = small
    np.save(folder / "1d" / "tiny.npy", counts.astype(np.float64))
    assert datasets.checksum(datasets.read(folder / one.path, one)) == one.checksum


def test_other_contents_are_called_other(small):
    one, folder, counts = small
    np.save(folder / "1d" / "tiny.npy", counts + 1)
    datasets.load.cache_clear()
    assert datasets.load(one.name, folder).kind == "other"


@pytest.mark.parametrize(
    "wrong",
    [np.array([1.5, 0, 0, 0]), np.array([-1, 0, 0, 0]), np.zeros(5), np.array(["a"] * 4), np.array([np.nan] * 4)],
)
def test_what_is_no_histogram_is_refused(small, wrong):
    one, folder, _ = small
    np.save(folder / "1d" / "tiny.npy", wrong)
    with pytest.raises(dawa.errors.SourceError, match=r"tiny\.npy"):
        datasets.read(folder / one.path, one)


def test_what_is_no_array_is_refused(small):
    one, folder, _ = small
    for contents in (b"", b"hello", b"\x93NUMPY"):
        (folder / one.path).write_bytes(contents)
        with pytest.raises(dawa.errors.SourceError, match="cannot be read"):
            datasets.read(folder / one.path, one)


def test_a_folder_that_is_named_must_have_it(tmp_path):
    with pytest.raises(dawa.errors.SourceError, match=r"1d/adult\.npy"):
        datasets.load("adult", tmp_path)
    with pytest.raises(dawa.errors.SourceError, match="no folder"):
        datasets.folder_for(str(tmp_path / "nowhere"))


def test_where_the_folder_comes_from(tmp_path, monkeypatch):
    monkeypatch.delenv(datasets.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert datasets.folder_for(None) is None
    datasets.fetched_folder().mkdir(parents=True)
    assert datasets.folder_for(None) == datasets.fetched_folder()
    monkeypatch.setenv(datasets.VARIABLE, str(tmp_path))
    assert datasets.folder_for(None) == tmp_path
    assert datasets.folder_for(str(tmp_path / "cache")) == tmp_path / "cache"


@pytest.fixture
def web():
    """A web server on this machine; what it says is in a dict by path."""
    pages = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = pages.get(self.path)
            self.send_response(404 if body is None else 200)
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", pages
    server.shutdown()
    thread.join()
    server.server_close()


def test_fetch_keeps_what_has_the_right_contents(small, web, tmp_path):
    one, folder, counts = small
    address, pages = web
    pages["/tiny.npy"] = (folder / one.path).read_bytes()
    target, told = tmp_path / "fetched", []
    datasets.fetch(target, [one], address, told.append)
    assert np.array_equal(np.load(target / one.path), counts)
    pages.clear()
    datasets.fetch(target, [one], address, told.append)
    assert told == ["tiny: fetched", "tiny: already there"]


@pytest.mark.long_but(1)
@pytest.mark.parametrize("change", ["another", "broken", "gone", "large"])
def test_fetch_keeps_nothing_else(small, web, tmp_path, monkeypatch, change):
    one, folder, _ = small
    address, pages = web
    body = (folder / one.path).read_bytes()
    pages["/tiny.npy"] = {"another": body[:-8] + bytes(8), "broken": b"<html>", "gone": None, "large": body}[change]
    if change == "large":
        monkeypatch.setattr(datasets, "LARGEST", 10)
    with pytest.raises(dawa.errors.SourceError) as caught:
        datasets.fetch(tmp_path / "fetched", [one], address)
    assert caught.value.hint
    left = [path for path in (tmp_path / "fetched").rglob("*") if path.is_file()]
    assert not left


def test_fetch_says_where_it_could_not_go(small, tmp_path):
    one, _, _ = small
    with pytest.raises(dawa.errors.SourceError, match="cannot be fetched"):
        datasets.fetch(tmp_path, [replace(one, name="absent")], "http://127.0.0.1:1")
    with pytest.raises(dawa.errors.SourceError, match="not an address on the web"):
        datasets.fetch(tmp_path, [replace(one, name="absent")], "file:///etc")


def test_every_address_is_pinned():
    for dataset in datasets.ALL.values():
        assert dataset.address.endswith(".npy")
        assert len(dataset.address.split("/")[0]) == 40
        assert len(dataset.checksum) == 64
    assert datasets.REPOSITORY.startswith("https://")
