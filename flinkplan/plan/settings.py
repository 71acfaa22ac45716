"""The options of a session: each is declared once with its type, its default and its effect in flinkplan.

Sources: Flink 2.3's ``ExecutionConfigOptions``, ``OptimizerConfigOptions`` and ``TableConfigOptions``.  Flink's other
options, those of clusters, state backends and clients, are known by name only (``flink-options.txt``): they have no
effect in flinkplan, and :data:`FAMILIES` says what to use instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from .durations import parse_duration
from .errors import FlinkplanError
from .findings import nearest
from .options import (
    BOOLEAN,
    DURATION,
    POSITIVE,
    TEXT,
    TIME_ZONE,
    WHOLE,
    Option,
    OptionType,
    exactly_one_of,
    is_true,
    one_of,
    several_of,
)
from .settings_of_flink import DEFAULT_ONLY, SPARK, WITHOUT_EFFECT, Effect, Setting

RUNTIME_MODE = "execution.runtime-mode"
LOCAL_TIME_ZONE = "table.local-time-zone"
STATE_TTL = "table.exec.state.ttl"
LEGACY_CASTS = "table.exec.legacy-cast-behaviour"
IDLE_TIMEOUT = "table.exec.source.idle-timeout"
MINI_BATCH = "table.exec.mini-batch.enabled"
MINI_BATCH_LATENCY = "table.exec.mini-batch.allow-latency"
PHASES = "table.optimizer.agg-phase-strategy"
DETERMINISM = "table.optimizer.non-deterministic-update.strategy"
MATERIALIZER = "table.exec.sink.upsert-materialize-strategy.type"
JOIN_REORDER = "table.optimizer.join-reorder-enabled"
BUSHY_JOINS = "table.optimizer.bushy-join-reorder-threshold"
OVER_VERSION = "table.exec.unbounded-over.version"
COLUMN_EXPANSION = "table.column-expansion-strategy"
OPTIONS_HINTS = "table.dynamic-table-options.enabled"
DELTA_JOINS = "table.optimizer.delta-join.strategy"
PROCESS_TABLES = "table.optimizer.ptf.max-tables"


def _settings(effect: Effect, *rows: tuple[str, OptionType, str | None, str]) -> tuple[Setting, ...]:
    return tuple(Setting(Option(*row), effect) for row in rows)


_SINK, _EMIT, _OPTIMIZER = "table.exec.sink.", "table.exec.emit.", "table.optimizer."
_AUTO = one_of("NONE", "AUTO", "FORCE")
_SWITCH = one_of("ENABLED", "DISABLED")

JOB_PARAMETERS, PYTHON_METRICS = "pipeline.global-job-parameters", "python.metric.enabled"
PANDAS_ROWS = "python.fn-execution.arrow.batch.size"
BUNDLE_ROWS = "python.fn-execution.bundle.size"
ASYNC_SCALAR = "table.exec.async-scalar."

PROCESSING_TIME_JOINS = "table.exec.temporal-join.processing-time"
WAIT_FOR_SNAPSHOT = "WAIT-FOR-SNAPSHOT"

_COMPILING = _settings(
    Effect.COMPILING,
    ("table.exec.source.cdc-events-duplicate", BOOLEAN, "false", "sources may emit a change twice"),
    (MINI_BATCH, BOOLEAN, "false", "rows are processed in mini-batches"),
    (MINI_BATCH_LATENCY, DURATION, "0 ms", "the maximum time that rows wait for their batch"),
    ("table.exec.mini-batch.size", WHOLE, "-1", "the maximum number of rows in a batch"),
    ("table.exec.rank.topn-cache-size", WHOLE, "10000", "how many rows of a Top-N Flink caches in memory"),
    (
        "table.exec.deduplicate.insert-update-after-sensitive-enabled",
        BOOLEAN,
        "true",
        "a deduplication distinguishes inserts from updates",
    ),
    (
        "table.exec.deduplicate.mini-batch.compact-changes-enabled",
        BOOLEAN,
        "false",
        "a deduplication in mini-batches emits a key's last change only",
    ),
    (f"{_SINK}keyed-shuffle", _AUTO, "AUTO", "rows are shuffled by the sink's key"),
    (f"{_SINK}upsert-materialize", _AUTO, "AUTO", "a sink keeps rows in order to materialize upserts"),
    (f"{_SINK}require-on-conflict", BOOLEAN, "true", "a statement must have an ON CONFLICT clause if keys conflict"),
    (
        PROCESSING_TIME_JOINS,
        one_of("REFUSE", WAIT_FOR_SNAPSHOT),
        "refuse",
        "what processing-time temporal joins do, which Flink does not run; Flink does not know this option",
    ),
    (
        f"{_OPTIMIZER}agg-phase-strategy",
        one_of("AUTO", "ONE_PHASE", "TWO_PHASE"),
        "AUTO",
        "whether aggregations have a local phase",
    ),
    (f"{_OPTIMIZER}distinct-agg.split.enabled", BOOLEAN, "false", "DISTINCT aggregations are split in two"),
    (f"{_OPTIMIZER}distinct-agg.split.bucket-num", WHOLE, "1024", "the number of buckets of such a split"),
    (f"{_OPTIMIZER}incremental-agg-enabled", BOOLEAN, "true", "the two parts of such a split are combined"),
    (f"{_OPTIMIZER}reuse-sub-plan-enabled", BOOLEAN, "true", "equal parts of a plan are computed once"),
    (f"{_OPTIMIZER}reuse-source-enabled", BOOLEAN, "true", "equal sources are read once"),
    (f"{_OPTIMIZER}reuse-sink-enabled", BOOLEAN, "true", "equal sinks are written once"),
    (JOIN_REORDER, BOOLEAN, "false", "joins stand in the order that is expected to cost least"),
    (
        BUSHY_JOINS,
        WHOLE,
        "12",
        "the maximum number of tables in joins that are reordered; Flink orders more in another way, which is refused",
    ),
    (f"{_OPTIMIZER}multi-join.enabled", BOOLEAN, "false", "joins over one key are one operator"),
    (
        DETERMINISM,
        one_of("TRY_RESOLVE", "IGNORE"),
        "IGNORE",
        "whether updates are refused that would go wrong because a column is not deterministic",
    ),
    (
        DELTA_JOINS,
        one_of("AUTO", "FORCE", "NONE"),
        "AUTO",
        "whether joins look both sides up in tables with indexes, which no script can declare",
    ),
    (PROCESS_TABLES, WHOLE, "20", "the maximum number of tables of a process table function"),
    (
        MATERIALIZER,
        one_of("LEGACY", "MAP", "VALUE", "ADAPTIVE"),
        "LEGACY",
        "how a sink that materializes upserts keeps the rows of a key: as a list, by row, or as their number decides",
    ),
    (OVER_VERSION, WHOLE, "2", "the version of the operator of OVER without a lower bound"),
    (
        COLUMN_EXPANSION,
        several_of("EXCLUDE_ALIASED_VIRTUAL_METADATA_COLUMNS", "EXCLUDE_DEFAULT_VIRTUAL_METADATA_COLUMNS"),
        "",
        "which virtual metadata columns * leaves out: those with a name of their own, those with that of their key",
    ),
    (OPTIONS_HINTS, BOOLEAN, "true", "whether tables may have OPTIONS hints"),
    (
        "table.plan.compile.catalog-objects",
        one_of("ALL", "SCHEMA", "IDENTIFIER"),
        "ALL",
        "what a plan contains of tables that are not temporary",
    ),
    (
        "table.plan.restore.catalog-objects",
        one_of("ALL", "ALL_ENFORCED", "IDENTIFIER"),
        "ALL",
        "what of a table comes from the plan, and what from the catalog",
    ),
    ("flinkplan.like", TEXT, None, "the plan whose ids and TTLs compiled plans keep"),
)

_BOTH = _settings(
    Effect.BOTH,
    (STATE_TTL, DURATION, "0 ms", "how long a state keeps an entry after its last write; 0 ms means for ever"),
    (LOCAL_TIME_ZONE, TIME_ZONE, "default", "the time zone of local times; in flinkplan default means UTC"),
    (f"{_EMIT}early-fire.enabled", BOOLEAN, "false", "windows of GROUP BY TUMBLE … fire before their end"),
    (f"{_EMIT}early-fire.delay", DURATION, "", "the interval of early firings; 0 s means at each row"),
    (f"{_EMIT}late-fire.enabled", BOOLEAN, "false", "they fire again for late rows"),
    (f"{_EMIT}late-fire.delay", DURATION, "", "the interval of late firings; 0 s means at each row"),
    (f"{_EMIT}allow-lateness", DURATION, "0", "how late a row may be"),
    (f"{_SINK}not-null-enforcer", one_of("ERROR", "DROP"), "ERROR", "what happens with a NULL for a NOT NULL column"),
    (
        f"{_SINK}type-length-enforcer",
        one_of("IGNORE", "TRIM_PAD", "ERROR"),
        "IGNORE",
        "what happens with values longer than their type",
    ),
    (f"{ASYNC_SCALAR}max-concurrent-operations", POSITIVE, "10", "how many asynchronous calls a task waits for"),
    (f"{ASYNC_SCALAR}timeout", DURATION, "3 min", "how long an asynchronous call may take with all its attempts"),
    (
        f"{ASYNC_SCALAR}retry-strategy",
        one_of("NO_RETRY", "FIXED_DELAY"),
        "FIXED_DELAY",
        "whether an asynchronous call that fails is made again",
    ),
    (f"{ASYNC_SCALAR}retry-delay", DURATION, "100 ms", "the time before that"),
    (f"{ASYNC_SCALAR}max-attempts", POSITIVE, "3", "how often an asynchronous call is made at most"),
    (f"{_SINK}rowtime-inserter", _SWITCH, "ENABLED", "a sink's rows carry their event time"),
)

_EXECUTING = _settings(
    Effect.EXECUTING,
    (
        RUNTIME_MODE,
        one_of("STREAMING", "BATCH"),
        "streaming",
        "whether a job emits changes, or in the end the final rows of its bounded input",
    ),
    (
        f"{_SINK}nested-constraint-enforcer",
        one_of("IGNORE", "ROWS", "ROWS_AND_COLLECTIONS"),
        "IGNORE",
        "whether constraints are checked within nested values",
    ),
    (LEGACY_CASTS, _SWITCH, "DISABLED", "casts that fail give NULL"),
    (IDLE_TIMEOUT, DURATION, "0 ms", "the watermark does not wait for a source without rows for this time"),
    (JOB_PARAMETERS, TEXT, "", "what functions can ask for in open: key:value,key:value"),
    (PYTHON_METRICS, BOOLEAN, "true", "Python functions have metrics, which are not reported"),
    (PANDAS_ROWS, POSITIVE, "1000", "for how many rows a pandas function is called at most"),
    (
        BUNDLE_ROWS,
        POSITIVE,
        "1000",
        "limits the rows of a pandas call, too; 1: a group with Python functions comes out after each row",
    ),
)

CATALOG_STORE, CATALOG_STORE_FOLDER = "table.catalog-store.kind", "table.catalog-store.file.path"

_SESSION = _settings(
    Effect.SESSION,
    ("table.plan.force-recompile", BOOLEAN, "false", "COMPILE PLAN overwrites a plan"),
    ("table.dml-sync", BOOLEAN, "false", "an INSERT waits for its end"),
    (
        CATALOG_STORE,
        one_of("GENERIC_IN_MEMORY", "FILE"),
        "generic_in_memory",
        "with file, the catalogs in the files of a folder are there",
    ),
    (CATALOG_STORE_FOLDER, TEXT, None, "that folder, which has a file NAME.yaml with the options of each catalog"),
    ("pipeline.name", TEXT, None, "the name of a job; unless set, it names the sinks"),
    (
        "sql-client.execution.result-mode",
        one_of("TABLE", "CHANGELOG", "TABLEAU"),
        "TABLE",
        "what a SELECT shows: the rows as they change, each change as it comes, or all changes as a table",
    ),
    (
        "sql-client.execution.max-table-result.rows",
        WHOLE,
        "1000000",
        "how many rows a SELECT keeps to show; the oldest are dropped first",
    ),
    (
        "table.display.max-column-width",
        WHOLE,
        "30",
        "the width of columns in a SELECT whose type has no limit, such as STRING; longer texts are cut",
    ),
    ("execution.checkpointing.dir", TEXT, None, "where the state is kept"),
    ("flinkplan.master", TEXT, None, "Spark's master"),
    (
        "flinkplan.mode",
        exactly_one_of("bounded", "available-now", "streaming", "real-time"),
        None,
        "how long a job runs, and whether it works in batches",
    ),
    ("flinkplan.trigger-interval", DURATION, None, "time between batches"),
    ("flinkplan.checkpoint-interval", DURATION, "10 s", "time between checkpoints in real-time mode"),
    (
        "flinkplan.files-per-batch",
        POSITIVE,
        None,
        "the maximum number of files of a source in a batch of a stream; by default all new files",
    ),
    ("pipeline.jars", TEXT, None, "jars of functions in Java, separated by semicolons"),
    ("python.files", TEXT, None, "files, folders and archives of Python functions, separated by commas"),
    ("flinkplan.python-modules", TEXT, None, "installed Python modules that plans may run, separated by commas"),
    ("flinkplan.py-files", TEXT, None, "files of Python modules, and jars, that plans may run, separated by commas"),
    (
        "flinkplan.allow-databases",
        TEXT,
        None,
        "folders whose embedded databases a loaded plan may open, separated by commas",
    ),
    ("flinkplan.allow", TEXT, None, "findings of diff in spite of which to go on from a checkpoint"),
)

PREFIXES = ("flinkplan.conf.", "flinkplan.var.")
"""The prefixes of Spark's settings and of the variables in table options."""

SETTINGS: Mapping[str, Setting] = {s.key: s for s in (*_COMPILING, *_BOTH, *_EXECUTING, *_SESSION, *WITHOUT_EFFECT)}
"""The declared options of a session, by key."""

FAMILIES: Mapping[str, str] = {
    "state.": "Spark keeps the state in RocksDB below --checkpoint",
    "execution.checkpointing.": "Spark writes its checkpoint after each batch, below --checkpoint",
    "execution.": SPARK,
    "restart-strategy": "a job that failed goes on from its checkpoint when it is started again",
    "cleanup-strategy": "a job that failed goes on from its checkpoint when it is started again",
    "parallelism.": "--master says how many tasks run at once",
    "pipeline.": SPARK,
    "sql-client.": "the commands of flinkplan have options of their own",
    "sql-gateway.": "there is no gateway here",
    "python.": "Spark starts and stops the Python workers that run functions",
    "table.exec.async-": "there are none here",
    "table.": "the planner here does as Flink does by default",
}
"""What to use instead of Flink's other options, by the prefix of their keys."""

FORMER_KEYS: Mapping[str, str] = {f"{ASYNC_SCALAR}buffer-capacity": f"{ASYNC_SCALAR}max-concurrent-operations"}
"""The keys that options had in former releases, with those that they have now; plans may contain them."""

_CLUSTER_OPTION = "it is of Flink's clusters; Spark's are set by --master and --conf"


@cache
def flink_keys() -> frozenset[str]:
    """The keys of Flink's own options that are known by name only."""
    text = (Path(__file__).parent / "flink-options.txt").read_text("utf-8")
    return frozenset(line for line in text.splitlines() if line and not line.startswith("#"))


def check_setting(key: str, value: str) -> None:
    """Raise :class:`FlinkplanError` for an invalid value of an option."""
    setting = SETTINGS.get(key)
    if setting is not None and value != setting.option.default:
        setting.option.check(value)


def check_settings(config: Mapping[str, str]) -> None:
    """Raise :class:`FlinkplanError` for an invalid value, and for an option that needs another one to be set."""
    for key, value in config.items():
        check_setting(key, value)
    if config.get(MINI_BATCH, "").lower() == "true" and not parse_duration(config.get(MINI_BATCH_LATENCY, "0")):
        raise FlinkplanError(f"{MINI_BATCH} needs a latency", hint=f"SET '{MINI_BATCH_LATENCY}' = '1 s'")


def is_known(key: str) -> bool:
    """Whether the option exists in Flink or in flinkplan."""
    return key in SETTINGS or key.startswith(PREFIXES) or key in flink_keys()


def similar_key(key: str) -> str | None:
    """``did you mean '…'?`` for an unknown option."""
    return nearest(key, SETTINGS) or nearest(key, flink_keys())


def reason_without_effect(key: str, value: str) -> str | None:
    """Why a known option has no effect in flinkplan; ``None`` if it has one, or if it is set to its default."""
    setting = SETTINGS.get(key)
    if setting is not None:
        is_ignored = setting.effect is Effect.NONE and not setting.is_default(value)
        return setting.instead if is_ignored else None
    if key.startswith(PREFIXES):
        return None
    return next((reason for prefix, reason in FAMILIES.items() if key.startswith(prefix)), _CLUSTER_OPTION)


def changes_plans(key: str) -> bool:
    """Whether an option without effect in flinkplan changes what Flink compiles."""
    setting = SETTINGS.get(key)
    return setting is not None and setting.instead == DEFAULT_ONLY


def defaults(*effects: Effect) -> dict[str, str]:
    """The defaults, by key, of the options with one of these effects; options without a default are left out."""
    settings = (s for s in SETTINGS.values() if s.effect in effects)
    return {s.key: s.option.default for s in settings if s.option.default is not None}


def value_of(config: Mapping[str, str], key: str) -> str:
    """The text of an option: the session's value, else the default."""
    return config.get(key) or SETTINGS[key].option.default or ""


def is_batch_mode(config: Mapping[str, str]) -> bool:
    """Whether what is executed emits the final rows of its bounded input, as jobs of Flink's batch mode do."""
    return value_of(config, RUNTIME_MODE).upper() == "BATCH"


def is_on(config: Mapping[str, str], key: str) -> bool:
    """Whether a boolean option is true."""
    return is_true(value_of(config, key))
