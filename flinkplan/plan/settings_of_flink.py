"""What an option of a session is, and the options that have an effect in Flink only, with the reason.

Sources: Flink 2.3's ``ExecutionConfigOptions``, ``OptimizerConfigOptions`` and ``TableConfigOptions``.
"""

from __future__ import annotations

from enum import Enum

from .errors import FlinkplanError
from .options import BOOLEAN, DURATION, MEMORY, NUMBER, TEXT, WHOLE, Option, OptionType, one_of
from .record import Record


class Effect(Enum):
    """Which step an option has an effect on."""

    COMPILING = "compile"
    """It decides what is compiled; the plan then holds its effect."""
    EXECUTING = "execute"
    """It decides how a plan is executed, and is not part of a plan."""
    BOTH = "compile, execute"
    """The plan holds it where it can; otherwise the session that executes the plan decides."""
    SESSION = "run, sql, API"
    """It decides how a session runs its statements; it affects neither plans nor their execution."""
    NONE = "none"
    """It has an effect in Flink only."""


class Setting(Record):
    """An option of a session; ``instead`` says what to use if it has no effect."""

    option: Option
    effect: Effect
    instead: str | None = None

    @property
    def key(self) -> str:
        return self.option.key

    def is_default(self, value: str) -> bool:
        """Whether a value equals the default."""
        default = self.option.default
        if default is None:
            return False
        try:
            return self.option.type.read(value) == self.option.type.read(default)
        except FlinkplanError:
            return value == default


def _ignored(instead: str, *rows: tuple[str, OptionType, str | None, str]) -> tuple[Setting, ...]:
    return tuple(Setting(Option(*row, executed=False), Effect.NONE, instead) for row in rows)


DEFAULT_ONLY = "it changes plans of Flink; the planner here does as Flink does by default"
SPARK = "Spark has settings of its own: --conf"
_BATCH = "it has an effect on batch jobs of Flink only"
_RUNTIME = "it has no effect on plans; it tunes Flink's operators"
_NO_LOOKUPS = "tables are asked for the keys of many rows at once"
_UNSUPPORTED = "it has no effect on plans; statements that need it are refused"
_NAMES = "it has no effect on plans; it names Flink's operators"

_OPTIMIZER, _EXEC = "table.optimizer.", "table.exec."
_OUTPUT = one_of("ORDERED", "ALLOW_UNORDERED")

WITHOUT_EFFECT = (
    *_ignored(
        DEFAULT_ONLY,
        (f"{_OPTIMIZER}sql2rel.project-merge.enabled", BOOLEAN, "false", "projections are merged while they are bound"),
        (f"{_OPTIMIZER}union-all-as-breakpoint-enabled", BOOLEAN, "true", "UNION ALL bounds what is optimized as one"),
        (f"{_OPTIMIZER}reuse-optimize-block-with-digest-enabled", BOOLEAN, "false", "blocks are known by digest"),
        ("table.legacy-nested-row-nullability", BOOLEAN, "false", "fields of rows are as nullable as the row"),
    ),
    *_ignored(
        _NAMES,
        (f"{_EXEC}uid.generation", TEXT, "PLAN_ONLY", "which operators have ids"),
        (f"{_EXEC}uid.format", TEXT, "<id>_<transformation>", "the format of these ids"),
        (f"{_EXEC}simplify-operator-name-enabled", BOOLEAN, "true", "operators have short names"),
    ),
    *_ignored(
        "only Flink's dialect is there",
        ("table.sql-dialect", one_of("DEFAULT", "HIVE"), "default", "the dialect of SQL"),
    ),
    *_ignored(
        SPARK,
        (f"{_EXEC}async-state.enabled", BOOLEAN, "false", "state is read asynchronously"),
        (f"{_EXEC}resource.default-parallelism", WHOLE, "-1", "how many tasks an operator has"),
        (f"{_EXEC}spill-compression.enabled", BOOLEAN, "true", "spilled data is compressed"),
        (f"{_EXEC}spill-compression.block-size", MEMORY, "64 kb", "the block size of that compression"),
    ),
    *_ignored(
        _BATCH,
        (f"{_OPTIMIZER}source.report-statistics-enabled", BOOLEAN, "true", "sources report how many rows they have"),
        (f"{_OPTIMIZER}multiple-input-enabled", BOOLEAN, "true", "operators share a task"),
        (f"{_EXEC}operator-fusion-codegen.enabled", BOOLEAN, "false", "operators are compiled into one"),
        (f"{_EXEC}disabled-operators", TEXT, None, "operators that are not planned, separated by commas"),
        (f"{_OPTIMIZER}join.broadcast-threshold", WHOLE, "1048576", "the size up to which a side is broadcast"),
        (
            f"{_OPTIMIZER}adaptive-broadcast-join.strategy",
            one_of("AUTO", "RUNTIME_ONLY", "NONE"),
            "AUTO",
            "sides are broadcast by their size at run time",
        ),
        (
            f"{_OPTIMIZER}skewed-join-optimization.strategy",
            one_of("AUTO", "FORCED", "NONE"),
            "AUTO",
            "skewed partitions of joins are split",
        ),
        (f"{_OPTIMIZER}skewed-join-optimization.skewed-factor", NUMBER, "4.0", "how skewed a partition is"),
        (f"{_OPTIMIZER}skewed-join-optimization.skewed-threshold", MEMORY, "256 mb", "from which size on"),
        (f"{_OPTIMIZER}dynamic-filtering.enabled", BOOLEAN, "true", "sources leave out what no join can match"),
        (f"{_OPTIMIZER}runtime-filter.enabled", BOOLEAN, "false", "joins filter one side by the other's keys"),
        (f"{_OPTIMIZER}runtime-filter.max-build-data-size", MEMORY, "150 mb", "the most that makes such a filter"),
        (f"{_OPTIMIZER}runtime-filter.min-probe-data-size", MEMORY, "10 gb", "the least that is filtered so"),
        (f"{_OPTIMIZER}runtime-filter.min-filter-ratio", NUMBER, "0.5", "the least part that it takes out"),
        (f"{_EXEC}sort.default-limit", WHOLE, "-1", "how many rows ORDER BY without LIMIT gives"),
        (f"{_EXEC}sort.max-num-file-handles", WHOLE, "128", "how many files a sort merges at once"),
        (f"{_EXEC}sort.async-merge-enabled", BOOLEAN, "true", "a sort merges files asynchronously"),
        (f"{_EXEC}resource.external-buffer-memory", MEMORY, "10 mb", "the memory of external buffers"),
        (f"{_EXEC}resource.hash-agg.memory", MEMORY, "128 mb", "the memory of hash aggregations"),
        (f"{_EXEC}resource.hash-join.memory", MEMORY, "128 mb", "the memory of hash joins"),
        (f"{_EXEC}resource.sort.memory", MEMORY, "128 mb", "the memory of sorts"),
        (f"{_EXEC}window-agg.buffer-size-limit", WHOLE, "100000", "how many windows an aggregation holds in memory"),
        (f"{_EXEC}local-hash-agg.adaptive.enabled", BOOLEAN, "true", "local aggregations are skipped where useless"),
        (f"{_EXEC}local-hash-agg.adaptive.sampling-threshold", WHOLE, "500000", "after how many rows that is decided"),
        (f"{_EXEC}local-hash-agg.adaptive.distinct-value-rate-threshold", NUMBER, "0.5", "from which rate of keys on"),
    ),
    *_ignored(
        _NO_LOOKUPS,
        (f"{_EXEC}async-lookup.buffer-capacity", WHOLE, "100", "how many lookups run in parallel"),
        (f"{_EXEC}async-lookup.timeout", DURATION, "3 min", "the timeout of a lookup"),
        (f"{_EXEC}async-lookup.output-mode", _OUTPUT, "ORDERED", "whether rows keep their order"),
        (f"{_EXEC}async-lookup.key-ordered-enabled", BOOLEAN, "false", "lookups of a key keep their order"),
    ),
    *_ignored(
        _RUNTIME,
        (f"{_EXEC}interval-join.min-cleanup-interval", DURATION, "0 ms", "how often interval joins clean up"),
        (
            f"{_EXEC}sink.upsert-materialize-strategy.adaptive.threshold.low",
            WHOLE,
            None,
            "from how few rows of a key on an adaptive sink keeps a list again",
        ),
        (
            f"{_EXEC}sink.upsert-materialize-strategy.adaptive.threshold.high",
            WHOLE,
            None,
            "from how many rows of a key on an adaptive sink keeps a map",
        ),
        (f"{_EXEC}delta-join.cache-enabled", BOOLEAN, "true", "delta joins cache what they have looked up"),
        (f"{_EXEC}delta-join.left.cache-size", WHOLE, "10000", "how many keys of the left side they cache"),
        (f"{_EXEC}delta-join.right.cache-size", WHOLE, "10000", "how many keys of the right side they cache"),
        ("table.generated-code.max-length", WHOLE, "4000", "the length from which on generated code is split"),
        ("table.generated-code.max-members", WHOLE, "10000", "how many members a generated class has at most"),
        ("table.resources.download-dir", TEXT, None, "where Flink keeps what it has downloaded"),
        ("table.catalog-modification.listeners", TEXT, None, "who is told of changes of the catalog"),
        ("table.rtas-ctas.atomicity-enabled", BOOLEAN, "false", "CREATE TABLE AS is undone where its job fails"),
    ),
    *_ignored(
        "the built-in catalog and database have Flink's default names",
        ("table.builtin-catalog-name", TEXT, "default_catalog", "the name of the built-in catalog"),
        ("table.builtin-database-name", TEXT, "default_database", "the name of its database"),
    ),
    *_ignored(
        _UNSUPPORTED,
        (f"{_EXEC}async-table.max-concurrent-operations", WHOLE, "10", "calls of asynchronous table functions"),
        (f"{_EXEC}async-table.timeout", DURATION, "3 min", "how long such a call may take with all its attempts"),
        (
            f"{_EXEC}async-table.retry-strategy",
            one_of("NO_RETRY", "FIXED_DELAY"),
            "FIXED_DELAY",
            "whether such a call that fails is made again",
        ),
        (f"{_EXEC}async-table.retry-delay", DURATION, "100 ms", "the time before that"),
        (f"{_EXEC}async-table.max-retries", WHOLE, "3", "how often such a call is made at most"),
        (f"{_EXEC}async-ml-predict.max-concurrent-operations", WHOLE, "10", "calls of ML_PREDICT"),
        (f"{_EXEC}async-ml-predict.timeout", DURATION, "3 min", "the timeout of ML_PREDICT"),
        (f"{_EXEC}async-ml-predict.output-mode", _OUTPUT, "ORDERED", "whether rows keep their order"),
        (f"{_EXEC}async-vector-search.max-concurrent-operations", WHOLE, "10", "calls of VECTOR_SEARCH"),
        (f"{_EXEC}async-vector-search.timeout", DURATION, "3 min", "the timeout of VECTOR_SEARCH"),
        (f"{_EXEC}async-vector-search.output-mode", _OUTPUT, "ORDERED", "whether rows keep their order"),
    ),
)
"""The options that have an effect in Flink only."""
