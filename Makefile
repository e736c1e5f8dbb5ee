# Every target sets up its own environment in .venv and reuses it until pyproject.toml changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Packages for one framework are installed where that framework is.
FRAMEWORK_PACKAGES := packages/langchain-memorata packages/memorata-haystack
SATELLITES := $(filter-out $(FRAMEWORK_PACKAGES),$(wildcard packages/*))
ENV := $(VENV)/.installed
BENCH_ENV := $(VENV)/.installed-bench
BROWSER := $(VENV)/.browser
MODELS := $(VENV)/.models
# A package that names its public things shows only those; its rooms are named here.
DOCUMENTED := memorata memorata.aio memorata.testing $(addprefix memorata.,model text rank dedupe embed index store engine service) memorata_graph memorata_lab memorata_models memorata_server
# All packages together have a gate in pyproject.toml; these a higher one of their own.
CORE := src/memorata/model/*,src/memorata/text/*,src/memorata/rank/*,src/memorata/dedupe/*
export MEMORATA_MODELS := $(CURDIR)/$(VENV)/models

.PHONY: help demo test test-thorough coverage test-adapters test-typescript attack audit lock serve lint typecheck bench docs site clean
.DEFAULT_GOAL := help

help:  ## Show what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 24

# Bytecode is made of what is imported, when it is first: most of what is installed never is.
$(ENV): pyproject.toml $(wildcard packages/*/pyproject.toml) deploy/constraints.txt .ci/install.py Makefile
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Memorata needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Name another with: make PYTHON=python3.12 ...")'
	@echo "Setting up $(VENV), once: it takes a few minutes."
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python .ci/install.py --constraint deploy/constraints.txt --editable '.[dev]' $(addprefix --editable ,$(SATELLITES))
	@touch $@

# Exact versions: with hashes for the image, without for the checks, which also install what is not listed yet.
LOCK := uv pip compile --quiet --universal --python-version 3.11 --upgrade --custom-compile-command 'make lock'
lock: $(ENV)  ## Write the exact versions that the image and the checks install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	echo hatchling | $(BIN)/$(LOCK) --generate-hashes --extra encryption \
		--no-emit-package memorata --output-file deploy/requirements.lock \
		pyproject.toml packages/memorata-models/pyproject.toml packages/memorata-postgres/pyproject.toml packages/memorata-server/pyproject.toml -
	$(BIN)/$(LOCK) --no-annotate --extra dev --output-file deploy/constraints.txt pyproject.toml

# The models are checked against pinned hashes; the demo can do without (it then says so), the tests cannot.
$(MODELS): $(ENV)
	for model in arctic-embed-s potion-base-8M potion-multilingual-128; do $(BIN)/memorata model install $$model || exit 1; done
	@touch $@

$(BENCH_ENV): $(ENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

demo: $(ENV)  ## Set up, then remember and recall a real conversation, with explanations
	@test -e $(MODELS) || $(MAKE) --no-print-directory $(MODELS) || echo "The better model could not be had; going on with the built-in one."
	@$(BIN)/python examples/demo.py

# The page is tested in a real browser, the shell of Chromium where there is one: it draws no window of its own and
# takes half the processor time. Where no browser can be installed, those tests are skipped and say so.
$(BROWSER): $(ENV)
	@command -v chromium-headless-shell >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; \
	then apt-get update --quiet=2 && apt-get install --quiet=2 --yes --no-install-recommends chromium-headless-shell && exit 0; fi; \
	for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
	echo "No browser: the tests of the page in a browser will be skipped."
	@touch $@

# Bytecode is kept, whatever the environment says: without it each of a few hundred processes that tests start
# compiles the package anew, and pytest rewrites the asserts of every test once for each worker.
test test-thorough coverage: export PYTHONDONTWRITEBYTECODE :=
# Every worker would multiply matrices with a thread for each processor, and these wait for each other by running
# in circles: a test that embeds two hundred texts took eight seconds of processor time instead of one and a half.
test test-thorough coverage: export OPENBLAS_NUM_THREADS := 1
# One worker more than there are processors: a worker that waits (a browser, a server, a process that is to be
# killed) leaves its processor to another. Two workers kept two processors busy for seven tenths of the time.
WORKERS = $$(($$(getconf _NPROCESSORS_ONLN) + 1))
# Tests write small databases, and every write waits for the disk: where memory has room for files, none does.
MEMORY := $(shell findmnt --noheadings --output OPTIONS --target /dev/shm 2>/dev/null | grep --invert-match --quiet noexec \
	&& test "$$(df --output=avail --block-size=1G /dev/shm | tail -1)" -ge 4 && echo --tmpdir=/dev/shm)
RUN_TESTS = folder=$$(mktemp -d $(MEMORY)) && chmod 755 "$$folder" && trap 'rm -rf "$$folder"' EXIT && \
	TMPDIR=$$folder $(BIN)/python -m pytest --numprocesses=$(WORKERS) --dist=worksteal
test: $(MODELS) $(BROWSER)  ## Set up, then run every test and doctest
	$(RUN_TESTS)

test-thorough: export MEMORATA_TEST_PROFILE := thorough
test-thorough: $(MODELS) $(BROWSER)  ## The same with more examples of each property, more rounds and larger data
	$(RUN_TESTS)

# A tracer makes the tests that it follows three quarters longer, so it runs where a change lands alone.
coverage: $(MODELS) $(BROWSER)  ## The same as test with branch coverage and its gates, as .ci/run does
	$(RUN_TESTS) --cov --cov-report=term
	@echo "Coverage of the pure core, in percent; at least 95:"
	@$(BIN)/coverage report --include="$(CORE)" --format=total --fail-under=95

# Frameworks bring dozens of packages and pin them, so their suites run in environments of their own, one for
# those that get along with each other.
FRAMEWORKS ?= .venv-frameworks
chains := --editable 'packages/langchain-memorata[test]' --editable 'packages/memorata-haystack[test]' langgraph
agents := openai-agents strands-agents llama-index-core agent-framework-core
services := google-adk pydantic-ai-slim anthropic mem0ai==2.2.1 pytest-asyncio pytest-mock
crews := crewai agno
hermes := hermes-agent
$(FRAMEWORKS)/%/.installed: pyproject.toml Makefile $(addsuffix /pyproject.toml,$(FRAMEWORK_PACKAGES))
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --editable . --editable packages/memorata-agents --editable packages/memorata-server $($*) \
		pytest coverage hypothesis
	@touch $@

# mem0 publishes its tests in its repository alone: fetched at one commit, kept beside the environments. Without
# network they are not run, and that is said; MEM0_REPOSITORY may name a clone.
MEM0_REPOSITORY ?= https://github.com/mem0ai/mem0
MEM0_COMMIT := 8d5b7865bd0521e75fe9ab1b260eeccc83f8a378
MEM0_TESTS := $(addprefix tests/,test_main.py test_memory.py memory/test_main.py memory/test_temporal_feature_notice.py)
$(FRAMEWORKS)/mem0/.fetched: Makefile
	rm -rf $(@D) && git init --quiet $(@D) && git -C $(@D) remote add origin $(MEM0_REPOSITORY)
	@git -C $(@D) fetch --quiet --depth 1 --filter blob:none origin $(MEM0_COMMIT) \
		&& git -C $(@D) checkout --quiet FETCH_HEAD -- tests && touch $@ || echo "mem0's own tests could not be fetched."

# A suite of the others is skipped in each of them. No framework tells its makers that it was tested.
test-adapters: export CREWAI_DISABLE_TELEMETRY := true
test-adapters: export OTEL_SDK_DISABLED := true
test-adapters: export MEM0_TELEMETRY := false
test-adapters: $(patsubst %,$(FRAMEWORKS)/%/.installed,chains agents services crews hermes) $(FRAMEWORKS)/mem0/.fetched  ## Run the suites of the frameworks that adapters are for
	for name in chains agents services crews hermes; do $(FRAMEWORKS)/$$name/bin/python -m pytest -q -p no:asyncio packages/memorata-agents/tests/adapters || exit 1; done
	@test -e $(FRAMEWORKS)/mem0/.fetched || { echo "mem0's own tests were not run: they could not be fetched."; exit 0; }; \
		python=$$(realpath --no-symlinks $(FRAMEWORKS)/services/bin/python) && cd $(FRAMEWORKS)/mem0 && \
		PYTHONPATH=$(CURDIR)/packages/memorata-agents/tests/adapters $$python -m pytest -q -rs --assert=plain --config-file=/dev/null --rootdir=. \
			-p no:cacheprovider -p mem0_suite -W ignore $(MEM0_TESTS)
	for package in $(FRAMEWORK_PACKAGES); do $(FRAMEWORKS)/chains/bin/python -m pytest -q --config-file $$package/pyproject.toml $$package || exit 1; done

# The packages come from npm; without them `make test` skips these tests and says so.
test-typescript: $(MODELS)  ## Build the TypeScript client and run its tests against a real server
	cd clients/typescript && npm install --no-audit --no-fund --no-package-lock
	$(BIN)/python -m pytest -q packages/memorata-server/tests/clients

# The parts of `tests/security` that take long: silent sockets, damaged files, kills, and an hour of fuzzing.
# atheris has no wheels for every Python: without it there is no fuzzing.
FUZZ_SECONDS ?= 600
# MEMORATA_TEXTS may name a folder of JSON Lines: every text in it is remembered.
attack: $(MODELS)  ## Attack: silent sockets, damaged files, killed writers, fuzzing (FUZZ_SECONDS each)
	MEMORATA_ATTACK=1 $(BIN)/python -m pytest tests/security tests/reliability/test_kill.py tests/reliability/test_upkeep_kill.py tests/reliability/test_memory_use.py \
		tests/reliability/test_processes.py packages/memorata-postgres/tests/test_reliability.py packages/memorata-server/tests/http/test_openapi.py packages/memorata-server/tests/test_heads.py \
		packages/memorata-server/tests/mcp packages/memorata-agents/tests/test_hooks_client.py packages/memorata-agents/tests/test_hooks_daemon.py \
		tests/engine/write/test_any_text.py tests/engine/test_odd_arguments.py tests/test_linear_text.py
	$(BIN)/python -m pip install --quiet --disable-pip-version-check atheris
	$(BIN)/python -m tests.security.fuzz all $(FUZZ_SECONDS)

# Strict, or what cannot be looked up (no network, a mirror alone) would pass for sound.
LOOK_UP = $(BIN)/pip-audit --strict --disable-pip
audit: $(ENV)  ## List the versions in use (build/sbom.json, CycloneDX) and look them up among known vulnerabilities
	@mkdir -p build
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pip-audit cyclonedx-bom
	$(BIN)/cyclonedx-py environment $(BIN)/python --output-file build/sbom.json
	$(BIN)/python -m pip freeze --exclude-editable > build/versions.txt
	@$(LOOK_UP) --no-deps --requirement build/versions.txt && $(LOOK_UP) --require-hashes --requirement deploy/requirements.lock \
		|| { echo "Not looked up, or vulnerable: see above. The list of versions is in build/sbom.json."; exit 1; }

lint: $(ENV)  ## Check style and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

typecheck: $(ENV)  ## Check types (mypy strict)
	nice $(BIN)/mypy

bench: $(BENCH_ENV) $(MODELS)  ## Compare the core and the engine with the libraries people would pick
	$(BIN)/python -m benchmarks.core
	$(BIN)/python -m benchmarks.engine --peers

docs: $(ENV)  ## Build the API reference into build/docs
	$(BIN)/pdoc --docformat numpy --output-directory build/docs $(DOCUMENTED)

site: $(ENV)  ## Build the documentation site into build/site, with the API reference, and check its links
	$(BIN)/python docs/write_site.py build/pages
	$(BIN)/python -m zensical build --strict
	$(BIN)/pdoc --docformat numpy --output-directory build/site/api $(DOCUMENTED)
	$(BIN)/python docs/write_site.py --check build/site

serve: docs  ## Serve the API reference on http://127.0.0.1:8000
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory build/docs 8000

clean:  ## Remove the environment and everything built
	rm -rf $(VENV) $(FRAMEWORKS) build dist .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
