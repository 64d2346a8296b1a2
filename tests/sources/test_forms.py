"""What a file is, by what is declared about it and by its name alone."""

import pytest

from dawa import sources
from dawa.errors import SourceError
from dawa.sources import forms
from dawa.sources.dialect import Dialect


@pytest.mark.parametrize(
    ("source", "form", "ending"),
    [
        ("x.csv", None, ".csv"),
        ("X.TSV.GZ", None, ".tsv.gz"),
        ("x.jsonl", None, ".jsonl"),
        ("x.ndjson.gz", None, ".ndjson.gz"),
        ("x.xlsm", None, ".xlsm"),
        ("x.parquet", None, None),
        ("x.txt", None, None),
        ("x.txt", "jsonl.gz", ".jsonl.gz"),
        ("x.csv", "jsonl", ".jsonl"),
        ("-", None, ".csv"),
        ("-", "tsv", ".tsv"),
        ("/dev/stdin", None, ".csv"),
        ("/dev/fd/63", None, ".csv"),
        ("/dev/sda", None, None),
        ("https://server/x.jsonl?name=x.csv#x.tsv", None, ".jsonl"),
        ("https://server/x?name=x.csv", None, None),
        ("s3://bucket/deep/x.csv.gz", None, ".csv.gz"),
        ("http://[odd", None, None),
    ],
)
def test_endings(source, form, ending):
    assert forms.ending(source, form) == ending


def test_a_path_becomes_what_it_is():
    assert forms.declared("x.parquet") == "x.parquet"
    assert isinstance(forms.declared("x.csv"), sources.TextFile)
    assert forms.declared("x.tsv").dialect.delimiter == "\t"
    assert forms.declared("-", "tsv.gz").dialect.delimiter == "\t"
    assert forms.declared("-", "tsv.gz").gzip is True
    assert isinstance(forms.declared("x", "jsonl"), sources.JsonLines)
    assert forms.declared("x", "xlsx", "a").sheet == "a"
    assert isinstance(forms.declared("x.txt", dialect=Dialect()), sources.TextFile)
    assert forms.declared("x.txt", dialect=Dialect()).gzip is None, "its name says"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("x.csv", "xls"), "no format 'xls'"),
        (("x.csv", None, "a"), "Only Excel workbooks have sheets"),
        (("x.parquet", None, "a"), "Only Excel workbooks have sheets"),
        (("x.jsonl", None, None, Dialect(delimiter=";")), "JSON lines have no delimiter"),
        (("x.jsonl", None, None, Dialect(header=("x",))), "JSON lines have no header"),
        (("x.xlsx", None, None, Dialect(encoding="latin-1")), "An Excel workbook has no encoding"),
        (("x.xlsx", None, None, Dialect(quote=None)), "An Excel workbook has no quote"),
    ],
)
def test_what_a_format_does_not_have_is_refused(given, says):
    with pytest.raises(SourceError, match=says):
        forms.declared(*given)


@pytest.mark.parametrize("kind", [forms.TEXT, forms.JSON_LINES, forms.EXCEL])
def test_every_format_says_all_that_is_declared(kind):
    written = Dialect(date_format="%d/%m/%Y", decimal=",", missing=("x", "y"))
    said = " ".join(forms.describe(kind, written))
    for part in ("%d/%m/%Y", "','", "x, y"):
        assert part in said
    assert set(forms.parts(kind, written)) == set(forms.PARTS[kind])
    assert "'Visits'" in " ".join(forms.describe(forms.EXCEL, written, "Visits"))


@pytest.mark.parametrize("make", [sources.csv, sources.jsonl])
def test_what_is_neither_a_path_nor_a_file_is_refused(make):
    for wrong in (5, None, ["x.csv"], b"x.csv"):
        with pytest.raises(SourceError, match="Hint:"):
            make(wrong)
    with pytest.raises(SourceError, match="gzip"):
        make("x", gzip="yes")
