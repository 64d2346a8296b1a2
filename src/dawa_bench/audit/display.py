"""What an audit found, as tables for a screen, a page and a machine."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from textwrap import fill

from rich.table import Column, Table

from dawa.errors import FolderError
from dawa.host import atomic
from dawa.version import __version__
from dawa_bench.audit.finding import Finding
from dawa_bench.audit.parts import PARTS, Seen

HEADINGS = ("", "claimed", "largest loss", "of ε", "how", "where")
CONTROLS = "controls"

HEAD = """# Audits

How much do mechanisms and releases really tell? `dawa audit` looks from outside, in ways that can fail: it uses no
proof, no `loss` and no limit of `dawa`. This page is what it wrote: do not edit it.

A **loss** is `|ln P(output | one) − ln P(output | two)|`, for two tables of which one has one record more. It may never
exceed the ε that is claimed. Where a loss is *exact*, it was computed for an output that can occur, so the true largest
loss is at least that. Where it was *counted*, the true one is at least that with the confidence shown. Neither proves
that no larger one exists: proofs are in the code, beside each step.
"""


@dataclass(frozen=True)
class Line:
    """The worst that was found about one thing.

    Attributes:
        about: The thing.
        worst: What was found, of all that was looked at.
        looked: In how many ways it was looked at.
        wrong: Whether it is a control, which must be caught.
    """

    about: str
    worst: Finding
    looked: int
    wrong: bool

    @property
    def expected(self) -> bool:
        """Whether it is as it should be."""
        return self.worst.wrong == self.wrong

    @property
    def cells(self) -> tuple[str, ...]:
        """What stands under ``HEADINGS``."""
        worst = self.worst
        return (self.about, _number(worst.claimed), _number(worst.loss), _part(worst), _how(self), _where(self))


def lines(found: Iterable[Seen]) -> dict[str, list[Line]]:
    """For each part, a line for each thing."""
    grouped: dict[str, dict[str, list[Seen]]] = {}
    for one in found:
        grouped.setdefault(one.part, {}).setdefault(one.about, []).append(one)
    return {
        part: [Line(about, _worst(every), len(every), every[0].wrong) for about, every in things.items()]
        for part, things in grouped.items()
    }


def _worst(found: Sequence[Seen]) -> Finding:
    """What is wrong, if anything is; else the largest loss as a part of what is claimed."""
    return max((one.finding for one in found), key=lambda each: (each.wrong, each.loss / each.claimed))


def table(part: str, of: Sequence[Line]) -> Table:
    """For a screen."""
    first, *rest = HEADINGS
    columns = [Column(heading, justify="right") if heading not in {"how", "where"} else heading for heading in rest]
    shown = Table(Column(first, overflow="fold"), *columns, title=PARTS[part].title, title_justify="left")
    for line in of:
        shown.add_row(*line.cells, style="" if line.expected else "bold red")
    return shown


def verdict(found: Sequence[Seen]) -> str:
    """One sentence about everything."""
    sound = [one for one in found if not one.wrong]
    caught, controls = sum(one.wrong and one.expected for one in found), sum(one.wrong for one in found)
    bad = [one for one in sound if not one.expected]
    said = [f"{len(sound)} looks, and no loss above what is claimed."] if sound and not bad else []
    if bad:
        first = bad[0].finding
        said.append(
            f"{len(bad)} of {len(sound)} looks found something WRONG; the first: {first.what} loses "
            f"{_number(first.loss)} and claims {_number(first.claimed)}."
        )
    if controls:
        said.append(f"{caught} of {controls} controls were caught.")
    return " ".join(said)


def page(found: Sequence[Seen], command: str, left: int = 0) -> str:
    """Markdown; it says if so many looks were left out because somebody stopped the audit."""
    stopped = f" The audit was stopped: {left} looks were not made." if left else ""
    return "\n".join(
        [HEAD, verdict(found) + stopped, "", *_sections(found), f"Measured with dawa {__version__}: `{command}`.", ""]
    )


def _sections(found: Sequence[Seen]) -> Iterator[str]:
    for part, of in lines(found).items():
        yield f"## {PARTS[part].title}\n\n{fill(PARTS[part].does, 120)}\n"
        headings = ("control" if part == CONTROLS else "what", *HEADINGS[1:])
        yield "| " + " | ".join(headings) + " |"
        yield "| :-- | --: | --: | --: | :-- | :-- |"
        for line in of:
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in line.cells) + " |"
        yield ""


def write(found: Sequence[Seen], command: str, to: Path, left: int = 0) -> None:
    """Write the page."""
    try:
        atomic.write(to, page(found, command, left))
    except OSError as error:
        raise FolderError(f"{to} cannot be written: {error.strerror}.", "name another file with --report.") from None


def plain(found: Sequence[Seen]) -> dict[str, object]:
    """For machines: JSON has no infinity, so an endless loss is null."""
    return {
        "version": __version__,
        "sound": all(one.expected for one in found),
        "found": [
            {
                "part": one.part,
                "about": one.about,
                **{name: _finite(value) for name, value in asdict(one.finding).items()},
                "wrong": one.finding.wrong,
                "control": one.wrong,
            }
            for one in found
        ],
    }


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _number(value: float) -> str:
    return "endless" if math.isinf(value) else f"{value:.4g}"


def _part(finding: Finding) -> str:
    return "-" if math.isinf(finding.loss) else f"{finding.loss / finding.claimed:.3f}"


def _how(line: Line) -> str:
    worst = line.worst
    looks = f", worst of {line.looked}" if line.looked > 1 else ""
    if worst.confidence == 1:
        return f"exact, {worst.runs:,} outputs{looks}"
    return f"counted, {worst.runs:,} runs, {_confidence(worst.confidence)}{looks}"


def _confidence(confidence: float) -> str:
    """A confidence as the chance to be wrong, which is small."""
    return f"wrong once in {round(1 / (1 - confidence)):,}"


def _where(line: Line) -> str:
    """What was looked at, and the event; a fit only where it is wrong."""
    worst = line.worst
    event = f"draws do not fit: chance {worst.fit:.2g}" if worst.fit < 1 - worst.confidence else worst.event
    domain = worst.what.removeprefix(line.about).lstrip(":, ")
    return "; ".join(said for said in (domain, event) if said)
