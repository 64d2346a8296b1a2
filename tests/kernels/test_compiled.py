"""Compiled code is kept where it can be, and nowhere that others can write to."""

import os
import stat
import subprocess
import sys

import pytest

from dawa.host import scratch

CODE = """
import sys
import numba.core.caching as caching
for name in ("_InTreeCacheLocator", "_UserWideCacheLocator", "InTreeCacheLocator", "UserWideCacheLocator"):
    if hasattr(caching, name):
        def no(self): raise OSError("nothing can be written here")
        getattr(caching, name).ensure_cache_path = no
from dawa.kernels import compiled
import dawa
print(compiled.CACHED, dawa.release({"age": [1]}, dawa.Axis("age", 0, 9), epsilon=1).axis.size)
"""


def run(folder):
    return subprocess.run(  # noqa: S603  our own
        [sys.executable, "-c", CODE],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    ).stdout.split()


def test_without_a_home_it_goes_to_a_private_folder(tmp_path):
    assert run(tmp_path) == ["True", "9"]
    (folder,) = tmp_path.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert list(folder.rglob("*.nbc"))


@pytest.mark.parametrize("mode", [0o777, 0o750])
def test_a_folder_that_others_can_enter_is_not_used(tmp_path, monkeypatch, mode):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / f"dawa-compiled-{os.getuid()}").mkdir()
    (tmp_path / f"dawa-compiled-{os.getuid()}").chmod(mode)
    assert scratch.private(scratch.COMPILED) is None


def test_a_link_is_not_followed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / f"dawa-compiled-{os.getuid()}").symlink_to("elsewhere")
    assert scratch.private(scratch.COMPILED) is None
