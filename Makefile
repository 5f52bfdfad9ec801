# Everything a newcomer needs: `make run` and `make test`. Both need python3 and nothing else.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: run test setup check lock bench screenshots clean

run: setup
	@exec $(BIN)/python -m casino.up

test: setup
	@$(BIN)/python -m pytest -n 2 $(TESTS)

setup: $(STAMP)

$(STAMP): requirements.lock
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing what requirements.lock names …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	@touch $@

check: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@CABOCHON_CHECK=1 $(BIN)/python manage.py makemigrations --check --dry-run

lock: setup
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-emit-find-links --output-file requirements.lock requirements-dev.in

bench: setup
	@$(BIN)/python -m benchmarks.adjudicate

clean:
	rm -rf .venv .data
