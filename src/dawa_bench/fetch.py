"""Fetch the real datasets from where they are published, and keep only what has the pinned checksum."""

import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from dawa.errors import SourceError
from dawa_bench import datasets
from dawa_bench.datasets import Dataset

LARGEST = 2**24
"""Bytes; the largest dataset has half a million."""

PATIENCE = 30
"""Seconds without an answer."""


def fetch(
    folder: Path,
    wanted: Iterable[Dataset] = tuple(datasets.ALL.values()),
    repository: str = datasets.REPOSITORY,
    told: Callable[[str], object] = lambda _: None,
) -> None:
    """Fetch what a folder does not have yet.

    Args:
        folder: Where to put it.
        wanted: Which datasets.
        repository: Where they are published.
        told: Hears a line about each.

    Raises:
        SourceError: If one cannot be fetched, or is not what it was.
    """
    for dataset in wanted:
        target = folder / dataset.path
        if target.is_file() and datasets.checksum(datasets.read(target, dataset)) == dataset.checksum:
            told(f"{dataset.name}: there already")
            continue
        _keep(_body(f"{repository}/{dataset.address}"), target, dataset)
        told(f"{dataset.name}: fetched")


def _body(address: str) -> bytes:
    """What is published at an address."""
    if not address.startswith(("https://", "http://")):
        raise SourceError(f"{address!r} is no address on the web.", "it begins with https://.")
    try:
        with urlopen(Request(address), timeout=PATIENCE) as answer:  # noqa: S310  checked above
            body: bytes = answer.read(LARGEST + 1)
    except (URLError, OSError) as error:
        if isinstance(error, HTTPError):
            error.close()
        reason = getattr(error, "reason", None) or type(error).__name__
        raise SourceError(
            f"{address} cannot be fetched ({reason}).",
            "try again when the network is there; without the real data, generated stand-ins are used.",
        ) from None
    if len(body) > LARGEST:
        raise SourceError(f"{address} is larger than a dataset can be.", "fetch it by hand and look at it.")
    return body


def _keep(body: bytes, target: Path, dataset: Dataset) -> None:
    """Put a file in its place once its counts are known to be the right ones."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(suffix=".npy", dir=target.parent)
    partial = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(body)
        if datasets.checksum(datasets.read(partial, dataset)) != dataset.checksum:
            raise SourceError(
                f"What is published as {dataset.name} is not what it was: its checksum differs.",
                "nothing was kept; use generated stand-ins, or a folder of your own with --data.",
            )
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
