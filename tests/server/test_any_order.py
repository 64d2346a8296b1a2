"""Releases come to a folder, change and go, and servers are started over it: every answer is what a model says.

The model is a dictionary of files. A server serves what was in the folder when it was started, under the names that
follow from the files' own, and says so on every path, whatever has become of the files since.
"""

import json
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

import dawa
from dawa.errors import ReleaseError
from dawa.server import app
from helpers.asgi import Client

AGES = dawa.Axis("age", 0, 8)
TABLE = {"age": [1, 2, 2, 3, 5, 7] * 40, "lon": [0, 1, 2, 3, 0, 1] * 40, "sex": ["f", "m", "f", "m", "f", "f"] * 40}
KINDS = ("ages", "sparse", "map", "groups")
STEMS = st.sampled_from(["a", "b", "Ages of all", "release"])
PLACES = st.sampled_from(["{}.json", "{}/release.json", "{}.npz", ".{}.json", "{}/other.json"])
"""Where a release may lie, and where it is not looked for: in a hidden file, or beside a folder's own."""

PATHS = ("", "/answer", "/share", "/apart", "/buckets", "/band", "/quantile", "/quantiles", "/values", "/by-group")
PATHS += ("/file", "/page", "/answers", "/compare")
ASKED = {
    "/answer": {"range": "2:6"},
    "/share": {"range": "2:6"},
    "/by-group": {"range": "2:6"},
    "/compare": {"range": ["2:6", "0:2"]},
    "/quantile": {"fraction": "0.5"},
    "/quantiles": {"fraction": ["0.25", "0.75"]},
}
ALONG_ONE = {"/buckets", "/band", "/quantile", "/quantiles", "/values"}
"""What has no answer on a map."""


@cache
def made(kind):
    """A release of a kind, with its file."""
    axes = (AGES, dawa.Axis("lon", 0, 4)) if kind == "map" else AGES
    more = {"by": "sex", "groups": ["f", "m"]} if kind == "groups" else {}
    return dawa.release(TABLE, axes, epsilon="0.5" if kind == "sparse" else 9, **more)


def answered(kind, path):
    """The status that a path has for a kind of release."""
    if kind == "groups":
        return 422 if path in {*ALONG_ONE, "/share"} else 200
    if path == "/by-group":
        return 422
    if kind == "map":
        return 422 if path in {*ALONG_ONE, *ASKED} else 200
    return 200


def listed(folder, files):
    """The names under which files are served, as somebody does it by hand: in the order of the folder."""
    found = {}
    for name in sorted({file.split("/")[0] for file in files}):
        file = f"{name}/release.json" if "." not in name else name
        if name.startswith(".") or file not in files or files[file] is None:
            continue
        stem = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(file.removesuffix("/release.json")).stem).strip(".-")
        if file == "release.json":
            stem = re.sub(r"[^A-Za-z0-9._-]+", "-", folder.name).strip(".-")
        number, free = 1, stem
        while free in found:
            number += 1
            free = f"{stem}-{number}"
        found[free] = files[file]
    return found


class Model(RuleBasedStateMachine):
    """A folder, a server over it, and what both should be."""

    def __init__(self, folder):
        super().__init__()
        self.folder, self.files = folder, {}
        self.client, self.served = None, {}

    @rule(stem=STEMS, place=PLACES, kind=st.sampled_from(KINDS))
    def comes(self, stem, place, kind):
        """Or changes, if there is one of that name."""
        name = place.format(stem)
        (self.folder / name).parent.mkdir(exist_ok=True)
        made(kind).save(self.folder / name)
        self.files[name] = kind

    @precondition(lambda self: self.files)
    @rule(data=st.data())
    def goes(self, data):
        name = data.draw(st.sampled_from(sorted(self.files)), label="file")
        (self.folder / name).unlink()
        del self.files[name]
        if "/" in name and not any((self.folder / name).parent.iterdir()):
            (self.folder / name).parent.rmdir()

    @precondition(lambda self: self.files)
    @rule(
        data=st.data(), damage=st.sampled_from([b"", b"{", b"\xff\xfe", b'{"format": "dawa-release", "version": 99}'])
    )
    def is_damaged(self, data, damage):
        name = data.draw(st.sampled_from(sorted(self.files)), label="file")
        (self.folder / name).write_bytes(damage)
        self.files[name] = None

    @rule()
    def a_server_is_started(self):
        """It serves what is there; where nothing is, there is none."""
        one = "release.json" in self.files  # then the folder is a release, and not a folder of several
        wanted = listed(self.folder, {"release.json": self.files["release.json"]} if one else self.files)
        if wanted:
            self.client, self.served = Client(app(self.folder, rate=1e9)), wanted
        else:
            with pytest.raises(ReleaseError, match="Hint:"):
                app(self.folder)

    @precondition(lambda self: self.client)
    @rule(data=st.data(), path=st.sampled_from(PATHS))
    def is_asked(self, data, path):
        name = data.draw(st.sampled_from([*sorted(self.served), "nobody", "a-2", "..", "release.json"]), label="name")
        if path == "/answers":
            found = self.client.post(f"/releases/{name}{path}", json={"ranges": [{"lo": 2, "hi": 6}]})
        else:
            found = self.client.get(f"/releases/{name}{path}", params=ASKED.get(path, {}))
        kind = self.served.get(name)
        if (name, path) == ("..", ""):
            assert found.status_code == 200  # clients make / of it: the index
        elif kind is None:
            assert found.status_code == 404, found.text
        elif path == "/answers" and kind == "map":
            assert found.status_code == 422
        else:
            assert found.status_code == answered(kind, path), found.text
        if found.status_code in {404, 422} and name != "..":
            assert set(found.json()) == {"problem", "hint"}
        elif kind is not None:
            self.says(kind, path, found)

    def says(self, kind, path, found):
        """What a release itself says."""
        rel = made(kind)
        if path == "":
            assert found.json()["statement"] == str(rel.privacy)
        elif path == "/answer":
            assert found.json()["value"] == rel.answer(2, 6).value
        elif path == "/answers":
            assert found.json()["answers"][0]["value"] == rel.answer(2, 6).value
        elif path == "/by-group":
            assert len(found.json()["groups"]) == len(rel)
        elif path == "/file":
            assert json.loads(found.content)["privacy"] == json.loads(rel.as_text())["privacy"]
        elif path == "/page":
            assert found.text.startswith("<!")

    @precondition(lambda self: self.client)
    @invariant()
    def lists_what_was_there(self):
        found = self.client.get("/releases").json()["releases"]
        assert {one["name"]: (one["groups"], len(one["columns"])) for one in found} == {
            name: (2 * (kind == "groups"), 1 + (kind == "map")) for name, kind in self.served.items()
        }
        assert self.client.get("/health").json() == {"status": "ok", "releases": len(self.served)}

    def teardown(self):
        shutil.rmtree(self.folder)


@pytest.mark.parametrize(("examples", "length"), [(5, 15), pytest.param(30, 30, marks=pytest.mark.long)])
def test_any_order_of_releases_servers_and_questions(tmp_path, examples, length):
    run_state_machine_as_test(
        lambda: Model(Path(tempfile.mkdtemp(dir=tmp_path))),
        settings=settings(max_examples=examples, stateful_step_count=length, deadline=None),
    )
