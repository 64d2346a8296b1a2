"""A record for the registry of deployments of differential privacy (registry.opendp.org), as a draft in YAML.

The field names are those of the registry's own schema. A release knows its guarantee, its unit, its mechanism and its
accounting; what it is meant for, and who answers for the record, only people know. ``left`` names every such field.
Where the registry requires one, the draft holds a text that cannot be mistaken for an answer.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

from dawa.budget import rounded_up, shown
from dawa.errors import FolderError, OptionError
from dawa.host import atomic
from dawa.results.about import About
from dawa.results.grouped import AnyRelease

OPEN = "TO BE FILLED IN"
"""What stands in a required field that nobody has said."""
NO_DATE = "1900-01-01"
"""What stands there for a date, as in the registry's own template."""

LEFT = {
    "deployment.basic.data_curators": "who publishes it: dawa.About(publisher=...), or --publisher",
    "deployment.basic.description": "what the data are: dawa.About(description=...), or --description",
    "deployment.basic.publication_date": 'when: dawa.About(released="today"), or --released today',
    "deployment.basic.intended_use": "what it is meant for",
    "deployment.basic.data_product_region": "which region the data describe, or whose law applies",
    "deployment.basic.data_product_sector": "Technology, Healthcare, Education, Government, Energy or Finance",
    "deployment.deployment_model.actors": "who sees what before publication, and why they are trusted",
    "deployment.deployment_model.release_type_details": "whether the same data are, or will be, in other releases",
    "deployment.deployment_model.data_source_type": "Static, or Dynamic if new data come in",
    "deployment.implementation.justification": "why this epsilon, this unit, these bounds",
    "deployment.administrative.sources": "where the release is published",
    "deployment.administrative.registry_authors": "who fills in the record",
}
"""What the registry asks and only people know, and how to say it where a release can carry it."""

REQUIRED = {
    "deployment.basic.data_curators",
    "deployment.basic.description",
    "deployment.basic.publication_date",
    "deployment.basic.intended_use",
    "deployment.basic.data_product_region",
    "deployment.administrative.registry_authors",
}
"""Those of them without which the registry takes no record."""


def record(release: AnyRelease) -> dict[str, Any]:
    """The record, as plain values, without the fields that only people know unless they are required.

    Raises:
        OptionError: If the release is not private: nobody deploys it.
    """
    about, privacy = release.about or About(), release.privacy
    if not privacy.private:
        raise OptionError(
            "The release is not private, because its noise was made from a seed.", "make it without a seed first."
        )
    named = dict.fromkeys([*(axis.column for axis in release.axes), *privacy.by, *privacy.unit_columns])
    columns = ", ".join(map(repr, named))
    name = about.title or f"How many, along {', '.join(axis.column for axis in release.axes)}"
    curators = [about.publisher or OPEN]
    published = str(about.released or NO_DATE)
    return {
        "url_slug": _slug(name, curators, published),
        "status": "Draft",
        "tier": 2,
        "deployment": {
            "basic": {
                "name": name,
                "data_curators": curators,
                "intended_use": OPEN,
                "data_product_type": "Summary statistics",
                "data_product_region": OPEN,
                "description": about.description or OPEN,
                "publication_date": published,
            },
            "dp_variant": {
                "variant_name": "Pure DP",
                "data_domain": f"Tables whose records have the columns {columns}, of any size.",
                "unprotected_quantities": "None. Bounds, groups and conditions are chosen beforehand, or paid for.",
            },
            "privacy_loss": {
                "privacy_unit": privacy.unit,
                "privacy_unit_details": f"Adjacent: {privacy.neighbours}.{_cap(release)}",
                "privacy_parameters": {"epsilon": rounded_up(privacy.epsilon)},
                "privacy_parameters_details": f"epsilon = {privacy.epsilon} exactly; delta = 0.",
            },
            "deployment_model": {
                "model_name": "Central",
                "release_type": "One release",
                "access_type": "Non-interactive",
            },
            "accounting": {
                "post_processing": "Answers are computed from noisy sums by least squares; numbers below zero are"
                " evened out if the options say so.",
                "composition": _composition(release),
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": " ".join(privacy.handling) or "None.",
                "mechanisms": f"{privacy.mechanism}, by dawa {privacy.library}. Noise and choices are drawn exactly, on"
                f" whole numbers, with no floating point before them. Randomness: {privacy.randomness}.",
            },
            "administrative": {
                "notes": f"Release {release.id}. This draft was written by dawa {privacy.library}.",
                "registry_authors": [OPEN],
            },
        },
    }


def left(release: AnyRelease) -> dict[str, str]:
    """What the registry asks and this release does not say, and how to say it."""
    about = release.about or About()
    said = {"data_curators": about.publisher, "description": about.description, "publication_date": about.released}
    return {path: how for path, how in LEFT.items() if said.get(path.rpartition(".")[2]) is None}


def as_text(release: AnyRelease) -> str:
    """The record as YAML, with a comment for every field that is left to people.

    The slug comes first, where the registry's own checks look for it.

    Raises:
        OptionError: If the release is not private.
    """
    head = [f"# {path}: {how}{' (required)' if path in REQUIRED else ''}" for path, how in left(release).items()]
    slug, *lines = _lines(record(release))
    return "\n".join([slug, "# Left to you:", *head, *lines, ""])


def save(release: AnyRelease, path: str | os.PathLike[str]) -> Path:
    """Write the record to a new file.

    Raises:
        OptionError: If the release is not private.
        FolderError: If there is one of that name, or it cannot be written.
    """
    text = as_text(release)
    try:
        return atomic.write(path, text, new=True)
    except FileExistsError:
        raise FolderError(f"{path} exists already.", "choose another file: nothing is replaced.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "this cannot be a name"
        raise FolderError(f"{path} cannot be written: {reason}.", "choose another file.") from None


def check(path: str | os.PathLike[str]) -> None:
    """Make sure that there is no file of that name, and a folder for it, before anything is spent.

    Raises:
        FolderError: If it cannot be written there.
    """
    try:
        atomic.spare(Path(path))
        there = Path(path).absolute().parent.is_dir()
        taken = _taken(Path(path))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "this cannot be a name"
        raise FolderError(f"{path} cannot be written: {reason}.", "choose another file.") from None
    if taken:
        raise FolderError(f"{path} exists already.", "choose another file: nothing is replaced.")
    if not there:
        raise FolderError(f"{path} cannot be written: there is no such folder.", "make it, or choose another file.")


def _taken(path: Path) -> bool:
    """Whether there is something of that name; OSError if there cannot be, as for names that are too long."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _cap(release: AnyRelease) -> str:
    """How many records of a unit are counted, and what a person with several units loses."""
    privacy = release.privacy
    if not privacy.unit_columns:
        return " Somebody with k records loses k times epsilon."
    return f" At most {privacy.max_rows_per_unit} records of each were counted, chosen at random."


def _composition(release: AnyRelease) -> str:
    """How epsilon was split, exactly."""
    privacy = release.privacy
    parts = " and ".join(f"{shown(part)} on {step}" for step, part in privacy.split.items())
    groups = "" if not privacy.by else " Groups are about different records, so they compose in parallel."
    return f"Sequential: {parts}, which adds up to {shown(privacy.epsilon)}.{groups}"


def _slug(name: str, curators: list[str], published: str) -> str:
    """What the registry computes from name, curators and year."""
    parts = (name, "-".join(curators), published.partition("-")[0])
    return "_".join(re.sub(r"\W+", "_", part.lower()) for part in parts).replace("_", "-")


def _lines(values: dict[str, Any], depth: int = 0) -> list[str]:
    """YAML of nested values: texts in double quotes, whatever they hold."""
    found = []
    for name, value in values.items():
        pad = "  " * depth
        if isinstance(value, dict):
            found += [f"{pad}{name}:", *_lines(value, depth + 1)]
        elif isinstance(value, list):
            found += [f"{pad}{name}:", *(f"{pad}  - {_scalar(one)}" for one in value)]
        else:
            found.append(f"{pad}{name}: {value if name == 'url_slug' else _scalar(value)}")
    return found


def _scalar(value: object) -> str:
    r"""A number, or a text in double quotes, with escapes for what YAML would read as more than text.

    >>> print(_scalar("a: 'b' # c" + chr(0x2028)), _scalar(0.5))
    "a: 'b' # c\U00002028" 0.5
    """
    quoted = json.dumps(value, ensure_ascii=False)
    return "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in quoted)
