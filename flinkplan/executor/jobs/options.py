"""How to run a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...plan.errors import FlinkplanError
from ...plan.record import Record, field
from ..build.saved_states import StateReader
from ..build.stream import Stream
from ..prepare.modes import Mode
from ..prepare.python_classes import PythonCode
from .collecting import Collector
from .progress import JobListener, SilentListener

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


def no_java_jars() -> Sequence[str]:
    """Raises: the caller has not said where Flink's classes are."""
    raise FlinkplanError("the plan calls functions in Java, which run on the classes of Flink, and none are named")


class PastRows(Record):
    """How a job runs over rows of the past, whose tables are not written.

    ``rows`` are streams that scans have instead of their tables, by the ids of their nodes.  ``kept`` is a folder for
    what sinks would get, in one of the name of their query, with files of Spark for each batch.
    """

    rows: Mapping[int, Callable[[SparkSession], Stream]] = field(default_factory=dict)
    kept: Path | None = None


class JobOptions(Record):
    """How to run a plan.

    ``checkpoint``: where state is kept; a temporary directory if ``None``.  ``master`` and ``conf`` are Spark's; what
    they leave open ``spark-submit`` may have been told.  ``variables`` replace ``${NAME}`` in table options.
    ``options`` are the session's, for what the plan leaves open: :data:`~.plan.session.DEFAULTS`.  ``mode``: by default
    as Flink, bounded where all sources are.  ``trigger_interval``: seconds between batches when streaming.
    ``checkpoint_interval``: seconds between checkpoints in real-time mode.  ``files_per_batch``: how many files of a
    source a micro-batch takes up at most, where input does not end with it; all that are there if ``None``.
    ``spark``: a session to use.  ``single``: the process runs nothing else, so that a new session may be made for this
    job; ``lean``: it runs nothing but jobs.  ``collector`` takes the rows instead of the plan's sink.  ``python``: what
    may be imported where the plan names Python classes.  ``streams``: bounded input is read in micro-batches, too, as
    it is where a checkpoint has some.  ``databases``: the folders whose embedded databases the plan may open;
    :data:`~.plan.connectors.jdbc_urls.ANY` among them stands for all.  ``tells_lag``: progress says of topics, too, how
    much is still to be read.  ``saved_states`` reads states for tables over them.  ``clock``: the time, in milliseconds
    since 1970, that queries in micro-batches go by instead of the machine's, in a mode that is not endless.
    ``watermarks``: those, in milliseconds since 1970, to which tables move on behind the rows that are there, by the
    names of the tables, in micro-batches of the mode available-now.  ``durable``: what is recorded in the checkpoint is
    still there after a crash of the machine.  ``runs_small``: all jobs of the process are small, so that in a new
    session the JVM's optimizing compiler would cost more than it gains.
    ``past``: the job runs over rows of the past, in micro-batches of the mode available-now.
    ``java_jars`` gives the jars with Flink's classes and with what calls functions in Java; it is asked where a plan
    calls some.
    """

    checkpoint: str | None = None
    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    mode: Mode | None = None
    trigger_interval: float = 0.0
    checkpoint_interval: float = 10.0
    files_per_batch: int | None = None
    listener: JobListener = field(default_factory=SilentListener)
    spark: SparkSession | None = None
    single: bool = False
    lean: bool = False
    collector: Collector | None = None
    python: PythonCode = PythonCode()
    streams: bool = False
    databases: tuple[str, ...] = ()
    tells_lag: bool = False
    saved_states: StateReader | None = None
    clock: int | None = None
    watermarks: Mapping[str, int] = field(default_factory=dict)
    durable: bool = True
    runs_small: bool = False
    past: PastRows | None = None
    java_jars: Callable[[], Sequence[str]] = no_java_jars
