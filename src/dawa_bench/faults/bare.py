"""Release, ask and serve where there is nothing: ``python -m dawa_bench.faults.bare``, as root, on Linux.

In a namespace of its own, as in a container: every file system read-only but for a small folder of work and one for
temporary files; another user than root, who has no home; 512 MB of memory, if this machine lets groups be limited.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import dawa

NOBODY = 65534
MEGABYTES = 512
GROUPS = Path("/sys/fs/cgroup/memory")

STEPS = """
set -e
test ! -w "$SOURCES"
printf 'age\\n' > people.csv
for i in $(seq 0 4999); do printf '%d\\n' $((i % 100)); done >> people.csv
echo "release: $("$PYTHON" -m dawa release people.csv --column age --range 0:100 --epsilon 0.5 --out out | sed -n 2p)"
echo "query: $("$PYTHON" -m dawa query out 10:20 --json | tr -d '\\n ' | cut -c 1-60)"
"$PYTHON" -m dawa serve out --port 0 > served 2>&1 &
for i in $(seq 600); do grep -qs /page served && break; sleep 0.1; done
address=$(sed -n 's|^\\(http[^ ]*\\)/page .*|\\1|p' served)
code='import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=60).read().decode()[:60])'
echo "serve: $("$PYTHON" -c "$code" "$address/answer?lo=10&hi=20")"
kill %1
wait %1 || true
"""


def _closed(path: Path) -> Path | None:
    """The outermost folder on the way to a path that others may not enter."""
    ways = [*reversed(path.parents), path]
    return next((way for way in ways if not way.stat().st_mode & 0o001), None)


def _opened(paths: Sequence[Path]) -> str:
    """Commands that let others reach these paths, inside the namespace, whatever the folders above them allow."""
    lines = []
    for number, path in enumerate(dict.fromkeys(paths)):
        closed = _closed(path)
        if closed is not None and path.is_relative_to(closed):
            lines += [f"mkdir -p /run/bare{number}", f"mount --bind '{path}' /run/bare{number}"]
    for closed in {closed for path in paths if (closed := _closed(path)) is not None}:
        lines.append(f"mount -t tmpfs -o mode=755 none '{closed}'")
    for number, path in enumerate(dict.fromkeys(paths)):
        if _closed(path) is not None:
            lines += [f"mkdir -p '{path}'", f"mount --bind /run/bare{number} '{path}'"]
    return "\n".join(lines)


@contextmanager
def _limited() -> Iterator[str]:
    """A command that puts its process into a group with little memory; one that does nothing where there is none."""
    group = GROUPS / f"dawa-bare-{os.getpid()}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(f"{MEGABYTES}M", encoding="utf-8")
    except OSError:
        yield "true"
        return
    try:
        yield f"echo $$ > '{group}/cgroup.procs'"
        peak = int((group / "memory.max_usage_in_bytes").read_text(encoding="utf-8"))
        print(f"memory: at most {peak >> 20} MB of {MEGABYTES}")
    finally:
        group.rmdir()


def run() -> subprocess.CompletedProcess[str]:
    """All of it; the process says what it did, line by line."""
    source = Path(dawa.__file__).parents[1]
    used = [Path(sys.base_prefix), Path(sys.prefix), source]
    with tempfile.TemporaryDirectory(prefix="dawa-bare-") as folder, _limited() as limited:
        Path(folder).chmod(0o755)
        script = f"""
set -e
mount -t tmpfs -o mode=755 none /run
{_opened(used)}
mount -t tmpfs -o size=64m,mode=1777 none '{folder}'
mkdir -m 1777 '{folder}/temporary'
mount -o remount,ro,bind /
{limited}
cd '{folder}'
exec setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups env -i PATH=/usr/bin:/bin HOME=/nonexistent \\
    TMPDIR='{folder}/temporary' PYTHONPATH='{source}' PYTHONDONTWRITEBYTECODE=1 PYTHON='{sys.executable}' \\
    SOURCES='{source}' bash -c {_quoted(STEPS)}
"""
        command = ["unshare", "--mount", "bash", "-c", script]
        return subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603  our own


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def possible() -> bool:
    """Whether this process may make namespaces."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("unshare") is None:
        return False
    tried = subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True)  # noqa: S607
    return tried.returncode == 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what worked."""
    parser = argparse.ArgumentParser(prog="python -m dawa_bench.faults.bare", description=__doc__.split("\n\n")[1])
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(arguments)
    if not possible():
        parser.error("this needs root, and unshare, which is part of util-linux.")
    ran = run()
    if asked.json:
        print(json.dumps({"code": ran.returncode, "told": ran.stdout.splitlines(), "errors": ran.stderr.splitlines()}))
    else:
        print(ran.stdout + ran.stderr, end="")
    return ran.returncode


if __name__ == "__main__":
    sys.exit(main())
