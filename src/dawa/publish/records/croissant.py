"""What catalogues of data ask about a release: Croissant 1.0, which is JSON-LD in the words of schema.org.

It is made from the custodian's words, from the release, and from the files beside it: their names, sizes and SHA-256.
Nothing is made up: where nobody said who made it, or under which licence, the field is left out, and ``left`` names it.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dawa.axis import NumberAxis
from dawa.budget import shown
from dawa.publish import readme
from dawa.results import paid
from dawa.results.about import About, is_link
from dawa.results.grouped import AnyRelease, GroupedRelease

CROISSANT = "croissant.json"
"""What the file in a folder is called."""

CONFORMS = "http://mlcommons.org/croissant/1.0"

TERMS = (
    *("citeAs", "column", "extract", "field", "fileProperty", "fileObject", "fileSet", "format", "includes"),
    *("isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex", "repeated"),
    *("replace", "samplingRate", "separator", "source", "subField", "transform", "equivalentProperty"),
)
"""The words of Croissant that schema.org does not have."""

CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in TERMS},
}

FORMS = {".json": "application/json", ".csv": "text/csv", ".svg": "image/svg+xml", ".md": "text/markdown"}
"""What files are, by the ends of their names."""

FLOATS = {
    *("value", "standard_deviation", "unbiased", "noise_margin", "bias_bound", "measured", "low", "high", "confidence")
}
"""Columns of the tables that hold numbers whatever the axes are."""

LEFT = {
    "url": "the address of the page on which the release is published",
    "creator": "who made it, as schema.org's Person or Organization",
    "citeAs": "how to cite it",
    "version": "its version, if there will be others",
    "license": "the licence: dawa.About(licence=...), or --licence",
    "datePublished": 'the date of the release: dawa.About(released="today"), or --released today',
    "publisher": "who publishes it: dawa.About(publisher=...), or --publisher",
}
"""What a catalogue asks and a release does not know unless somebody says it, and how to say it."""


def as_text(release: AnyRelease, files: Mapping[str, Path], headers: Mapping[str, Sequence[str]]) -> str:
    """The file, as JSON."""
    return json.dumps(croissant(release, files, headers), indent=1, ensure_ascii=False) + "\n"


def croissant(release: AnyRelease, files: Mapping[str, Path], headers: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """A description of a release and its files.

    Args:
        release: The release.
        files: The files beside it, by their names; they are read for their size and SHA-256.
        headers: The columns of each table among them.

    Raises:
        OSError: If one of them cannot be read.
    """
    privacy = release.privacy
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS,
        **_words(release),
        **({} if release.id is None else {"identifier": release.id}),
        "measurementTechnique": f"differential privacy, epsilon = {shown(privacy.epsilon)} for each {privacy.unit},"
        f" mechanism {privacy.mechanism}",
        "variableMeasured": [axis.column for axis in release.axes],
        "distribution": [_file(name, path) for name, path in files.items()],
        "recordSet": [_records(name, header, release) for name, header in headers.items()],
    }


def left(release: AnyRelease) -> dict[str, str]:
    """What a catalogue asks and nobody has said of this release, and how to say it.

    >>> import dawa
    >>> about = dawa.About(licence="CC BY 4.0", released="2026-05-03", publisher="Example Hospital")
    >>> rel = dawa.release({"age": [31]}, dawa.Axis("age", 0, 100), epsilon=1, about=about)
    >>> sorted(left(rel))
    ['citeAs', 'creator', 'url', 'version']
    """
    said = _words(release)
    return {name: how for name, how in LEFT.items() if name not in said}


def _words(release: AnyRelease) -> dict[str, Any]:
    """What the custodian said, in the words of schema.org; the claim is added to the description."""
    about, privacy = release.about or About(), release.privacy
    columns = ", ".join([*(axis.column for axis in release.axes), *(f"by {name}" for name in privacy.by)])
    said = [] if about.description is None else [about.description]
    claim = f"{privacy.claim.removesuffix(':')}. {privacy.odds}"
    found = {
        "name": about.title or f"How many, along {columns}",
        "description": "\n\n".join([*said, claim]),
        "license": about.licence,
        "publisher": _publisher(about),
        "datePublished": about.released,
        "temporalCoverage": _period(about),
    }
    return {name: value for name, value in found.items() if value is not None}


def _publisher(about: About) -> dict[str, Any] | None:
    if about.publisher is None:
        return None
    return {"@type": "sc:Organization", "name": about.publisher, **_contact(about.contact)}


def _contact(contact: str | None) -> dict[str, Any]:
    """Whom to ask: an address of mail or of a page, or a name."""
    if contact is None:
        return {}
    kind = ("email" if contact.startswith("mailto:") else "url") if is_link(contact) else "name"
    return {"contactPoint": {"@type": "sc:ContactPoint", kind: contact.removeprefix("mailto:")}}


def _period(about: About) -> str | None:
    """An ISO 8601 interval, open where nobody said."""
    if about.data_from is None and about.data_to is None:
        return None
    return f"{about.data_from or '..'}/{about.data_to or '..'}"


def _file(name: str, path: Path) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "description": readme.FILES[name],
        "contentUrl": name,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": FORMS[path.suffix],
        "sha256": paid.digest(path),
    }


def _records(file: str, header: Sequence[str], release: AnyRelease) -> dict[str, Any]:
    """A table: its columns, and what they hold; the first ones name groups, whatever these are called."""
    name = file.removesuffix(".csv")
    groups = len(release.by) if isinstance(release, GroupedRelease) else 0
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": readme.FILES[file],
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "name": column,
                "dataType": "sc:Text" if place < groups else _type(column, release),
                "source": {"fileObject": {"@id": file}, "extract": {"column": column}},
            }
            for place, column in enumerate(header)
        ],
    }


def _type(column: str, release: AnyRelease) -> str:
    """What a column holds: numbers in their own columns and at the ends of axes of numbers, and text elsewhere."""
    if column == "cells":
        return "sc:Integer"
    ends = {f"{axis.column}_{end}" for axis in release.axes for end in ("from", "to") if isinstance(axis, NumberAxis)}
    if len(release.axes) == 1 and isinstance(release.axes[0], NumberAxis):
        ends = {"from", "to"}
    return "sc:Float" if column in FLOATS | ends else "sc:Text"
