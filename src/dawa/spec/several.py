"""Several releases in one spec: one table, one unit, one budget of which each has a share, one folder.

In a file, ``[[release]]`` stands in place of ``[release]``, once for each of them. What they share is said once; each
has a name, its axes, and perhaps groups, a condition, words and a mechanism of its own.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from dawa import budget
from dawa.budget import shown
from dawa.errors import BudgetError, SpecError
from dawa.limits import MOST_RELEASES_TOGETHER
from dawa.numerals import told
from dawa.spec.entries import ABOUT, AXIS, BY, SECTIONS, Reader, entries, known, table
from dawa.spec.model import Spec

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
"""What a release may be called: its folder has this name, on every system."""

TAKEN = re.compile(r"(readme\.md|(index|report)\.html|(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?)", re.IGNORECASE)
"""What it may not be called: files beside it, and devices of some systems."""

OWN: dict[str, Reader] = {
    "name": SECTIONS["source"]["file"],
    "share": SECTIONS["privacy"]["epsilon"],
    "where": SECTIONS["source"]["where"],
    "max_rows_per_unit": SECTIONS["privacy"]["max_rows_per_unit"],
    **{key: SECTIONS["release"][key] for key in ("mechanism", "options", "queries")},
}
"""What each release may say by itself, besides its axes, groups and words."""


@dataclass(frozen=True)
class Several:
    """Releases that are planned together, and paid together or not at all.

    Attributes:
        specs: Each release by its name, which is that of its folder.
        epsilon: What all of them spend together, exactly.
        out: The folder that holds their folders; None if it is not named.
    """

    specs: Mapping[str, Spec]
    epsilon: Fraction
    out: str | None = None

    @property
    def common(self) -> Spec:
        """One of them, for what they share: source, unit, ledger and dataset."""
        return next(iter(self.specs.values()))

    def into(self, out: str) -> "Several":
        """The same in another folder."""
        return replace(self, out=out)


def parsed(
    data: dict[str, Any], folder: Path, one: Callable[[dict[str, Any], Path], Spec], place: Callable[[str], str]
) -> Several:
    """The releases of a spec's data.

    Args:
        data: What the file says.
        folder: Where the file lies.
        one: Reads the data of a single release.
        place: A path of the file, as seen from here.

    Raises:
        SpecError: If they are not releases that can be paid together.
    """
    listed = data["release"]
    known(
        data, {"out": None, "source": None, "privacy": None, "about": None, "release": None}, "A file with [[release]]"
    )
    if not all(isinstance(found, dict) for found in listed) or not 1 <= len(listed) <= MOST_RELEASES_TOGETHER:
        raise SpecError(
            f"release is not a list of at most {MOST_RELEASES_TOGETHER} tables.",
            "write a line [[release]] above each release, and [[release.axes]] above each of its axes.",
        )
    privacy = entries(table(data.get("privacy", {}), "privacy"), SECTIONS["privacy"], "[privacy]")
    if "max_rows_per_unit" in privacy and all("max_rows_per_unit" in found for found in listed):
        raise SpecError("Every release says its own max_rows_per_unit.", "leave it out of [privacy].")
    total = _total(privacy)
    names = _names(listed)
    parts = _parts([_share(found) for found in listed], total)
    out = SECTIONS["release"]["out"](data["out"], "out") if "out" in data else None
    specs = {}
    for name, part, found in zip(names, parts, listed, strict=True):
        try:
            specs[name] = one(_alone(data, found, part), folder)
        except SpecError as error:
            raise SpecError(f"The release {name!r}: {error.problem}", error.hint) from None
    return Several(specs, total, None if out is None else place(out))


def _alone(data: Mapping[str, Any], found: Mapping[str, Any], epsilon: Fraction) -> dict[str, Any]:
    """The data of one release, as if it stood alone in a file."""
    known(found, {**OWN, "axes": AXIS, "by": BY, "about": ABOUT}, "[[release]]")
    own = {key: OWN[key](value, key) for key, value in found.items() if key in OWN}
    source, privacy = dict(data.get("source", {})), {**data["privacy"], "epsilon": str(epsilon)}
    if "where" in own and "where" in source:  # each is a condition by itself: none can end the parentheses of another
        shared = SECTIONS["source"]["where"](source["where"], "where")
        source["where"] = f"({shared}) and ({own['where']})"
    elif "where" in own:
        source["where"] = own["where"]
    if "max_rows_per_unit" in own:
        privacy["max_rows_per_unit"] = own["max_rows_per_unit"]
    return {
        "source": source,
        "privacy": privacy,
        "axes": found.get("axes", []),
        "by": found.get("by", []),
        "about": {**table(data.get("about", {}), "about"), **table(found.get("about", {}), "release.about")},
        "release": {key: found[key] for key in ("mechanism", "options", "queries") if key in found},
    }


def _total(privacy: Mapping[str, Any]) -> Fraction:
    if "epsilon" not in privacy:
        raise SpecError("The releases have no budget.", "write epsilon = 1, for all of them together, under [privacy].")
    try:
        return budget.exact(privacy["epsilon"])
    except BudgetError as error:
        raise SpecError(error.problem, error.hint) from None


def _names(listed: list[dict[str, Any]]) -> list[str]:
    """The names of the releases, no two of them alike but for case: not all file systems tell these apart."""
    names: list[str] = []
    for found in listed:
        name = found.get("name")
        if not isinstance(name, str) or NAME.fullmatch(name) is None or name.endswith("."):
            raise SpecError(
                "A release has no name, or one that cannot be that of a folder.",
                'write name = "delays" below each [[release]]: letters, digits, -, _ and points.',
            )
        if TAKEN.fullmatch(name):
            raise SpecError(f"A release cannot be called {told(name)}.", "give it another name: that of a folder.")
        if name.casefold() in {other.casefold() for other in names}:
            raise SpecError(f"Two releases are called {told(name)}.", "give each a name of its own.")
        names.append(name)
    return names


def _share(found: Mapping[str, Any]) -> Fraction | None:
    """The share of a release, exactly as it is written."""
    if "share" not in found:
        return None
    try:
        share = budget.exact(OWN["share"](found["share"], "share"), "share")
    except BudgetError as error:
        raise SpecError(error.problem, error.hint) from None
    if share > 1:
        raise SpecError(f"A release has a share of {shown(share)}, more than all.", "write the part of epsilon it has.")
    return share


def _parts(shares: list[Fraction | None], total: Fraction) -> list[Fraction]:
    """What each release spends; those without a share have equal parts of what the others leave.

    >>> _parts([Fraction(1, 2), None, None], Fraction(1))
    [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    """
    said = sum((share for share in shares if share is not None), Fraction(0))
    rest = shares.count(None)
    if said > 1 or (rest > 0 and said == 1):
        left = "more than all of it" if said > 1 else "all of it, and leave nothing for the others"
        raise SpecError(f"The shares of epsilon add up to {shown(said)}: {left}.", "give some releases less.")
    if rest == 0 and said < 1:
        raise SpecError(
            f"The shares of epsilon add up to {shown(said)}, not to 1, so {shown(total * (1 - said))} would be left.",
            'lower epsilon, or raise a share; thirds are written share = "1/3".',
        )
    return [total * ((1 - said) / rest if share is None else share) for share in shares]
