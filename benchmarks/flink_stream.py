"""Runs a query on Apache Flink over lines that come through a socket; for a Python that has apache-flink.

    flink_stream.py SCRIPT PORT SECONDS CHECKPOINTS

The script's statements find the lines as the column ``line`` of ``lines``; the last one inserts.  A checkpoint is made
every so many seconds.
"""

import sys
from pathlib import Path

PARALLELISM = 2
BUFFER_TIMEOUT = "1 ms"
"""How long rows wait for others; 100 ms unless set."""


def main() -> None:
    from pyflink.common import Configuration
    from pyflink.datastream import DataStream, StreamExecutionEnvironment
    from pyflink.table import Schema, StreamTableEnvironment

    script, port, seconds, checkpoints = sys.argv[1:]
    settings = {
        "parallelism.default": str(PARALLELISM),
        "execution.buffer-timeout.interval": BUFFER_TIMEOUT,
        "execution.checkpointing.interval": f"{seconds} s",
        "execution.checkpointing.dir": Path(checkpoints).as_uri(),
        "state.backend.type": "hashmap",
    }
    configuration = Configuration()
    for key, value in settings.items():
        configuration.set_string(key, value)
    environment = StreamExecutionEnvironment.get_execution_environment(configuration)
    tables = StreamTableEnvironment.create(environment)
    lines = environment._j_stream_execution_environment.socketTextStream("127.0.0.1", int(port))
    tables.create_temporary_view("socket_lines", DataStream(lines), Schema.new_builder().column("f0", "STRING").build())
    tables.execute_sql("CREATE TEMPORARY VIEW `lines` AS SELECT f0 AS line FROM socket_lines")
    for statement in filter(None, map(str.strip, Path(script).read_text(encoding="utf-8").split(";\n"))):
        done = tables.execute_sql(statement)
    done.wait()


if __name__ == "__main__":
    main()
