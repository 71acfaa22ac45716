"""Goes on from savepoints of Flink, for cases of Flink's own restore tests::

    python -m tests.parity.restore CASES_FOLDER OUT_FOLDER [PATTERN]

A case is a folder ``NAME`` with ``case.json`` (tables with their rows before and after, and what sinks must show),
``plan.json`` and ``_metadata``, the savepoint.  What the sinks get here behind it goes to ``OUT_FOLDER/NAME.json``:
``{"sinks": {NAME: [ROW, …]}}``, rows as Flink's ``Row`` writes them, or ``{"error": TEXT}``.  The environment variable
``FLINK_PYTHON`` names a Python with apache-flink.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from operator import itemgetter
from pathlib import Path
from queue import Empty
from typing import TYPE_CHECKING, Any

from flinkplan.executor.build.context import TranslationContext
from flinkplan.executor.build.operators.tables import sink_order
from flinkplan.executor.build.stream import Stream
from flinkplan.executor.checkpoints.move import write_checkpoint
from flinkplan.executor.connectors.tables import Table
from flinkplan.executor.jobs.collecting import Collector, Row
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.modes import Mode
from flinkplan.flink.savepoint import read_savepoints
from flinkplan.plan.connectors import CHANGELOG
from flinkplan.plan.document import Plan, loads
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes import Sink, TableSourceScan
from flinkplan.plan.record import replace
from flinkplan.plan.specs import ContextResolvedTable
from flinkplan.state.form import JobState

from .flink import PYTHON_VARIABLE
from .restore_tables import Column, columns_of, row_text, write_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NO_LIMIT = 0


class Case:
    """A case in a folder."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self.folder = folder
        self.content: dict[str, Any] = json.loads((folder / "case.json").read_text("utf-8"))

    @property
    def savepoint(self) -> Path:
        """The savepoint, which is one file."""
        return self.folder / "_metadata"

    def plan(self, tables: Path) -> Plan:
        """The plan, whose sources read what stands in ``tables``."""
        content = json.loads((self.folder / "plan.json").read_text("utf-8"))
        options = {source["name"]: self._source(source, tables) for source in self.content["sources"]}
        for node in content["nodes"]:
            if node["type"].startswith("stream-exec-table-source-scan"):
                table = node["scanTableSource"]["table"]
                table["resolvedTable"]["options"] = options[_name(table)]
            elif node["type"].startswith("stream-exec-sink"):
                sink = node["dynamicTableSink"]
                sink["table"]["resolvedTable"]["options"] = {"connector": "print"}
                # the test's table takes INSERT OVERWRITE and appends, which no table of a streaming job does
                sink["abilities"] = [a for a in sink.get("abilities") or () if a["type"] != "Overwrite"]
        return loads(json.dumps(content), str(self.folder / "plan.json"))

    @staticmethod
    def _source(source: Mapping[str, Any], tables: Path) -> dict[str, str]:
        kinds = source.get("changelog_mode") or "I"
        return {"connector": "values", "path": str(tables / source["name"]), CHANGELOG: kinds}

    def uids(self) -> list[str]:
        """The UIDs of the plan's operators that keep something; none of a plan that cannot be read."""
        try:
            nodes = self.plan(self.folder).nodes
        except FlinkplanError:
            return []
        return [f"{node.id}_{keeper}" for node in nodes for keeper in node.stateful_transformations]


def _name(table: Mapping[str, Any]) -> str:
    return str(table["identifier"]).split("`.`")[-1].strip("`")


class SinkRows(Collector):
    """Takes all rows of a sink."""

    def __init__(self) -> None:
        super().__init__(as_text=False, waiting=_NO_LIMIT)

    def taken(self) -> Iterator[Row]:
        """Those that have come."""
        while True:
            try:
                yield self._rows.get_nowait()
            except Empty:
                return


class Rows(Collector):
    """Takes all rows of a job, whose sinks each have a query of their own."""

    def __init__(self) -> None:
        super().__init__(as_text=False, waiting=_NO_LIMIT)
        self._sinks: list[tuple[Sink, SinkRows]] = []

    def writer(self, stream: Stream, context: TranslationContext) -> Callable[[DataFrame, int], None]:
        (sink,) = (node for node in context.plan.nodes if isinstance(node, Sink))
        rows = SinkRows()
        self._sinks.append((sink, rows))
        return rows.writer(stream, context)

    def texts(self) -> Iterator[tuple[str, str]]:
        """The name of the table and the text of each row that has come."""
        for sink, rows in self._sinks:
            table = _table(sink.dynamic_table_sink.table)
            columns = columns_of(table)
            order = [columns.index(column) for column in _written(table, columns)]
            types = [t for _, t, _ in columns]
            for kind, values in rows.taken():
                placed = [value for _, value in sorted(zip(order, values, strict=True), key=itemgetter(0))]
                yield table.name, row_text(kind, placed, types)


def _table(reference: ContextResolvedTable) -> Table:
    assert reference.resolved_table is not None
    return Table(reference.identifier, reference.name, reference.resolved_table, {})


def _written(table: Table, columns: Sequence[Column]) -> list[Column]:
    """The columns as a writer takes them: metadata behind the others."""
    physical = [column for column in columns if column[2] is None]
    return [*(physical[i] for i in sink_order(table)), *(column for column in columns if column[2] is not None)]


def go_on(case: Case, state: JobState, spark: SparkSession, work: Path) -> dict[str, list[str]]:
    """What the sinks of a case get behind its savepoint."""
    plan = case.plan(work)
    for node in plan.nodes:
        if isinstance(node, TableSourceScan):
            table = _table(node.scan_table_source.table)
            (after,) = (s["after"] for s in case.content["sources"] if s["name"] == table.name)
            if not (work / table.name).exists():
                write_rows(spark, table, after, work / table.name)
    checkpoint = str(work / "checkpoint")
    texts: dict[str, list[str]] = {sink["name"]: [] for sink in case.content["sinks"]}
    options = JobOptions(mode=Mode.AVAILABLE_NOW, spark=spark, options=case.content["config"])
    write_checkpoint(plan, state, checkpoint, spark, options)
    for mode in (Mode.AVAILABLE_NOW, Mode.BOUNDED):  # rows one by one, then the end of the input
        rows = Rows()
        execute(plan, replace(options, checkpoint=checkpoint, mode=mode, collector=rows)).wait()
        for name, text in rows.texts():
            texts[name].append(text)
    return texts


def run(cases: Sequence[Case], out: Path, spark: SparkSession, *, debug: bool = False) -> None:
    """Run cases, one after the other; ``debug``: say where errors come from."""
    out.mkdir(parents=True, exist_ok=True)
    uids = {uid for case in cases for uid in case.uids()}
    savepoints = read_savepoints([case.savepoint for case in cases], os.environ.get(PYTHON_VARIABLE), sorted(uids))
    for case, state in zip(cases, savepoints, strict=True):
        work = Path(tempfile.mkdtemp(prefix="restore-"))
        try:
            with state:
                result: dict[str, Any] = {"sinks": go_on(case, state, spark, work)}
        except FlinkplanError as e:
            result = {"error": f"{e.where}: {e.message}" if e.where else e.message}
        except Exception as e:
            result = {"error": f"{type(e).__name__}: {str(e)[:2000]}"}
            if debug:
                traceback.print_exc()
        finally:
            shutil.rmtree(work, ignore_errors=True)
        (out / f"{case.name}.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
        print(case.name, result.get("error", "done")[:300], flush=True)


def main(arguments: Sequence[str]) -> int:
    from flinkplan.executor.jvm.session import session

    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder, out, *patterns = arguments
    found = (Case(file.parent) for file in sorted(Path(folder).glob("*/case.json")))
    cases = [
        c for c in found if not c.content["skip"] and (not patterns or any(fnmatchcase(c.name, p) for p in patterns))
    ]
    spark = session("local[2]", {"spark.sql.shuffle.partitions": "2"})
    run(cases, Path(out), spark)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
