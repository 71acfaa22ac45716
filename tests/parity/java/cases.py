"""Queries with Java functions, with what Flink 2.3 made of them: plans, rows and refusals (``flink.json``).

A folder has functions in ``src``.  ``functions.json`` was written by ``flinkplan functions`` of the jar of their
classes, ``flink.json`` by ``record.py``.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


class Case:
    """A query, and the columns of the table that it is inserted into."""

    def __init__(self, line: str, flink: dict[str, Any]) -> None:
        self.name, self.columns, self.query = (part.strip() for part in line.split(" | ", 2))
        self.flink: dict[str, Any] = flink.get(self.name, {})

    @property
    def sink(self) -> str:
        """The table's name."""
        return "sink_" + self.name.replace("-", "_")

    def table(self, folder: Path) -> str:
        """The statement that defines the table, whose files are in a folder of its name."""
        path = f"file://{folder / self.name}"
        options = f"'connector' = 'filesystem', 'path' = '{path}', 'format' = 'debezium-json'"
        return f"CREATE TABLE {self.sink} ({self.columns}) WITH ({options});\n"

    @property
    def insert(self) -> str:
        """The statement that fills it."""
        return f"INSERT INTO {self.sink} {self.query};\n"


_JAVA = re.compile(r"AS 'acme\.(\w+)' LANGUAGE JAVA USING JAR '.*?'")


class Suite:
    """A folder of cases over the same tables and functions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        flink = json.loads((folder / "flink.json").read_text("utf-8"))
        lines = (folder / "cases.txt").read_text("utf-8").splitlines()
        self.cases = [Case(line, flink) for line in lines if line.strip()]
        self.by_name = {case.name: case for case in self.cases}

    @property
    def functions(self) -> str:
        """The file that describes the functions."""
        return str(self.folder / "functions.json")

    def definitions(self, folder: Path, python: str | None = None) -> str:
        """The statements that define tables and functions, whose files are in a folder.

        ``python`` is the module with the same functions in Python, which are called instead.
        """
        tables = (self.folder / "tables.sql").read_text("utf-8")
        functions = self.functions_in_java() if python is None else self.functions_in_python(python)
        return (tables + functions).replace("${CASE}", str(folder))

    def functions_in_java(self) -> str:
        """The statements that define the functions in the jar of ``${CASE}``."""
        return (self.folder / "functions.sql").read_text("utf-8")

    def functions_in_python(self, module: str, permanent: bool = False) -> str:
        """The statements that define the functions of a module in Python, all of them ``permanent`` if wanted."""
        statements = _JAVA.sub(rf"AS '{module}.\1' LANGUAGE PYTHON", self.functions_in_java())
        return statements.replace("TEMPORARY ", "") if permanent else statements

    def copy_data(self, folder: Path) -> None:
        """Copy the files of the tables into a folder."""
        shutil.copytree(self.folder / "data", folder / "data")

    def compile_jar(self, folder: Path, flink: Sequence[Path]) -> Path:
        """Compile the functions with the jars of Flink."""
        classes, jar = folder / "classes", folder / "functions.jar"
        sources = sorted(map(str, (self.folder / "src").rglob("*.java")))
        path = ":".join(map(str, flink))
        options = ["-J-XX:TieredStopAtLevel=1", "--release", "17", "-proc:none", "-parameters", "-cp", path]
        subprocess.run(["javac", *options, "-d", str(classes), *sources], check=True, capture_output=True)
        subprocess.run(["jar", "cf", str(jar), "-C", str(classes), "acme"], check=True, capture_output=True)
        return jar


JAVA = Suite(Path(__file__).parent)
PROCESS = Suite(Path(__file__).parent.parent / "process")
"""Process table functions."""
RESTORED = Suite(PROCESS.folder / "restored")
"""Those of Flink's own restore tests, in other words: ``flink.json`` has rows before and after a savepoint."""
PTFS = "ptfs"
"""The module in its folder that has the same functions in Python."""


def content(lines: Iterable[str]) -> dict[str, int]:
    """What rows of a changelog come to: how often each row is there."""
    counts: Counter[str] = Counter()
    for line in lines:
        change = json.loads(line)
        for part, count in (("before", -1), ("after", 1)):
            if change.get(part) is not None:
                counts[json.dumps(list(change[part].values()), ensure_ascii=False)] += count
    return {row: count for row, count in sorted(counts.items()) if count}


_ENDS = re.compile("table-source-scan|stream-exec-sink|watermark-assigner")


def inner_nodes(plan: dict[str, Any]) -> list[Any]:
    """The nodes of a plan without sources and sinks; correlation variables are numbered by session."""
    nodes = [node for node in plan["nodes"] if not _ENDS.search(node["type"])]
    text = re.sub(r"\$cor\d+", "$cor", json.dumps(nodes, sort_keys=True))
    inner: list[Any] = json.loads(text)
    return inner
