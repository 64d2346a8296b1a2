"""Reference pages of the Python names: which page has which name is said here, what they mean by their docstrings."""

import sys
from types import ModuleType

import dawa

GROUPS = {
    "Making a release": (
        "release",
        "load",
        "Axis",
        "AxisLike",
        "AxisValue",
        "About",
        "Epsilon",
        "TableLike",
        "sources",
    ),
    "A release and its answers": ("Release", "GroupedRelease", "Answer", "PrivacyStatement", "results"),
    "Experiments": ("estimate", "Estimate", "Counts", "Workload", "workloads", "noise", "partition"),
    "Mechanisms": ("mechanisms", "Mechanism", "MechanismLike"),
    "The ledger": ("ledger", "Ledger", "LedgerLike"),
    "Plans and specs": ("plan", "spec"),
    "Pictures, pages and folders": ("plots", "publish"),
    "Inside OpenDP": ("opendp",),
    "Errors": (
        "errors",
        "DawaError",
        *sorted(name for name in dawa.__all__ if name.endswith(("Error", "Warning")) and name != "DawaError"),
        "__version__",
    ),
}
"""Every public name, in the order in which a reader meets it."""


def pages() -> dict[str, str]:
    """A page for each group, by its place in the site."""
    return {f"reference/python/{slug(title)}.md": page(title, names) for title, names in GROUPS.items()}


def slug(title: str) -> str:
    """A title as the name of a file."""
    return title.lower().replace(" ", "-").replace(",", "")


def page(title: str, names: tuple[str, ...]) -> str:
    """One page, made of directives for mkdocstrings."""
    parts = [f"# {title}\n"]
    parts += [f"::: dawa.{name}\n" for name in names]
    parts += [f"::: dawa.{name}.{inner}\n" for name in names for inner in hidden(name)]
    return "\n".join(parts)


def hidden(name: str) -> list[str]:
    """The names of a public module that do not come with it: its own modules, and what is called like one of them."""
    module = getattr(dawa, name)
    if not isinstance(module, ModuleType):
        return []
    return [
        inner
        for inner in getattr(module, "__all__", ())
        if isinstance(getattr(module, inner), ModuleType) or f"{module.__name__}.{inner}" in sys.modules
    ]
