# Set-up, tests and the two commands that a newcomer needs: make demo, make killmatrix.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PROFILE ?= quick
DEVICE ?= auto
MATRIX ?= matrices/local/$(PROFILE)

.PHONY: all demo killmatrix findings figures test lint docs clean

all: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: Python 3.11 or newer is needed; run: make PYTHON=python3.11" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[eval,report,export,cluster,docs,dev]'
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/python -m experiments.demo

killmatrix: $(STAMP)
	$(BIN)/gpu-eval run --profile $(PROFILE) --device $(DEVICE) --output $(MATRIX)

findings: $(STAMP)
	$(BIN)/python -m experiments.findings
	$(BIN)/python -m experiments.headline

# Everything generated in README, cards, docs and results, from the default matrix.
figures: $(STAMP)
	$(BIN)/python -m experiments.publish

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

clean:
	rm -rf $(VENV) matrices/local build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
