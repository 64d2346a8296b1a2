"""No float touches a private number before noise: ``python -m checks.floats`` reads the code and says where one would.

Floats lose digits, and by that may tell neighbours apart whatever the proof says; so counts stay whole numbers until a
gate (``dawa.noise.gates``) has made them public. Private is what an engine gives back, the counts of the occupied
cells, and all that follows from them: through assignments, containers, calls, methods, closures, fields, and what a
function or a loop in C puts into its arguments. On private numbers these are refused:

- ``/``, powers that may be fractions, arithmetic and comparisons with a float, and a place among floats;
- types of floats, and every function or method that ``rules`` does not list as keeping whole numbers whole;
- being declared as a float: as a parameter, a field, a variable or a result;
- loops in C that name a float anywhere, also in what they call (``loops``);
- branches, since what follows from a branch is not marked.

What may stay all the same is listed in ``rules.EXCUSED``, each with its reason; one that is not needed is refused too.

What it cannot see: what an engine computes until it has counted, where a float moves a record to another cell at worst,
and one record still moves one count by one. How long arrays are: public, it supposes, unless they are over occupied
cells. What follows from a branch that is excused, from an error, or from how often a loop is run. What is kept in
variables of modules. Names that are made while it runs (``setattr``, ``eval``), and what NumPy does with Python's whole
numbers beyond 64 bits, or with signed and unsigned ones together; the gates refuse floats when they run, but not whole
numbers that were floats on their way. And it believes the annotations, which mypy holds to the code, except where they
say ``Any``: what nothing is known of may be a float unseen. Once noise has been added anything goes.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from checks import loops, rules
from checks.flow import Finding, Flow, parameters
from checks.package import Package

ROOT = Path(__file__).parents[1]
SOURCES = "src/dawa"
EXCUSES = "checks/rules.py"


def texts(root: Path = ROOT) -> dict[str, str]:
    """The package's own source, in Python and in C, by path."""
    found = (path for kind in ("*.py", "*.pyi", "*.c", "*.h") for path in (root / SOURCES).rglob(kind))
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in found}


def followed(
    sources: Mapping[str, str], excused: Mapping[tuple[str, str], str] = rules.EXCUSED, begin: str = ""
) -> Flow:
    """The package gone through, from all of its functions or from those whose names begin so."""
    package = Package({path: text for path, text in sources.items() if path.endswith((".py", ".pyi"))})
    flow = Flow(package, loops.kernels(_loops(sources)), excused)
    flow.everything(begin)
    return flow


def found(flow: Flow, sources: Mapping[str, str]) -> list[Finding]:
    """All that is refused: in Python, in the loops in C, and excuses that have no use any more."""
    files = _loops(sources)
    inside = {
        Finding(path, line, name, what, f"a float in a loop that is given private numbers ({place})")
        for name, place in flow.loops.items()
        for path, line, what in loops.floats(files, name)
    }
    unused = {
        Finding(EXCUSES, 0, where, code, f"{where} needs no such excuse any more")
        for where, code in set(flow.excused) - flow.used
    }
    return sorted(flow.findings | inside | unused | _missing(flow.package))


def _missing(package: Package) -> set[Finding]:
    """What the rules name and the package does not have: private numbers would begin or end nowhere."""
    functions = {*rules.STARTS, *rules.GATES, *rules.OPENED} - set(package.functions)
    classes = {*rules.PRIVATE, *rules.SEALED, rules.LOOP} - set(package.classes)
    fields = {name for name in rules.FETCHED if package.field(*name.rsplit(".", 1)) is None}
    own = package.functions
    takes = {name: {one for one, _, _ in parameters(own[name].node.args)} for name in rules.STARTS if name in own}
    unknown = {f"{name}({one})" for name in takes for one in rules.STARTS[name] if one not in takes[name]}
    return {
        Finding(EXCUSES, 0, "", name, "a rule is about what is not there")
        for name in functions | classes | fields | unknown
    }


def _loops(sources: Mapping[str, str]) -> dict[str, dict[str, loops.Loop]]:
    return loops.read({path: text for path, text in sources.items() if path.endswith((".c", ".h"))})


def main() -> None:
    """Say where floats touch private numbers, and fail if they do."""
    sources = texts()
    wrong = found(followed(sources), sources)
    for one in wrong:
        sys.stdout.write(f"{one}\n")
    if wrong:
        sys.exit(f"{len(wrong)} places where a float may touch a private number before noise.")


if __name__ == "__main__":
    main()
