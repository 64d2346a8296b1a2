"""Text files: compressed ones, and encodings that read every byte by itself."""

import codecs
import encodings
import gzip
import pkgutil
import zlib

import numpy as np
import pytest

from dawa import sources
from dawa.errors import SourceError
from dawa.sources import places
from dawa.sources.dialect import Dialect
from helpers.binning import found
from helpers.reading import X, named, outcome, read

# --- compressed -----------------------------------------------------------------------------------------------------


def test_compressed_files_of_several_members(tmp_path):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(b"".join(gzip.compress(part) for part in (b"x,", b"y\n1,", b"", b'2\n"3\n', b'3",4', b"\n5,6")))
    assert read(path, Dialect(), ["x", "y"]) == [("1", "2"), ("3\n3", "4"), ("5", "6")]


@pytest.mark.long_but(4)
@pytest.mark.parametrize("strategy", [zlib.Z_DEFAULT_STRATEGY, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE, zlib.Z_FIXED])
@pytest.mark.parametrize("rows", [1, 10, 1000, 50_000])
def test_a_compressed_file_has_all_its_rows(tmp_path, strategy, rows):
    """One compressed byte can hold the end of the header and rows after it."""
    path = tmp_path / "x.csv.gz"
    for header in (b"x\n", b"x\r\n", b"\n\nx\n", b"x,\n", b"xx,x,xx\n"):
        line = b"5\n" if header.count(b",") < 2 else b"1,5,1\n"
        packed = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16, 9, strategy)
        path.write_bytes(packed.compress(header + line * rows) + packed.flush())
        assert found(path, X) == {5: rows}, header


@pytest.mark.parametrize("data", [b"", b"x\n1\n"])
def test_a_file_that_is_not_compressed_is_refused_before_it_is_paid_for(tmp_path, data):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(data)
    with pytest.raises(SourceError, match="is not a gzip file"), sources.query(path, (X,)):
        pass


def test_a_damaged_compressed_file_is_an_error_of_our_own(tmp_path):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"x\n1\n") + b"garbage")
    with pytest.raises(SourceError, match="is damaged"):
        found(path, X)


@pytest.mark.parametrize("cut_off", [1, 4, 8, 9, 20])
def test_a_compressed_file_that_ends_early_is_refused_without_a_value(tmp_path, cut_off):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"x\n" + b"canary4711\n" * 1000)[:-cut_off])
    came = outcome(path, X)
    assert came[0] != "counted"
    assert "canary" not in str(came)


# --- encodings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [1, 2, 3, 2**21])
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-8", "cp037"])
def test_encodings(tmp_path, monkeypatch, encoding, block):
    monkeypatch.setattr(places, "BLOCK", block)
    path = tmp_path / "x.csv"
    path.write_bytes('größe,y\r\n"ä\r\nb",1\r\n5,"""ü"""\r\n'.encode(encoding))
    assert read(path, Dialect(encoding=encoding), ["größe", "y"]) == [("ä\r\nb", "1"), ("5", '"ü"')]


@pytest.mark.parametrize("block", [1, 2, 3, 2**21])
def test_marks_at_the_beginning(tmp_path, monkeypatch, block):
    monkeypatch.setattr(places, "BLOCK", block)
    path = tmp_path / "x.csv"
    for encoding, mark in (
        ("utf-8", codecs.BOM_UTF8),
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
    ):
        for declared in {encoding, encoding.partition("-le")[0].partition("-be")[0]}:
            for text, header in (('"x"\n5\n', None), ("5\n", ("x",))):
                if header and declared == "utf-16":
                    continue
                path.write_bytes(mark + text.encode(encoding))
                assert read(path, Dialect(encoding=declared, header=header), ["x"]) == [("5",)]
    path.write_bytes(codecs.BOM_UTF8)
    assert read(path, named(1)) == []
    path.write_bytes(codecs.BOM_UTF8[:2])
    assert read(path, named(1)) == [(None,)], "a part of a mark is not a mark"


@pytest.mark.parametrize(
    "name", ["shift_jis", "gb18030", "big5", "utf-7", "utf-32", "punycode", "rot13", "nothing", 5, "\udcff", "a\0b"]
)
def test_encodings_of_several_bytes_are_refused(name):
    with pytest.raises(SourceError, match="Hint:"):
        Dialect(encoding=name)


@pytest.mark.parametrize("name", ["missing", "header"])
def test_words_that_no_file_can_hold_are_refused_before_anything_is_paid(name):
    with pytest.raises(SourceError, match="no text file can hold"):
        Dialect(**{name: ["x", "\udcff"]})


CODECS = sorted(module.name for module in pkgutil.iter_modules(encodings.__path__))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", CODECS)
def test_an_encoding_that_is_taken_reads_every_byte_by_itself(name):
    """One that remembers what it has read would let one record change how the next ones are read."""
    try:
        taken = Dialect(encoding=name).encoding
    except SourceError:
        return
    if taken.startswith("utf"):
        assert taken in {"utf-8", "utf-16", "utf-16-le", "utf-16-be"}
        return
    single = {byte: bytes([byte]).decode(taken, "replace") for byte in range(256)}
    rng = np.random.default_rng(4711)
    stateful = [b"\x1b$B5,1\n5,1\n", b"~{5,1\n5,1\n", b"5\\\n5,1\n", b"\\u0035\\x35\n"]
    for data in (*stateful, *(rng.bytes(400) for _ in range(9))):
        text = codecs.getincrementaldecoder(taken)("replace").decode(data, final=True)
        assert text == "".join(single[byte] for byte in data)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("broken", ["\ud800", "\udc00", "\udc00\ud800", "5\ud83d"])  # noqa: PT014  ruff takes them for one
def test_damaged_characters_do_not_reach_the_next_record(tmp_path, encoding, broken):
    path = tmp_path / "x.csv"
    kept = []
    for rows in (["5"] * 20, ["5"] * 10 + [broken] + ["5"] * 10):
        text = "x\n" + "".join(f"{row}\n" for row in rows)
        path.write_bytes(text.encode(encoding, "surrogatepass"))
        kept.append(read(path, Dialect(encoding=encoding), ["x"]))
    assert kept[1] == [*kept[0][:10], (None,), *kept[0][10:]]


def test_utf16_without_a_header_needs_the_order_of_its_bytes(tmp_path):
    """The first record's first bytes would say it otherwise, and so how all others are read."""
    with pytest.raises(SourceError, match="order"):
        sources.csv(tmp_path / "x.csv", encoding="utf-16", header=["x"])
    path = tmp_path / "x.csv"
    path.write_bytes("x\n5\n".encode("utf-16-le"))
    with pytest.raises(SourceError, match="could not be read as text"):
        found(sources.csv(path, encoding="utf-16"), X)
