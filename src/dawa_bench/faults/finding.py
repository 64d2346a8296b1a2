"""What a fuzzer calls a finding, and what it calls a refusal."""

from collections.abc import Callable

from dawa.errors import DawaError, InvariantError

LONGEST_MESSAGE = 2000
"""Characters of an error, whatever the input."""


class FindingError(Exception):
    """Something that must not happen, noticed by the fuzzer itself."""


def refused(error: DawaError) -> str:
    """The name of a refusal, if it is one that a person can work with."""
    if isinstance(error, InvariantError):
        raise FindingError(f"a defect was reported: {error}") from error
    if len(str(error)) > LONGEST_MESSAGE:
        raise FindingError(f"the error has {len(str(error)):,} characters") from error
    if "memory" in error.problem:
        raise FindingError(f"it ran out of memory: {error}") from error
    if error.__cause__ is not None and not isinstance(error.__cause__, DawaError):
        raise FindingError(f"only the last net caught it: {error.__cause__!r}") from error
    return type(error).__name__


def used(use: Callable[[], object]) -> None:
    """Use something; it may be refused."""
    try:
        use()
    except DawaError as error:
        refused(error)
