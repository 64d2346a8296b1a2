"""The datasets of the paper and of DPBench: the real ones if a folder has them, stand-ins otherwise.

A folder holds ``1d/adult.npy`` and so on. It is the folder that the caller names, else ``DAWA_DATA``, else the folder
that ``dawa bench fetch`` fills. Every result says what was used: ``real`` has the checksum that is pinned here,
``other`` is a file of the right name and shape with other counts, ``generated`` is a stand-in.

A stand-in is as large, as sparse and as hard to partition as its dataset: the best partition at ε2 = 0.05 has about as
many buckets. Occupied cells gather where a few slow waves are high, and counts are log-normal around them. The spread
of the counts sets the hardness, and the numbers below were chosen for it.

``fetch`` downloads the real datasets from where they are published, and keeps only files with the pinned checksum.
"""

import hashlib
import math
import os
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import numpy as np

from dawa.arrays import IntArray, frozen
from dawa.errors import SourceError
from dawa.layout.curve import Order

VARIABLE = "DAWA_DATA"
REPOSITORY = "https://raw.githubusercontent.com/dpcomp-org/dpcomp_core"
"""Where DPBench publishes its histograms."""

EARLIER, LATER = "60db3da2a70a67521ee7937bfb5311d7b13b5534", "ac71460def9678978c2a8255218988e3a010dd26"
"""Versions of that repository."""

LARGEST = 2**24
"""Bytes that a file may have; the largest dataset has half a million."""

PATIENCE = 30
"""Seconds to wait for an answer."""

SEED = 2014
WAVES = 8


@dataclass(frozen=True)
class Recipe:
    """What a stand-in has in common with its dataset.

    Attributes:
        shape: Cells along each axis.
        records: The exact number of records.
        occupied: The exact number of cells that are not empty.
        spread: Standard deviation of the logarithm of a count, which sets the hardness.
        gathering: How closely occupied cells lie together.
    """

    shape: tuple[int, ...]
    records: int
    occupied: int
    spread: float
    gathering: float = 2.0


@dataclass(frozen=True)
class Dataset:
    """A dataset by name.

    Attributes:
        name: Its name here.
        what: What it counts.
        recipe: Its size and sparsity, and how a stand-in is made.
        address: Where it is published, below ``REPOSITORY``.
        checksum: SHA-256 of the counts as 64-bit little-endian integers in C order.
        real_name: Its name in the paper.
    """

    name: str
    what: str
    recipe: Recipe
    address: str
    checksum: str
    real_name: str = ""

    @property
    def path(self) -> Path:
        """Its path in a folder."""
        return Path(f"{len(self.recipe.shape)}d") / f"{self.name}.npy"


@dataclass(frozen=True, eq=False)
class Loaded:
    """A dataset's counts, and what they are: ``real``, ``other`` or ``generated``."""

    name: str
    counts: IntArray
    kind: str


def _line(records: int, occupied: int, spread: float) -> Recipe:
    return Recipe((4096,), records, occupied, spread)


def _map(records: int, occupied: int, spread: float) -> Recipe:
    return Recipe((256, 256), records, occupied, spread, gathering=3.0)


def _at(version: str, name: str) -> str:
    return f"{version}/dpcomp_core/datafiles/{name}.npy"


LINES = (
    Dataset(
        "nettrace",
        "connections of the hosts of a university network",
        _line(25_714, 139, 2.85),
        _at(LATER, "1D/NETTRACE.n4096"),
        "197d4138d7d34ce65c214030ff13a3085222d255131292592ae728d5dd519061",
        "Nettrace",
    ),
    Dataset(
        "adult",
        "capital loss in a census",
        _line(17_665, 82, 5.2),
        _at(LATER, "1D/ADULTFRANK.n4096"),
        "3b5ef07cea9526cd3937be5d87dedbcc437145a71fa380c0c24714e2ae921ae2",
        "Adult",
    ),
    Dataset(
        "medcost",
        "medical expenses in a hospice survey",
        _line(9_415, 1_032, 4.1),
        _at(LATER, "1D/MEDCOST.n4096"),
        "b6e56cfa58a1ec45aeb0262a1e1563d69ef48d394e4f97ece27a37a3f2f5d31b",
        "Medical Cost",
    ),
    Dataset(
        "searchlogs",
        "searches for one word over time",
        _line(335_889, 2_006, 3.4),
        _at(EARLIER, "1D/SEARCHLOGS.n4096"),
        "83d1ea6f0a918264e14e0b60903b934034f19acef3f60fdccea501b12570a661",
        "Search Logs",
    ),
    Dataset(
        "income",
        "personal income in a survey",
        _line(20_787_122, 2_254, 3.65),
        _at(LATER, "1D/INCOME.n4096"),
        "6a7817dd45eaba5cc6299f2e8071875a1b9290f7bcdf8d6d2da297acd7898db1",
        "Income",
    ),
    Dataset(
        "patent",
        "citations of patents over time",
        _line(27_948_226, 3_842, 4.1),
        _at(EARLIER, "1D/PATENT.n4096"),
        "8053a6c7661dc3d49e131cb8f2b6ad50424b092a0c24e5d5bb565ac975bbfe6a",
        "Patents",
    ),
    Dataset(
        "hepth",
        "citations of articles on physics over time",
        _line(347_414, 3_229, 0.28),
        _at(LATER, "1D/HEPTH.n4096"),
        "d794738f0d8484e527706c7829cb3a9fdfc86528cd86293522ecd754f4083545",
        "HepPh",
    ),
)
"""On a line of 4,096 cells, in the paper's order: from easy to hard."""

MAPS = (
    Dataset(
        "twitter",
        "places of short messages",
        _map(193_563, 3_620, 2.3),
        _at(EARLIER, "2D/twitter_256_256"),
        "f1d71ccf45df6b8f958045225f952b2be7b01171e15ba8278ee3446176a85669",
    ),
    Dataset(
        "gowalla",
        "check-ins",
        _map(6_442_863, 3_500, 3.7),
        _at(EARLIER, "2D/checkin_256_256"),
        "dec48bc1a7c973ad74da1942865dac9ed0e262397a2165552f141890a58c0b54",
    ),
    Dataset(
        "beijing-cabs-start",
        "starts of taxi trips",
        _map(4_268_780, 10_565, 2.95),
        _at(EARLIER, "2D/BeijingTaxiS_256_256"),
        "fed11903b984f835b282b5498d6faad6d12e6f1119c60dd5dd8d68082452ea27",
    ),
    Dataset(
        "sf-cabs-start",
        "starts of taxi trips",
        _map(464_040, 1_707, 4.0),
        _at(LATER, "2D/cabspottingS_256_256"),
        "1784e4f3cbe62821b91f8af446cf20ae94e4f7644f3f8e6c3135bb778e8a2132",
    ),
    Dataset(
        "adult-2d",
        "capital gain and loss in a census",
        _map(32_561, 104, 3.1),
        _at(EARLIER, "2D/Adult_2D_256_256"),
        "067acbc6c840fceaf702d1b1c22204289c4ab99eb9b10391f2105dbc85bb8ec6",
    ),
)
"""On maps of 256 × 256 cells."""

ALL = {dataset.name: dataset for dataset in (*LINES, *MAPS)}


def checksum(counts: IntArray) -> str:
    """SHA-256 of counts, the same for every byte order of the machine."""
    return hashlib.sha256(np.ascontiguousarray(counts, "<i8").tobytes()).hexdigest()


def fetched_folder() -> Path:
    """Where ``dawa bench fetch`` puts what it fetches."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "dawa" / "datasets"


def folder_for(named: str | None) -> Path | None:
    """The folder to read from; None if there is no such folder, and stand-ins are used.

    Raises:
        SourceError: If a folder is named that does not exist.
    """
    chosen = named or os.environ.get(VARIABLE)
    if not chosen:
        return fetched_folder() if fetched_folder().is_dir() else None
    if not Path(chosen).is_dir():
        raise SourceError(
            f"There is no folder {chosen!r} with datasets.",
            f"name a folder that holds 1d/adult.npy and so on, or leave out --data and {VARIABLE} to use stand-ins.",
        )
    return Path(chosen).absolute()


@cache
def load(name: str, folder: Path | None) -> Loaded:
    """A dataset from a folder, or its stand-in if there is no folder.

    Raises:
        SourceError: If the folder does not have it, or its file is not such a histogram.
    """
    dataset = ALL[name]
    if folder is None:
        return Loaded(name, frozen(generated(dataset.recipe)), "generated")
    path = folder / dataset.path
    if not path.is_file():
        raise SourceError(
            f"The folder of datasets has no {dataset.path}.",
            "run `dawa bench fetch`, or leave --data and DAWA_DATA out to use generated stand-ins.",
        )
    counts = read(path, dataset)
    return Loaded(name, frozen(counts), "real" if checksum(counts) == dataset.checksum else "other")


def read(path: Path, dataset: Dataset) -> IntArray:
    """Counts from a ``.npy`` file.

    Raises:
        SourceError: If it is not such a file, has another shape, or holds values that are not counts.
    """
    hint = f"it should hold {' × '.join(map(str, dataset.recipe.shape))} non-negative whole numbers."
    try:
        found = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        raise SourceError(f"{path.name} cannot be read as an array.", hint) from None
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "iuf":
        raise SourceError(f"{path.name} does not hold numbers.", hint)
    if found.size != math.prod(dataset.recipe.shape):
        raise SourceError(f"{path.name} has another shape.", hint)
    if not (np.isfinite(found) & (found >= 0) & (found == np.floor(found)) & (found < 2**45)).all():
        raise SourceError(f"{path.name} holds values that are not counts.", hint)
    return found.reshape(dataset.recipe.shape).astype(np.int64)


def generated(recipe: Recipe, seed: int = SEED) -> IntArray:
    """Counts by a recipe.

    >>> cells = generated(Recipe((64,), records=1000, occupied=16, spread=1.0))
    >>> int(cells.sum()), int((cells > 0).sum())
    (1000, 16)
    """
    generator = np.random.default_rng(seed)
    size = math.prod(recipe.shape)
    place, level = np.arange(size) / size, np.zeros(size)
    for wave in range(1, WAVES + 1):
        level += generator.normal() * np.cos(2 * np.pi * (wave * place + generator.uniform())) / wave
    chosen = np.argsort(recipe.gathering * level + generator.gumbel(size=size), kind="stable")[-recipe.occupied :]
    cells = np.sort(chosen)
    weight = np.exp(level[cells] + recipe.spread * generator.normal(size=len(cells)))
    share = (recipe.records - len(cells)) * weight / weight.sum()
    line = np.zeros(size, np.int64)
    line[cells] = 1 + np.floor(share).astype(np.int64)
    missing = recipe.records - int(line.sum())
    line[cells[np.argsort(np.floor(share) - share, kind="stable")[:missing]]] += 1
    if len(recipe.shape) == 1:
        return line
    grid = np.empty(size, np.int64)
    grid[Order(recipe.shape).flat()] = line
    return grid.reshape(recipe.shape)


def fetch(
    folder: Path,
    wanted: Iterable[Dataset] = tuple(ALL.values()),
    repository: str = REPOSITORY,
    told: Callable[[str], object] = lambda _: None,
) -> None:
    """Fetch the datasets that a folder does not have yet.

    Args:
        folder: Where to put them.
        wanted: Which datasets.
        repository: Where they are published.
        told: Called with a line about each dataset.

    Raises:
        SourceError: If a dataset cannot be fetched, or has changed.
    """
    for dataset in wanted:
        target = folder / dataset.path
        if target.is_file() and checksum(read(target, dataset)) == dataset.checksum:
            told(f"{dataset.name}: already there")
            continue
        _keep(_body(f"{repository}/{dataset.address}"), target, dataset)
        told(f"{dataset.name}: fetched")


def _body(address: str) -> bytes:
    """What is published at an address."""
    if not address.startswith(("https://", "http://")):
        raise SourceError(f"{address!r} is not an address on the web.", "it begins with https://.")
    try:
        with urlopen(Request(address), timeout=PATIENCE) as answer:  # noqa: S310  checked above
            body: bytes = answer.read(LARGEST + 1)
    except (URLError, OSError) as error:
        if isinstance(error, HTTPError):
            error.close()
        reason = getattr(error, "reason", None) or type(error).__name__
        raise SourceError(
            f"{address} cannot be fetched ({reason}).",
            "try again when the network works; without the real data, generated stand-ins are used.",
        ) from None
    if len(body) > LARGEST:
        raise SourceError(f"{address} is larger than a dataset can be.", "fetch it by hand and look at it.")
    return body


def _keep(body: bytes, target: Path, dataset: Dataset) -> None:
    """Put a file in its place once its counts have the pinned checksum."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(suffix=".npy", dir=target.parent)
    partial = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(body)
        if checksum(read(partial, dataset)) != dataset.checksum:
            raise SourceError(
                f"The published {dataset.name} has changed: its checksum differs.",
                "nothing was kept; use generated stand-ins, or a folder of your own with --data.",
            )
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
