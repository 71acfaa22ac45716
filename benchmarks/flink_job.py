"""Runs one SQL script on Apache Flink, several times; for a Python that has apache-flink.

    flink_job.py SCRIPT hashmap|rocksdb ROUNDS

Prints the seconds that each round's job took, one a line.
"""

import sys
import time
from pathlib import Path


def main() -> None:
    from pyflink.table import EnvironmentSettings, TableEnvironment

    script, backend, rounds = sys.argv[1:]
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    config = environment.get_config()
    config.set("parallelism.default", "2")
    config.set("state.backend.type", backend)
    config.set("table.local-time-zone", "UTC")
    for statement in filter(None, map(str.strip, Path(script).read_text(encoding="utf-8").split(";\n"))):
        statement = statement.removesuffix(";")
        if statement.startswith("SET "):
            _, key, _, value, _ = statement.split("'")
            config.set(key, value)
        elif statement.startswith("INSERT "):
            for _ in range(int(rounds)):
                begin = time.perf_counter()
                environment.execute_sql(statement).wait()
                print(time.perf_counter() - begin)
        else:
            environment.execute_sql(statement)


if __name__ == "__main__":
    main()
