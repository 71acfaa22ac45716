"""Jobs on Spark that the user has started, in a process of their own: Spark starts once a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flinkplan.executor.errors import JvmError
from flinkplan.executor.jvm.borrowed import borrowed_session
from flinkplan.executor.runtime.jar import runtime_jar
from tests.cli.support import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_JOBS = """
import sys
from pyspark.sql import SparkSession
from flinkplan import EnvironmentSettings, TableEnvironment
from flinkplan.executor.errors import JvmError

spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.driver.extraJavaOptions", "-Duser.timezone=UTC")
    .config("spark.sql.session.timeZone", "Asia/Tokyo")
    .getOrCreate()
)
def settings():
    return {**dict(spark.sparkContext.getConf().getAll()), **spark.conf.getAll}

spark.sql("SELECT 1").collect()  # Spark settles where tables are when it is first asked for something
before = settings()
env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
try:
    env.execute_sql(
        f"CREATE TABLE o (k STRING, c BIGINT) WITH ('connector' = 'filesystem', 'path' = '{sys.argv[1]}/o',"
        " 'format' = 'debezium-json')"
    )
    groups = "SELECT k, COUNT(*) FROM (VALUES ('a'), ('b'), ('a')) AS t (k) GROUP BY k"
    env.execute_sql(f"INSERT INTO o {groups}").wait()
    print(sorted(env.sql_query(groups).execute().collect().left(), key=str))
    env.get_config().set("flinkplan.mode", "available-now")
    print(sorted(env.sql_query(groups).execute().collect().left(), key=str))
    assert settings() == before, set(settings().items()) ^ set(before.items())
    print(spark.sql("SELECT TIMESTAMP_SECONDS(0) AS t").selectExpr("CAST(t AS STRING)").first()[0])
    env.get_config().set("flinkplan.conf.spark.executor.memory", "3g")
    env.sql_query(groups).execute().collect()
except JvmError as e:
    print(e.message, e.hint, sep="; ")
"""


def run(folder: Path) -> list[str]:
    """The lines that the jobs print."""
    done = subprocess.run(
        [sys.executable, "-c", _JOBS, str(folder)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.spark
@pytest.mark.xdist_group("processes")
def test_jobs_leave_the_session_as_it_is(tmp_path: Path) -> None:
    rows = "[<Row('a', 2)>, <Row('b', 1)>]"
    in_batch, in_stream, local_time, refused = run(tmp_path)
    assert (in_batch, in_stream) == (rows, rows)
    assert local_time == "1970-01-01 09:00:00"
    assert refused == (
        "'spark.executor.memory' can only be set when Spark is started, and one runs already; "
        "start it with .config('spark.executor.memory', '3g'), or let flinkplan start it"
    )
    assert sum(len(file.read_text().splitlines()) for file in (tmp_path / "o").iterdir() if file.is_file()) >= 2


@pytest.mark.spark
def test_a_spark_by_another_clock_is_refused(spark: SparkSession) -> None:
    assert spark._jvm is not None
    zones = spark._jvm.java.util.TimeZone
    zones.setDefault(zones.getTimeZone("Asia/Tokyo"))
    try:
        with pytest.raises(JvmError) as refused:
            borrowed_session(spark.sparkContext, runtime_jar(), {})
    finally:
        zones.setDefault(zones.getTimeZone("UTC"))
    assert refused.value.message == "the Spark that runs in this process has the time zone Asia/Tokyo; jobs need UTC"
    assert refused.value.hint is not None
    assert refused.value.hint.startswith("start it with .config('spark.driver.extraJavaOptions'")
