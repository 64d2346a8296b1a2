"""One column in tables of every kind: files, frames, tables in memory."""

from uuid import uuid4

import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet


class Unwritable(Exception):  # noqa: N818  no error of the library
    """A value that this kind of table cannot hold."""


def parquet(folder, array):
    path = folder / f"{uuid4().hex}.parquet"
    if pa.types.is_date64(array.type):  # it is written as another type, and what does not fit is cut off
        raise Unwritable
    try:
        pa.parquet.write_table(pa.table({"x": array}), path)
    except pa.ArrowInvalid:
        raise Unwritable from None
    return path


def arrow(folder, array):
    path = folder / f"{uuid4().hex}.arrow"
    with pa.ipc.new_file(path, pa.schema([("x", array.type)])) as file:
        file.write_table(pa.table({"x": array}), max_chunksize=2)
    return path


def feather(folder, array):
    path = folder / f"{uuid4().hex}.feather"
    pa.feather.write_feather(pa.table({"x": array}), path)
    return path


def polars(folder, array):  # noqa: ARG001  one signature for all
    if pa.types.is_timestamp(array.type) and array.type.unit == "s":  # they become milliseconds, and run over
        raise Unwritable
    try:
        return pl.DataFrame({"x": pl.from_arrow(array)})
    except Exception:  # noqa: BLE001  what it cannot hold
        raise Unwritable from None


def pandas(folder, array):  # noqa: ARG001
    return pd.DataFrame({"x": pd.arrays.ArrowExtensionArray(pa.chunked_array([array]))})


WRITERS = {
    "Parquet": parquet,
    "Arrow": arrow,
    "Feather": feather,
    "pyarrow": lambda _, array: pa.table({"x": array}),
    "dict": lambda _, array: {"x": array},
    "Polars": polars,
    "lazy": lambda folder, array: polars(folder, array).lazy(),
    "pandas": pandas,
    "Ibis": lambda _, array: ibis.memtable(pa.table({"x": array})),
}
