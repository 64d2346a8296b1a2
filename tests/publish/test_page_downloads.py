"""The page in a real browser: ranges that are kept, and files that are taken away."""

import csv
import io

import numpy as np
import pytest

import dawa
from dawa.publish import tables
from helpers.browser import opened
from helpers.pages import answered, downloaded, fragment, written


def test_kept_ranges_become_a_table_and_a_file(browser, made):
    release, path = made("map with a tree")
    asked = [(["3", "4"], ["30", "40"]), (["0.5", "1"], ["7", "9"])]
    with opened(browser, path) as sheet:
        for lo, hi in asked:
            sheet.asked([fragment(lo, hi, 0.9)])
            sheet.page.click("#keep")
        sheet.page.fill("#kept tr:nth-child(2) input", 'second, "odd"')
        row = sheet.page.locator("#kept tbody tr").nth(1).locator("td").all_text_contents()
        assert row[1] == "a 0.5 to 7, b 1 to 9"
        assert row[2] == written(answered(release, *asked[1], 0.9))[0]
        with sheet.page.expect_download() as download:
            sheet.page.click("#save-kept")
        lines = list(csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8"))))
    assert [line["name"] for line in lines] == ["Range 1", 'second, "odd"']
    for line_, (lo, hi) in zip(lines, asked, strict=True):
        assert [line_["a_from"], line_["a_to"], line_["b_from"], line_["b_to"]] == [lo[0], hi[0], lo[1], hi[1]]
        expected = answered(release, lo, hi, 0.9).row()
        assert line_["remark"] == expected.pop("remark")
        for name, number in expected.items():
            assert float(line_[name]) == pytest.approx(number, rel=1e-9)


@pytest.mark.long_but(1)
@pytest.mark.parametrize("kind", ["walk with hats", "days", "ordered", "edges"])
def test_buckets_can_be_taken_away(browser, made, kind):
    release, path = made(kind)
    with opened(browser, path) as sheet:
        lines = list(csv.reader(io.StringIO(downloaded(sheet, "#save-buckets"))))
    expected = tables.buckets(release)
    assert lines[0] == list(expected.header)
    for line_, row in zip(lines[1:], expected.rows, strict=True):
        assert [float(entry) for entry in line_[2:6]] == pytest.approx([float(entry) for entry in row[2:6]], rel=1e-9)
        assert line_[6:] == list(row[6:])
        assert release.axis.span(*line_[:2]) == release.axis.span(*row[:2])


@pytest.mark.long_but(1)
@pytest.mark.parametrize("kind", ["map with bumps", "map of boxes", "map of rows"])
def test_cells_can_be_taken_away(browser, made, kind):
    release, path = made(kind)
    with opened(browser, path) as sheet:
        lines = list(csv.reader(io.StringIO(downloaded(sheet, "#save-buckets"))))
    expected = tables.cells(release)
    assert lines[0] == list(expected.header)
    rows = list(expected.rows)
    found = np.array([line_[:-1] for line_ in lines[1:]], float)
    assert found == pytest.approx(np.array([list(map(float, row[:-1])) for row in rows]), abs=1e-9)
    assert [line_[-1] for line_ in lines[1:]] == [row[-1] for row in rows]
    assert len({row[-1] for row in rows}) == 9, "the inside, four sides and four corners"


@pytest.mark.long
def test_the_release_can_be_taken_away(browser, made, tmp_path):
    release, path = made("map with bumps")
    with opened(browser, path) as sheet:
        text = downloaded(sheet, "#save-release")
    (tmp_path / "release.json").write_text(text, encoding="utf-8")
    assert dawa.load(tmp_path / "release.json").answer((3, 4), (9, 30)) == release.answer((3, 4), (9, 30))
