"""How compiled loops are found and called.

The loops are written in C, in the folder ``c``. A wheel holds them compiled, so nobody who installs one needs a
compiler, and nothing is compiled when dawa runs. In a checkout they are compiled anew whenever a source has changed.

Every kernel says in the library itself what it takes (``KERNEL`` in ``c/kernels.h``), and each call is held to that:
numbers have to fit, arrays must have the right type and lie in one piece, and what is written to must be writable. A
kernel allocates nothing and decides nothing about Python: the functions beside this module make its arrays.

On x86-64 every kernel is there twice: for any processor, and for those with registers of 32 bytes.
"""

import ctypes
import operator
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dawa.errors import InstallationError, InvariantError

HERE = Path(__file__).parent
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
LIBRARY = HERE / f"_kernels{SUFFIX}"
"""Where the compiled loops are. They are called by address, so they do not depend on a version of Python."""

COMPILE = HERE / "c" / "compile.py"
"""What compiles them; only a checkout has it."""


def _whole(number: Any) -> int:
    """A whole number of 64 bits."""
    whole = operator.index(number)
    if not -(2**63) <= whole < 2**63:
        raise InvariantError("A compiled loop was given a whole number of more than 64 bits.")
    return whole


NUMBERS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "i64": (ctypes.c_int64, _whole),
    "f64": (ctypes.c_double, float),
    "void": (None, float),
}
ARRAYS: dict[str, np.dtype[Any]] = {
    "i64": np.dtype(np.int64),
    "u64": np.dtype(np.uint64),
    "i32": np.dtype(np.int32),
    "u32": np.dtype(np.uint32),
    "u16": np.dtype(np.uint16),
    "u8": np.dtype(np.uint8),
    "f64": np.dtype(np.float64),
    "f32": np.dtype(np.float32),
}
C_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
LAYOUT = C_CONTIGUOUS | ALIGNED
"""What NumPy says of an array that lies in one piece, as bits."""

DECLARED = re.compile(r"(const )?(\w+) (\*?)(?:restrict )?\w+")

_LOADING = threading.Lock()


class Kernel:
    """A compiled function, opened when it is first called.

    Attributes:
        name: What it is called in C.
        wide: Whether the form for wide registers is called; None asks the machine.
    """

    __slots__ = ("_function", "_takes", "name", "wide")

    def __init__(self, name: str, *, wide: bool | None = None) -> None:
        self.name = name
        self.wide = wide
        self._function: Any = None
        self._takes: list[Callable[[Any], Any]] = []

    def __call__(self, *arguments: Any) -> Any:
        """Call it. The arrays stay with the caller, who must not change them from another thread meanwhile."""
        if self._function is None:
            self._open()
        if len(arguments) != len(self._takes):
            raise InvariantError(f"{self.name} takes {len(self._takes)} arguments and was given {len(arguments)}.")
        return self._function(*[take(given) for take, given in zip(self._takes, arguments, strict=True)])

    def _open(self) -> None:
        loaded = library()
        form = "_wide" if (has_wide_registers() if self.wide is None else self.wide) else ""
        declared = _text(loaded, f"{self.name}_takes{form}")
        result, _, rest = declared.partition(" ")
        arguments = rest[rest.index("(") + 1 : -1]
        takes, types = [], []
        for argument in arguments.split(",") if arguments != "void" else []:
            const, name, pointer = DECLARED.fullmatch(argument.strip()).groups()  # type: ignore[union-attr]
            types.append(ctypes.c_void_p if pointer else NUMBERS[name][0])
            takes.append(_array(ARRAYS[name], written=not const) if pointer else NUMBERS[name][1])
        function = getattr(loaded, f"{self.name}{form}")
        function.argtypes, function.restype = types, NUMBERS[result][0]
        self._takes, self._function = takes, function


def _array(kind: np.dtype[Any], *, written: bool) -> Callable[[Any], Any]:
    """What turns an array into its address, if it is one of this kind."""
    needed = LAYOUT | WRITEABLE if written else LAYOUT

    def address(array: Any) -> Any:
        layout = array.flags.num
        if (array.dtype is not kind and array.dtype != kind) or layout & needed != needed:
            raise InvariantError(
                f"A compiled loop was given an array that does not suit it: {array.dtype}, not {kind}."
            )
        if layout & WRITEABLE and array.size:  # several times as fast, but not for frozen arrays
            return ctypes.addressof(ctypes.c_char.from_buffer(array))
        return array.__array_interface__["data"][0]

    return address


@cache
def library() -> ctypes.CDLL:
    """The compiled loops, compiled anew if this is a checkout whose sources have changed."""
    with _LOADING:
        if COMPILE.exists() and not _current():
            _compile()
        try:
            return ctypes.CDLL(str(LIBRARY))
        except OSError:
            raise InstallationError(
                f"The compiled part of dawa, {LIBRARY.name}, is missing or made for another kind of machine.",
                "install dawa from a wheel for this machine, or from its sources: pip install .",
            ) from None


@cache
def has_wide_registers() -> bool:
    """Whether this machine's processor can run the kernels that were compiled for wide registers."""
    return bool(Kernel("machine_is_wide", wide=False)())


def _current() -> bool:
    """Whether the library is as new as the sources that are here."""
    sources = (path for path in COMPILE.parent.iterdir() if path.is_file())
    return LIBRARY.exists() and LIBRARY.stat().st_mtime > max(path.stat().st_mtime for path in sources)


def _compile() -> None:
    sys.stderr.write("Compiling dawa's loops (once for every change of their sources)\n")
    done = subprocess.run(  # noqa: S603  our own script
        [sys.executable, str(COMPILE), str(LIBRARY)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise InstallationError(
            f"dawa's loops could not be compiled: {done.stderr.strip().splitlines()[-1]}",
            f"pip install ziglang, which holds a compiler; python {COMPILE} {LIBRARY} shows all that it says.",
        )


def _text(loaded: ctypes.CDLL, name: str) -> str:
    """A text that the library holds."""
    try:
        return ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(loaded, name))).decode()
    except ValueError:
        raise InvariantError(f"The compiled part of dawa has no {name}.") from None
