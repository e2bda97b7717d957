# pam's commands; `make setup` is all the others need, and they call it themselves.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
ONLY   ?=
SEED   ?=
ROUNDS ?= 30

.DEFAULT_GOAL := help
.PHONY: help setup run demo test check format lint types imports docs docs-check real-cli bench faults screenshots lock clean

help:            ## what can be made
	@sed -n 's/^\([a-z-]*\): .*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

setup: $(READY)  ## a virtual environment from the lock, and tmux where a package manager can bring it
	@.ci/tmux

$(READY): requirements.lock pyproject.toml app/_launch.py
	@.ci/venv "$(PYTHON)" "$(VENV)"
	@touch $@

run: setup       ## open the control room
	@$(BIN)/pam

demo: setup      ## three demo agents and a shell run at once, on a home and a tmux server of their own
	@$(BIN)/pam demo

test: setup      ## every test but those that install agent CLIs from npm
	$(BIN)/pytest -m "not real_cli" -n auto $(ARGS)

real-cli: setup  ## install the pinned agent CLIs from npm, all or CLIS="claude codex", and drive them against a stub model
	$(BIN)/python -m tests.support.real_clis $(CLIS)
	export PAM_REAL_CLIS="$(CLIS)"; $(BIN)/pytest -m real_cli tests/real_cli $(ARGS)

check: setup lint types imports test docs-check ## everything that has to hold before a commit

format: setup    ## write the one format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

lint: setup      ## format and lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: setup     ## mypy, strict
	$(BIN)/mypy

imports: setup   ## imports run one way
	$(BIN)/lint-imports

docs: setup      ## write the generated pages
	@$(BIN)/pam docs write

docs-check: setup ## the generated pages are what the code says
	$(BIN)/pam docs check

bench: setup     ## measure; ONLY=name picks; writes bench-report.json
	@$(BIN)/python tests/bench/run.py $(ONLY)

faults: setup    ## break things until something gives; SEED=7 or SEED=1-20 (any one), ROUNDS=30 faults for each
	@$(BIN)/python tests/faults/run.py "$(SEED)" "$(ROUNDS)"

screenshots: setup ## draw the README's pictures anew, of real agents in a home of their own
	@$(BIN)/python -m tests.support.screenshots

lock: setup      ## resolve the dependencies anew into requirements.lock
	@.ci/lock "$(VENV)"

clean:           ## remove what was built here
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache bench-report.json
