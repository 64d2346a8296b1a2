"""Names and notes that fit on one line: of a terminal, of an error, of any database."""

import getpass
import os

from dawa.errors import LedgerError

LONGEST = 200
"""Characters in a name."""


def checked(value: object, what: str) -> str:
    """Text that can stand in a line."""
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST or not value.isprintable() or value.strip() != value:
        raise LedgerError(
            f"{what} must be a line of text.",
            f"pass 1 to {LONGEST} printable characters that neither begin nor end with a space.",
        )
    return value


def escaped(text: str) -> str:
    r"""Text that fits on a line of any terminal and in any database.

    >>> print(escaped("a" + chr(10) + "b"))
    a\nb
    """
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape", "backslashreplace").decode()
        for letter in text
    )


def user() -> str:
    """The operating system's user name; containers have users without one."""
    try:
        return escaped(getpass.getuser()) or "unknown"
    except (ImportError, KeyError, OSError):
        return f"user {os.getuid()}" if hasattr(os, "getuid") else "unknown"
