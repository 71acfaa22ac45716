"""Asks Flink for the plans and rows of all cases; for a Python that has apache-flink and nothing of flinkplan.

    FLINK/bin/python tests/parity/java/record.py FOLDER JAR

``FOLDER`` has the cases, ``JAR`` the functions.  Writes ``flink.json`` into the folder.
"""

import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

OPTIONS = {
    "parallelism.default": "1",
    "table.local-time-zone": "UTC",
    "pipeline.global-job-parameters": "prefix:p1",
}
_ENDS = re.compile("table-source-scan|stream-exec-sink|watermark-assigner")


def statements(cases: Path, folder: Path) -> list[str]:
    """The definitions of tables and functions."""
    text = (cases / "tables.sql").read_text("utf-8") + (cases / "functions.sql").read_text("utf-8")
    return [part for part in text.replace("${CASE}", str(folder)).split(";\n") if part.strip()]


def reset_ids(environment: Any) -> None:
    """Let the ids of nodes begin with 1: they come from a counter of the JVM's."""
    from pyflink.java_gateway import get_gateway

    gateway = get_gateway()
    loader = environment._j_tenv.getPlanner().getClass().getClassLoader()
    context = loader.loadClass("org.apache.flink.table.planner.plan.nodes.exec.ExecNodeContext")
    no_types = gateway.new_array(gateway.jvm.java.lang.Class, 0)
    context.getMethod("resetIdCounter", no_types).invoke(None, gateway.new_array(gateway.jvm.java.lang.Object, 0))


def last_words(error: Exception) -> str:
    """The message of the innermost exception."""
    text = str(error)
    causes = re.findall(r"Caused by: ([^\n]+)", text) or re.findall(r"^: ([^\n]+)", text, re.M) or [text]
    return re.sub(r"^[\w.$]+: ", "", causes[-1])[:200]


def content(folder: Path) -> dict[str, int]:
    """What the changelog in files comes to: how often each row is there."""
    counts: dict[str, int] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        for line in path.read_text("utf-8").splitlines():
            change = json.loads(line)
            for part, count in (("before", -1), ("after", 1)):
                if change.get(part) is not None:
                    row = json.dumps(list(change[part].values()), ensure_ascii=False)
                    counts[row] = counts.get(row, 0) + count
    return {row: count for row, count in sorted(counts.items()) if count}


def asked(environment: Any, folder: Path, line: str) -> dict[str, Any]:
    """What Flink makes of a case."""
    name, columns, query = (part.strip() for part in line.split(" | ", 2))
    sink, rows, plan = "sink_" + name.replace("-", "_"), folder / "rows" / name, folder / f"{name}.json"
    options = f"'connector' = 'filesystem', 'path' = 'file://{rows}', 'format' = 'debezium-json'"
    environment.execute_sql(f"CREATE TABLE {sink} ({columns}) WITH ({options})")
    reset_ids(environment)
    try:
        environment.execute_sql(f"COMPILE PLAN '{plan}' FOR INSERT INTO {sink} {query}")
    except Exception as e:
        return {"verdict": "refused", "words": last_words(e)}
    nodes = [node for node in json.loads(plan.read_text("utf-8"))["nodes"] if not _ENDS.search(node["type"])]
    try:
        environment.execute_sql(f"EXECUTE PLAN '{plan}'").wait()
    except Exception as e:
        return {"verdict": "fails", "words": last_words(e), "nodes": nodes}
    return {"verdict": "runs", "nodes": nodes, "content": content(rows)}


def main(cases: Path, jar: str) -> None:
    """Ask all cases of a folder in one session."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    folder = Path(tempfile.mkdtemp())
    shutil.copytree(cases / "data", folder / "data")
    shutil.copy(jar, folder / "functions.jar")
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for key, value in OPTIONS.items():
        environment.get_config().set(key, value)
    for statement in statements(cases, folder):
        environment.execute_sql(statement)
    lines = [line for line in (cases / "cases.txt").read_text("utf-8").splitlines() if line.strip()]
    records = {line.split(" | ")[0].strip(): asked(environment, folder, line) for line in lines}
    written = (
        f"{json.dumps(name)}: {json.dumps(record, ensure_ascii=False, separators=(',', ':'))}"
        for name, record in records.items()
    )
    (cases / "flink.json").write_text("{\n" + ",\n".join(written) + "\n}\n", "utf-8")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
