"""Whether something else would do better than what was asked for, on the same data and by more than chance."""

from dataclasses import dataclass, replace
from math import log, prod, sqrt
from typing import Any

import numpy as np

from dawa import mechanisms, progress
from dawa.errors import DawaError
from dawa.plan.prediction import Run, Setting, hasty
from dawa.plan.trial import Trial

OTHERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("dawa", {}),
    ("dawa", {"partition": "none"}),
    ("privtree", {}),
)
"""What is tried beside the mechanism that was chosen."""
CELLS_ALONE, CELLS_ALONE_ON_MAPS = 2**15, 2**12
"""Up to so many cells, measuring every cell is tried."""
LEAST_GAIN = 0.95
"""Gains below a twentieth are not worth a sentence."""
ERRORS = 5
"""Standard errors by which a gain must exceed chance: of five paired runs, chance alone exceeds so many once in 250."""
NARROWER = 0.8
"""Intervals of at most this part of the length are called narrower."""


@dataclass(frozen=True)
class Advice:
    """Something that would do better.

    Attributes:
        mechanism: What to pass as ``mechanism``.
        options: And what besides.
        kinds: On which kinds of data.
        errors: Its mean absolute error there, as parts of the chosen one's.
        intervals: The length of its intervals on all kinds, as a part of the chosen one's; None if that is no shorter.
    """

    mechanism: str
    options: dict[str, Any]
    kinds: tuple[str, ...]
    errors: tuple[float, ...]
    intervals: float | None

    def __str__(self) -> str:
        """A sentence, for people."""
        options = "".join(f" --option {name}={value}" for name, value in self.options.items())
        name = f"--mechanism {self.mechanism}{options}"
        parts = []
        if self.kinds:
            gains = ", ".join(
                f"{gain:.2f} on {kind if ' ' in kind else kind + ' data'}"
                for kind, gain in zip(self.kinds, self.errors, strict=True)
            )
            parts.append(f"{name} would have a smaller error: {gains} of it.")
        if self.intervals is not None:
            which = "it would have" if parts else f"{name} would have"
            parts.append(f"{which[0].upper()}{which[1:]} narrower intervals: {self.intervals:.2f} of their length.")
        return " ".join(parts)


def advised(trial: Trial, setting: Setting, chosen: dict[str, list[Run]]) -> tuple[Advice, ...]:
    """What would do better than a mechanism with these runs, which had the same data and the same queries."""
    found = []
    for name, options in OTHERS:
        if _same(setting, name, options) or ("partition" in options and not _few(setting.shape)):
            continue
        progress.reached(f"Comparing with {name}")
        other = replace(setting, mechanism=name, options=hasty(name, dict(options)))
        try:
            with progress.heard(None):
                runs = trial.runs(other)
        except DawaError:  # it does not take this domain
            continue
        one = _compared(name, options, chosen, runs)
        if one.kinds or one.intervals is not None:
            found.append(one)
    return tuple(found)


def _compared(name: str, options: dict[str, Any], chosen: dict[str, list[Run]], others: dict[str, list[Run]]) -> Advice:
    """Where it does better, run by run."""
    better = {}
    for kind, runs in chosen.items():
        if len(runs) < 3:  # too few to tell a gain from chance
            continue
        ratios = [log(max(b.mean, 1e-9) / max(a.mean, 1e-9)) for a, b in zip(runs, others[kind], strict=True)]
        mean, error = float(np.mean(ratios)), float(np.std(ratios, ddof=1)) / sqrt(len(ratios))
        if mean < log(LEAST_GAIN) and mean < -ERRORS * error:
            better[kind] = float(np.exp(mean))
    lengths = [
        sum(run.interval for run in others[kind]) / max(sum(run.interval for run in runs), 1e-9)
        for kind, runs in chosen.items()
    ]
    widest = max(lengths)
    return Advice(
        name, options, tuple(better), tuple(better.values()), widest if widest <= NARROWER else None
    )  # a comparison with NaN is false


def _few(shape: tuple[int, ...]) -> bool:
    return prod(shape) <= (CELLS_ALONE if len(shape) == 1 else CELLS_ALONE_ON_MAPS)


def _same(setting: Setting, name: str, options: dict[str, Any]) -> bool:
    """Whether this is what was chosen, whatever its effort."""

    def plain(given: dict[str, Any]) -> dict[str, str]:
        return {option: repr(value) for option, value in given.items() if option != "effort"}  # arrays do not compare

    if setting.mechanism != name:
        return False
    mine = mechanisms.configured(setting.mechanism, setting.options)
    if isinstance(mine, mechanisms.Dawa):
        return plain(mine.at(setting.shape).changed()) == plain(options)
    return plain(mine.changed()) == plain(options)
