"""The folder of a release of groups: its tables have a column for each grouping column, and a killed run loses none."""

import csv
import io
import json
import shlex

import numpy as np
import pytest

import dawa
from dawa.axis.groups import groupings
from dawa.publish import folder, grouped, readme
from dawa.publish.place import Place
from dawa.results.overview import of_groups
from dawa.spec import ranges

RNG = np.random.default_rng(5)
TABLE = {
    "carrier": RNG.choice(["AA", "UA", "DL", "ZZ", None], 6000, p=[0.4, 0.3, 0.15, 0.1, 0.05]).tolist(),
    "origin": RNG.choice(["JFK", "LGA"], 6000).tolist(),
    "delay": [None if value > 110 else value for value in RNG.normal(40, 30, 6000).tolist()],
    "far": RNG.integers(0, 6, 6000).tolist(),
}
DELAY = dawa.Axis("delay", 0, 100, outside="own")
BY = {"carrier": ["AA", "UA", "DL"]}
FILES = {"release.json", "buckets.csv", "apart.csv", "answers.csv", "release.svg", "croissant.json", "README.md"}


def made(axes=DELAY, by=BY, **options):
    return dawa.release(TABLE, axes, epsilon=1, by=by, seed=0, effort="fast", **options)


@pytest.fixture(scope="module")
def rel():
    return made()


@pytest.fixture(scope="module")
def two():
    return made(by={"carrier": ["AA", "UA"], "origin": ["JFK", "LGA"]})


def written(target, release, asked=()):
    with folder.prepared(target, [ranges.typed(text, release.axes) for text in asked], io.StringIO()) as keeper:
        keeper.keep(release)
    assert keeper.written.problem is None
    return keeper.written


def read(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def of(rows, **group):
    return [row for row in rows if all(row[name] == value for name, value in group.items())]


def test_everything_is_there(tmp_path, rel):
    found = written(tmp_path / "out", rel, ["20:60"])
    assert set(found.files) == {path.name for path in (tmp_path / "out").iterdir()} == FILES
    assert [answer.row() for answer in found.answers] == [rel.answer(20, 60).row()]
    again = folder.opened_any(tmp_path / "out")
    assert again.answer(20, 60) == rel.answer(20, 60)
    with pytest.raises(dawa.ReleaseError, match="has 3 groups"):
        folder.opened(tmp_path / "out")


@pytest.mark.parametrize("columns", [1, 2])
def test_buckets_are_those_of_the_groups(tmp_path, rel, two, columns):
    release = (rel, two)[columns - 1]
    written(tmp_path / "out", release)
    rows = read(tmp_path / "out" / "buckets.csv")
    assert list(rows[0])[: columns + 1] == [*["carrier", "origin"][:columns], "from"]
    for group, one in release.items():
        labels = group if columns > 1 else (group,)
        mine = of(rows, **dict(zip(("carrier", "origin"), labels, strict=False)))
        assert [float(row["value"]) for row in mine] == one.values().tolist()
        assert [float(row["standard_deviation"]) ** 2 for row in mine] == pytest.approx(one.variances())
    assert len(rows) == sum(len(one.buckets) for one in release.values())


def test_a_map_has_the_cells_of_all_groups(tmp_path):
    release = made((DELAY, dawa.Axis("far", 0, 6)))
    assert "cells.csv" in written(tmp_path / "out", release).files
    rows = read(tmp_path / "out" / "cells.csv")
    for group, one in release.items():
        assert [float(row["value"]) for row in of(rows, carrier=group)] == one.estimate.cells.ravel().tolist()
    assert len(rows) == 3 * 600


@pytest.mark.long
def test_cells_of_too_many_groups_are_not_listed(tmp_path, monkeypatch):
    release = made((DELAY, dawa.Axis("far", 0, 6)))
    monkeypatch.setattr(grouped.limits, "MOST_ROWS_WRITTEN", 1000)
    assert "cells.csv" not in written(tmp_path / "out", release).files


def test_answers_are_of_each_group_and_of_all_together(tmp_path, two):
    written(tmp_path / "out", two, ["20:60", "0:10"])
    rows = read(tmp_path / "out" / "answers.csv")
    assert [(row["carrier"], row["origin"]) for row in rows[:5]] == [*two.groups, ("", "")]
    assert len(rows) == 10
    for row, (lo, hi) in zip(rows, [(20, 60)] * 5 + [(0, 10)] * 5, strict=True):
        asked = two[row["carrier"], row["origin"]] if row["carrier"] else two
        answer = asked.answer(lo, hi)
        assert (row["from"], row["to"], row["remark"]) == (str(lo), str(hi), answer.remark)
        assert all(float(row[name]) == number for name, number in answer.row().items() if name != "remark")


def test_records_in_no_range_and_in_no_group_have_one_table(tmp_path, rel):
    written(tmp_path / "out", rel)
    rows = read(tmp_path / "out" / "apart.csv")
    for group, one in rel.items():
        mine = of(rows, carrier=group)
        assert {row["carrier_state"] for row in mine} == {"inside"}
        assert [(row["label"], row["state"]) for row in mine] == [(way.label, way.states[0]) for way in one.apart()]
        assert [float(row["low"]) for row in mine] == [way.answer.low for way in one.apart()]
    none = of(rows, carrier="")
    assert [(row["label"], row["carrier_state"], row["state"]) for row in none] == [
        ("carrier not listed", "unlisted", ""),
        ("carrier missing", "missing", ""),
    ]
    for row, way in zip(none, rel.apart(), strict=True):
        for name in ("value", "noise_margin", "low", "high", "confidence"):
            assert float(row[name]) == getattr(way.answer, name)
        assert float(row["standard_deviation"]) ** 2 == pytest.approx(rel.none.unit_variance)
    assert len(rows) == 3 * 3 + 2


def test_the_readme_says_what_groups_there_are_and_how_to_ask(rel, two):
    text = readme.readme(rel, sorted(FILES))
    assert text.startswith("# How many, along `delay`, by `carrier`\n")
    assert "There are 3 groups by `carrier`: AA, UA, DL." in text
    assert of_groups(rel).said() in text
    assert "each group's records in no range" in text
    assert "dawa query release.json --group AA" in text
    assert "dawa query release.json --by" in text
    code = [line for line in text.splitlines() if line.startswith("print(")]
    assert [line.split(".answer")[0] for line in code] == ["print(release['AA']", "print(release"]
    for line in code:
        eval(line.split("  #")[0].removeprefix("print"), {"release": rel})  # noqa: S307  it is what readers type
    assert "There are 4 groups by `carrier` and `origin`: AA, JFK; AA, LGA; UA, JFK; UA, LGA." in readme.readme(
        two, sorted(FILES)
    )


def test_names_of_groups_stay_text_in_the_readme():
    hostile = ["*a*", "`b`", "<script>", "[x](y)", "$(rm)"]
    table = {"g": hostile * 100, "x": [1] * 500}
    release = dawa.release(table, dawa.Axis("x", 0, 9), epsilon=1, by="g", groups=hostile, seed=0, effort="fast")
    text = readme.readme(release, sorted(FILES))
    assert r"\*a\*, \`b\`, \<script\>, \[x\](y), \$(rm)" in text
    asked = next(line for line in text.splitlines() if "--group" in line)
    assert shlex.split(asked)[4] == "*a*"


def test_few_groups_are_listed_and_the_rest_counted():
    assert grouped.few(groupings({"g": list(range(30))})).endswith("10, 11 and 18 more")


def test_a_large_part_in_no_group_is_warned_about():
    """If a list of groups is misspelt; that some groups of many are meant is no reason to warn."""
    some = dawa.release(TABLE, DELAY, epsilon=1, by="carrier", groups=["aa", "UA"], seed=0, effort="fast")
    assert not of_groups(some).warning
    release = dawa.release(TABLE, DELAY, epsilon=1, by="carrier", groups=["aa", "ua"], seed=0, effort="fast")
    found = of_groups(release)
    assert found.warning.startswith("Nearly all records are in no group, about")
    assert "how the listed values are spelt" in found.warning
    assert f"**{found.warning}**" in readme.readme(release, sorted(FILES))
    assert found.said().startswith("In no group: ")


@pytest.mark.parametrize("there", [[], ["buckets.csv"], ["buckets.csv", "apart.csv", "answers.csv", "release.svg"]])
def test_a_folder_whose_run_was_killed_gets_the_rest(tmp_path, rel, there):
    written(tmp_path / "whole", rel, ["20:60"])
    scratch = tmp_path / ".half"
    scratch.mkdir()
    asked = [{"lo": ["20"], "hi": ["60"], "where": "", "labels": []}]
    (scratch / folder.ASKED).write_text(json.dumps(asked), encoding="utf-8")
    for name in ["release.json", *there]:
        (scratch / name).write_bytes((tmp_path / "whole" / name).read_bytes())
    done = folder.completed(Place(tmp_path / "out", scratch), rel)
    assert done.problem is None
    for name in FILES:
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
