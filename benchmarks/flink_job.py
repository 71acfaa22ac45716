"""Runs one SQL script on Apache Flink, several times; for a Python that has apache-flink.

    flink_job.py SCRIPT hashmap|rocksdb ROUNDS [CHECKPOINTS]

Where a folder of checkpoints is named, one is made every ten seconds.  Prints the seconds that each round's job took,
and those of processor time of Flink's JVM, a line a round.
"""

import os
import sys
import time
from pathlib import Path


def processor_seconds(pid: int) -> float:
    """What a process has used of the processors, as Linux tells it."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    from pyflink.java_gateway import get_gateway
    from pyflink.table import EnvironmentSettings, TableEnvironment

    script, backend, rounds, *checkpoints = sys.argv[1:]
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    jvm = get_gateway().jvm.java.lang.ProcessHandle.current().pid()
    config = environment.get_config()
    config.set("parallelism.default", "2")
    config.set("state.backend.type", backend)
    config.set("table.local-time-zone", "UTC")
    for folder in checkpoints:
        config.set("execution.checkpointing.interval", "10 s")
        config.set("execution.checkpointing.dir", Path(folder).absolute().as_uri())
    for statement in filter(None, map(str.strip, Path(script).read_text(encoding="utf-8").split(";\n"))):
        statement = statement.removesuffix(";")
        if statement.startswith("SET "):
            _, key, _, value, _ = statement.split("'")
            config.set(key, value)
            if key == "python.files":  # functions are made here, too
                sys.path += [str(Path(file).parent) for file in value.split(",")]
        elif statement.startswith("INSERT "):
            for _ in range(int(rounds)):
                begin, used = time.perf_counter(), processor_seconds(jvm)
                environment.execute_sql(statement).wait()
                print(time.perf_counter() - begin, processor_seconds(jvm) - used)
        else:
            environment.execute_sql(statement)


if __name__ == "__main__":
    main()
