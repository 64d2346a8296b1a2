"""What is fuzzed: where input from outside comes in, and what is done with it once it is let in.

A target makes an input from a random generator, and takes it. Taking it may fail with an error of dawa's; anything else
that is raised is a finding. So is an error that is as long as the input, or one that was caught only by the last net of
the loader, because such an error does not say what is wrong.
"""

import json
import pickle
import random
from collections.abc import Callable
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any, Protocol

from dawa.axis import Axis
from dawa.axis.written import middle, written
from dawa.errors import DawaError
from dawa.publish import page, readme, tables
from dawa.results.grouped import AnyRelease, GroupedRelease, single
from dawa.results.loading import loaded
from dawa.results.overview import overview
from dawa.results.release import Release
from dawa.spec import model, ranges, toml
from dawa.spec.model import Spec
from dawa_bench.faults import mutation, packing, releases
from dawa_bench.faults.clients import Http
from dawa_bench.faults.finding import FindingError, refused, used

MANY = 100
"""More groups than these are asked one question of those that every group has a part in."""


class Target(Protocol):
    """Somewhere that input comes in."""

    def made(self, rng: random.Random) -> bytes:
        """An input."""
        ...

    def take(self, content: bytes, rng: random.Random) -> str:
        """Take the input and use what came of it; returns what happened, in a word."""
        ...


class Loader:
    """Release files."""

    def __init__(self, valid: Callable[[Any], bool] | None = None) -> None:
        self.seeds = releases.seeds()
        self.valid = valid

    def made(self, rng: random.Random) -> bytes:
        """A release with fields, or bytes, changed."""
        seed = rng.choice(self.seeds)
        kind = rng.random()
        if kind < 0.15:
            return mutation.raw(seed.encode(), rng)
        document = json.loads(seed)
        if kind < 0.5:
            releases.hostile(document, rng)
        if kind < 0.2 or kind > 0.45:
            mutation.document(document, rng)
        text = mutation.dumped(document)
        return (mutation.doubled(text, rng) if kind > 0.97 else text).encode("utf-8", "surrogatepass")

    def take(self, content: bytes, rng: random.Random) -> str:
        """Load it, ask it, and write it again."""
        try:
            release = loaded(content)
        except DawaError as error:
            return refused(error)
        if self.valid is not None and not self.valid(json.loads(content)):
            raise FindingError("the loader accepts what the schema refuses")
        _asked(release, rng)
        return "accepted"


class Archives(Loader):
    """Compact release files."""

    def made(self, rng: random.Random) -> bytes:
        """A release with fields, members or bytes changed."""
        document = json.loads(rng.choice(self.seeds))
        kind = rng.random()
        if kind < 0.4:
            releases.hostile(document, rng)
        content = packing.packed(document)
        if 0.3 < kind < 0.8:
            content = packing.changed(content, rng)
        return mutation.raw(content, rng) if kind > 0.75 else content

    def take(self, content: bytes, rng: random.Random) -> str:
        """Load it, ask it, and write it again in both forms."""
        try:
            release = loaded(content)
        except DawaError as error:
            return refused(error)
        if self.valid is not None and not self.valid(release.to_json()):
            raise FindingError("the loader accepts what the schema refuses")
        if rng.random() < 0.2:
            again = loaded(bytes(release.saved("x.npz")))  # type: ignore[arg-type]
            if again.to_json() != release.to_json():
                raise FindingError("it is read back as something else")
            return "accepted"
        _asked(release, rng)
        return "accepted"


def _asked(release: AnyRelease, rng: random.Random) -> None:
    """Ask a release whatever its readers ask."""
    repr(release)
    str(release.privacy)
    if rng.random() < 0.2 and not _many(release):
        again = loaded(json.dumps(release.to_json(), allow_nan=False).encode())
        if again.to_json() != release.to_json():
            raise FindingError("it is read back as something else")
    if isinstance(release, GroupedRelease):
        _asked_groups(release, rng)
        release = rng.choice(list(release.values()))
    _asked_one(release, rng)


def _asked_groups(release: GroupedRelease, rng: random.Random) -> None:
    """Ask all groups of a release together."""
    lo, hi = (tuple(ends) for ends in middle(release.axes))
    group = rng.choice(release.groups)
    questions: list[Callable[[], object]] = [
        lambda: release.answer(lo, hi),
        lambda: release.total,
        release.apart,
        lambda: release.share(group, lo, hi),
    ]
    for question in [rng.choice(questions)] if _many(release) else questions:
        used(question)
    if rng.random() < 0.1 and not _many(release):
        used(lambda: release.sample(5, seed=1))
        used(lambda: release.answers_by_group(lo, hi))


def _many(release: AnyRelease) -> bool:
    """Whether it is as many releases as take seconds together, each of which may take a moment."""
    return isinstance(release, GroupedRelease) and len(release.groups) > MANY


def _asked_one(release: Release, rng: random.Random) -> None:
    """Ask a release without groups, or one group of a release."""
    lo, hi = (tuple(ends) for ends in middle(release.axes))
    rows = []
    for axis in release.axes:
        borders = sorted(rng.sample(range(axis.size + 1), 2))
        rows.append(tuple(end[0] for end in written(axis, borders[:1], borders[1:])))
    lows, highs = ([tuple(row[end] for row in rows), one] for end, one in ((0, lo), (1, hi)))
    used(lambda: release.answers(lows, highs))
    used(lambda: overview(release))
    few = rng.random()
    if len(release.axes) == 1:
        used(lambda: release.quantile(rng.random()))
    if few < 0.1:
        used(lambda: release.sample(5, seed=1))
        used(release.variances)
    if few > 0.98:
        used(lambda: readme.readme(release, ("release.json",)))
    if few > 0.99:
        used(lambda: page.html(release))
        if len(release.axes) == 1:
            used(lambda: tables.write(tables.buckets(release), StringIO()))


SPEC = """
[about]
title = "People"
description = '''
One line,
and another.'''
data_from = 2013-01-01
data_to = "2013-12-31"
released = "today"
licence = "CC0"

[source]
file = "people.csv"
where = "age >= 18"
missing = ["NA"]

[[axes]]
column = "age"
start = 0
stop = 120
step = 1
outside = "own"

[[axes]]
column = "when"
start = 2013-01-01
stop = "2014-01-01"
step = "1 day"
zone = "Europe/Berlin"

[privacy]
epsilon = 0.5
unit = ["who"]
max_rows_per_unit = 3

[release]
mechanism = "dawa"
out = "out"

[release.options]
effort = "fast"
levels = [1, 2.5]
"""
OTHERS = (
    """
[source]
url = "postgresql://u:${PW}@h/db"
table = "t"
[[axes]]
column = "x"
edges = [0, 0.5, "1/3"]
[privacy]
epsilon = "1/3"
ledger = "l.db"
dataset = "d"
""",
    """
[source]
file = "-"
delimiter = ";"
[[axes]]
column = "g"
values = ["A", "B"]
[[axes]]
column = "y"
range = "auto"
share = 0.05
step = 100
[privacy]
epsilon = 1e-1
unit = "who"
max_rows_per_unit = "95%"
[release]
seed = 7
""",
    """out = "both"
[source]
file = "people.csv"
where = "x > 0"
[privacy]
epsilon = 1
[[release]]
name = "ages"
share = "1/3"
where = "y = 'A'"
[[release.axes]]
column = "age"
start = 0
stop = 120
[[release]]
name = "grades"
mechanism = "identity"
[release.about]
title = "Grades"
[[release.axes]]
column = "g"
values = ["A", "B"]
""",
)
LINES = tuple(line for spec in (SPEC, *OTHERS) for line in spec.splitlines() if "=" in line)


class Specs:
    """Specs of releases in TOML."""

    def made(self, rng: random.Random) -> bytes:
        """A spec with values, lines or bytes changed."""
        lines = rng.choice((SPEC, *OTHERS)).splitlines()
        for _ in range(rng.choice((1, 1, 2, 3))):
            at = rng.randrange(len(lines))
            key, given, _ = lines[at].partition("=")
            kind = rng.randrange(6)
            if kind < 3 and given:
                lines[at] = f"{key}= {_toml(mutation.nasty(rng), rng)}"
            elif kind == 3:
                lines[at] = rng.choice(LINES)
            elif kind == 4:
                heads = ("[release.options]", "[[axes]]", "[about]", "a" + ".a" * 300 + " = 1")
                lines.insert(at, rng.choice((*LINES, *heads)))
            else:
                del lines[at]
            lines = lines or [""]
        content = "\n".join(lines).encode("utf-8", "surrogatepass")
        return mutation.raw(content, rng) if rng.random() < 0.2 else content

    def take(self, content: bytes, rng: random.Random) -> str:
        """Read it, make its axes, and write it again."""
        del rng
        try:
            found = toml.parsed(toml.decoded(content, Path("spec.toml")))
            specs = [found] if isinstance(found, Spec) else list(found.specs.values())
            for axis in (axis for spec in specs for axis in spec.axes):
                used(axis.axis)
            again = [toml.parsed(toml.written(spec, Path())) for spec in specs]
        except DawaError as error:
            return refused(error)
        for spec, read in zip(specs, again, strict=True):
            if not isinstance(read, Spec) or toml.written(read, Path()) != toml.written(spec, Path()):
                raise FindingError("it is read back as something else")
        return "accepted"


def _toml(value: Any, rng: random.Random) -> str:  # noqa: ANN401  anything
    """A value as TOML, in quotes or without."""
    if isinstance(value, str):
        return value if rng.random() < 0.5 else json.dumps(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{ a = 1 }"
    return repr(value)


AXES = (
    (Axis("age", 0, 120),),
    (Axis("x", "-1/3", "5/3", "1/9"),),
    (Axis("far", -(10**200), 10**200, 10**190),),
    (Axis.dates("when", "2013-01-01", "2014-01-01", "1h", "Europe/Berlin"),),
    (Axis.dates("when", "2013-01-01", "2014-01-01", "1 month"),),
    (Axis.ordered("grade", ["A", "B", "C", "10"]),),
    (Axis.ordered("level", [1, 2, 3]),),
    (Axis.edges("pay", [0, "0.1", 10, 1000]),),
    (Axis("lon", -180, 180), Axis("lat", -90, 90)),
)
RANGES = ("20:60", "0..120", "-74.1:-73.9,40.6:40.8", "2013-01-01 08:00..2013-02-01", "A:C", "1:3", "0.1:10", "1/3..1")


class Ranges:
    """Ranges as people type them."""

    def __init__(self) -> None:
        self.release = single(loaded(releases.seeds()[0].encode()))

    def made(self, rng: random.Random) -> bytes:
        """A range with a part changed."""
        if rng.random() < 0.4:
            ends = [str(mutation.nasty(rng))[:6000] for _ in range(2)]
            return rng.choice((":", "..", ",", ":,:")).join(ends).encode("utf-8", "surrogatepass")
        text = rng.choice((*RANGES, f"{rng.randrange(30)}:{rng.uniform(30, 60)}"))
        for _ in range(rng.choice((0, 1, 1, 2))):
            text = mutation.text(text, rng)
        return text.encode("utf-8", "surrogatepass")

    def take(self, content: bytes, rng: random.Random) -> str:
        """Read it for an axis, and ask a release."""
        text = content.decode("utf-8", "surrogatepass")
        axes = rng.choice(AXES)
        try:
            if rng.random() < 0.5:
                ranges.spans(ranges.typed(text, axes), axes)
            found = ranges.typed(text, self.release.axes)
            ranges.answered(self.release, [found], rng.choice((0.95, 0.5, 0.999)))
        except DawaError as error:
            return refused(error)
        return "accepted"


class Axes:
    """Axes from Python, from specs, from files and from flags."""

    def made(self, rng: random.Random) -> bytes:
        """The name of a way to make an axis, and its arguments."""
        way = rng.choice(("numbers", "edges", "dates", "ordered", "auto", "spec", "file"))
        usual: dict[str, list[Any]] = {
            "numbers": [
                "x",
                rng.choice((0, "0", "-1/3")),
                rng.choice((120, "1e3", "2/3")),
                rng.choice((1, "0.5", "1/9")),
            ],
            "edges": ["x", [0, "0.5", 1, 10**6]],
            "dates": [
                "t",
                "2013-01-01",
                "2014-01-01",
                rng.choice(("1 day", "1h", "1 month")),
                rng.choice((None, "UTC")),
            ],
            "ordered": ["g", ["A", "B"]],
            "auto": ["x", rng.choice((1, "0.5", "1 day")), None, "0.05"],
            "spec": [{"column": "x", "start": "0", "stop": "120", "step": "1", "outside": "own"}],
            "file": [rng.choice(AXES)[0].to_json()],
        }
        arguments = usual[way]
        for _ in range(rng.choice((1, 1, 2))):
            at = rng.randrange(len(arguments))
            if isinstance(arguments[at], (list, dict)) and rng.random() < 0.7:
                mutation.document(arguments[at], rng)
            elif isinstance(arguments[at], str) and rng.random() < 0.4:
                arguments[at] = mutation.text(arguments[at], rng)
            else:
                arguments[at] = mutation.nasty(rng, python=way not in {"spec", "file"})
        return pickle.dumps((way, arguments))

    def take(self, content: bytes, rng: random.Random) -> str:
        """Make the axis, and use it."""
        way, arguments = pickle.loads(content)  # noqa: S301  made above
        try:
            axis = _axis(way, arguments)
        except DawaError as error:
            return refused(error)
        if isinstance(axis, Axis):
            _walked_along(axis, rng)
        return "accepted"


def _axis(way: str, arguments: list[Any]) -> Any:  # noqa: ANN401  an axis of any kind
    if way == "numbers":
        return Axis(*arguments)
    if way == "spec":  # as flags give it: text, or several texts
        entries = arguments[0] if isinstance(arguments[0], dict) else {}
        given: dict[str, Any] = {
            key: tuple(map(str, one)) if isinstance(one, list) else str(one) for key, one in entries.items()
        }
        known = {key: one for key, one in given.items() if key in model.AxisSpec.__dataclass_fields__}
        return model.AxisSpec(**{"column": "x", **known}).axis()
    if way == "file":
        return Axis.from_json(arguments[0])
    return getattr(Axis, way)(*arguments)


def _walked_along(axis: Axis, rng: random.Random) -> None:
    """Use an axis as a release does."""
    size = axis.size
    borders = [0, size // 2, size]
    if len(axis.value(borders)) != 3:
        raise FindingError("borders are missing")
    axis.value_in(size - 1, Fraction(1, 2))
    axis.describe()
    used(lambda: axis.span(mutation.nasty(rng, python=True), mutation.nasty(rng, python=True)))
    middle([axis])
    again = Axis.from_json(json.loads(json.dumps(axis.to_json(), allow_nan=False)))
    if again != axis:
        raise FindingError("it is read back as something else")


TARGETS: dict[str, Callable[[], Target]] = {
    "loader": Loader,
    "archives": Archives,
    "spec": Specs,
    "ranges": Ranges,
    "axes": Axes,
    "http": Http,
}
"""What can be fuzzed, by name."""
