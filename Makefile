# Needs Python 3.11 or newer and make. `make help` lists the commands.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOWEST := build/lowest
DBT := build/dbt

# Extras that the tests need.
TEST_EXTRAS := charts clickhouse mysql postgres spark web

# One more than there are processors: tests of servers and pages mostly wait.
WORKERS := $(shell expr $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 1)

.PHONY: help demo setup test docs docs-update dbt lowest programs check format lint types layers benchmarks lock clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/build.installed ## Set up, then show the main job on built-in data
	@$(BIN)/unheard demo

setup: $(VENV)/dev.installed ## Set up for development

test: check programs $(DBT)/installed ## Set up, then run every check and every test
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup

docs: $(VENV)/docs.installed ## Build the documentation site into build/docs, without a network
	$(BIN)/python -m tools.build_docs

docs-update: $(VENV)/docs.installed dbt ## Rewrite the outputs in the documentation and the tree in ARCHITECTURE.md
	$(BIN)/python -m tools.architecture --update
	$(BIN)/python -m tools.doc_examples --update

dbt: $(VENV)/build.installed ## Write the macros of the dbt package anew from the formulas
	$(BIN)/python -m tools.build_dbt --update

lowest: $(LOWEST)/installed ## Test the core, tables and commands with the lowest versions allowed
	$(LOWEST)/bin/pytest -n $(WORKERS) --dist loadgroup tests/formulas tests/model tests/tables tests/analysis tests/cli

# The page is tested in a real browser, and MySQL's queries on a real MariaDB: pip brings neither.
MARIADB := $(shell PATH="$$PATH:/usr/sbin:/usr/local/sbin" command -v mariadbd)
CHROMIUM := $(shell command -v chromium || command -v chromium-browser)
MISSING := $(if $(CHROMIUM),,chromium fonts-liberation) $(if $(MARIADB),,mariadb-server-core mariadb-client-core)

programs: ## Set up the browser and the database server for the tests, where that can be done
	@if [ -z "$(strip $(MISSING))" ]; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Setting up $(strip $(MISSING)) (a minute or so the first time)"; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
			$(MISSING) >/dev/null || echo "$(strip $(MISSING)) could not be installed."; \
	else \
		echo "Missing, so their tests will be skipped (in CI they fail): $(strip $(MISSING))"; \
		echo "Install them, such as: apt-get install $(strip $(MISSING))"; \
	fi

# pre-commit runs the targets listed below it; it needs git to work.
check: $(VENV)/dev.installed ## Run every check but the tests
	@if git ls-files --error-unmatch Makefile >/dev/null 2>&1; then \
		$(BIN)/pre-commit run --all-files; \
	else \
		echo "Not a git checkout: running the checks without pre-commit."; \
		$(BIN)/pre-commit validate-config && $(MAKE) format lint types layers; \
	fi

format: $(VENV)/dev.installed ## Check the formatting (mend it with .venv/bin/ruff format)
	$(BIN)/ruff format --check

lint: $(VENV)/dev.installed ## Check the style
	$(BIN)/ruff check

types: $(VENV)/dev.installed ## Check the types
	$(BIN)/mypy

layers: $(VENV)/dev.installed ## Check that imports point downwards
	$(BIN)/lint-imports

benchmarks: $(VENV)/dev.installed ## Measure speed and coverage
	$(BIN)/python -m benchmarks

LOCK := uv pip compile --universal --python-version 3.11 \
	--generate-hashes --no-header --no-emit-index-url --no-strip-extras --annotation-style line --upgrade --quiet
LOCK_ALL := $(LOCK) pyproject.toml --all-extras

lock: ## Write the pins anew from pyproject.toml: newest and lowest versions (needs uv)
	$(LOCK_ALL) --group dev --output-file constraints.txt
	$(LOCK_ALL) --group build --group test --resolution lowest-direct --output-file constraints-lowest.txt
	$(LOCK) --group dbt --output-file constraints-dbt.txt

clean: ## Remove the environment, caches and build outputs
	rm -rf $(VENV) build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

$(VENV)/bin/python $(LOWEST)/bin/python $(DBT)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "unheard needs Python 3.11 or newer, and $(PYTHON) is not."; \
		echo "Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)"; \
		exit 1; }
	$(PYTHON) -m venv $(patsubst %/bin/python,%,$@)

# One stamp per dependency group: build for the demo, docs for the site, dev for the tests. Every download is checked
# against the hashes of constraints.txt; the checkout itself has none, hence the second step.
$(VENV)/dev.installed: EXTRAS := $(TEST_EXTRAS)
$(VENV)/build.installed $(VENV)/docs.installed: EXTRAS := charts web
$(VENV)/%.installed: Makefile pyproject.toml constraints.txt tools/requirements.py | $(VENV)/bin/python
	@echo "Setting up $(VENV) (a minute or so the first time)"
	@$(BIN)/python tools/requirements.py --group $* $(EXTRAS:%=--extra %) > $(VENV)/$*.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r $(VENV)/$*.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(LOWEST)/installed: Makefile pyproject.toml constraints-lowest.txt | $(LOWEST)/bin/python
	@echo "Setting up $(LOWEST) (a minute or so the first time)"
	@$(LOWEST)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r constraints-lowest.txt
	@$(LOWEST)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(DBT)/installed: Makefile constraints-dbt.txt | $(DBT)/bin/python
	@echo "Setting up $(DBT) (half a minute the first time)"
	@$(DBT)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r constraints-dbt.txt
	@touch $@
