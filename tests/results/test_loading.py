"""Hostile release files: refused with the name of a field, or read in work that their bytes bound."""

import itertools
import json
import os
import random
import subprocess
import sys
import threading
import tracemalloc
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest

import dawa
from dawa.errors import DawaError, OptionError, ReleaseError
from dawa.layout.boxes import Boxes
from dawa.limits import MOST_COVERING, MOST_FILE_DEPTH
from dawa.partition import split
from dawa.results import conform, json_text, loading
from dawa.results.loading import loaded
from dawa.strategy.hats import HatStrategy, hat_rows, table_widths
from dawa_bench.faults import mutation, releases
from dawa_bench.faults.targets import Loader
from helpers.schemas import is_valid, schema

MEGABYTE = 2**20


@pytest.fixture(scope="module")
def seeds():
    return releases.seeds()


@pytest.fixture
def data(seeds):
    return json.loads(seeds[0])


def load(data):
    return loaded((data if isinstance(data, str) else json.dumps(data)).encode("utf-8", "surrogatepass"))


def refused(data):
    """What the loader says."""
    with pytest.raises(ReleaseError, match="Hint:") as caught:
        load(data)
    assert len(str(caught.value)) < 1000
    return caught.value.problem


def put(data, where, value):
    *path, last = where
    for step in path:
        data = data[step]
    data[last] = value


# --- every failure names its field ----------------------------------------------------------------------------------


@pytest.mark.long_but(6)
@pytest.mark.parametrize(
    ("where", "value", "named"),
    [
        (("buckets", "bounds", 3), 2**63, "buckets.bounds[3] is not at most"),
        (("buckets", "bounds", 3), -1, "buckets.bounds[3] is not at least 0"),
        (("buckets", "bounds", 3), 1.5, "buckets.bounds[3] is not a whole number"),
        (("buckets", "bounds", 3), True, "buckets.bounds[3] is not a whole number"),
        (("buckets", "bounds", 1), 0, "buckets.bounds[1] is not larger"),
        (("buckets", "bounds", -1), 61, "is not 60"),
        (("buckets", "totals", 2), 1e308, "buckets.totals[2] is not at most 4e+18"),
        (("buckets", "totals", 2), "5", "buckets.totals[2] is not a number"),
        (("buckets", "totals"), [1.0], "buckets.totals has 1 entries"),
        (("buckets", "unbiased"), {}, "buckets.unbiased is not a list"),
        (("noise", "unit_variance"), 1e39, "noise.unit_variance is not at most"),
        (("stops", "least"), 0.9, "stops.least is not below 0.5"),
        (("stops", "least"), 1e-300, "stops.least is not at least"),
        (("stops", "theta"), 1e300, "stops.theta"),
        (("stops", "loss"), "1/" + "9" * 290, "stops is not possible"),
        (("stops", "loss"), "1000000", "stops is not possible"),
        (("stops", "depth", 1), 65, "stops.depth[1]"),
        (("stops", "depth"), [0], "stops.depth has 1 entries"),
        (("privacy", "private"), 1, "privacy.private is not true or false"),
        (("privacy", "epsilon"), "1/3", "privacy.split does not add up"),
        (("privacy", "epsilon"), "9" * 301, "privacy.epsilon is not written"),
        (("privacy", "split"), {"measure": "1/4"}, "privacy.split does not add up"),
        (("privacy", "mechanism_epsilon"), "1/3", "privacy.mechanism_epsilon"),
        (("privacy", "max_rows_per_unit"), 2**60, "privacy.max_rows_per_unit"),
        (("privacy", "max_rows_per_unit"), 2, "privacy.max_rows_per_unit is above 1"),
        (("privacy", "searched"), {"x": "1/4"}, "privacy.searched"),
        (("privacy", "handling"), [5], "privacy.handling[0] is not text"),
        (("privacy", "unit"), "\ud800", "privacy.unit has half of a character"),
        (("privacy", "options"), {"x": float("1e400")}, "Infinity"),
        (("privacy", "options"), {"x": [0, {"y": 10**299 * 5}]}, None),
        (("axes", 0, "stop"), "1e99999999", "axes[0].stop is not written"),
        (("axes", 0, "stop"), "1" * 299, "axes[0] is not possible"),
        (("axes", 0, "column"), "x" * 200_000, "axes[0].column has more than"),
        (("axes", 0, "kind"), "auto", "axes[0].kind is not one of"),
        (("axes", 0), None, "axes[0] is not an object"),
        (("strategy", "kind"), ["tree"], "strategy.kind is not one of"),
        (("strategy", "branching"), 2**70, "strategy.branching"),
        (("apart", "states"), [["below"]], "apart.states do not fit"),
        (("apart",), None, "apart is missing"),
        (("version",), 10**4000, "newer than 3"),
    ],
    ids=str,
)
def test_a_refusal_names_the_field(data, where, value, named):
    if where[0] == "strategy":
        data["strategy"] = releases._tree(len(data["buckets"]["totals"]), 2)
    put(data, where, value)
    if named is None:
        load(data)
    else:
        assert named in refused(data)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"format": "dawa-release", "version": 2, "x": ' + "[" * 100_000, "line 1, column 78, more than 32"),
        ('{"a": ' * 100_000, "more than 32"),
        ('{"format": "dawa-release",\n "version": ' + "9" * 5000 + "}", "line 2, column 13 has more than 300 digits"),
        ('{"format": "dawa-release", "version": 2, "version": 2}', "'version' twice"),
        ('{"format": "dawa-release", "version": NaN}', "holds NaN"),
        ('{"format": "dawa-release", "version": -Infinity}', "holds -Infinity"),
        ('{"format": "dawa-release", "version": 2', "cannot be read from line 1"),
        ('{"format": "dawa-release", "version": 2}', "privacy is missing"),
        ("\x00" * 5000, "is not a JSON file"),
    ],
    ids=lambda text: text[:30],
)
def test_text_that_would_stop_a_reader_is_refused_with_its_place(text, said):
    assert said in refused(text)


def test_brackets_and_digits_in_text_are_text(data):
    data["privacy"]["where"] = "[" * 500 + "9" * 6000 + '"\\' + "{" * 500
    assert load(data).privacy.where == data["privacy"]["where"]
    data["later"] = json.loads("[" * (MOST_FILE_DEPTH - 1) + "]" * (MOST_FILE_DEPTH - 1))
    load(data)
    data["later"] = [data["later"]]
    assert "more than 32" in refused(data)


def test_long_numbers_are_refused_even_if_python_would_read_them(tmp_path):
    """Whoever lifts Python's limit does not lift ours."""
    path = tmp_path / "release.json"
    path.write_text('{"format": "dawa-release", "version": ' + "9" * 3_000_000 + "}", encoding="utf-8")
    code = f"import dawa\ntry: dawa.load({str(path)!r})\nexcept dawa.errors.ReleaseError as error: print(error.problem)"
    limits = {**os.environ, "PYTHONINTMAXSTRDIGITS": "0"}
    ran = subprocess.run([sys.executable, "-c", code], env=limits, capture_output=True, text=True, check=True)  # noqa: S603
    assert "has more than 300 digits" in ran.stdout


def test_what_never_ends_is_not_read():
    with pytest.raises(ReleaseError, match="not a JSON file"):
        dawa.load("/dev/zero")


def test_reading_takes_no_more_room_than_the_file(tmp_path, seeds):
    path = tmp_path / "release.json"
    path.write_text(seeds[0], encoding="utf-8")
    assert peak(lambda: loading.contents(path)) < len(seeds[0]) + MEGABYTE


def test_a_small_file_loads_in_a_small_address_space(tmp_path, seeds):
    path = tmp_path / "release.json"
    path.write_text(seeds[0], encoding="utf-8")
    command = [sys.executable, "-c", "from dawa.cli import main; main()", "query", str(path), "0:5"]
    limited = ["/bin/sh", "-c", 'ulimit -v 6000000; exec "$@"', "sh", *command]
    ran = subprocess.run(limited, capture_output=True, text=True, check=False)  # noqa: S603
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "age" in ran.stdout


def written_to(pipe, chunks):
    """A thread that writes into a pipe until it is done, or nobody reads any more."""

    def write():
        with suppress(BrokenPipeError), pipe.open("wb", buffering=0) as opened:
            for chunk in chunks:
                opened.write(chunk)

    thread = threading.Thread(target=write)
    thread.start()
    return thread


def test_a_pipe_is_read_to_its_end_and_not_beyond_the_limit(tmp_path, monkeypatch, seeds):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = seeds[0].encode() + b" " * 300_000
    writing = written_to(pipe, (text[at : at + 1000] for at in range(0, len(text), 1000)))
    assert loading.contents(pipe) == text
    writing.join()
    monkeypatch.setattr(loading, "MOST_RELEASE_BYTES", 200_000)
    endless = written_to(pipe, itertools.chain([b"{"], itertools.repeat(b" " * 1000)))
    assert len(loading.contents(pipe)) == 200_001
    endless.join()


# --- work is bounded by bytes ---------------------------------------------------------------------------------------


def peak(call):
    """The most memory that a call held at once."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def used(rel):
    middle = dawa.axis.written.middle(rel.axes)
    rel.answer(*(tuple(ends) if len(rel.axes) > 1 else ends[0] for ends in middle))
    rel.sample(10, seed=1)
    rel.to_json()


def grown(data, change, seed):
    getattr(releases, change)(data, random.Random(seed))  # noqa: S311  reproducible
    return data


@pytest.mark.long_but(3)
@pytest.mark.parametrize("change", ["_huge_axis", "_huge_map", "_halves", "_walked", "_dated", "_extreme", "_measured"])
def test_a_small_file_stays_small(seeds, change):
    """Files that fit together, over as many cells as there can be."""
    for seed in range(25):
        hostile = json.loads(seeds[0])
        try:
            text = json.dumps(grown(hostile, change, seed))
            used(load(text))  # compile first
        except DawaError:
            continue
        assert peak(lambda text=text: used(load(text))) < 20 * MEGABYTE


def test_boxes_over_many_cells_are_not_listed(data):
    sides = (2**13, 2**13)
    axes = [dawa.Axis(name, 0, side, missing="drop").to_json() for name, side in zip("xy", sides, strict=True)]
    corners = {"lo": [[0, 0], [4096, 0]], "hi": [[4096, 8192], [8192, 8192]]}
    releases._fitted(data, axes, [0, 2**25, 2**26], order="boxes", **corners)
    text = json.dumps(data)
    assert peak(lambda: used(load(text))) < 5 * MEGABYTE


def test_tables_of_split_probabilities_are_not_listed(data):
    line = split.split_line(Fraction(1, 10_000), 0.15, 0.3)
    known = {"step": line.step, "offset": line.offset, "depth": [0] * len(data["buckets"]["totals"])}
    data["stops"] = {"loss": "1/10000", "least": 0.15, "theta": 0.3, **known}
    text = json.dumps(data)
    assert line.entries > 300_000
    assert peak(lambda: load(text).answer(1, 20)) < 2 * MEGABYTE


@pytest.mark.parametrize("loss", ["3", "1/3", "1/100", "1/3000", "1/20000"])
@pytest.mark.parametrize(("least", "theta"), [(0.15, 0.3), (1 / 9, -0.6), (0.4, 2.0)])
def test_a_table_by_few_points_says_what_the_table_says(monkeypatch, loss, least, theta):
    table, line = (make(Fraction(loss), least, theta) for make in (split.split_table, split.split_line))
    chances = 10 ** np.random.default_rng(1).uniform(-12, 0, 500)
    np.testing.assert_array_equal(line.table().thresholds, table.thresholds)
    monkeypatch.setattr(split, "LISTED", 0)
    np.testing.assert_array_equal(line.surprising_point(chances), table.surprising_point(chances))


@pytest.mark.parametrize(
    ("loss", "least"), [("1/10", 0.5), ("1/10", 0.9), ("1/10", 1e-300), ("1/2", 0.49), ("10", 0.15)]
)
def test_walks_that_would_never_end_are_refused(loss, least):
    with pytest.raises(DawaError, match="Hint:"):
        split.split_table(Fraction(loss), least, 0.0)


def tiling(rng, shape):
    """Boxes that tile a grid: cut again and again."""
    found = [(np.zeros(len(shape), np.int64), np.array(shape))]
    for _ in range(int(rng.integers(0, 12))):
        lo, hi = found.pop(int(rng.integers(len(found))))
        axis = int(rng.integers(len(shape)))
        if hi[axis] - lo[axis] < 2:
            found.append((lo, hi))
            continue
        at = int(rng.integers(lo[axis] + 1, hi[axis]))
        middle, start = hi.copy(), lo.copy()
        middle[axis] = start[axis] = at
        found += [(lo, middle), (start, hi)]
    return Boxes(*(np.array(corner) for corner in zip(*found, strict=True)))


def test_corners_tell_a_tiling_as_cells_do():
    rng = np.random.default_rng(3)
    verdicts = []
    for _ in range(600):
        shape = tuple(int(side) for side in rng.integers(1, 6, int(rng.integers(1, 5))))
        boxes = tiling(rng, shape)
        if rng.random() < 0.6:
            corner = getattr(boxes, "lo" if rng.random() < 0.5 else "hi")
            corner[int(rng.integers(len(corner))), int(rng.integers(len(shape)))] += int(rng.choice((-1, 1)))
        if rng.random() < 0.2:
            keep = rng.integers(0, len(boxes), len(boxes))
            boxes = Boxes(boxes.lo[keep], boxes.hi[keep])
        slow, quick = True, True
        try:
            boxes.labels(shape)
        except OptionError:
            slow = False
        try:
            boxes.check_tiling(shape)
        except OptionError:
            quick = False
        assert slow == quick
        verdicts.append(slow)
        if slow:
            order = np.argsort(boxes.labels(shape), kind="stable")
            cells = np.stack(np.unravel_index(order, shape), axis=1)
            np.testing.assert_array_equal(boxes.cells(np.arange(len(order))), cells)
    assert 100 < sum(verdicts) < 500


def test_honest_hats_lie_in_few_layers():
    for k in (24, 100, 5000, 2**16):
        rows, entries, _ = hat_rows(k, table_widths(k))
        strategy = HatStrategy.rounded(rows, 0.92 * entries, np.full(k, 2**16))
        strategy.check()
        assert np.diff(strategy.rows.cover_ptr).max() <= MOST_COVERING / 2


@pytest.mark.parametrize("kind", ["hats", "nested", "bumps"])
def test_strategies_that_cost_more_than_their_bytes_are_refused(data, kind):
    rows, k = 2000, len(data["buckets"]["totals"])
    lists = {"ptr": list(range(rows + 1)), "column": [0] * rows, "weights": [1] * rows}
    if kind != "bumps":
        lists = {"start": [0] * rows, "stop": [1] * rows, "weights": [1] * rows}
    data["strategy"] = {"kind": kind, "leaf": [1] * k, **lists}
    assert "strategy." in refused(data)


# --- the schema says it -----------------------------------------------------------------------------------------------


@pytest.mark.long
def test_whatever_is_accepted_is_valid_under_the_schema():
    """By the reference library, which reads the same file in its own way."""
    target, accepted = Loader(is_valid()), 0
    for run in range(400):
        rng = random.Random(f"valid:{run}")  # noqa: S311  reproducible
        accepted += target.take(target.made(rng), rng) == "accepted"
    assert accepted > 100


@pytest.mark.long
def test_whatever_the_schema_refuses_is_refused(seeds):
    """The other way round it cannot be: no schema adds up what was spent."""
    valid, invalid = is_valid(), 0
    for run in range(400):
        rng = random.Random(f"invalid:{run}")  # noqa: S311  reproducible
        data = json.loads(rng.choice(seeds))
        mutation.document(data, rng)
        if not valid(data):
            invalid += 1
            with pytest.raises(ReleaseError):
                load(data)
    assert invalid > 100


def test_a_schema_with_words_that_are_not_understood_is_not_used():
    with pytest.raises(NotImplementedError, match="multipleOf"):
        conform.Compiler({"type": "integer", "multipleOf": 2}).compiled()


def test_limits_of_the_schema_are_those_of_the_code():
    parts = schema()["properties"]
    strategies = {one["title"]: one["properties"] for one in parts["strategy"]["oneOf"]}
    stops = parts["stops"]["oneOf"][1]["properties"]
    axes = {one["title"]: one["properties"] for one in parts["axes"]["items"]["oneOf"]}
    assert strategies["tree"]["branching"]["maximum"] == dawa.limits.MOST_BRANCHES
    assert strategies["tree"]["buckets"]["maximum"] == dawa.limits.MOST_CELLS_LISTED
    assert parts["buckets"]["properties"]["bounds"]["items"]["maximum"] == dawa.limits.MOST_CELLS
    assert parts["privacy"]["properties"]["max_rows_per_unit"]["maximum"] == dawa.limits.MOST_RECORDS
    assert axes["edges"]["edges"]["maxItems"] == dawa.limits.MOST_EDGES
    assert schema()["$defs"]["labels"]["maxItems"] == dawa.limits.MOST_LABELS
    assert schema()["$defs"]["column"]["maxLength"] == dawa.limits.MOST_NAME
    assert (stops["least"]["minimum"], stops["least"]["exclusiveMaximum"]) == (
        split.SMALLEST_LEAST,
        split.LARGEST_LEAST,
    )
    assert stops["theta"]["maximum"] == split.LARGEST_THETA


def test_depth_is_counted_as_a_parser_counts_it():
    for text in ("[]", '{"a": [1, {"b": []}]}', '"[[["', '["]", "\\"[", {}]'):
        at = json_text._too_deep(json_text._STRING.sub(b"", (text * 1).encode()))
        assert at is None
    deep = "[" * (MOST_FILE_DEPTH + 1)
    assert json_text._too_deep(deep.encode()) == MOST_FILE_DEPTH


@pytest.mark.parametrize("begin", [b"{", b"", b" " * 70_000 + b"{"])
def test_zero_bytes_are_not_read_on(tmp_path, begin):
    """A sparse file: gigabytes that take no room on a disk, and took as much memory."""
    file = tmp_path / "release.json"
    file.write_bytes(begin)
    os.truncate(file, 2**33)
    assert len(loading.contents(file)) <= 3 * 2**16
    with pytest.raises(ReleaseError):
        dawa.load(file)


def test_blanks_without_an_end_are_not_read_on(tmp_path):
    file = tmp_path / "release.json"
    file.write_bytes(b"\n" * 2_000_000)
    assert len(loading.contents(file)) == loading.PIECE
    with pytest.raises(ReleaseError):
        dawa.load(file)


def test_a_pipe_without_a_writer_is_not_waited_for_without_an_end(tmp_path, monkeypatch):
    monkeypatch.setattr("dawa.results.loading.PATIENCE", 0.05)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(dawa.ReleaseError, match="Nothing comes through the pipe"):
        dawa.load(pipe)


def test_a_pipe_with_a_writer_is_read(tmp_path):
    rel = dawa.release({"x": [1, 2, 3]}, dawa.Axis("x", 0, 10), epsilon=1)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(rel.as_text(), encoding="utf-8"))
    writer.start()
    assert dawa.load(pipe).to_json() == rel.to_json()
    writer.join()
