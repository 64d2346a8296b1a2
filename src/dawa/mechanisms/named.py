"""Mechanisms by name: all of them, what each does and takes, and one with the options that were asked for."""

import textwrap
from dataclasses import is_dataclass, replace
from typing import Any

from dawa.errors import OptionError
from dawa.mechanisms import catalogue as two_stages
from dawa.mechanisms.agrid import Agrid
from dawa.mechanisms.base import Mechanism, Option
from dawa.mechanisms.dawa import Dawa
from dawa.mechanisms.dpcube import Dpcube
from dawa.mechanisms.efpa import Efpa
from dawa.mechanisms.hybrid_tree import HybridTree
from dawa.mechanisms.mwem import Mwem

INDENT, WIDTH = " " * 6, 100

CATALOGUE: dict[str, type[Mechanism]] = {
    kind.name: kind
    for kind in (
        Dawa,
        two_stages.Dawa2014,
        two_stages.Dawa2014All,
        two_stages.GreedyH,
        two_stages.PartitionLaplace,
        two_stages.PartitionUniform,
        two_stages.PartitionGeometric,
        two_stages.Identity,
        two_stages.Privelet,
        two_stages.Hierarchical,
        two_stages.Hb,
        Efpa,
        two_stages.Php,
        two_stages.StructureFirst,
        Mwem,
        two_stages.PrivTree,
        two_stages.Quadtree,
        HybridTree,
        two_stages.Ugrid,
        Agrid,
        Dpcube,
        two_stages.Uniform,
    )
}
"""All mechanisms; a new one is one line here."""


def names(*, with_error_bars: bool = False) -> tuple[str, ...]:
    """Every mechanism, by name; or only those that know the noise of their answers and so can make a release.

    >>> names()[:3]
    ('dawa', 'dawa-2014', 'dawa-2014-all')
    >>> set(names()) - set(names(with_error_bars=True)) == {"agrid", "dpcube", "efpa", "mwem"}
    True
    """
    return tuple(name for name, kind in CATALOGUE.items() if kind.error_bars or not with_error_bars)


def describe(name: str) -> str:
    """What a mechanism does, and its options: their defaults, what they mean, and which values they take.

    >>> [line.strip() for line in describe("efpa").splitlines()[-3:]]
    ['cells = True', 'Whether noise on every cell may be chosen in place of all coefficients.', 'Takes true or false.']
    """
    kind = _find(name)
    lines = [f"{name}: {kind.summary}", "options:"]
    for option in kind.explained():
        lines.append(f"  {option.name} = {option.default!r}")
        for sentence in (option.meaning, f"Takes {option.values}."):
            lines += textwrap.wrap(sentence, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)
    return "\n".join(lines)


def options(name: str) -> list[Option]:
    """The options of a mechanism, one by one.

    >>> [option.name for option in options("efpa")]
    ['share', 'weights', 'cells']
    """
    return _find(name).explained()


def configured(mechanism: str | Mechanism, options: dict[str, Any]) -> Mechanism:
    """A mechanism by name, or one with its own options; ``options`` take the place of these.

    >>> configured("dawa", {"effort": "fast"}) == configured(Dawa(), {"effort": "fast"}) == Dawa(effort="fast")
    True

    Raises:
        OptionError: If there is no such mechanism or option, or an option cannot take this value.
    """
    if isinstance(mechanism, type) and issubclass(mechanism, Mechanism):
        raise OptionError(f"{mechanism.__name__} is a class, not a mechanism.", f"make one: {mechanism.__name__}(…).")
    kind = type(mechanism) if isinstance(mechanism, Mechanism) else _find(mechanism)
    if not is_dataclass(kind):
        raise OptionError(f"The mechanism {kind.name!r} has no options.", "make its class a frozen dataclass.")
    for option in options:
        if option not in kind.options():
            raise OptionError(
                f"The mechanism {kind.name!r} has no option {option!r}.",
                f"its options are {', '.join(kind.options())}.",
            )
    return replace(mechanism, **options) if isinstance(mechanism, Mechanism) else kind(**options)


def _find(name: str) -> type[Mechanism]:
    if not isinstance(name, str) or name not in CATALOGUE:
        raise OptionError(f"There is no mechanism {name!r}.", f"choose one of {', '.join(CATALOGUE)}.")
    return CATALOGUE[name]
