"""Stops jobs of Apache Flink with savepoints, and goes on from these; for a Python that has apache-flink.

One JSON object a line comes in::

    {"script": SQL, "before": FOLDER, "after": FOLDER, "work": FOLDER}

The script sets options, creates tables and ends with one INSERT or STATEMENT SET; ``${DIR}`` in it is a folder in
which each source watches the folder of its name, and the sinks that are looked at have the connector ``print``, or
``blackhole``, which takes upserts where it has a key, and is executed as ``print``.  The job reads the files in
``before`` and is stopped with a savepoint, from which it goes on with those in ``after``.  In
``work`` it leaves ``plan.json`` and ``savepoint``.  The answer is one line,
``{"before": ROWS, "after": ROWS, "error": TEXT}``.
"""

import json
import os
import re
import shutil
import sys
import time
from pathlib import Path
from typing import Any

_FUNCTION = re.compile(r"\s*CREATE\s+(TEMPORARY\s+)?(SYSTEM\s+)?FUNCTION\b", re.IGNORECASE)
_QUIET_SECONDS = 2.0
"""For so long no row has come: all are read."""
_SILENT_SECONDS = 5.0
"""The same where none has come at all."""
_POLL_SECONDS = 0.2
_FIXED = {"parallelism.default": "1", "table.local-time-zone": "UTC"}


def main() -> None:
    """Answer requests until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what Flink's JVM prints must not mix with the answers
    for line in sys.stdin:
        print(json.dumps(_answer(json.loads(line))), file=answers, flush=True)


def _answer(request: dict[str, str]) -> dict[str, Any]:
    try:
        return _Case(request).run()
    except Exception as e:
        causes = re.findall(r"(?:^: |Caused by: )([^\n]+)", str(e), re.MULTILINE)
        return {"error": causes[-1] if causes else repr(e)}


class _Case:
    def __init__(self, request: dict[str, str]) -> None:
        self._request = request
        self._work = Path(request["work"])
        self._data = self._work / "data"
        self._runs = 0
        self._functions: list[str] = []

    def run(self) -> dict[str, Any]:
        plan, options = self._compile(self._request["script"].replace("${DIR}", str(self._data)))
        self._feed("before")
        job, printed = self._start(plan, options)
        before = _rows(printed)
        savepoint = job._j_job_client.stopWithSavepoint(False, str(self._work / "stopped"), _canonical()).get()
        Path(savepoint.removeprefix("file:")).rename(self._work / "savepoint")
        self._feed("after")
        going_on = {"execution.state-recovery.path": str(self._work / "savepoint")}
        job, printed = self._start(plan, {**options, **going_on})
        after = _rows(printed)
        status = str(job.get_job_status().result())
        job.cancel().result()
        error = "" if "RUNNING" in status else f"the job is {status}"
        return {"before": before, "after": after, "error": error}

    def _compile(self, script: str) -> tuple[Path, dict[str, str]]:
        last = re.search(r"^\s*(INSERT|(EXECUTE\s+)?STATEMENT\s+SET)\b", script, re.MULTILINE | re.IGNORECASE)
        assert last is not None
        options = dict(re.findall(r"^\s*SET\s+'([^']+)'\s*=\s*'([^']*)'", script[: last.start()], re.MULTILINE))
        tables = _environment(options)
        for statement in script[: last.start()].split(";\n"):
            if statement.strip() and not statement.strip().upper().startswith("SET"):
                tables.execute_sql(statement)
        self._functions = [s for s in script[: last.start()].split(";\n") if _FUNCTION.match(s)]
        for name in re.findall(re.escape(str(self._data)) + r"/(\w+)", script):
            (self._data / name).mkdir(parents=True, exist_ok=True)
        plan = self._work / "plan.json"
        insert = re.sub(r"^\s*EXECUTE\s+", "", script[last.start() :]).strip()
        insert = insert if insert.upper().startswith("STATEMENT") else insert.removesuffix(";")
        tables.execute_sql(f"COMPILE PLAN '{plan}' FOR {insert}")
        text = plan.read_text("utf-8")
        plan.write_text(re.sub(r'("connector"\s*:\s*)"blackhole"', r'\1"print"', text), "utf-8")
        return plan, options

    def _feed(self, phase: str) -> None:
        for file in sorted(Path(self._request[phase]).glob("*/*")):
            hidden = self._data / file.parent.name / f".{phase}-{file.name}"
            shutil.copy(file, hidden)
            hidden.rename(hidden.with_name(hidden.name[1:]))

    def _start(self, plan: Path, options: dict[str, str]) -> tuple[Any, Path]:
        from pyflink.java_gateway import get_gateway

        self._runs += 1
        printed = self._work / f"printed-{self._runs}"
        java = get_gateway().jvm.java
        java.lang.System.setOut(java.io.PrintStream(java.io.FileOutputStream(str(printed)), True))
        tables = _environment(options)
        for statement in self._functions:
            tables.execute_sql(statement)
        return tables.execute_sql(f"EXECUTE PLAN '{plan}'").get_job_client(), printed


def _environment(options: dict[str, str]) -> Any:
    from pyflink.common import Configuration
    from pyflink.table import EnvironmentSettings, TableEnvironment

    config = Configuration()
    for key, value in {**_FIXED, **options}.items():
        config.set_string(key, value)
    settings = EnvironmentSettings.new_instance().in_streaming_mode()
    return TableEnvironment.create(settings.with_configuration(config).build())


def _canonical() -> Any:
    from pyflink.java_gateway import get_gateway

    return get_gateway().jvm.org.apache.flink.core.execution.SavepointFormatType.CANONICAL


def _rows(printed: Path) -> list[str]:
    """The rows that a job has printed once no more come; of several subtasks without their numbers."""
    rows: list[str] = []
    changed = time.monotonic()
    while True:
        time.sleep(_POLL_SECONDS)
        texts = (re.sub(r"^\d+> ", "", line) for line in printed.read_text("utf-8").splitlines())
        lines = [line for line in texts if line[:1] in "+-"]
        if len(lines) > len(rows):
            rows, changed = lines, time.monotonic()
        if time.monotonic() - changed > (_QUIET_SECONDS if rows else _SILENT_SECONDS):
            return rows


if __name__ == "__main__":
    main()
