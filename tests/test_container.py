"""What ``Containerfile`` takes for granted about the rest of the project; ``make image`` builds it and uses it."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from dawa.cli import COMMANDS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = {"bookworm": "3.11", "trixie": "3.13"}
"""Which Python is Debian's."""


def written(name):
    return (ROOT / name).read_text(encoding="utf-8")


def instructions(text):
    """Pairs of a word in capitals and what follows, in their order."""
    lines = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)).splitlines()
    return [tuple(line.split(maxsplit=1)) for line in lines if line.strip()]


FILE = instructions(written("Containerfile"))


def given(word):
    return [rest for first, rest in FILE if first == word]


def locked(name):
    """What a lock holds: versions and hashes by name."""
    entries = re.findall(r"^([\w.-]+)(?:\[[\w,]+\])?==([^\s;]+)(.*(?:\n +.*)*)", written(name), re.MULTILINE)
    return {canonicalize_name(one): (version, re.findall(r"--hash=(\S+)", rest)) for one, version, rest in entries}


def extras():
    """Those that are locked for the image, as the Makefile says."""
    line = next(line for line in written("Makefile").splitlines() if "--output-file locks/image.txt" in line)
    return set(re.findall(r"--extra (\w+)", line))


def needed(lines):
    """The names that requirements ask for, also by way of the package's other extras."""
    found = set()
    for one in map(Requirement, lines):
        if one.name == PROJECT["name"]:
            for extra in one.extras:
                found |= needed(PROJECT["optional-dependencies"][extra])
        else:
            found.add(canonicalize_name(one.name))
    return found


def copied():
    """What is taken from beside it, and not from an earlier stage."""
    return [name for rest in given("COPY") if not rest.startswith("--from") for name in rest.split()[:-1]]


def test_what_is_copied_is_there_and_not_ignored():
    allowed = {line[1:] for line in written(".dockerignore").splitlines() if line.startswith("!")}
    assert {name for name in allowed if "/" in name} == set(copied())
    assert set(copied()) == {"locks/image.txt", "dist/*.whl"}
    assert (ROOT / "locks/image.txt").is_file()
    assert "locks/build.sh" in written("Makefile").partition("\nimage:")[2].partition("\n\n")[0], "which makes dist/"


def test_debian_has_a_python_that_the_package_takes():
    (base,) = (rest.partition("=")[2] for rest in given("ARG"))
    python = PYTHONS[re.fullmatch(r".*/debian:(\w+)-slim", base)[1]]
    assert SpecifierSet(PROJECT["requires-python"]).contains(python)
    assert f"Programming Language :: Python :: {python}" in PROJECT["classifiers"]
    assert f"Python {python}" in written("docs/how-to/container.md")
    stages = [rest.split() for rest in given("FROM")]
    before = {"${BASE}"} | {words[2] for words in stages if len(words) == 3}
    assert {words[0] for words in stages} <= before


def test_the_user_is_a_number_and_not_root():
    """Orchestrators that refuse root read numbers alone."""
    last = max(i for i, (word, _) in enumerate(FILE) if word == "USER")
    assert last > max(i for i, (word, _) in enumerate(FILE) if word in {"FROM", "RUN", "COPY"})
    user, group = FILE[last][1].split(":")
    assert int(user) > 0
    assert int(group) > 0
    assert any(f"--uid {user} " in rest for rest in given("RUN"))
    assert user in written("docs/how-to/container.md")


def test_it_starts_what_the_package_installs():
    (entry,), (arguments,) = given("ENTRYPOINT"), given("CMD")
    assert set(json.loads(entry)) <= set(PROJECT["scripts"])
    assert json.loads(arguments) == ["--help"]
    (warm,) = re.findall(r"dawa/bin/dawa ([\w-]+)$", "\n".join(given("RUN")), re.MULTILINE)
    assert warm in COMMANDS


def test_no_volume_takes_what_nobody_mounted():
    assert given("VOLUME") == []
    assert given("WORKDIR") == ["/data"]


def test_only_locked_packages_come_in():
    installs = [rest for rest in given("RUN") if rest.startswith("/opt/pip/bin/pip ")]
    assert len(installs) == 2
    libraries, wheel = installs
    for flag in ("--require-hashes", "--only-binary :all:", "--no-deps"):
        assert flag in libraries
    assert "--no-index" in wheel


def test_the_extras_are_there_and_all_they_need_is_locked():
    assert {"release", "serve", "postgres", "signing"} == extras()
    wanted = needed([*PROJECT["dependencies"], *(f"dawa[{extra}]" for extra in extras())])
    found = locked("locks/image.txt")
    assert wanted <= set(found)
    assert not {"ziglang", "hatchling", "pip", "pytest"} & set(found), "what builds and tests stays outside"
    for extra in extras():
        assert f"`{extra}`" in written("docs/how-to/container.md")


@pytest.mark.parametrize("other", ["locks/run.txt", "locks/dev.txt"])
def test_the_versions_are_those_that_are_tested(other):
    found, tested = locked("locks/image.txt"), locked(other)
    assert len(set(found) & set(tested)) > 30
    assert {name: found[name][0] for name in found if name in tested and found[name][0] != tested[name][0]} == {}
    assert all(hashes and all(one.startswith("sha256:") for one in hashes) for _, hashes in found.values())


def test_instructions_are_read_as_they_are_meant():
    text = "# a comment\nFROM x AS y\nRUN one \\\n && two\n# another\nUSER 1:1\n"
    assert instructions(text) == [("FROM", "x AS y"), ("RUN", "one   && two"), ("USER", "1:1")]
