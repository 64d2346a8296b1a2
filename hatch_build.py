"""What hatchling asks when it builds dawa: compile the kernels, and say for which machines the wheel is.

``DAWA_TARGET`` chooses another machine than this one, by a name of Zig's, for example ``aarch64-linux-gnu.2.17``.
"""

import os
import runpy
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNELS = Path("src/dawa/kernels")
PLATFORMS = {
    "x86_64-linux-gnu.2.17": "manylinux_2_17_x86_64",
    "aarch64-linux-gnu.2.17": "manylinux_2_17_aarch64",
    "x86_64-macos.11.0": "macosx_11_0_x86_64",
    "aarch64-macos.11.0": "macosx_11_0_arm64",
    "x86_64-windows-gnu": "win_amd64",
}
"""What Python calls the machines that Zig can compile for."""


class Kernels(BuildHookInterface):  # type: ignore[misc]
    """Compile the kernels into the package, or beside their sources for an editable installation."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Before a wheel is put together."""
        target = os.environ.get("DAWA_TARGET")
        script = runpy.run_path(str(Path(self.root) / KERNELS / "c" / "compile.py"), run_name="compile")
        library = Path(self.root) / KERNELS / script["name"](target)
        if version == "editable":
            script["build"](library)
            return
        if target and target not in PLATFORMS:
            raise ValueError(f"DAWA_TARGET={target} is not one of {', '.join(PLATFORMS)}.")
        script["build"](library, target)
        platform = PLATFORMS[target] if target else sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"  # called by address: any Python
        build_data["force_include"][str(library)] = f"dawa/kernels/{library.name}"
