"""Every mechanism with its options, their defaults and what values they take, as the mechanisms say it."""

import inspect

from docs.building.commands import escaped

from dawa import mechanisms

HEAD = """# Mechanisms and their options

What `dawa mechanisms NAME` and `dawa.mechanisms.describe` say, for all of them, made from the code.
[Which mechanism?](../mechanisms.md) says when to use which.
"""

HEADER = ("| option | default | meaning | takes |", "|---|---|---|---|")


def page() -> str:
    """The page."""
    return "\n".join([HEAD, *(section(name) for name in mechanisms.names())])


def section(name: str) -> str:
    """One mechanism."""
    found = mechanisms.configured(name, {})
    about = inspect.cleandoc(type(found).__doc__ or "").partition("\nAttributes:")[0].strip()
    rows = [
        f"| `{option.name}` | `{option.default!r}` | {escaped(option.meaning)} | {escaped(option.values)} |"
        for option in mechanisms.options(name)
    ]
    return "\n".join(
        [
            f"## `{name}`\n",
            f"{about}\n",
            f"In Python: `dawa.mechanisms.{type(found).__name__}`.\n",
            *([*HEADER, *rows, ""] if rows else ["No options.\n"]),
        ]
    )
