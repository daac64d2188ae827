# Two commands: `make lab` runs every claim and writes the report, `make test` runs the tests.
# `make help` lists the others: the text after ## beside each target.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

DOCS_READY := $(VENV)/.docs-ready

.PHONY: help setup lab test tests test-slow faults prove coq lint rows seeds catalogue docs site pictures bench bench-gpu lock clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## .venv with the locked requirements

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "paritylab needs Python 3.11 or newer; call make PYTHON=python3.12, for example"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing the locked requirements into $(VENV) (about a minute the first time) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(READY)

# Every claim, then two small sweeps side by side for the phase diagrams; the second check finds all
# verdicts stored and writes the page again with the diagrams.
lab: setup ## every claim, and the page report/index.html
	@$(BIN)/paritylab check --report report
	@$(BIN)/paritylab sweep run temperature --effort quick & first=$$!; \
	  $(BIN)/paritylab sweep run chain-samples --effort quick && wait $$first
	@$(BIN)/paritylab check --report report > /dev/null

# Side by side, because mypy keeps a single core busy.
test: setup ## linters, types and tests
	@$(MAKE) --no-print-directory --jobs=2 lint tests

tests: setup ## the tests alone
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-slow: setup ## the tests that take longer
	$(BIN)/python -m pytest -n 2 --dist loadfile -m slow

# What is lost, doubled or wrong when things break: kills, full disks, resumed sweeps, hostile files.
faults: setup ## kills, full disks, hostile files
	$(BIN)/python -m tests.faults

# All certificates, the long one side by side on every core; docs/concepts/certificates.md.
prove: setup ## verify every certificate in ball arithmetic
	$(BIN)/paritylab prove

# Needs Rocq (Coq) 8.16 or newer with CoqInterval; installs nothing. Writes the files anew, compiles
# them, prints the axioms they rest on and has them checked again by the independent checker.
ROCQ := .rocq
coq: setup ## check certificates in a second prover
	@command -v coqc > /dev/null && command -v coqchk > /dev/null || \
	  { echo "make coq needs coqc and CoqInterval; on Debian: apt-get install coq libcoq-interval"; exit 2; }
	@$(BIN)/paritylab prove --coq $(ROCQ)
	@cd $(ROCQ) && for file in Model $$(ls *.v | sed 's/\.v$$//' | grep -v -e Model -e All) All; do \
	  echo "coqc $$file.v"; coqc -w none -Q . Paritylab $$file.v || exit 1; done
	cd $(ROCQ) && coqchk -silent -o -Q . Paritylab $$(ls *.v | sed 's/\(.*\)\.v$$/-norec Paritylab.\1/')

lint: setup ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The rows behind the numbers in docs/ and README; run before make docs when verdicts changed.
rows: setup ## run every claim for the numbers in the documents
	$(BIN)/paritylab check --json docs/rows.json
	$(BIN)/paritylab prove --record --json docs/proofs.json

# One seed after the other; SEEDS=4 for the first four, EFFORT=default for longer runs.
SEEDS ?= 12
EFFORT ?= quick
seeds: setup ## every claim at seeds that were written down before
	$(BIN)/python docs/fresh_seeds.py --most $(SEEDS) --effort $(EFFORT)

catalogue: setup ## what `paritylab train --help` knows of learners
	@$(BIN)/python -c 'from paritylab.cli.catalogue import write_catalogue as write; write()'

docs: setup ## the generated documents, from rows
	$(BIN)/python docs/build.py
	$(BIN)/python docs/notebooks.py

site: setup $(DOCS_READY) ## documents, reference, live page and report as one folder: site/
	@$(BIN)/python docs/website.py

$(DOCS_READY): $(READY) docs/requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r docs/requirements.lock
	@touch $(DOCS_READY)

pictures: setup ## the pictures in the documents; needs a Chromium
	$(BIN)/python docs/screenshots.py

# Ours, a peer and a floor side by side; tables go to docs/benchmarks.md.
bench: setup ## timings compared with a peer and a floor
	$(BIN)/python benchmarks/cpu.py
	$(BIN)/python benchmarks/growth.py

# On a machine with an accelerator.
bench-gpu: setup ## the same on an accelerator
	$(BIN)/python benchmarks/gpu.py
	$(BIN)/python benchmarks/wide.py --sizes 4096 16384 65536
	$(BIN)/python benchmarks/wide.py --hidden --sizes 65536

# Needs uv; run after a change to the requirements in pyproject.toml.
lock: ## the two locks, from pyproject.toml
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --group pyproject.toml:dev pyproject.toml --output-file requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --constraint requirements.lock --group pyproject.toml:docs pyproject.toml --output-file docs/requirements.lock

clean: ## remove everything made here
	rm -rf $(VENV) $(ROCQ) report site dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
