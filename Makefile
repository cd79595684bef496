# Everything a contributor runs, each target complete on a fresh machine.

PYTHON ?= python3
PYTEST_ARGS ?= -q -n 2 --dist worksteal
LIMIT ?= 600
MACHINE ?= cpu
SEED ?= 0

venv := .venv
bin := $(venv)/bin
runtime := $(venv)/.runtime
dev := $(venv)/.dev
docs := $(venv)/.docs
peers_venv := .venv-bench
peers := $(peers_venv)/.peers

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_CONSTRAINT := constraints.txt
export PIP_BUILD_CONSTRAINT := constraints.txt
# Silences the banner of mkdocs-material about MkDocs 2, which the constraints keep out.
export NO_MKDOCS_2_WARNING := 1
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

install := $(bin)/python -m pip install -qq --no-input --editable

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test lint format docs serve-docs bench race speed trust clean

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(dev) ## Make .venv with everything needed to work on hcpinn
	@echo "$(venv) is ready"

demo: $(runtime) ## Solve a stiff Allen–Cahn problem to a verified 1e-6, figures in out/demo
	@$(bin)/hcpinn solve allen-cahn-1 --accuracy 1e-6 --out out/demo

test: lint ## Run every check: format, lint, types, layers, tests
	@echo "Tests"
	@$(bin)/pytest $(PYTEST_ARGS)

lint: $(dev) ## Check format, lint, types and layers
	@echo "Format and lint"
	@$(bin)/ruff format --check --output-format concise .
	@$(bin)/ruff check --output-format concise .
	@echo "Types"
	@$(bin)/pyright
	@echo "Layers"
	@said=$$($(bin)/lint-imports --no-cache --no-logo 2>&1) && echo "$$said" | grep "^Contracts:" || { echo "$$said"; exit 1; }

format: $(dev) ## Format the code and mend what ruff can mend
	@$(bin)/ruff check --fix-only --quiet .
	@$(bin)/ruff format .

docs: $(docs) ## Build the documentation into site/
	@echo "Documentation"
	@$(bin)/mkdocs build --strict --quiet --site-dir site
	@echo "Open site/index.html"

serve-docs: $(docs) ## Serve the documentation, rebuilt as you write
	@$(bin)/mkdocs serve

bench: $(peers) ## Time one training step against other libraries, which go into a .venv of their own
	@$(peers_venv)/bin/python benchmarks/step_time.py
	@$(peers_venv)/bin/python benchmarks/memory.py

race: $(peers) ## Error against seconds of whole solves, other libraries too; LIMIT=600 seconds for each
	@$(peers_venv)/bin/python benchmarks/time_to_accuracy.py run --limit $(LIMIT) --out out/race/race.json
	@$(peers_venv)/bin/python benchmarks/time_to_accuracy.py figure out/race/race.json --out out/race/race.png

results := benchmarks/results
measured = $(results)/$(1)-$(MACHINE).json

speed: $(peers) ## Measure all that docs/guides/speed.md shows, and write it there: long. MACHINE=cpu names it
	@$(peers_venv)/bin/hcpinn bench --out $(call measured,bench)
	@$(peers_venv)/bin/python benchmarks/stages.py run --out $(call measured,stages)
	@$(peers_venv)/bin/python benchmarks/growth.py run --out $(call measured,growth)
	@$(peers_venv)/bin/python benchmarks/compile_time.py run --out $(call measured,compile_time)
	@$(peers_venv)/bin/python benchmarks/step_time.py --out $(call measured,step_time)
	@$(peers_venv)/bin/python benchmarks/time_to_accuracy.py run --limit $(LIMIT) --out $(call measured,time_to_accuracy)
	@$(peers_venv)/bin/python benchmarks/speed_page.py

trust: $(dev) ## Attack the verdicts: random problems, clumsy input, kills, bad files; SEED=3 draws others
	@$(bin)/python benchmarks/campaign.py --seed $(SEED) --out $(call measured,trust)
	@$(bin)/python benchmarks/trust_page.py

clean: ## Remove the .venvs, caches and built files; results in out/ stay
	@rm -rf $(venv) $(peers_venv) site build dist .pytest_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps keep what is installed: `make demo` needs the runtime alone, and each is
# renewed when the dependencies change.

$(bin)/python:
	@command -v $(PYTHON) > /dev/null || { \
	  echo "There is no '$(PYTHON)' here. Install Python 3.11 or newer, or name one: make PYTHON=python3.12 …" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "hcpinn needs Python 3.11 or newer, but '$(PYTHON)' is $$($(PYTHON) -V 2>&1). Name another: make PYTHON=python3.12 …" >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(venv)

$(runtime): pyproject.toml constraints.txt | $(bin)/python
	@echo "Installing hcpinn into $(venv)"
	@$(install) .
	@touch $@

$(dev): pyproject.toml constraints.txt | $(bin)/python
	@echo "Installing hcpinn and its development tools into $(venv)"
	@$(install) '.[dev]'
	@touch $@ $(runtime)

$(docs): pyproject.toml constraints.txt | $(bin)/python
	@echo "Installing hcpinn and its documentation tools into $(venv)"
	@$(install) '.[docs]'
	@touch $@ $(runtime)

$(peers): pyproject.toml constraints.txt | $(bin)/python
	@echo "Installing hcpinn and the libraries it is compared with into $(peers_venv)"
	@$(PYTHON) -m venv --clear $(peers_venv)
	@$(peers_venv)/bin/python -m pip install -qq --no-input torch==2.13.0
	@$(peers_venv)/bin/python -m pip install -qq --no-input --editable '.[bench]'
	@touch $@
