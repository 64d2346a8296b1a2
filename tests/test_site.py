"""The documentation as a site: it has every name, leads nowhere wrong, and needs no network."""

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import pytest
import typer

import dawa
from dawa.cli import COMMANDS, app

pytest.importorskip("mkdocs", reason="the site needs pip install -e '.[docs]'")

from docs.building import commands, doctests, links, notebooks, python, reference, schema, tuning

ROOT = Path(__file__).parents[1]


def test_every_public_name_has_a_place():
    placed = [name for names in python.GROUPS.values() for name in names]
    assert sorted(placed) == sorted(dawa.__all__)


def test_every_name_of_a_public_module_has_a_place():
    text = "".join(python.pages().values())
    for name in dawa.__all__:
        if isinstance(module := getattr(dawa, name), ModuleType) and any(
            isinstance(getattr(module, inner), ModuleType) for inner in getattr(module, "__all__", ())
        ):
            assert all(f"::: dawa.{name}.{inner}\n" in text for inner in module.__all__)


def test_every_command_and_option_is_told():
    page = commands.page()
    group = typer.main.get_command(app)
    for name in COMMANDS:
        assert f"\n## `dawa {name}`\n" in page
        found = group.commands[name].loaded()
        for one in getattr(found, "commands", {"": found}).values():
            assert all(option in page for param in one.params if not param.hidden for option in param.opts)
    assert "\n### `dawa ledger take-back`\n" in page


def test_every_mechanism_and_its_options_are_told():
    page = tuning.page()
    for name in dawa.mechanisms.names():
        section = page.split(f"## `{name}`\n")[1].split("\n## ")[0]
        assert all(f"| `{option.name}` |" in section for option in dawa.mechanisms.options(name))


def test_every_field_of_a_release_is_told():
    page = schema.page()
    for version in (2, 3):
        text = (schema.SCHEMAS / f"release-{version}.json").read_text(encoding="utf-8")
        for name, part in json.loads(text)["properties"].items():
            assert re.search(rf"^\| `{name}`", page, re.MULTILINE), (name, part)
    assert "| `privacy.epsilon` |" in page


def test_links_lead_to_where_the_site_has_a_file():
    text = "[a](../src/dawa/partition/walk.md#scores) [b](maps.md) [c](../Makefile) [d](https://x.org) [e](#here)"
    assert links.led(text, "limits.md") == (
        "[a](proofs/partition/walk.md#scores) [b](maps.md) "
        "[c](https://github.com/dawa-project/dawa/blob/main/Makefile) [d](https://x.org) [e](#here)"
    )
    beside = "[a](unit.md) [b](../measure.md)"
    assert links.led(beside, "proofs/sources/reading.md") == beside
    assert links.led("[a](../../CONTRIBUTING.md)", "tutorials/researcher.md") == "[a](../contributing.md)"
    assert links.led("[a](docs/maps.md)", "contributing.md") == "[a](maps.md)"
    assert links.led("[a](nowhere.md)", "maps.md") == "[a](nowhere.md)"


def test_examples_of_docstrings_are_blocks():
    assert doctests.fenced("What.\n\n>>> f(\n...     1)\n2\n\nMore.\n") == (
        "What.\n\n```pycon\n>>> f(\n...     1)\n2\n```\n\nMore.\n"
    )


@pytest.mark.parametrize("name", notebooks.names())
def test_notebooks_are_kept_without_outputs(name):
    kept = json.loads((notebooks.FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
    code = [cell for cell in kept["cells"] if cell["cell_type"] == "code"]
    assert code
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as ``make site`` does; a warning is an error there."""
    folder = tmp_path_factory.mktemp("site")
    ran = subprocess.run(  # noqa: S603  this very interpreter
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    return folder


@pytest.mark.long
def test_all_names_and_proofs_are_in_the_site(site):
    found = set()
    for page in (site / "reference/python").glob("*.html"):
        found |= set(re.findall(r'id="(dawa[^"]*)"', page.read_text(encoding="utf-8")))
    assert {f"dawa.{name}" for name in dawa.__all__} <= found
    for name in dawa.__all__:
        if isinstance(module := getattr(dawa, name), ModuleType):
            assert {f"dawa.{name}.{inner}" for inner in getattr(module, "__all__", ())} <= found
    assert all((site / place).with_suffix(".html").exists() for place in links.moved().values())


@pytest.mark.long
def test_nothing_comes_from_a_network(site):
    """Links may lead elsewhere; what a page loads may not."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r'<(?:script|img|iframe|source|object|embed)\b[^>]*\b(?:src|data)="([^"]*)"', text)
        loaded += re.findall(r'<link\b[^>]*\bhref="([^"]*)"', text)
        assert [address for address in loaded if urlsplit(address).scheme not in {"", "data"}] == [], page
        for address in loaded:
            if address and not urlsplit(address).scheme and page.name != "404.html":  # a server's, from its root
                assert (page.parent / unquote(urlsplit(address).path)).exists(), (page, address)
    for style in site.rglob("*.css"):
        assert not re.findall(r"url\(['\"]?(?:https?:)?//", style.read_text(encoding="utf-8"))


@pytest.mark.long
@pytest.mark.parametrize("start", ["index.html", "how-to/csv.html"])
def test_search_works_from_a_disk(site, browser, start):
    """In a real browser, which asks nobody for anything."""
    page = browser.new_page()
    asked, complaints = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    page.goto((site / start).as_uri())
    field = page.locator("[data-md-component=search-query]")
    field.click()
    field.press_sequentially("take-back")  # keys, which it listens to
    found = page.locator(".md-search-result__item a", has_text="dawa ledger take-back").first
    found.wait_for()
    assert "commands.html" in found.get_attribute("href")
    found.click()
    page.wait_for_function("document.readyState === 'complete' && location.pathname.endsWith('commands.html')")
    assert complaints == []
    assert [address for address in asked if urlsplit(address).scheme not in {"file", "data", "about", "blob"}] == []
    page.close()


@pytest.mark.long
@pytest.mark.parametrize("name", notebooks.names())
def test_notebooks_run(name, monkeypatch, tmp_path):
    """From the first cell to the last, and nothing that they show is about this machine."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    made = notebooks.page(name, notebooks.ran(name))
    text = "".join(made.values())
    assert str(ROOT) not in text
    assert str(Path.home()) not in text
    assert tempfile.gettempdir() not in text


def test_the_navigation_names_pages_that_are_there():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = set(re.findall(r"(?:: | - )([\w/-]+\.md)$", text, re.MULTILINE))
    made = set(links.moved().values()) | set(reference.pages())
    assert {name for name in named - made if not (ROOT / "docs" / name).exists()} == set()
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert pages - named == set(), "a page without a place in mkdocs.yml"


def test_the_tools_of_the_site_are_an_extra():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert any(name.startswith("mkdocs-material") for name in extras["docs"])
