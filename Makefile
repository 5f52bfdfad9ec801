# Everything a newcomer needs: `make run` and `make test`. Both need python3 and nothing else.

PYTHON ?= python3
BIN := .venv/bin
LOCK_SHA256 := $(shell $(PYTHON) -c "import hashlib; print(hashlib.sha256(open('requirements.lock', 'rb').read()).hexdigest())")
STAMP := .venv/installed-$(LOCK_SHA256)
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links

.PHONY: run test setup check lock bench clean

run: setup
	@exec $(BIN)/python -m casino.up

test: setup
	@$(BIN)/python -m pytest -n 2 $(TESTS)

setup: $(STAMP)

# The stamp is named after the lock's content: a lock that was changed, by hand or by a pull, is installed again.
$(STAMP):
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Python 3.11 or newer is needed: make PYTHON=…')"
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	@echo "Installing what requirements.lock names …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	@rm -f .venv/installed-*
	@touch $@

check: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/python -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run  # which warns without a database

lock: setup
	@$(COMPILE) --output-file requirements.lock requirements-dev.in
	@$(COMPILE) --constraint requirements.lock --output-file requirements-runtime.lock requirements.in

bench: setup
	@$(BIN)/python -m benchmarks.adjudicate

clean:
	rm -rf .venv .data
