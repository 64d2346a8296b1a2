"""Compile the kernels: ``python compile.py LIBRARY [TARGET]``. It needs nothing but Python and a C compiler.

The compiler is Zig's, which is a package like any other (``ziglang``), so that a machine without a compiler can build
dawa, and every machine builds it alike; where it is not installed, the system's ``cc`` serves.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
FLAGS = [
    "-std=c11",
    "-O3",
    "-shared",
    "-fPIC",
    "-fvisibility=hidden",
    "-s",
    "-fwrapv",  # whole numbers wrap around, as those of NumPy do
    "-ffp-contract=off",  # no product is fused with a sum, but where a kernel says REORDER
    "-fno-math-errno",
    "-fno-sanitize=undefined",
    "-Wall",
    "-Wextra",
    "-Wno-unknown-pragmas",
    "-Wno-unused-parameter",
    "-Werror",
]


def sources() -> list[Path]:
    """All that is compiled, in a fixed order."""
    return sorted(HERE.glob("*.c"))


def name(target: str | None = None) -> str:
    """What the library is called on this kind of machine, or on another one."""
    kind = target or {"win32": "windows", "darwin": "macos"}.get(sys.platform, "linux")
    return "_kernels" + (".dll" if "windows" in kind else ".dylib" if "macos" in kind else ".so")


def compiler() -> list[str]:
    """The command of a C compiler. Zig's is told not to use what only this machine's processor can do.

    Raises:
        FileNotFoundError: There is none.
    """
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc", "-mcpu=baseline"]
    for found in filter(None, map(shutil.which, ("cc", "clang", "gcc"))):
        return [found]
    raise FileNotFoundError("No C compiler was found. Hint: pip install ziglang, which holds one.")


def build(library: Path, target: str | None = None) -> None:
    """Make the library, whole or not at all."""
    command = [*compiler(), *FLAGS, *(["-target", target] if target else [])]
    with tempfile.TemporaryDirectory(dir=library.parent, prefix=".kernels-") as folder:
        made = Path(folder) / library.name
        done = subprocess.run(  # noqa: S603  a compiler and our own sources
            [*command, "-o", str(made), *map(str, sources()), "-lm"], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"The kernels could not be compiled.\n{done.stderr}")
        os.replace(made, library)  # noqa: PTH105  atomic, and over an older one


if __name__ == "__main__":
    build(Path(sys.argv[1]), *sys.argv[2:3])
