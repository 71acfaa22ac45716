"""Commands start fast because they import little; only those that run jobs import Spark."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from tests.cli.support import ROOT, flinkplan_process
from tests.parity.corpus import HERE

CASE = HERE / "cases/join-two-cdc-tables-with-primary-keys"
SPARK = ("pyspark", "py4j")


def imported(process: subprocess.CompletedProcess[str]) -> list[str]:
    assert process.returncode == 0, process.stderr
    return process.stdout.splitlines()[-1].split()


COMMANDS = (
    ("--help",),
    ("--version",),
    ("execute", "--help"),
    ("compile", str(CASE / "pipeline.sql")),
    ("validate", str(CASE / "plan.json")),
    ("explain", str(CASE / "plan.json")),
    ("explain", str(CASE / "pipeline.sql")),
    ("explain", "--physical", str(CASE / "plan.json")),
    ("ttl", str(CASE / "plan.json"), "--all", "1 h"),
)


def test_no_spark() -> None:
    """All in one process, as what one of them imports stays."""
    each = f"[(c, run(c), [m for m in sys.modules if m.startswith({SPARK})]) for c in {COMMANDS}]"
    process = flinkplan_process("--version", code=f"each = {each}; print(); print(each)")
    assert process.returncode == 0, process.stderr
    assert ast.literal_eval(process.stdout.splitlines()[-1]) == [(command, 0, []) for command in COMMANDS]


def test_help_imports_no_command() -> None:
    modules = imported(flinkplan_process("--help", code="print(*sys.modules); sys.exit(status)"))
    heavy = ("rich", "jsonschema", "flinkplan.plan.nodes", "flinkplan.planner", "flinkplan.executor")
    assert [m for m in modules if m.startswith(heavy)] == []


@pytest.mark.parametrize(
    ("pipeline", "expected"),
    [("cli/starters/pipeline.sql", set()), ("cli/starters/pipeline.yaml", {"jsonschema", "ruamel"})],
)
def test_what_reads_yaml_is_imported_for_yaml_only(pipeline: str, expected: set[str]) -> None:
    modules = imported(
        flinkplan_process("compile", str(ROOT / pipeline), code="print(); print(*sys.modules); sys.exit(status)")
    )
    assert {m.partition(".")[0] for m in modules} & {"jsonschema", "ruamel"} == expected


def test_importing_the_table_api_imports_no_spark() -> None:
    code = "import sys, flinkplan; flinkplan.TableEnvironment.create(flinkplan.EnvironmentSettings.in_streaming_mode())"
    process = subprocess.run(
        [sys.executable, "-c", f"{code}; print(*sys.modules)"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert [m for m in imported(process) if m.partition(".")[0] in SPARK] == []
