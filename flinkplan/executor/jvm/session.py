"""The Spark session of a job."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Any
from weakref import ref

from ...plan.files import Place
from ..errors import JvmError, SparkStartError, TableError
from ..runtime.class_archive import ClassArchive, class_archive
from ..runtime.collectors import PARALLEL, SERIAL, VARIABLES, is_chosen, is_collector_chosen
from ..runtime.jar import configuration, java, java_version, runtime_jar
from ..runtime.jdk import LEAST, how_to_install
from ..runtime.locale import utf8_names
from ..scratch import scratch
from .borrowed import borrowed_session
from .exceptions import causes_of, joined_messages, refused_by_system
from .gateway import forget_jvm, start_jvm
from .lean import begin_session, hide_arrays
from .masters import check_master
from .quiet import quiet_accumulators

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_STREAMING = "org.apache.spark.sql.execution.streaming"

STATE_ENCODING = "spark.sql.streaming.stateStore.encodingFormat"
"""Set for each query: Avro alone lets kernels' state change its schema; Spark's own operators refuse it."""

STATE_CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
"""Whether a batch adds its changes to a log, which halves its cost; they are put into whole files later."""

EMPTY_BATCHES = "spark.sql.streaming.noDataMicroBatches.enabled"
"""Set for each query: whether batches come without rows.  Kernels that go by the clock have them without end, and
need them where nothing else tells that time has passed; the sources ask for those that event time needs.
"""

PARTITIONS = "spark.sql.shuffle.partitions"
"""Set for each query whose input is bounded: in how many partitions rows are brought together by keys."""

ADAPTIVE = "spark.sql.adaptive.enabled"
"""Set for each batch: whether Spark plans each stage by what has come of those before; streams cannot."""

ADVISORY_BYTES = "spark.sql.adaptive.advisoryPartitionSizeInBytes"
"""Set for each batch: how many bytes partitions come to that are put together, as they are shuffled: compressed."""

COMPRESSED_ROWS = "spark.sql.inMemoryColumnarStorage.compressed"
"""Set for each batch: whether rows that are read several times are kept compressed, which costs as much as it saves."""

OUTPUT_MODE = "flinkplan.output-mode"
"""Set for each query in real-time mode: the output mode that ``KernelOperator`` gives kernels, ``update`` there."""

ASYNC_PROGRESS = "spark.sql.streaming.realTimeMode.asyncProgressTrackingByDefault.enabled"
"""Set for each query in real-time mode: whether its progress may be on record later than a batch has ended."""

ALLOWLIST = "spark.sql.streaming.realTimeMode.allowlistCheck"
"""Set for each query in real-time mode: whether Spark looks at its operators, as ``UnsentRule`` does before."""

CACHED_BYTES = "flinkplan.cached-bytes"
"""What rows of states in memory may take in real-time mode, in each task of an operator, but for what Java adds."""

EVICTION_INTERVAL = "spark.sql.streaming.realTimeMode.transformWithState.ttlEvictionIntervalMs"
"""Set for each query in real-time mode: how often within a batch what has expired is removed from state."""

REAL_TIME_CONF: Mapping[str, str] = {
    # how long rows wait for others before they go over to the next stage
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "1",
    # rows that are sent ahead of an operator belong to the batch, which ends when the last of them is done: the 64 MB
    # that Spark allows are some hundred thousand rows, and a batch of a minute where there is a backlog
    "spark.shuffle.streaming.writerMaxMemory": str(128 << 10),
    "spark.shuffle.streaming.readerMaxMemory": str(128 << 10),
}
"""Defaults that only a new session takes up, where a job is in real-time mode."""

TRACK_ROWS = "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows"
"""Whether progress tells how many rows state has."""

JAVA_OPTIONS = "spark.driver.extraJavaOptions"
EXECUTOR_JAVA_OPTIONS = "spark.executor.extraJavaOptions"
_DEFAULT_JAVA_OPTIONS = "spark.driver.defaultJavaOptions"
CLASS_PATH = "spark.driver.extraClassPath"
_JARS = "spark.jars"
_TEMPORARY = "java.io.tmpdir"
_PLAIN_PATH = re.compile(r"[\w./+@=,-]+")
_NAME = "flinkplan"

STATIC_CONF: Mapping[str, str] = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "2g",
    "spark.ui.showConsoleProgress": "false",
    # for each call on a column or a frame, PySpark would tell the JVM the line of Python that it comes from
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # of a few operators with state there are more than the hundred classes that Spark keeps: each batch would compile
    "spark.sql.codegen.cache.maxEntries": "1000",
}
"""Defaults that only a new session takes up."""


class Lifetime(Enum):
    """What a new session is for, and with it how long its JVM lives; the values are options of the JVM's compilers."""

    SECONDS = "-XX:TieredStopAtLevel=1"
    """One job over small input: the optimizing compiler would cost more than it gains."""

    JOB = (
        "-XX:Tier4InvocationThreshold=200000 -XX:Tier4MinInvocationThreshold=24000 "
        "-XX:Tier4CompileThreshold=600000 -XX:Tier4BackEdgeThreshold=1600000"
    )
    """One job whose input ends: forty times as often as by default something must run before it is optimized.  What
    works on each row soon has; what plans and starts the job never, which took a third of a job over 100 MB."""

    OPEN = ""
    """Whatever comes."""


_own: ref[SparkContext] | None = None
"""The Spark that :func:`session` has started."""

_COLLECTORS = {Lifetime.SECONDS: SERIAL, Lifetime.JOB: PARALLEL}
"""The collectors of garbage that cost the driver the least; the JVM's own choice is one that never pauses for long."""

_CODE_CACHE = "-XX:ReservedCodeCacheSize=240m"
"""The JVM's own default but where it has one compiler only: then 48 MB, which ten sinks fill within minutes, and from
then on it compiles nothing.  What is reserved takes no memory before it is used."""

_WARNINGS = "-Xlog:all=off:stdout -Xlog:all=warning:stderr -XX:+DisplayVMOutputToStderr"
"""Standard output, where the JVM writes its warnings by itself, is for rows and progress."""

_PARTITIONS_LINE = re.compile(rf"^\s*{re.escape(PARTITIONS)}[\s=:]+(\S+)", re.MULTILINE)

_NO_CLASS = (".ClassNotFoundException", ".NoClassDefFoundError")

_CONF_FILES = ("spark-defaults.conf", "spark-env.sh")
"""The files of Spark's configuration that can have options of the driver's JVM."""

LOCAL_CONF: Mapping[str, str] = {
    # nobody out there is to reach the driver's ports
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # rows of real-time mode that never leave the machine
    "spark.shuffle.streaming.checksum.enabled": "false",
}
"""The same where no other machine takes part."""

SQL_CONF: Mapping[str, str] = {
    "spark.sql.streaming.stateStore.providerClass": f"{_STREAMING}.state.RocksDBStateStoreProvider",
    STATE_CHANGELOG: "true",
    # to count its rows, a state store reads a key's whole list for each row that is appended
    TRACK_ROWS: "false",
    "spark.sql.streaming.checkpointFileManagerClass": "flinkplan.runtime.storage.CheckpointFiles",
    EMPTY_BATCHES: "false",
    ADAPTIVE: "false",
    PARTITIONS: "2",
    # Spark leaves out whole columns that nobody reads also without this; where few fields of a row are read, it numbers
    # them anew as if kernels emitted no others, and reads other ones (ObjectSerializerPruning)
    "spark.sql.optimizer.serializer.nestedSchemaPruning.enabled": "false",
    # functions over partitions that Spark does not look through, in each micro-batch, for what they read
    "spark.sql.execution.usePartitionEvaluator": "true",
    # how Spark describes each micro-batch to listeners: the shortest way
    "spark.sql.ui.explainMode": "simple",
    # values as Flink computes them
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.datetime.java8API.enabled": "true",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
}
"""Defaults of everything that a query takes from its session."""


def submitted() -> dict[str, str]:
    """The settings that ``spark-submit`` was given, where it has started this process."""
    from pyspark import SparkConf, SparkContext

    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        return {}
    SparkContext._ensure_initialized()
    return dict(SparkConf().getAll())


def chosen_settings(conf: Mapping[str, str]) -> dict[str, str]:
    """The settings that the user has chosen: ``conf``, and what it leaves open by ``spark-submit``.

    Of spark-defaults.conf only the number of partitions counts, which is no matter of flinkplan's own.
    """
    defaults = configuration() / _CONF_FILES[0]
    match = _PARTITIONS_LINE.search(defaults.read_text(errors="replace")) if defaults.is_file() else None
    return {**({PARTITIONS: match[1]} if match else {}), **submitted(), **conf}


def session(
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    *,
    lifetime: Lifetime = Lifetime.OPEN,
    lean: bool = False,
) -> SparkSession:
    """The active session, or a new one; ``master`` and ``conf`` win over flinkplan's defaults.

    ``lifetime`` says what a new one is for, ``lean`` that it runs nothing but jobs, nor does its process.  Over Spark
    that the user has started, the session is another one than the user's.

    Raises :class:`RuntimeJarError` where the Java half cannot be made, :class:`JvmError` where its JVM does not start
    or the user's Spark does not do, :class:`SparkStartError` where Spark has no such master, or does not start in the
    JVM.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    global _own
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    chosen = conf or {}
    running = SparkContext._active_spark_context
    if running is not None and (_own is None or _own() is not running):
        return borrowed_session(running, runtime_jar(), {**SQL_CONF, **chosen})
    master = master or chosen.get("spark.master", "local[*]")
    check_master(master)
    archive = class_archive(record=lifetime is Lifetime.SECONDS) if _starts_own_jvm(chosen) else None
    builder = SparkSession.Builder().appName(_NAME).master(master)
    jars = ",".join(filter(None, (str(runtime_jar()), chosen.get(_JARS))))
    local = LOCAL_CONF if master.startswith("local") else {}
    defaults = {**STATIC_CONF, **SQL_CONF, **local, **java_options(lifetime, archive, chosen)}
    settings = {**defaults, **chosen, _JARS: jars}
    with _starting_jvm(settings), utf8_names():
        if lean:
            hide_arrays()
        start_jvm({"spark.app.name": _NAME, "spark.master": master, **settings})
        if lean:
            begin_session({"spark.app.name": _NAME, "spark.master": master, **settings})
        for key, value in settings.items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
    _own = ref(spark.sparkContext)
    quiet_accumulators()
    spark.sparkContext.setLogLevel(chosen.get("spark.log.level", "OFF"))
    if archive is not None:
        gateway: Any = spark.sparkContext._gateway
        archive.keep_at_exit(gateway.proc)
    return spark


@contextmanager
def _starting_jvm(settings: Mapping[str, str]) -> Iterator[None]:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkRuntimeError
    from pyspark.errors.exceptions.captured import CapturedException

    try:
        yield
    except KeyboardInterrupt:
        forget_jvm()
        raise
    except Py4JJavaError as e:
        raise not_started(causes_of(e.java_exception), settings) from e
    except CapturedException as e:
        raise not_started(causes_of(e._origin), settings) from e
    except PySparkRuntimeError as e:
        if e.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        program = java()
        version = java_version(program) if program else None
        if program is None:
            raise JvmError("there is no Java to run Spark with", hint=how_to_install()) from e
        if version is not None and version < LEAST:
            raise JvmError(f"{program} is of Java {version}, which is too old", hint=how_to_install()) from e
        raise JvmError(
            "Spark's JVM ended as it was to start; what it printed stands above",
            hint=f"Java is found by JAVA_HOME; options come from {JAVA_OPTIONS}, {', '.join(VARIABLES)}",
        ) from e


def not_started(causes: Sequence[tuple[str, str | None]], settings: Mapping[str, str]) -> SparkStartError:
    """Why Spark does not start with these settings, by the classes and messages of a chain of exceptions."""
    refused = refused_by_system(causes)
    if refused is not None:
        where = refused.where or f"{settings.get('spark.local.dir') or tempfile.gettempdir()} (spark.local.dir)"
        return SparkStartError(refused.message, where=where, hint=refused.hint)
    missing = next((message for name, message in causes if name.endswith(_NO_CLASS) and message), None)
    if missing is not None:
        name = missing.replace("/", ".")
        options = [key for key, value in settings.items() if name in re.split(r"[,\s]+", value)]
        return SparkStartError(
            f"there is no class {name} for Spark to start with",
            where=", ".join(options) or None,
            hint="let Spark have its jar (--conf spark.jars=JAR, or for what Spark starts itself with "
            f"--conf {CLASS_PATH}=JAR), or correct the name",
        )
    hint = "see the settings that Spark was given: by --conf, and in its spark-defaults.conf"
    return SparkStartError(f"Spark does not start: {joined_messages(causes)}", hint=hint)


def java_options(lifetime: Lifetime, archive: ClassArchive | None, conf: Mapping[str, str]) -> dict[str, str]:
    """The options of the JVMs that a new session starts: the driver's, and those of executors."""
    every = ["-Duser.timezone=UTC", lifetime.value, "" if is_chosen("ReservedCodeCacheSize") else _CODE_CACHE]
    has_collector = is_collector_chosen(conf.get(_DEFAULT_JAVA_OPTIONS, ""), *_conf_files())
    collector = "" if has_collector else _COLLECTORS.get(lifetime, "")
    warnings = "" if is_chosen("-Xlog") else _WARNINGS
    driver = [*every, collector, warnings, archive.java_options if archive else "", _temporary_files(conf)]
    return {JAVA_OPTIONS: " ".join(filter(None, driver)), EXECUTOR_JAVA_OPTIONS: " ".join(filter(None, every))}


def _temporary_files(conf: Mapping[str, str]) -> str:
    """Where the driver's JVM has its temporary files: in the folder of this process, unless the user has chosen one."""
    texts = (conf.get(_DEFAULT_JAVA_OPTIONS, ""), *_conf_files())
    if is_chosen(_TEMPORARY) or any(_TEMPORARY in text for text in texts):
        return ""
    folder = str(scratch().folder)
    return f"-D{_TEMPORARY}={folder}" if _PLAIN_PATH.fullmatch(folder) else ""


def _conf_files() -> Iterator[str]:
    for path in (configuration() / name for name in _CONF_FILES):
        if path.is_file():
            yield path.read_text(errors="replace")


def _starts_own_jvm(conf: Mapping[str, str]) -> bool:
    """Whether a new session starts a JVM, with our options and nothing but Spark's jars on its class path."""
    from pyspark import SparkContext

    is_there = SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ
    return not is_there and JAVA_OPTIONS not in conf and CLASS_PATH not in conf


def copy_of(spark: SparkSession) -> SparkSession:
    """A session with the same settings, which may then be changed, over the same Spark."""
    from pyspark.sql import SparkSession

    return SparkSession(spark.sparkContext, spark._jsparkSession.cloneSession())


@contextmanager
def settings_of(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Settings of a session that hold for as long as the block runs."""
    before = {key: spark.conf.get(key, None) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)


def check_reach(place: Place, spark: SparkSession) -> None:
    """Raise :class:`TableError` where Spark has no file system for a URI."""
    from py4j.protocol import Py4JJavaError

    assert spark._jvm is not None
    configuration = spark._jvm.org.apache.spark.deploy.SparkHadoopUtil.get().conf()
    try:
        spark._jvm.org.apache.hadoop.fs.Path(str(place)).getFileSystem(configuration)
    except Py4JJavaError as e:
        raise TableError(
            f"Spark does not reach this place: {e.java_exception.getMessage()}",
            where=str(place),
            hint=f"let Spark know the file system: --conf spark.hadoop.fs.{place.scheme}.impl=CLASS, and its jar by "
            "--conf spark.jars=JAR; that of S3 is called s3a and comes with hadoop-aws",
        ) from None
