"""The published schemas of release files, as the reference library reads them."""

import json
from importlib import resources

import jsonschema
import referencing


def schema(version=2):
    """The schema of releases, or of those with groups (3)."""
    text = resources.files("dawa").joinpath(f"results/schema/release-{version}.json").read_text(encoding="utf-8")
    return json.loads(text)


def validator(version=2):
    """The reference library's validator."""
    every = [referencing.Resource.from_contents(schema(number)) for number in (2, 3)]
    found = schema(version)
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found, registry=every @ referencing.Registry())


def is_valid():
    """Whether a file is valid under the schema of its version."""
    known = {version: validator(version) for version in (2, 3)}

    def check(data):
        version = data.get("version") if isinstance(data, dict) else None
        return known[3 if version == 3 and type(version) is int else 2].is_valid(data)

    return check
