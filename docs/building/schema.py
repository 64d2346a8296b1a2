"""The release file, field by field, from the schemas that every release is checked against."""

import json
from pathlib import Path
from typing import Any

from docs.building.commands import escaped

import dawa

SCHEMAS = Path(dawa.__file__).parent / "results/schema"

HEAD = """# The release file

What `release.json` holds, made from the schemas that every file is checked against when it is loaded. Files of one
release have version 2; files of several groups have version 3 and hold the fields of version 2 for each group. Fields
keep their meaning for ever; later versions only add optional ones. The [compact form](../command-line.md#compact-files)
holds the same document. Budgets are exact fractions in text, such as `"1/10"`.
"""


def page() -> str:
    """The page."""
    parts = [HEAD]
    for version in (2, 3):
        schema = json.loads((SCHEMAS / f"release-{version}.json").read_text(encoding="utf-8"))
        parts += [f"## Version {version}\n", f"{escaped(schema['description'])}\n", *table(rows(schema))]
        for name, part in schema.get("$defs", {}).items():
            parts += [f"### `{name}` (version {version})\n", f"{escaped(part.get('description', ''))}\n"]
            found = rows(part)
            parts += table(found) if found else [f"{kind(part)}\n"]
    return "\n".join(parts)


def table(found: list[tuple[str, str, str, bool]]) -> list[str]:
    """Rows of fields as a table."""
    lines = [f"| `{name}`{'' if must else ' (optional)'} | {what} | {text} |" for name, what, text, must in found]
    return ["| field | holds | meaning |", "|---|---|---|", *lines, ""]


def rows(part: Any, path: str = "", *, must: bool = True) -> list[tuple[str, str, str, bool]]:  # noqa: ANN401  JSON
    """The fields of an object, those inside of its fields too."""
    found = []
    for one in (part, *part.get("oneOf", ()), *part.get("anyOf", ()), *part.get("allOf", ())):
        for name, field in one.get("properties", {}).items():
            needed = must and name in part.get("required", one.get("required", ()))
            full = f"{path}{name}"
            found.append((full, kind(field), escaped(field.get("description", "")), needed))
            found += rows(field, f"{full}.", must=needed)
            if isinstance(items := field.get("items"), dict):
                found += rows(items, f"{full}[].", must=needed)
    return found


def kind(part: Any) -> str:  # noqa: ANN401  JSON
    """What a field holds, in a few words."""
    if "$ref" in part:
        name = part["$ref"].rpartition("/")[2]
        return f"`{name}`"
    if "const" in part:
        return f"`{json.dumps(part['const'], ensure_ascii=False)}`"
    if "enum" in part:
        return ", ".join(f"`{json.dumps(value, ensure_ascii=False)}`" for value in part["enum"])
    for several in ("oneOf", "anyOf"):
        if several in part:
            return " or ".join(dict.fromkeys(kind(one) for one in part[several]))
    if part.get("type") == "array" and isinstance(part.get("items"), dict):
        return f"array of {kind(part['items'])}"
    found = part.get("type", "any")
    return " or ".join(found) if isinstance(found, list) else str(found)
