"""Restarts compiled plans from savepoints on Apache Flink; for a Python that has apache-flink and nothing of flinkplan.

One JSON object a line comes in::

    {"old": {"plan": FILE, "options": {KEY: VALUE}}, "new": {…}, "work": FOLDER, "data": FOLDER,
     "before": [[FILE, NAME], …], "after": [[FILE, NAME], …], "format": "CANONICAL", "ignore_unclaimed": false,
     "migrate": [WORD, …]}

With ``migrate``, NEW starts from what this command makes of the savepoint: ``{savepoint}``, ``{old}``, ``{new}`` and
``{out}`` in its words stand for the savepoint, both plans and the folder to write.  Where it declines, ``error`` has
its last words.

OLD reads the files of ``before``, which appear under their names in ``data``, and stops with a savepoint; NEW starts
from it and reads those of ``after``.  Another run of NEW, without a savepoint, reads both in turn; where the two
differ, a third one reads ``after`` alone.  What goes out for each request, one JSON object a line, are the rows that
the sinks ``print`` in each phase, or the error::

    {"before": [ROW, …], "after": [ROW, …], "error": null, "uninterrupted": [[ROW, …], [ROW, …]], "alone": [ROW, …]}
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

STEP_S, CALM_STEPS, PATIENCE_S = 0.25, 5, 8.0
"""How often one looks at a job; after how many looks at which nothing has moved the input counts as used up, and how
long one waits for records that never come."""

ENDED = ("FAILED", "CANCELED", "FINISHED")
FIXED = {
    "parallelism.default": "1",
    "table.local-time-zone": "UTC",
    "restart-strategy.type": "disable",
    "pipeline.operator-chaining.enabled": "false",  # so that each operator's records are counted
    "metrics.fetcher.update-interval": "100",
    "rest.bind-address": "localhost",
    "taskmanager.memory.managed.size": "32mb",
    "taskmanager.memory.network.min": "32mb",
    "taskmanager.memory.network.max": "32mb",
}


def net(rows: Iterable[str]) -> dict[str, int]:
    """How often each row was added less how often it was taken back."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row[2:]] += 1 if row[0] == "+" else -1
    return {row: count for row, count in sorted(counts.items()) if count}


def root_cause(error: Exception) -> str:
    """The innermost message of a Java exception, without what is other in each run."""
    text = f"{error}\n{getattr(error, 'stack_trace', '')}"
    lines = map(str.strip, text.splitlines())
    named = [line for line in lines if re.match(r"(Caused by: |: )?[\w.$]+(Exception|Error)\b", line)]
    causes = [line for line in named if line.startswith("Caused by: ")]
    cause = (causes or named[:1] or [repr(error)])[-1].removeprefix("Caused by").lstrip(": ")
    cause = re.sub(r"@[0-9a-f]+\b", "", cause)
    return re.sub(r"file:\S*/savepoint-[0-9a-f-]{12,}", "SAVEPOINT", cause)


class Job:
    """A plan that runs, and the file that its print sinks fill."""

    def __init__(self, plan: dict[str, Any], out: Path, more: dict[str, str]) -> None:
        from pyflink.common import Configuration
        from pyflink.java_gateway import get_gateway
        from pyflink.table import EnvironmentSettings, TableEnvironment

        with socket.socket() as free:
            free.bind(("localhost", 0))
            port = free.getsockname()[1]
        config = Configuration()
        for key, value in {**FIXED, **plan["options"], **more, "rest.bind-port": str(port)}.items():
            config.set_string(key, value)
        settings = EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(config).build()
        java = get_gateway().jvm.java
        java.lang.System.setOut(java.io.PrintStream(java.io.FileOutputStream(str(out)), True))
        self.out = out
        self.printed = self.read = 0
        self.has_ended = False
        environment = TableEnvironment.create(settings)
        self.client = environment.execute_sql(f"EXECUTE PLAN '{plan['plan']}'").get_job_client()
        self.overview = f"http://localhost:{port}/jobs/{self.client.get_job_id()}"

    def rows(self, records: int) -> list[str]:
        """The rows printed since the last call, once the sources have read ``records`` and nothing moves any more."""
        read, calm, start = self.read, 0, time.monotonic()
        moved = self.progress()
        while calm < CALM_STEPS and moved:
            time.sleep(STEP_S)
            before, moved = moved, self.progress()
            is_used_up = self.read - read >= records or time.monotonic() - start > PATIENCE_S
            calm = calm + 1 if moved == before and is_used_up else 0
        lines = [line for line in self.out.read_text("utf-8").splitlines() if line[:1] in "+-"]
        rows, self.printed = lines[self.printed :], len(lines)
        return rows

    def progress(self) -> object:
        """What changes as long as records move; ``None`` once the job has ended."""
        try:
            with urllib.request.urlopen(self.overview, timeout=20) as answer:
                job = json.load(answer)
        except OSError:
            return None
        if job["state"] in ENDED:
            return None
        vertices = [(v["name"], v["status"], v["metrics"]) for v in job["vertices"]]
        self.read = sum(m["write-records"] for name, _, m in vertices if name.startswith("Source:"))
        counts = [(name, status, m["read-records"], m["write-records"]) for name, status, m in vertices]
        if any(status != "RUNNING" for _, status, *_ in counts):
            return time.monotonic()
        return counts, self.out.stat().st_size

    def error(self) -> str | None:
        """What has made the job fail, if it has failed."""
        try:
            if not any(word in str(self.client.get_job_status().result()) for word in ENDED):
                return None
        except Exception:  # the cluster went down with its job
            pass
        self.has_ended = True
        try:
            self.client.get_job_execution_result().result()
        except Exception as error:  # py4j wraps whatever Flink throws
            return root_cause(error)
        return None

    def stop_with_savepoint(self, folder: Path, form: str) -> str:
        """Stop; the path of the savepoint."""
        from pyflink.java_gateway import get_gateway

        forms = get_gateway().jvm.org.apache.flink.core.execution.SavepointFormatType
        path: str = self.client._j_job_client.stopWithSavepoint(False, str(folder), getattr(forms, form)).get()
        return path

    def cancel(self) -> None:
        """Stop it, unless it has ended."""
        if not self.has_ended:
            self.client.cancel().result()


class Restart:
    """One request."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.request = request
        self.work, self.data = Path(request["work"]), Path(request["data"])
        self.runs = 0

    def feed(self, phase: str) -> None:
        """Let the files of a phase appear, whole."""
        for file, name in self.request[phase]:
            target = self.data / name
            target.parent.mkdir(parents=True, exist_ok=True)
            hidden = target.with_name(f".{target.name}")
            shutil.copy(file, hidden)
            hidden.rename(target)

    def records(self, side: str, phase: str) -> int:
        """How many lines a phase has for the sources of a plan."""
        plan = Path(self.request[side]["plan"]).read_text("utf-8")
        read = [file for file, name in self.request[phase] if f'{(self.data / name).parent}"' in plan]
        return sum(len(Path(file).read_text("utf-8").splitlines()) for file in read)

    def clear(self) -> None:
        """No files, but the folders that sources watch."""
        shutil.rmtree(self.data, ignore_errors=True)
        for phase in ("before", "after"):
            for _, name in self.request[phase]:
                (self.data / name).parent.mkdir(parents=True, exist_ok=True)

    def start(self, side: str, more: dict[str, str] | None = None) -> Job:
        self.runs += 1
        return Job(self.request[side], self.work / f"out-{self.runs}", more or {})

    def without_savepoint(self, *phases: str) -> list[list[str]]:
        """The rows of each phase, in a run of NEW that reads them in turn."""
        self.clear()
        self.feed(phases[0])
        job = self.start("new")
        rows_of_phases: list[list[str]] = []
        for phase in phases:
            if rows_of_phases:
                self.feed(phase)
            rows_of_phases.append(job.rows(self.records("new", phase)))
            if error := job.error():
                raise RuntimeError(f"NEW does not run: {error}")
        job.cancel()
        return rows_of_phases

    def answer(self) -> dict[str, Any]:
        self.clear()
        self.feed("before")
        job = self.start("old")
        before = job.rows(self.records("old", "before"))
        if error := job.error():
            raise RuntimeError(f"OLD does not run: {error}")
        path = job.stop_with_savepoint(self.work / "savepoint", self.request.get("format", "CANONICAL"))
        if command := self.request.get("migrate"):
            path, words = self.migrated(command, path)
            if words:
                return {"before": before, "after": [], "error": words, "declined": True}
        recovery = {"execution.state-recovery.path": path}
        if self.request.get("ignore_unclaimed"):
            recovery["execution.state-recovery.ignore-unclaimed-state"] = "true"
        self.feed("after")
        after, error = self.restored(recovery)
        answer: dict[str, Any] = {"before": before, "after": after, "error": error}
        if error:
            return answer
        answer["uninterrupted"] = self.without_savepoint("before", "after")
        if net(answer["uninterrupted"][1]) != net(after):
            (answer["alone"],) = self.without_savepoint("after")
        return answer

    def migrated(self, command: list[str], savepoint: str) -> tuple[str, str]:
        """The savepoint that a command makes of OLD's for NEW, and the command's last words where it declines."""
        places = {"savepoint": savepoint.removeprefix("file:"), "out": str(self.work / "migrated")}
        places |= {side: self.request[side]["plan"] for side in ("old", "new")}
        done = subprocess.run([word.format(**places) for word in command], capture_output=True, text=True)
        lines = (done.stderr.strip() or done.stdout.strip() or "no word").splitlines()
        return places["out"], lines[-1] if done.returncode else ""

    def restored(self, recovery: dict[str, str]) -> tuple[list[str], str | None]:
        """What NEW writes that starts from the savepoint, or why it does not."""
        try:
            job = self.start("new", recovery)
            rows, error = job.rows(self.records("new", "after")), job.error()
        except Exception as refused:  # refused before there is a job
            return [], root_cause(refused)
        if error:
            return [], error
        job.cancel()
        return rows, None


def main() -> None:
    """Answer requests until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what Flink's JVM prints must not mix with the answers
    for line in sys.stdin:
        try:
            answer = Restart(json.loads(line)).answer()
        except Exception as error:  # told, so that the next request can be answered
            answer = {"failed": root_cause(error)}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
