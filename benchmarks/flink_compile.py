"""Compiles one job on Apache Flink, several times; for a Python that has apache-flink.

    flink_compile.py JOB ROUNDS

JOB is a JSON file: ``options``, ``definitions`` and ``job``, the INSERT or statement set to compile.  Prints the
seconds of each round's COMPILE PLAN, one a line; every round has a table environment of its own.
"""

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any


def compile_once(job: dict[str, Any], plan: Path) -> float:
    """Seconds from a table environment to the plan in its file, as flinkplan starts from the script."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    begin = time.perf_counter()
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for key, value in job["options"].items():
        environment.get_config().set(key, value)
    for definition in job["definitions"]:
        environment.execute_sql(definition)
    environment.execute_sql(f"COMPILE PLAN '{plan}' FOR {job['job']}")
    return time.perf_counter() - begin


def main() -> None:
    """Compile as often as asked."""
    path, rounds = sys.argv[1:]
    job = json.loads(Path(path).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="flink-compile-") as folder:
        for number in range(int(rounds)):
            print(compile_once(job, Path(folder, f"{number}.json")))


if __name__ == "__main__":
    main()
