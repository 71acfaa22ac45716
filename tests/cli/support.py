"""Running commands in tests."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from flinkplan.cli.main import run

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str


def flinkplan(*arguments: str, stdin: str | bytes | None = None) -> Outcome:
    """Run a command in this process, as the entry point does."""
    with CliRunner().isolation(input=stdin) as (out, err, _):
        code = run(arguments)
        sys.stdout.flush()
        return Outcome(code, out.getvalue().decode(), err.getvalue().decode())


def environment(**more: str) -> dict[str, str]:
    """That of a process which runs a job: where its programs are, how JVMs of tests start, and ``more``."""
    names = ("PATH", "HOME", "JAVA_HOME", "FLINKPLAN_CACHE", "SPARK_SUBMIT_OPTS", "SPARK_LAUNCHER_OPTS")
    return {**{name: os.environ[name] for name in names if name in os.environ}, "PYTHONPATH": str(ROOT), **more}


def flinkplan_process(*arguments: str, code: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own; ``code`` runs there afterwards."""
    script = f"import sys; from flinkplan.cli.main import run; status = run({list(arguments)!r}); {code}"
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=False)
