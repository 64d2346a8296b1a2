"""Examples in docstrings as blocks of code: Markdown would take the prompt ``>>>`` for a quotation."""

import re
from typing import Any

from griffe import Extension, Object

EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^(?!\s*$).*\n?)*)", re.MULTILINE)


class Doctests(Extension):
    """What mkdocstrings asks while it reads the code."""

    def on_object(self, *, obj: Object, **_: Any) -> None:  # noqa: ANN401  griffe calls it so
        """Put a fence around each example of a docstring."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """A docstring with a fence around each of its examples."""
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text)
