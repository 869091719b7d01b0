# Everything runs in .venv, which is made on first use and again when pyproject.toml or constraints.txt change.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export OMP_WAIT_POLICY ?= PASSIVE

.PHONY: demo test check fix bench docs clean help

help:  ## show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /	/'

demo: $(VENV)/ready  ## audit the built-in collection: a verdict here, a page in report/index.html
	$(BIN)/ringtrue audit --out report --page index.html

test: $(VENV)/ready-dev  ## run all tests
	$(BIN)/python -m pytest -n 2

check: $(VENV)/ready-dev  ## style, types, layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: $(VENV)/ready-dev  ## mend what can be mended by a machine
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(VENV)/ready-bench  ## measure, peers in the same run; results in benchmarks/results
	$(BIN)/python -m benchmarks

docs: $(VENV)/ready  ## write the command reference and the README's example again
	$(BIN)/python docs/build.py

clean:  ## remove the environment and the report
	rm -rf $(VENV) report

$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ringtrue needs Python 3.11 or newer; set PYTHON=python3.x")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/ready-dev: $(VENV)/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,annotate,energy,neural,warc]'
	@touch $@

$(VENV)/ready-bench: $(VENV)/ready-dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	@touch $@
