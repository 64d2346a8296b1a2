"""The one family of errors that dawa raises on bad input.

Every message says what was wrong, what was expected and, after ``Hint:``, what to do next. Input is checked
before any budget is spent and before any count is read by a mechanism.
"""

import sys


class DawaError(Exception):
    """Base of all errors that dawa raises on purpose."""

    def __init__(self, problem: str, hint: str) -> None:
        super().__init__(f"{problem}\nHint: {hint}")
        self.problem = problem
        self.hint = hint

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        """Keep both parts when the error is pickled, as on the way to another process."""
        return type(self), (self.problem, self.hint)


class BudgetError(DawaError, ValueError):
    """An epsilon, or a share of it, that cannot be spent."""


class ExhaustedError(BudgetError):
    """More epsilon than a dataset's cap leaves."""


class LedgerError(DawaError):
    """A ledger that cannot be opened, trusted or written, or an account that it does not hold."""


class TakenBackError(LedgerError):
    """A reservation that a person took back: nothing may be released on it."""


class InstallationError(DawaError, ImportError):
    """A part of dawa that is missing, or made for another kind of machine."""


class InvariantError(DawaError):
    """Something that was proven does not hold: a defect of dawa, noticed before anything was released."""

    def __init__(self, problem: str, hint: str = "this is a defect of dawa and not yours: please report it.") -> None:
        super().__init__(problem, hint)


class CountsError(DawaError, ValueError):
    """Counts that are not non-negative whole numbers of a supported size."""


class WorkloadError(DawaError, ValueError):
    """Queries that do not fit the domain."""


class OptionError(DawaError, ValueError):
    """A mechanism, or an option of one, that does not exist or cannot take this value."""


class AxisError(DawaError, ValueError):
    """An axis without public bounds, or one that does not fit its data."""


class SourceError(DawaError, ValueError):
    """A table that cannot be found, opened or read."""


class AbsentError(SourceError):
    """A table that is not here, or whose server does not answer: perhaps another machine has it."""


class ConditionError(DawaError, ValueError):
    """A condition on records that cannot be read, or that does not fit its columns."""


class ReleaseError(DawaError, ValueError):
    """A release file that is broken, or newer than this library."""


class SpecError(DawaError, ValueError):
    """A description of a release that is incomplete, or contains something that is not read."""


class FolderError(DawaError):
    """An output folder that cannot be written, or that would replace an earlier release."""


class PublicNote(str):
    r"""A note on an exception, made from public state alone: it may be shown where nothing else may.

    It has the form of an error: a problem and, after ``Hint:``, what to do next if there is something to do.

    >>> PublicNote("It was paid for.\nHint: try again.").after("It broke.", "call us.")
    ('It broke. It was paid for.', 'call us; try again.')
    """

    __slots__ = ()

    def after(self, problem: str, hint: str) -> tuple[str, str]:
        """The problem and the hint of an error, each followed by that of the note."""
        more, _, then = self.partition("\nHint: ")
        return f"{problem} {more}", f"{hint.removesuffix('.')}; {then}" if then else hint


class UnbookedWarning(UserWarning):
    """A release was made and paid for, but the ledger could not record it, or it could not be saved."""


class LargeEpsilonWarning(UserWarning):
    """A budget that is so large that it promises little to anybody."""


def printable(text: str) -> str:
    r"""One line that moves no terminal's cursor and fits into any file: names may hold anything.

    >>> print(printable("a" + chr(10) + "b é"))
    a\nb é
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def outside() -> int:
    """How far up the stack the code lies that called dawa: the ``stacklevel`` of a warning that our caller raises."""
    frame, level = sys._getframe(1), 1  # noqa: SLF001  inspect.stack reads files
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in {"dawa", "contextlib"}:
        frame, level = frame.f_back, level + 1
    return level
