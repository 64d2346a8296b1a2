"""What can be declared of a text file, and in which words it is told."""

import codecs
import encodings.aliases

import pytest

from dawa import sources
from dawa.errors import SourceError
from dawa.sources.dialect import MISSING, Dialect, of


@pytest.mark.parametrize(
    "wrong",
    [
        {"delimiter": ""}, {"delimiter": None}, {"delimiter": "ab"}, {"delimiter": "\n"}, {"delimiter": "\0"},
        {"delimiter": "a"}, {"delimiter": "7"}, {"delimiter": "§"}, {"delimiter": 5}, {"quote": "ab"},
        {"quote": ","}, {"escape": '"'}, {"escape": "x"}, {"encoding": "no such"}, {"encoding": "utf-7"},
        {"encoding": "hex"}, {"encoding": "iso2022_jp"}, {"encoding": 5}, {"decimal": "x"}, {"decimal": None},
        {"date_format": ""}, {"date_format": "%%"}, {"date_format": 5}, {"header": ()}, {"header": ("a", "a")},
        {"header": "ab"}, {"missing": "NA"}, {"missing": (1,)}, {"missing": ("x",) * 101}, {"colour": "red"},
    ],
    ids=str,
)  # fmt: skip
def test_what_no_text_file_is_like_is_refused(wrong):
    with pytest.raises(SourceError, match="Hint:"):
        of("people.csv", **wrong)


def test_names_say_what_stands_between_fields():
    assert of("a.tsv").delimiter == of("A.TSV.GZ").delimiter == "\t"
    assert of("a.csv").delimiter == of("a.txt").delimiter == ","
    assert of("a.tsv", delimiter=";").delimiter == ";"
    assert sources.csv("a.tsv", quote=None).dialect == Dialect("\t", None)
    with pytest.raises(SourceError, match="not a path"):
        sources.csv(5)


@pytest.mark.long
def test_encodings_of_one_byte_and_of_unicode_are_known_and_no_others():
    """Damage must end with the character that is damaged; shift states and lead bytes reach further."""
    known = set()
    for name in sorted(set(encodings.aliases.aliases.values())):
        try:
            known.add(Dialect(encoding=name).encoding)
        except SourceError:
            continue
    assert {"utf-8", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "iso8859-1", "koi8-r", "ascii"} <= known
    for name in known - {"utf-8", "utf-16", "utf-16-le", "utf-16-be"}:
        for byte in range(256):
            assert bytes([byte, 97]).decode(name, "replace")[1:] == bytes([97]).decode(name, "replace"), name
    assert Dialect(encoding="UTF8").encoding == Dialect(encoding="utf-8-sig").encoding == "utf-8"
    assert codecs.lookup(Dialect(encoding="latin-1").encoding).name == "iso8859-1"


def test_it_is_told_in_full():
    told = " ".join(Dialect(";", "'", "\\", "cp1252", ("a", "b"), ",", "%d.%m.%Y", ("-99",)).describe())
    for part in ("semicolons", "(')", "\\ makes the next", "cp1252", "','", "as %d.%m.%Y", "empty text, -99."):
        assert part in told
    told = " ".join(Dialect().describe())
    assert all(word in told for word in (*MISSING, "commas", "utf-8", "ISO 8601"))
    assert Dialect().to_json()["missing"] == list(MISSING)
