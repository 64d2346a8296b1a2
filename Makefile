# make demo   set everything up and release a small table of people
# make test   set everything up and test every part, without long tests; make test-long runs those, and laws on
#             more examples; make test-all both
# make coverage which lines and branches of the private path no test runs
# make check  lint, type-check, no float on private numbers; needs npm for the scripts of pages
# make mutants  small mistakes in the private path: which ones no test notices; half an hour
# make build  wheel, sdist and bill of materials in dist/, built twice and compared
# make installed  the wheel in empty environments: alone, and with what releases need
# make image  a container of the wheel and what it needs, by podman or docker; more for its build: make image IMAGE=--pull
# make lowest the tests with the lowest versions that pyproject.toml allows
# make locks  choose versions anew, with their hashes: make locks UPGRADE=--upgrade
# make site   the documentation as a site in out/site, strictly and without a network
# make bench  speed and accuracy, as ratios to things measured in the same run
# make rivals every mechanism on the same footing
# make maps   every mechanism on maps, and one map at the paper's size
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := -m pip install --quiet --disable-pip-version-check
LOCKED := $(PIP) --require-hashes --requirement
ITSELF := $(PIP) --no-deps --no-build-isolation --editable .
BUILD := .venv-build
TESTS := $(BIN)/python -m pytest -n auto --dist worksteal
COMPILE := $(BUILD)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate $(UPGRADE)

.PHONY: demo test test-long test-all coverage check mutants site build installed image lowest locks bench rivals maps clean
.DEFAULT_GOAL := demo

demo: $(VENV)/.installed
	$(BIN)/dawa demo

test: $(VENV)/.installed-dev
	$(TESTS) -m "not long"

test-long: $(VENV)/.installed-dev
	$(TESTS) -m "long or hypothesis" --hypothesis-profile=thorough

test-all: $(VENV)/.installed-dev
	$(TESTS) --hypothesis-profile=thorough

coverage: $(VENV)/.installed-dev
	rm -rf build/coverage
	mkdir -p build/coverage
	$(BIN)/python -m coverage run -m pytest -n auto --dist worksteal -m "not long or alone"
	$(BIN)/python -m coverage combine --quiet build/coverage
	$(BIN)/python -m coverage report

check: $(VENV)/.installed-dev node_modules/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m checks.floats
	$(BIN)/clang-format --dry-run --Werror src/dawa/kernels/c/*.[ch]
	npm run --silent check

site: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet
	@echo "Open out/site/index.html"

mutants: $(VENV)/.installed-dev
	$(BIN)/python -m checks.mutants measure counts noise core:250 --report docs/mutants.md

build: $(BUILD)/.installed
	locks/build.sh $(BUILD)/bin

installed: build
	locks/installed.sh $(PYTHON)

image: $(BUILD)/.installed
	DAWA_TARGET=$${DAWA_TARGET:-$$(uname -m | sed s/arm64/aarch64/)-linux-gnu.2.17} locks/build.sh $(BUILD)/bin
	locks/image.sh $(IMAGE)

lowest: $(BUILD)/.installed
	locks/lowest.sh $(BUILD)/bin $(PYTHON)

locks: $(BUILD)/.installed
	$(COMPILE) pyproject.toml locks/build.in --extra release --output-file locks/run.txt
	$(COMPILE) pyproject.toml locks/build.in --extra test --extra check --extra docs --constraint locks/run.txt --output-file locks/dev.txt
	$(COMPILE) pyproject.toml --extra release --extra postgres --extra serve --extra signing --constraint locks/dev.txt --output-file locks/image.txt
	$(COMPILE) locks/tools.in locks/build.in --output-file locks/build.txt

bench: $(VENV)/.installed-dev
	$(BIN)/python -m dawa_bench.noise
	$(BIN)/python -m dawa_bench.strategies
	$(BIN)/python -m dawa_bench.speed
	$(BIN)/python -m dawa_bench.accuracy
	$(BIN)/python -m dawa_bench.startup

rivals: $(VENV)/.installed-dev
	$(BIN)/python -m dawa_bench.rivals

maps: $(VENV)/.installed-dev
	$(BIN)/python -m dawa_bench.maps
	$(BIN)/python -m dawa_bench.places

$(VENV)/.installed: pyproject.toml locks/run.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dawa needs Python 3.11 or newer. Hint: make PYTHON=python3.12")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing dawa and its dependencies into $(VENV) (once)"
	@$(BIN)/python $(LOCKED) locks/run.txt
	@$(BIN)/python $(ITSELF)
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed locks/dev.txt
	@echo "Installing what tests and checks need (once)"
	@$(BIN)/python $(LOCKED) locks/dev.txt
	@touch $@

$(BUILD)/.installed: locks/build.txt
	@test -x $(BUILD)/bin/python || $(PYTHON) -m venv $(BUILD)
	@echo "Installing what makes packages and locks into $(BUILD) (once)"
	@$(BUILD)/bin/python $(LOCKED) locks/build.txt
	@touch $@

node_modules/.installed: package.json package-lock.json .npmrc
	@command -v npm >/dev/null || { echo "make check needs npm, for the linter of the pages' scripts. Hint: apt-get install npm, or brew install node"; exit 1; }
	@echo "Installing the linter of the pages' scripts into node_modules (once)"
	@npm ci --silent --ignore-scripts
	@touch $@

clean:
	rm -rf $(VENV) $(BUILD) .venv-lowest dist out/site out/notebooks node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis build
