# `make run` and `make test` need python3 and nothing else. The first installs what it runs, the second all that is here.
#
#   run      everything on this machine: see casino/up.py
#   quick    the law and the record in a minute: no browser, no processes
#   test     every test, with what takes longest in a short form; in an order drawn anew, which SEED=1 repeats
#   faults   the long forms: every crash point, whole deployments that hang, die, fill a disk or lack rights, every
#            user of the matrix with every method, a phone's width, 100,000 coups read a second time; PART=0 to 11 is a
#            twelfth of them
#   soak     the longest forms, before a release: 1,000 fault schedules, 900,000 other coups read a second time, 10,000
#            coups of human nights of each game, twenty table years of the ledger
#   search   the property tests with examples drawn anew; SEED=1 repeats a draw and the order
#   check    everything that is checked without running a test
#   pythons  `make quick` on each Python that is supported and installed; ONLY=3.13
#   release  the four packages, built twice and compared, with their hashes and the SBOM, in dist/
#   inventory  sbom.cdx.json and THIRD_PARTY_LICENSES.txt, from the lock
#   docs     the documentation site on localhost:8001, with its search; nothing is loaded from elsewhere
#   rule-examples  the examples on the pages of rules, from the tapes of the tests
#   pictures a picture of every page of the desk, for docs/desk.md; ONLY=queue, ALL=1, OUT=FOLDER
#   mutants  mutation testing; ONLY=settlement/night/value.py, SAMPLE=200, SEED=1

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links

# What has been installed, named after the content of its locks: a lock that was changed is installed again.
installed = $(VENV)/$(1)-$(shell cat $(2) requirements-uv.lock | \
	$(PYTHON) -c "import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())")
RUN_LOCKS = requirements-runtime.lock requirements-embedded.lock
TO_RUN := $(call installed,run,$(RUN_LOCKS))
TO_TEST := $(call installed,test,requirements.lock)

QUICK = tests/test_*.py tests/conformance tests/settlement tests/audit/event_store tests/audit/ingest tests/audit/adjudication

ORDER = $(if $(SEED),--randomly-seed=$(SEED))

# Modules are compiled once, not by each of the many processes of a run.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run quick test faults soak search setup check pythons release inventory docs rule-examples pictures mutants lock bench clean

run: $(TO_RUN)
	@exec $(BIN)/python -m casino.up

# A worker for each processor: PostgreSQL works while a worker waits for it. Each takes a gigabyte of memory.
test: setup
	@$(BIN)/python -m pytest -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder $(ORDER) $(TESTS)

# Left to `make test`: what takes long, the statistics of the night and of the ledger, the oracles of the law that others
# wrote, and how the code reads.
LONG = --ignore tests/settlement/oracles --ignore tests/settlement/night --ignore tests/settlement/eprocess \
	--ignore tests/audit/adjudication/test_any_order_of_runs.py --ignore tests/test_words.py --ignore tests/test_tidy.py --deselect tests/audit/adjudication/test_replay.py::$(strip \
	test_every_conformance_stream_recorded_and_replayed_in_small_steps_answers_as_one_run)

quick: setup
	@$(BIN)/python -m pytest -n 2 --dist worksteal $(LONG) $(QUICK)

# To read every module of the tests takes each worker longer than many a test.
faults: setup
	@$(BIN)/python -m pytest -n 4 --dist worksteal $(ORDER) -m faults \
		$(shell grep -rlE --include='test_*.py' 'mark\.faults|in_short' tests | sort $(if $(PART),| awk 'NR % 12 == $(PART)'))

soak: setup
	@$(BIN)/python -m pytest -n 3 --dist worksteal $(ORDER) -m soak tests

search: setup
	@CABOCHON_EXAMPLES=drawn $(BIN)/python -m pytest -n 3 --dist worksteal $(ORDER) -m "hypothesis and not faults and not soak" \
		$(if $(SEED),--hypothesis-seed=$(SEED)) $(or $(TESTS),tests)

setup: $(TO_TEST)

# pip installs uv, and uv the rest. uv reads no configuration of pip: it is told which index pip uses, and where it cannot
# install from there, pip does.
define install
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Python 3.11 or newer is needed: make PYTHON=…')"
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	@echo "Installing what $(1) names …"
	@rm -f $(VENV)/run-* $(VENV)/test-*
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements-uv.lock
	@index=$${PIP_INDEX_URL:-$$($(BIN)/pip config get global.index-url 2>/dev/null)}; \
	env $${index:+UV_DEFAULT_INDEX="$$index"} \
		$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes --compile-bytecode $(1) || \
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes $(addprefix --requirement ,$(1))
endef

$(TO_RUN):
	$(call install,$(RUN_LOCKS))
	@touch $@

$(TO_TEST):
	$(call install,requirements.lock)
	@touch $@ $(TO_RUN)

check: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@PYTHONPATH=client $(BIN)/lint-imports --no-cache
	@$(BIN)/vulture
	@$(BIN)/zizmor --offline --persona=auditor --quiet .github
	@if command -v actionlint >/dev/null; then actionlint; fi  # a program of Go: the workflow installs it
	@$(BIN)/python -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run  # which warns without a database
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict 2>$(VENV)/site.log || { cat $(VENV)/site.log; exit 1; }  # --quiet would not count warnings

pythons: setup
	@.ci/pythons $(ONLY)

release: setup
	@$(BIN)/python .ci/release.py

docs: setup
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve --dev-addr localhost:8001

pictures: setup
	@$(BIN)/python .ci/pictures.py $(if $(ONLY),--only $(ONLY)) $(if $(ALL),--all) $(if $(OUT),--out $(OUT))

rule-examples: setup
	@$(BIN)/python .ci/rule_examples.py

mutants: setup
	@$(BIN)/python .ci/mutants.py $(if $(ONLY),--only $(ONLY)) $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(SEED),--seed $(SEED))

# requirements.lock decides: the others have its versions.
lock: setup
	@$(COMPILE) --output-file requirements.lock requirements-dev.in
	@$(COMPILE) --constraint requirements.lock --output-file requirements-runtime.lock requirements.in
	@$(COMPILE) --constraint requirements.lock --output-file requirements-embedded.lock requirements-embedded.in
	@echo uv | $(COMPILE) --constraint requirements.lock --output-file requirements-uv.lock -
	@$(MAKE) --no-print-directory inventory

# What a deployment installs, as an SBOM and with every licence: after a change of the lock or of the version.
inventory: setup
	@$(BIN)/python .ci/inventory.py

bench: setup
	@$(BIN)/python -m benchmarks.adjudicate

clean:
	rm -rf .venv .data
