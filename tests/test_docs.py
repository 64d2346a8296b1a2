"""What the pages and proofs say of the project is there: paths, modules, links."""

import re
import tomllib
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from dawa import mechanisms

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "src").rglob("*.md"))
    if path.name != "CHANGELOG.md"  # which also tells of what was
)
KINDS = r"(?:py|pyi|md|json|js|css|html|toml|svg|png)"


def there(name, page):
    """Whether a path is there: from the root, from a package, or from the page itself."""
    return any((folder / name).exists() for folder in (ROOT, ROOT / "src", ROOT / "src/dawa", page.parent))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_that_pages_name_are_there(page):
    text = page.read_text(encoding="utf-8")
    paths = set(re.findall(rf"\b(?:src|tests|docs)/[\w/-]+\.{KINDS}\b", text))
    paths |= set(re.findall(rf"`([a-z_]+/[\w/]+\.{KINDS})`", text)) - {"data/2013.parquet"}
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


def test_the_page_about_histograms_runs(tmp_path, monkeypatch):
    """Its blocks, one after the other."""
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    text = (ROOT / "docs/histograms.md").read_text(encoding="utf-8")
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        exec(compile(block, "docs/histograms.md", "exec"), names)  # noqa: S102  the page's own
    plt.close("all")
    assert names["again"].axes[0].name == "income"
    assert list(tmp_path.iterdir()) == [], "nothing is written"


@pytest.mark.parametrize("name", mechanisms.names())
def test_the_guide_says_when_to_use_each_mechanism(name):
    assert f"`{name}`" in (ROOT / "docs/mechanisms.md").read_text(encoding="utf-8")
