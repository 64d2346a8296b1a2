"""Compile the kernels: ``python compile.py LIBRARY [TARGET]``. It needs nothing but Python and a C compiler.

The compiler is Zig's, which is a package like any other (``ziglang``), so that a machine without a compiler can build
dawa, and every machine builds it alike; where it is not installed, the system's ``cc`` serves.
"""

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

HERE = Path(__file__).parent
FLAGS = [
    "-std=c11",
    "-O3",
    "-fPIC",
    "-fvisibility=hidden",
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
    """The command of a C compiler.

    Raises:
        FileNotFoundError: There is none.
    """
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc"]
    for found in filter(None, map(shutil.which, ("cc", "clang", "gcc"))):
        return [found]
    raise FileNotFoundError("No C compiler was found. Hint: pip install ziglang, which holds one.")


def processors(command: list[str], target: str | None = None) -> dict[str, list[str]]:
    """What is compiled for each kind of processor: any one, and those with wide registers, which x86-64 may lack."""
    zig = "ziglang" in command
    any_one = {"any": ["-mcpu=baseline"] if zig else []}
    if (target or platform.machine().lower().replace("amd64", "x86_64")).startswith("x86_64"):
        return {**any_one, "wide": ["-DWIDE", "-mcpu=x86_64_v3" if zig else "-march=x86-64-v3"]}
    return any_one


def build(library: Path, target: str | None = None) -> None:
    """Make the library, whole or not at all."""
    command = [*compiler(), *(["-target", target] if target else [])]
    with tempfile.TemporaryDirectory(dir=library.parent, prefix=".kernels-") as name:
        folder = Path(name)
        environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(cache(folder))}
        objects: list[str] = []
        commands = []
        for kind, flags in processors(command, target).items():
            for source in sources():
                objects.append(f"{source.stem}-{kind}.o")
                commands.append([*command, *FLAGS, *flags, "-c", str(source), "-o", objects[-1]])
        with ThreadPoolExecutor(os.cpu_count()) as together:
            list(together.map(partial(run, folder=folder, environment=environment), commands))
        made = folder / library.name
        run([*command, "-shared", "-s", "-o", str(made), *objects, "-lm"], folder, environment)
        os.replace(made, library)  # noqa: PTH105  atomic, and over an older one


def cache(folder: Path) -> Path:
    """Where Zig keeps what it made: the user's cache, or this folder. Where it cannot write, Zig would try for ever."""
    try:
        kept = Path(os.environ.get("ZIG_GLOBAL_CACHE_DIR") or Path.home() / ".cache" / "zig")
        kept.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=kept).close()
    except (OSError, RuntimeError):  # read-only, or a user without a home
        return folder / "cache"
    return kept


def run(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    """Run a compiler in a folder."""
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise RuntimeError(f"The kernels could not be compiled.\n{done.stderr}")


if __name__ == "__main__":
    build(Path(sys.argv[1]).absolute(), *sys.argv[2:3])
