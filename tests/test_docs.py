"""What the pages and proofs say of the project is there: paths, modules, links. What they show runs."""

import os
import re
import shutil
import tomllib
import warnings
from pathlib import Path

import pytest

from dawa import mechanisms
from helpers import blocks, prepared

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.md"))
    if path.name != "CHANGELOG.md"  # which also tells of what was
)
SHOWN = [
    page.relative_to(ROOT).as_posix()
    for page in PAGES
    if {block.kind for block in blocks.blocks(page.read_text(encoding="utf-8"))} & blocks.RUN
]
"""Pages with blocks that are run."""

NEW = sorted(
    path for folder in ("tutorials", "how-to", "explanations") for path in (ROOT / "docs" / folder).glob("*.md")
)
"""Pages that lead a reader from one to the next."""

SERVERS = {"docs/how-to/postgresql.md": "postgres", "docs/how-to/team.md": "postgres"}
"""Pages whose blocks ask a server, and the fixture that starts it. Spark's page starts its own."""

QUICK = {
    "CONTRIBUTING.md",
    "docs/explanations/two-errors.md",
    "docs/histograms.md",
    "docs/ledger.md",
    "docs/maps.md",
    "docs/mechanisms.md",
    "docs/page.md",
    "docs/server.md",
    "docs/sources.md",
}
"""Pages that take a few seconds at most; ``make test`` leaves the others out."""

MADE = {"data/2013.parquet", "delays/report.html", "out/site/index.html", "pressure/README.md"}
"""What a reader has, or makes."""

KINDS = r"(?:py|pyi|md|json|js|css|html|toml|svg|png)"


def there(name, page):
    """Whether a path is there: from the root, from a package, or from the page itself."""
    return any((folder / name).exists() for folder in (ROOT, ROOT / "src", ROOT / "src/dawa", page.parent))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_that_pages_name_are_there(page):
    text = page.read_text(encoding="utf-8")
    paths = set(re.findall(rf"\b(?:src|tests|docs)/[\w/-]+\.{KINDS}\b", text))
    paths |= set(re.findall(rf"`([a-z_]+/[\w/]+\.{KINDS})`", text)) - MADE
    assert {path for path in paths if not there(path, page)} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    targets = {target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target}
    assert {target for target in targets if target and not (page.parent / target).exists()} == set()


def test_the_way_of_a_record_is_short_and_there():
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    way = re.findall(r"^\| \d+ \| `([\w/]+)` \|", text, re.MULTILINE)
    assert 15 <= len(way) <= 25
    assert {name for name in way if not (ROOT / f"src/dawa/{name}.py").exists()} == set()


def test_every_package_has_a_layer():
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = {name.strip() for layer in contract["contracts"][0]["layers"] for name in layer.split("|")}
    folder = ROOT / "src/dawa"
    found = {path.stem for path in folder.iterdir() if path.suffix == ".py" or any(path.rglob("*.py"))}
    packages = {path.parent for path in folder.rglob("__init__.py")}
    assert {path.parent for path in folder.rglob("*.py")} - packages == {folder / "kernels/c"}, "a script beside C"
    assert layers == found - {"__init__"}
    alone = {path.stem for path in (ROOT / "src/dawa").glob("*.py")}
    assert len(alone) <= 17, "the pipeline stands alone at the top"


@pytest.mark.parametrize("name", mechanisms.names())
def test_the_guide_says_when_to_use_each_mechanism(name):
    assert f"`{name}`" in (ROOT / "docs/mechanisms.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_says_what_it_is(page):
    """So that it is run, or is not by a decision."""
    found = blocks.blocks(page.read_text(encoding="utf-8"))
    assert {(block.line, block.kind) for block in found if block.kind not in blocks.RUN | blocks.NOT_RUN} == set()
    fences = re.findall(r"^ *```", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(fences) == 2 * len(found), "a fence that is not closed, or not at the beginning of its line"


@pytest.mark.parametrize(
    "page", [name if name in QUICK else pytest.param(name, marks=pytest.mark.long) for name in SHOWN]
)
def test_blocks_run_one_after_the_other(page, request, tmp_path, monkeypatch):
    """In an empty folder and an empty home, as a reader copies them."""
    if page in SERVERS:
        monkeypatch.setenv("SERVER", request.getfixturevalue(SERVERS[page]))
    if page == "docs/how-to/spark.md" and not shutil.which("java"):
        assert not os.environ.get("CI"), "CI needs Java 17"
        pytest.skip("Spark needs Java 17")
    for name in ("home", "here"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "here")
    with warnings.catch_warnings():
        if page == "docs/how-to/spark.md":
            warnings.simplefilter("ignore")  # Spark's own
        blocks.run(page, (ROOT / page).read_text(encoding="utf-8"), prepared.BEFORE.get(page, dict)())


def test_what_is_prepared_is_for_pages_that_are_there():
    assert set(prepared.BEFORE) | QUICK | set(SERVERS) <= set(SHOWN)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("```shell\nfalse\n```\n", AssertionError),
        ("```shell\nfalse | cat\n```\n", AssertionError),
        ("```shell\npip install no-such-package\n```\n", ModuleNotFoundError),
        ("```shell\nmake nothing\n```\n", AssertionError),
        ("```python\n1 / 0\n```\n", ZeroDivisionError),
        ("```toml\na = \n```\n", tomllib.TOMLDecodeError),
        ("```json\n{\n```\n", ValueError),
    ],
)
def test_a_block_that_fails_is_noticed(text, problem, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(problem):
        blocks.run("page", text)


def test_blocks_of_a_page_share_names_and_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks.run(
        "page",
        '```text title="a.txt"\nx\n```\n'
        '```python\nfrom pathlib import Path\nfound = Path("a.txt").read_text()\n```\n'
        '```python\nassert found == "x\\n"\nPath("b.txt").write_text("y")\n```\n'
        "```shell\ngrep -q y b.txt\n```\n",
    )


@pytest.mark.parametrize("page", ["index", "five-minutes", *(f"{path.parent.name}/{path.stem}" for path in NEW)])
def test_a_page_ends_with_what_to_read_next(page):
    last = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8").rstrip().rpartition("\n\n")[2]
    assert re.match(r"\*\*Next:\*\* .*\]\(", last, re.DOTALL)
