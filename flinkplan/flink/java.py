"""The program in Java that reads and writes savepoints, run on the user's Flink."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
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

Counted = Callable[[int], None]
"""Is told how many entries there have been."""


def uncounted(entries: int) -> None:
    """The count that nobody reads."""


def new_tables() -> Path:
    """A temporary folder for the tables of a request.

    What is left of processes that were killed is removed a day later.
    """
    remove_stale(Path(tempfile.gettempdir()), _TABLES, _STALE_SECONDS)
    return Path(tempfile.mkdtemp(prefix=_TABLES))


def run_java(
    jars: Sequence[Path], requests: Sequence[Path], planner: Sequence[Path] = (), counted: Counted = uncounted
) -> None:
    """Run it with the jars of Flink over files of requests, as ``Main.java`` describes them.

    ``planner`` are the jars that requests need which run plans.  ``counted`` is told how many entries have been read or
    written so far.

    Raises :class:`StateError` where the JVM does not run to its end.
    """
    path = os.pathsep.join(map(str, (savepoint_jar(jars), *jars, *planner)))
    opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in (_OPENED if planner else ())]
    command = [program("java"), *_OPTIONS, *opened, "-cp", path, _MAIN, *map(str, requests)]
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, errors="replace") as java:
            assert java.stdout is not None
            try:
                for line in java.stdout:
                    if line.strip().isdecimal():
                        counted(int(line))
            except BaseException:
                java.kill()
                raise
        if java.returncode:
            errors.seek(0)
            reason = errors.read().strip() or f"the JVM ended with {java.returncode}"
            raise StateError(f"the program that reads and writes savepoints has failed: {reason}")
