"""The program in Java that reads and writes savepoints, run on the user's Flink."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..plan.files import remove_stale
from ..state.form import StateError
from .jar import program, savepoint_jar

MANIFEST, ERROR = "manifest.json", "error"
"""What it leaves in the folder of a request: that of what it has read, or why it could not."""

_TABLES = "flinkplan-savepoint-"
_STALE_SECONDS = 24 * 3600
_MAIN = "flinkplan.savepoint.Main"
_OPTIONS = ("-XX:+UseSerialGC", "-Xmx1g")
_OPENED = ("java.lang", "java.net", "java.time", "java.util", "java.util.concurrent")
"""Packages of the JVM into which Flink's jobs look, by the default of ``env.java.opts.all``."""


def new_tables() -> Path:
    """A temporary folder for the tables of a request.

    What is left of processes that were killed is removed a day later.
    """
    remove_stale(Path(tempfile.gettempdir()), _TABLES, _STALE_SECONDS)
    return Path(tempfile.mkdtemp(prefix=_TABLES))


def run_java(jars: Sequence[Path], requests: Sequence[Path], planner: Sequence[Path] = ()) -> None:
    """Run it with the jars of Flink over files of requests, as ``Main.java`` describes them.

    ``planner`` are the jars that requests need which run plans.

    Raises :class:`StateError` where the JVM does not run to its end.
    """
    path = os.pathsep.join(map(str, (savepoint_jar(jars), *jars, *planner)))
    opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in (_OPENED if planner else ())]
    command = [program("java"), *_OPTIONS, *opened, "-cp", path, _MAIN, *map(str, requests)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        reason = result.stderr.strip() or f"the JVM ended with {result.returncode}"
        raise StateError(f"the program that reads and writes savepoints has failed: {reason}")
