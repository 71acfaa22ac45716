"""Process table functions go on from checkpoints with the rows that Flink writes behind a savepoint, one by one."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.modes import Mode
from flinkplan.flink.home import flink_jars
from flinkplan.plan.document import Plan
from flinkplan.planner.script import compile_statements, parse_pipeline
from flinkplan.table.function_loader import FunctionLoader
from tests.parity.java.cases import RESTORED
from tests.parity.java.restored import PHASES, sinks
from tests.parity.java.test_process_rows import NEEDS_FLINK
from tests.parity.restore import Rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MODULE = "restored"
"""The functions in Python."""


@pytest.mark.spark
@pytest.mark.parametrize("language", [pytest.param("java", marks=NEEDS_FLINK), "python"])
def test_rows_are_those_that_flink_restores(spark: SparkSession, tmp_path: Path, language: str) -> None:
    if language == "java":
        plan = compiled(tmp_path, str(RESTORED.compile_jar(tmp_path, flink_jars())), None)
    else:
        plan = compiled(tmp_path, str(RESTORED.folder / f"{MODULE}.py"), MODULE)
    written: dict[str, dict[str, list[str]]] = {case.name: {} for case in RESTORED.cases}
    for phase in PHASES:
        shutil.copytree(RESTORED.folder / phase, tmp_path / "data", dirs_exist_ok=True)
        for table, texts in rows_of(spark, plan, tmp_path / "checkpoint").items():
            written[table][phase] = sorted(texts)
    assert written == {case.name: case.flink for case in RESTORED.cases}


def compiled(folder: Path, code: str, module: str | None) -> Plan:
    """The plan of all cases, in one statement set."""
    definitions = RESTORED.definitions(folder, module).replace("${DIR}", str(folder / "data"))
    inserts = "".join(case.insert for case in RESTORED.cases)
    script = f"{definitions}{sinks(RESTORED.cases)}EXECUTE STATEMENT SET BEGIN\n{inserts}END;"
    return compile_statements(parse_pipeline(script, "all.sql"), {}, load=FunctionLoader(lambda: [code]))


def rows_of(spark: SparkSession, plan: Plan, checkpoint: Path) -> dict[str, list[str]]:
    """The rows that each case gets of what is there, as Flink shows them."""
    from flinkplan.table.java_jars import function_jars

    rows = Rows()
    execute(
        plan,
        JobOptions(
            spark=spark,
            mode=Mode.AVAILABLE_NOW,
            checkpoint=str(checkpoint),
            streams=True,
            collector=rows,
            java_jars=function_jars,
        ),
    ).wait()
    texts: dict[str, list[str]] = {case.name: [] for case in RESTORED.cases}
    for table, text in rows.texts():
        texts[table.removeprefix("sink_").replace("_", "-")].append(text)
    return texts
