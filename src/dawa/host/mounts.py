"""Which paths are mount points: what lay there before cannot be seen, and what lies there now can be taken away."""

import re
from contextlib import suppress
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
"""Where Linux lists what is mounted where."""


def mounted(path: Path) -> bool:
    """Whether a file or a folder, by its path without links, is itself a mount point."""
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    except OSError:  # not Linux: what is on another device than its folder is mounted
        with suppress(OSError):
            return path.stat().st_dev != path.parent.stat().st_dev
        return False
    places = (line.split(" ")[4] for line in lines if line.count(" ") > 4)
    return any(re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), place) == str(path) for place in places)
