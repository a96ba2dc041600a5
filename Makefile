# From a bare checkout: `make demo` to see it, `make test` to trust it.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
RUNS ?= runs
BENCH ?=

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-faults test-browser check format bench-cpu bench-gpu bench-more clean

help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# A stamp per environment: a second run finds it newer than pyproject.toml and starts at once.
$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(None if v >= (3, 11) else "tangentlab needs Python 3.11 or later, $(PYTHON) is %d.%d; say make PYTHON=python3.12 ..." % v[:2])'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@ $(VENV)/.run

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.test $(VENV)/.run

demo: $(VENV)/.run ## The whole pipeline on real digits: a table, figures and a report in two minutes
	$(BIN)/tangentlab demo --output $(RUNS)

test: $(VENV)/.test ## The whole suite (real CIFAR-10 and MNIST too where TANGENTLAB_DATA has them)
	$(BIN)/python -m pytest --numprocesses 2

test-slow: $(VENV)/.test ## The tests marked slow
	$(BIN)/python -m pytest --numprocesses 2 -m slow

test-faults: $(VENV)/.test ## Workers, schedulers and disks of a cluster that fail, as real processes
	$(BIN)/python -m pytest -m faults tests/cluster

test-browser: $(VENV)/.test ## Open a report in headless Chromium and look for figures and console errors
	$(BIN)/python -m pytest -m browser

check: $(VENV)/.dev ## Lint, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

format: $(VENV)/.dev ## Format the code and sort its imports
	$(BIN)/ruff check --fix --select I .
	$(BIN)/ruff format .

bench-gpu: $(VENV)/.run ## tl.gram on an accelerator, all of CIFAR-10; writes docs/benchmarks.md (15 minutes; options in BENCH)
	$(BIN)/python -m benchmarks.gpu $(BENCH)

bench-cpu: $(VENV)/.run ## tl.gram beside its peers on the CPU; writes docs/benchmarks.md (hours; options in BENCH)
	$(BIN)/python -m benchmarks.cpu $(BENCH)

bench-more: ## Spectra, training, closed forms, infinite width: the commands that measure each
	@echo "$(BIN)/python -m benchmarks.spectra      # all or leading eigenpairs, beside LAPACK and eigsh"
	@echo "$(BIN)/python -m benchmarks.training     # tasks together, function space, growth; --help lists cases"
	@echo "$(BIN)/python -m benchmarks.predict      # conjugate gradients at n = 20,000"
	@echo "$(BIN)/python -m benchmarks.infinite     # kernels of wide networks beside neural-tangents"
	@echo "$(BIN)/python -m benchmarks.infinite_accuracy  # CIFAR-10 by these kernels; tiles, goes on"
	@echo "$(BIN)/python -m benchmarks.cluster      # one worker, two, none; --wire counts bytes; writes docs/scale.md"
	@echo "$(BIN)/python -m benchmarks.scale        # the plan for a million samples, from the stored GPU rates"

clean: ## Remove the environment and caches (runs are kept)
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis build dist
