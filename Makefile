# make demo   set everything up and release a small table of people
# make test   set everything up and run every test
# make check  lint and type-check; needs npm for the scripts of pages
# make bench  speed and accuracy, as ratios to things measured in the same run
# make rivals every mechanism on the same footing
# make maps   every mechanism on maps, and one map at the paper's size
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test check bench rivals maps clean
.DEFAULT_GOAL := demo

demo: $(VENV)/.installed
	$(BIN)/dawa demo

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n auto --dist worksteal

check: $(VENV)/.installed-check node_modules/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	npm run --silent check

bench: $(VENV)/.installed-test
	$(BIN)/python -m dawa_bench.noise
	$(BIN)/python -m dawa_bench.strategies
	$(BIN)/python -m dawa_bench.speed
	$(BIN)/python -m dawa_bench.accuracy
	$(BIN)/python -m dawa_bench.startup

rivals: $(VENV)/.installed-test
	$(BIN)/python -m dawa_bench.rivals

maps: $(VENV)/.installed-test
	$(BIN)/python -m dawa_bench.maps
	$(BIN)/python -m dawa_bench.places

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dawa needs Python 3.11 or newer. Hint: make PYTHON=python3.12")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing dawa and its dependencies into $(VENV) (once)"
	@$(PIP) --editable .
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	@echo "Installing what the tests need (once)"
	@$(PIP) --editable ".[test]"
	@touch $@

$(VENV)/.installed-check: $(VENV)/.installed
	@echo "Installing the linter and the type checker (once)"
	@$(PIP) --editable ".[test,check]"
	@touch $@

node_modules/.installed: package.json package-lock.json .npmrc
	@command -v npm >/dev/null || { echo "make check needs npm, for the linter of the pages' scripts. Hint: apt-get install npm, or brew install node"; exit 1; }
	@echo "Installing the linter of the pages' scripts into node_modules (once)"
	@npm ci --silent --ignore-scripts
	@touch $@

clean:
	rm -rf $(VENV) node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis build
