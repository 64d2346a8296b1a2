"""JSON values into the text of a release file, and back, with limits on its size, its nesting and its numbers.

What Python's reader accepts and the format does not have is refused here: a name that occurs twice in an object, NaN
and infinities, and numbers or nesting that would stop the reader itself. Errors say where in the file it is.
"""

import json
import re
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from dawa.errors import ReleaseError
from dawa.limits import MOST_FILE_DEPTH, MOST_NUMERAL_DIGITS, MOST_RELEASE_BYTES
from dawa.numerals import told

RESTORE = "ask its publisher for the file again."
JSON = "pass the path of a release.json."

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_DIGITS = bytes(48 if 48 <= byte <= 57 else 32 for byte in range(256))
"""Digits as zeros, and everything else as space."""
_DEEPER = np.array([{91: 1, 123: 1, 93: -1, 125: -1}.get(byte, 0) for byte in range(256)], np.int8)
"""What each byte adds to the depth, outside strings."""
_OTHERS = bytes(byte for byte in range(256) if byte not in b"[]{}")
COMPACT = (",", ":")
"""What stands between numbers, and after names."""
NUMBERS = {int, float}
_CHUNK = 2**22
USUAL_DIGITS = 4300
"""Digits from which on Python refuses to read a whole number, unless somebody changed that."""


def values(content: bytes, source: str) -> Any:  # noqa: ANN401  JSON
    """The values that a file holds.

    Args:
        content: All bytes of the file.
        source: What to call the file in an error.

    Raises:
        ReleaseError: If it is too large, is not JSON, or goes beyond a limit.
    """
    if len(content) > MOST_RELEASE_BYTES:
        raise ReleaseError(f"{source} has more than {MOST_RELEASE_BYTES:,} bytes.", JSON)
    if not 0 < sys.get_int_max_str_digits() <= USUAL_DIGITS:  # somebody lets Python read numbers of any length
        _check_numbers(content, source)
    _check_depth(content, source)
    try:
        return json.loads(content.decode("utf-8-sig"), object_pairs_hook=_object, parse_constant=_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ReleaseError(f"{source} is not a JSON file: it cannot be read from {where} on.", JSON) from None
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        if isinstance(error, ReleaseError):
            raise ReleaseError(f"{source} is damaged: {error.problem}", error.hint) from None
        _check_numbers(content, source)
        raise ReleaseError(f"{source} is not a JSON file.", JSON) from None


def text(document: Any) -> str:  # noqa: ANN401  JSON
    """JSON for people and programs: a line for every value and for every list of numbers, indented.

    Args:
        document: JSON values, with lists or arrays of numbers.

    >>> print(text({"axes": [], "bounds": [0, 1.5], "lo": np.zeros((2, 2), int)}), end="")
    {
     "axes": [],
     "bounds": [0,1.5],
     "lo": [[0,0],
     [0,0]]
    }
    """
    return "".join(_pieces(document, "\n")) + "\n"


def _pieces(value: Any, line: str) -> Iterator[str]:  # noqa: ANN401  JSON
    """The text of a value; ``line`` is the end of a line, and the blanks that begin the next one."""
    if isinstance(value, np.ndarray):
        rows = json.dumps(value.tolist(), separators=COMPACT)
        yield rows if value.ndim == 1 else rows.replace("],[", f"],{line}[")
        return
    brackets = "{}" if isinstance(value, dict) else "[]"
    if (
        not value
        or not isinstance(value, dict | list)
        or (isinstance(value, list) and NUMBERS.issuperset(map(type, value)))
    ):
        yield json.dumps(value, separators=COMPACT)
        return
    inner, before = f"{line} ", brackets[0]
    for name in value:
        yield f"{before}{inner}"
        if isinstance(value, dict):
            yield f"{json.dumps(name)}: "
        yield from _pieces(value[name] if isinstance(value, dict) else name, inner)
        before = ","
    yield f"{line}{brackets[1]}"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for i, name in enumerate(names) if name in names[:i]) if len(names) < 1000 else names[0]
        raise ReleaseError(f"an object has the field {told(twice)} twice, or others do.", RESTORE)
    return found


def _constant(name: str) -> NoReturn:
    raise ReleaseError(f"it holds {name}, which is not a number.", RESTORE)


def _check_numbers(content: bytes, source: str) -> None:
    """Refuse whole numbers with more digits than any reader needs; strings may have them."""
    long = b"0" * (MOST_NUMERAL_DIGITS + 1)
    if long not in content.translate(_DIGITS):
        return
    outside = _STRING.sub(lambda string: b" " * len(string[0]), content)
    at = outside.translate(_DIGITS).find(long)
    if at >= 0:
        raise ReleaseError(
            f"{source} is damaged: a number {_place(content, at)} has more than {MOST_NUMERAL_DIGITS} digits.", RESTORE
        )


def _check_depth(content: bytes, source: str) -> None:
    """Refuse objects and lists that lie deeper in one another than any field does."""
    if _too_deep(content.translate(None, _OTHERS)) is None:  # quick; brackets in strings count too
        return
    at = _too_deep(_STRING.sub(lambda string: b" " * len(string[0]), content))
    if at is not None:
        raise ReleaseError(
            f"{source} is damaged: {_place(content, at)}, more than {MOST_FILE_DEPTH} objects or lists lie in one"
            " another.",
            RESTORE,
        )


def _too_deep(content: bytes) -> int | None:
    """Where the depth first exceeds the limit, if brackets in strings counted too."""
    depth = 0
    for start in range(0, len(content), _CHUNK):
        steps = _DEEPER[np.frombuffer(content[start : start + _CHUNK], np.uint8)]
        depths = np.cumsum(steps, dtype=np.int32)
        over = np.flatnonzero(depths + depth > MOST_FILE_DEPTH)
        if len(over):
            return start + int(over[0])
        depth += int(depths[-1])
    return None


def _place(content: bytes, at: int) -> str:
    """Where a byte is, for people."""
    line, before = content.count(b"\n", 0, at) + 1, content.rfind(b"\n", 0, at)
    return f"in line {line:,}, column {at - before:,}"
