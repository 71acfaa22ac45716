# flinkplan: `make demo` shows it at work, `make test` checks it; `make help` lists the rest.

PYTHON ?= python3
SAMPLE ?= hourly-departures

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO := out/demo

NIGHTLY := clusters soak soak-state soak-kafka soak-lake soak-cdc soak-functions soak-windows parity-windows parity-batches parity-stream parity-partitions parity-real-time parity-upserts fuzz fuzz-upserts

MAKEFLAGS += --no-print-directory
# The tests start many processes, each of which would compile all modules anew
unexport PYTHONDONTWRITEBYTECODE
.DEFAULT_GOAL := help
.PHONY: help venv java demo check test tests tests-in-python nightly soak soak-state soak-kafka soak-lake soak-cdc soak-functions soak-windows clusters fuzz fuzz-upserts lint lint-java format docs bench bench-guard parity parity-stream parity-batches parity-partitions parity-real-time parity-upserts parity-upserts-flink parity-windows parity-flink first-try state-restore state-flink state-random like-flink wheel clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

venv: $(STAMP) ## create .venv and install flinkplan with its development tools

$(STAMP): pyproject.toml
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || { \
	  $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	    echo "flinkplan needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>/dev/null || echo missing)." \
	      "Name another one: make PYTHON=python3.12" >&2; exit 1; }; \
	  echo "Creating $(VENV)"; \
	  $(PYTHON) -m venv --clear $(VENV); }
	@echo "Installing flinkplan and its development tools into $(VENV), a few minutes the first time"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -e '.[dev]'
	@touch $@

# Spark runs on the JVM and flinkplan's own operators are compiled with javac. JAVA_HOME, where set, decides.
java:
	@javac="$${JAVA_HOME:+$$JAVA_HOME/bin/}javac"; \
	major=$$("$$javac" -version 2>&1 | sed -n 's/^javac \([0-9][0-9]*\).*/\1/p'); \
	[ "$${major:-0}" -ge 17 ] || { \
	  if [ -n "$$major" ]; then echo "flinkplan needs a JDK 17 or newer; '$$javac' is $$major."; \
	  else echo "flinkplan needs a JDK 17 or newer; there is no '$$javac'."; fi; \
	  echo "Install one, and let JAVA_HOME, if it is set, point to it:"; \
	  $(PYTHON) flinkplan/executor/runtime/jdk.py; \
	  exit 1; } >&2

demo: java venv ## compile a sample, execute its plan on Spark, print the result (SAMPLE=folder of sample_plans)
	@rm -rf $(DEMO) && mkdir -p $(DEMO)/output
	$(BIN)/flinkplan compile $(wildcard sample_plans/$(SAMPLE)/pipeline.*) -o $(DEMO)/plan.json --force
	@demo="$(firstword $(wildcard sample_plans/$(SAMPLE)/demo*.py))"; \
	if [ -n "$$demo" ]; then $(BIN)/python "$$demo" $(DEMO); else \
	  echo $(BIN)/flinkplan execute $(DEMO)/plan.json --checkpoint $(DEMO)/checkpoint; \
	  $(BIN)/flinkplan execute $(DEMO)/plan.json --var DATA="$(CURDIR)/sample_plans/data" \
	    --var OUT="$(CURDIR)/$(DEMO)/output" --checkpoint $(DEMO)/checkpoint && \
	  $(BIN)/python sample_plans/show.py $(DEMO)/output; fi
	@printf '%-11s %s\n' plan $(DEMO)/plan.json output $(DEMO)/output checkpoint $(DEMO)/checkpoint

# What lints has one process, and would leave a core idle if the tests waited for it
check: venv ## lint, types and all tests that start neither Spark nor other programs
	@$(MAKE) -j2 tests-in-python lint

test: java venv ## lint, types and all tests
	@$(MAKE) -j2 tests lint lint-java

tests-in-python: venv
	@FLINKPLAN_EXAMPLES=50 $(BIN)/python -m pytest -q -n 2 --dist loadgroup -m 'not spark and not programs'

# Three processes run whole files (tests/conftest.py): jobs wait often enough for two cores to have work for three
tests: java venv
	@$(BIN)/python -m pytest -q -n 3 --dist loadgroup --no-loadscope-reorder

# What make test leaves out, and why, stands with each test: pytest -rs lists it
nightly: java venv ## all that `make test` leaves out: tests marked nightly, every kill, cluster, window and mode of parity
	@$(BIN)/python -m pytest -q --nightly -m nightly
	@for target in $(NIGHTLY); do $(MAKE) $$target || exit 1; done

soak: java venv ## kill a running job 200 times, and one in real-time mode, and compare what they wrote
	@FLINKPLAN_KILLS=200 $(BIN)/python -m pytest -q tests/compat/test_kill.py tests/compat/test_kill_real_time.py

soak-state: java venv ## kill each command that writes state 50 times; those of savepoints with FLINK_PYTHON set
	@FLINKPLAN_KILLS=50 $(BIN)/python -m pytest -q --nightly tests/cli/test_state_kills.py

soak-kafka: java venv ## kill a running job between topics of Kafka 50 times, with the broker away once, and one in real-time mode
	@FLINKPLAN_KILLS=50 $(BIN)/python -m pytest -q --nightly tests/executor/kafka/test_kill.py tests/executor/kafka/test_kill_real_time.py

soak-lake: java venv ## kill jobs into a Delta, an Iceberg and a Paimon table, and over growing ones, 30 times each
	@FLINKPLAN_KILLS=30 $(BIN)/python -m pytest -q --nightly tests/executor/lake/test_kill.py tests/executor/lake/test_paimon_environment.py

soak-cdc: java venv ## kill jobs over a table of PostgreSQL, and of MariaDB, 30 times each, most around the end of its snapshot
	@FLINKPLAN_KILLS=30 $(BIN)/python -m pytest -q --nightly tests/executor/cdc/test_kill.py

soak-functions: java venv ## kill jobs with functions in Python 30 times, those in Java as well with FLINK_PYTHON set
	@FLINKPLAN_KILLS=30 $(BIN)/python -m pytest -q --nightly tests/executor/test_kill_functions.py

clusters: java venv ## kill executors and drivers of streams and bounded jobs on two kinds of clusters
	@FLINKPLAN_CLUSTERS=all $(BIN)/python -m pytest -q tests/executor/test_cluster.py

soak-windows: java venv ## hold global windows of a million keys for a simulated hour
	@$(BIN)/python -m tests.executor.soak_windows

fuzz: venv ## break ten thousand scripts and plans and a thousand specs by chance
	@FLINKPLAN_EXAMPLES=10000 $(BIN)/python -m pytest -q tests/planner/test_fuzz.py
	@FLINKPLAN_EXAMPLES=1000 $(BIN)/python -m pytest -q tests/planner/spec/test_fuzz.py
	@FLINKPLAN_EXAMPLES=10000 $(BIN)/python -m pytest -q -k changed_by_chance tests/compat/test_hostile.py

fuzz-upserts: java venv ## hold 100 seeds of queries over changing tables, into a database, against SQLite
	@FLINKPLAN_UPSERT_SEEDS=100 $(BIN)/python -m pytest -q --nightly tests/executor/upserts/test_fuzz.py
	@FLINKPLAN_UPSERT_SEEDS=20 FLINKPLAN_UPSERT_MODES=real-time $(BIN)/python -m pytest -q --nightly tests/executor/upserts/test_fuzz.py

lint: venv ## ruff, mypy and the layers of docs/architecture.md
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/lint-imports --no-logo --cache-dir .mypy_cache/imports >$(VENV)/imports.txt || { cat $(VENV)/imports.txt; exit 1; }
	@$(BIN)/mypy --no-error-summary flinkplan sample_plans/*.py sample_plans/*/*.py benchmarks/*.py tests

# Kernels travel between processes of one release only, so none of them needs a serialVersionUID.
lint-java: java venv ## what javac warns of in the kernels
	@jars="$$($(BIN)/python -c 'import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent / "jars")')"; \
	javac="$${JAVA_HOME:+$$JAVA_HOME/bin/}javac"; classes="$$(mktemp -d)"; status=0; \
	"$$javac" --release 17 -proc:none -Xlint:all,-serial,-path -Werror -cp "$$jars/*" -d "$$classes" \
	  $$(find flinkplan/executor/runtime/src -name '*.java') || status=$$?; rm -rf "$$classes"; exit $$status

format: venv ## format the code and sort its imports
	@$(BIN)/ruff check --quiet --fix-only
	@$(BIN)/ruff format

docs: venv ## build the site of docs/ into out/site
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -e '.[docs]'
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build -q --strict
	@echo out/site/index.html

bench: java venv ## measure the executor against Spark's own operators
	@$(BIN)/python benchmarks/run.py

bench-guard: java venv ## time eight short jobs against the commit before, and fail where one is slower by a tenth
	@$(BIN)/python benchmarks/guard.py

parity: java venv ## compare with plans and rows of real Flink; print the scoreboard
	@status=0; $(BIN)/python -m pytest tests/parity -q || status=$$?; \
	$(BIN)/python -m tests.parity.scoreboard && exit $$status

parity-stream: java venv ## compare the rows of the same plans run in micro-batches with those of real Flink
	@FLINKPLAN_PARITY=stream $(BIN)/python -m pytest tests/parity/test_rows.py -q

parity-batches: java venv ## compare rows and late rows of plans in event time: a row a batch, random batches, restarts
	@FLINKPLAN_PARITY=batches $(BIN)/python -m pytest tests/parity/test_batches.py \
	  tests/parity/datastream/test_batches.py -q -rs

parity-partitions: java venv ## compare the rows of the same plans, brought together as those of large inputs are
	@FLINKPLAN_PARITY=partitions $(BIN)/python -m pytest tests/parity/test_rows.py -q

parity-real-time: java venv ## compare the rows of the same plans run row by row with those of real Flink
	@FLINKPLAN_PARITY=real-time $(BIN)/python -m pytest tests/parity/test_rows.py -q -rs

parity-upserts: java venv ## compare what the same queries leave in sinks that take upserts with what Flink leaves
	@FLINKPLAN_UPSERTS=all $(BIN)/python -m pytest tests/parity/test_upserts.py -q

parity-windows: java venv ## compare all cases of windows of the DataStream API with real Flink, by Python classes too
	@FLINKPLAN_WINDOWS=all $(BIN)/python -m pytest tests/parity/datastream -q

parity-flink: venv ## execute our plans on real Flink and compare its rows (FLINK=python that has apache-flink)
	@[ -n "$(FLINK)" ] || { \
	  echo "Name a Python that has apache-flink 2.3: make parity-flink FLINK=path/to/bin/python" >&2; exit 1; }
	@FLINK_PYTHON="$(FLINK)" $(BIN)/python -m pytest tests/parity/test_flink.py -q

first-try: venv ## compile statements by chance here and on real Flink, and say how many plans are the same (FLINK=python, SEED=1)
	@[ -n "$(FLINK)" ] || { \
	  echo "Name a Python that has apache-flink 2.3: make first-try FLINK=path/to/bin/python" >&2; exit 1; }
	@$(BIN)/python -m tests.parity.first_try "$(FLINK)" --seed $(or $(SEED),1)

parity-upserts-flink: venv ## compare what is recorded for parity-upserts with real Flink (FLINK=python that has apache-flink)
	@[ -n "$(FLINK)" ] || { \
	  echo "Name a Python that has apache-flink 2.3: make parity-upserts-flink FLINK=path/to/bin/python" >&2; exit 1; }
	@$(BIN)/python -m tests.parity.upserts_flink "$(FLINK)" $(RECORD)

state-restore: java venv ## go on from savepoints of real Flink as it does itself (FLINK=python that has apache-flink)
	@[ -n "$(FLINK)" ] || { \
	  echo "Name a Python that has apache-flink 2.3: make state-restore FLINK=path/to/bin/python" >&2; exit 1; }
	@FLINK_PYTHON="$(FLINK)" $(BIN)/python -m tests.parity.savepoints $(or $(CASES),tests/parity/stopped) \
	  "$$(mktemp -d)/flink"

state-flink: java venv ## begin cases here and go on from their state on real Flink (FLINK=python that has apache-flink)
	@[ -n "$(FLINK)" ] || { \
	  echo "Name a Python that has apache-flink 2.3: make state-flink FLINK=path/to/bin/python" >&2; exit 1; }
	@FLINK_PYTHON="$(FLINK)" $(BIN)/python -m tests.parity.state_flink out/state-flink \
	  $(if $(N),--number $(N)) $(if $(SEED),--seed $(SEED)) $(CASES)

state-random: java venv ## begin random pipelines on one engine and go on on the other (FLINK=python that has apache-flink)
	@[ -n "$(FLINK)" ] || { \
	  echo "Name a Python that has apache-flink 2.3: make state-random FLINK=path/to/bin/python" >&2; exit 1; }
	@FLINK_PYTHON="$(FLINK)" $(BIN)/python -m tests.parity.random_cuts out/state-random \
	  $(if $(N),--number $(N)) $(if $(SEED),--seed $(SEED))

like-flink: venv ## start plans compiled --like others from their savepoints on real Flink (FLINK=python that has apache-flink)
	@[ -n "$(FLINK)" ] || { \
	  echo "Name a Python that has apache-flink 2.3: make like-flink FLINK=path/to/bin/python" >&2; exit 1; }
	@FLINK_PYTHON="$(FLINK)" $(BIN)/python -m pytest tests/compat/test_successions.py -q --update-golden

truth-flink: venv ## ask real Flink by savepoint what becomes of state, rule by rule (FLINK=python that has apache-flink)
	@[ -n "$(FLINK)" ] || { \
	  echo "Name a Python that has apache-flink 2.3: make truth-flink FLINK=path/to/bin/python" >&2; exit 1; }
	@FLINK_PYTHON="$(FLINK)" $(BIN)/python -m pytest tests/compat/test_truth_flink.py -q

truth-migrated: java venv ## let Spark, and Flink, go on from what migrate has made for changed plans (FLINK=python that has apache-flink)
	@[ -n "$(FLINK)" ] || { \
	  echo "Name a Python that has apache-flink 2.3: make truth-migrated FLINK=path/to/bin/python" >&2; exit 1; }
	@$(BIN)/python -m pytest --nightly tests/compat/test_truth_migrated_spark.py -q -rs
	@FLINK_PYTHON="$(FLINK)" $(BIN)/python -m pytest tests/compat/test_truth_migrated.py -q

wheel: java venv ## build a wheel into dist, with the compiled kernels, so that its users need no compiler
	@rm -rf build dist
	@$(BIN)/python -c 'from flinkplan.executor.runtime import jar; jar.ship()'
	@status=0; $(BIN)/python -m pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w dist . || status=$$?; \
	rm -rf build flinkplan/executor/runtime/*.jar; ls dist; exit $$status

clean: ## remove outputs, builds and caches (.venv stays)
	@rm -rf out build dist spark-warehouse metastore_db derby.log .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -not -path './$(VENV)/*' -prune -exec rm -rf {} +
