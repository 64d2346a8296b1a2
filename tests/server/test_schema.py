"""What the server says of itself is true: Schemathesis asks what the description allows, and what it does not."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode

import dawa
from dawa.cli.demo import people
from dawa.server import app

PATHS = {
    "/health": "GET",
    "/releases": "GET",
    "/releases/{name}": "GET",
    "/releases/{name}/answer": "GET",
    "/releases/{name}/answers": "POST",
    "/releases/{name}/apart": "GET",
    "/releases/{name}/band": "GET",
    "/releases/{name}/buckets": "GET",
    "/releases/{name}/by-group": "GET",
    "/releases/{name}/compare": "GET",
    "/releases/{name}/file": "GET",
    "/releases/{name}/page": "GET",
    "/releases/{name}/quantile": "GET",
    "/releases/{name}/quantiles": "GET",
    "/releases/{name}/share": "GET",
    "/releases/{name}/values": "GET",
}
TAKING = (
    "answer",
    "answers",
    "apart",
    "band",
    "buckets",
    "by-group",
    "compare",
    "quantile",
    "quantiles",
    "share",
    "values",
)
"""The last parts of paths that take something which can be wrong."""

NAMES = ("ages", "groups", "map", None)
"""Releases to ask; None for any name at all."""

RIGHT = [(path, name) for path in PATHS for name in (NAMES if "{name}" in path else NAMES[:1])]
WRONG = [(path, name) for path, name in RIGHT if path.rsplit("/", 1)[1] in TAKING]

EXAMPLES = settings(
    max_examples=25, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
REFUSALS = {"positive_data_acceptance": {"expected-statuses": [200, 404, 422]}}
"""A range may be well written and still lie outside the axis; no description says where its ends are."""


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    folder = tmp_path_factory.mktemp("out")
    axes = dawa.Axis("lon", 0, 8), dawa.Axis("lat", 0, 8)
    dawa.release(people(2000), dawa.Axis("age", 0, 100), epsilon=1).save(folder / "ages.json")
    dawa.release({"lon": [1, 2, 3] * 99, "lat": [4, 5, 6] * 99}, axes, epsilon=1).save(folder / "map.json")
    table = {**people(2000), "city": ["Rome", "Oslo"] * 1000}
    grouped = dawa.release(table, dawa.Axis("age", 0, 100), epsilon=1, by="city", groups=["Rome", "Oslo"])
    grouped.save(folder / "groups.json")
    config = schemathesis.Config.from_dict({"checks": REFUSALS})
    return schemathesis.openapi.from_asgi("/openapi.json", app(folder, rate=1e9), config=config)


def test_every_path_is_tried(described):
    found = {operation.ok().path: operation.ok().method.upper() for operation in described.get_all_operations()}
    assert found == PATHS


@pytest.mark.long_but(5)
@pytest.mark.parametrize(("path", "name"), RIGHT)
def test_what_is_described(described, path, name):
    """No 5xx, nothing that the description does not announce, nothing right refused for its form."""
    ask(described, path, name, GenerationMode.POSITIVE)


@pytest.mark.long_but(2)
@pytest.mark.parametrize(("path", "name"), WRONG)
def test_what_is_not(described, path, name):
    """Nothing wrong is accepted."""
    ask(described, path, name, GenerationMode.NEGATIVE)


def ask(described, path, name, mode):
    operation = described[path][PATHS[path]]
    pinned = {"path_parameters": {"name": name}} if "{name}" in path and name is not None else {}

    @EXAMPLES
    @given(case=operation.as_strategy(generation_mode=mode, **pinned))
    def asked(case):
        case.call_and_validate()

    asked()
