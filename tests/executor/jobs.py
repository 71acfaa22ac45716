"""A place for jobs over files, and a plan with windows."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flinkplan.executor.jobs.job import Job, JobOptions, execute
from flinkplan.executor.jobs.progress import QueryProgress
from flinkplan.executor.jobs.queries import StreamQuery
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan

from .plans import pipeline, row_type, scan, sink_node

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVENTS = (("ts", "TIMESTAMP(3)"), ("k", "STRING"))
COUNTS = (("k", "STRING"), ("n", "BIGINT NOT NULL"), ("start", "TIMESTAMP(3) NOT NULL"))
TIME = {"type": "TIMESTAMP_WITHOUT_TIME_ZONE", "precision": 3, "kind": "ROWTIME"}


class Place:
    """A folder of input and output, and jobs over it."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self.spark = spark
        self.root = root
        self.progress: list[QueryProgress] = []
        (root / "in").mkdir()

    def batch_done(self, progress: QueryProgress) -> None:
        self.progress.append(progress)

    def files(self, folder: str, format_: str = "json") -> dict[str, str]:
        """The options of a table over a folder."""
        return {"connector": "filesystem", "path": str(self.root / folder), "format": format_}

    def put(self, name: str, *rows: object) -> None:
        """Add a file of lines to the input; rows that are no texts are written as JSON."""
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        (self.root / f".{name}").write_text("".join(f"{line}\n" for line in lines))
        (self.root / f".{name}").rename(self.root / "in" / name)

    def run(self, plan: Plan, mode: Mode | None = None, *, streams: bool = False) -> None:
        """Run a plan to its end; ``streams``: bounded input, too, in micro-batches."""
        self.start(plan, mode, streams=streams).wait()

    def start(self, plan: Plan, mode: Mode | None = None, *, streams: bool = False) -> Job:
        checkpoint = str(self.root / "checkpoint")
        options = JobOptions(checkpoint=checkpoint, mode=mode, listener=self, spark=self.spark, streams=streams)
        return execute(plan, options)

    def output(self) -> list[Path]:
        """The files of the output in their order."""
        files = []
        for folder, folders, names in os.walk(self.root / "out"):  # which goes on where a folder goes away meanwhile
            folders[:] = (name for name in folders if not name.startswith("."))
            files += [Path(folder, name) for name in names if not name.startswith(".")]
        return sorted(files)

    def lines(self) -> list[str]:
        """The lines of the output, in the order of its files."""
        return [line for path in self.output() for line in path.read_text().splitlines()]

    def rows(self) -> list[Any]:
        return [json.loads(line) for line in self.lines()]


def stream_of(job: Job) -> StreamQuery:
    """The one query of a job in micro-batches."""
    (query,) = job.queries
    assert isinstance(query, StreamQuery)
    return query


def counts_by_minute(place: Place, format_: str = "json") -> Plan:
    """TUMBLE of one minute over the input in that format, the watermark 10 seconds behind."""
    ref = {"kind": "INPUT_REF", "inputIndex": 0, "type": "TIMESTAMP(3)"}
    delay = {"kind": "LITERAL", "value": "10000", "type": "INTERVAL SECOND(6) NOT NULL"}
    minus = {"kind": "CALL", "syntax": "SPECIAL", "internalName": "$-$1", "operands": [ref, delay]}
    timed = {"type": "ROW", "fields": [{"name": "ts", "fieldType": TIME}, {"name": "k", "fieldType": "STRING"}]}
    call: dict[str, Any] = {
        "name": "n",
        "syntax": "FUNCTION_STAR",
        "internalName": "$COUNT$1",
        "argList": [],
        "filterArg": -1,
    }
    call |= {"distinct": False, "approximate": False, "ignoreNulls": False, "type": "BIGINT NOT NULL"}
    window: dict[str, Any] = {"strategy": "TimeAttribute", "window": {"type": "TumblingWindow", "size": "PT1M"}}
    window |= {"timeAttributeType": TIME, "timeAttributeIndex": 0, "isRowtime": True}
    start = {"kind": "WindowStart", "reference": {"name": "w$", "type": TIME}}
    return pipeline(
        [
            scan(place.files("in", format_), EVENTS),
            {
                "type": "stream-exec-watermark-assigner_1",
                "watermarkExpr": {**minus, "type": "TIMESTAMP(3)"},
                "rowtimeFieldIndex": 0,
                "outputType": timed,
                "description": "",
            },
            {
                "type": "stream-exec-window-aggregate_1",
                "grouping": [1],
                "aggCalls": [call],
                "windowing": window,
                "namedWindowProperties": [{"name": "start", "property": start}],
                "needRetraction": False,
                "outputType": row_type(COUNTS),
                "description": "",
            },
            sink_node(place.files("out"), COUNTS),
        ]
    )


def event(time: str, key: str = "a") -> dict[str, str]:
    return {"ts": f"2024-01-01 {time}", "k": key}


def count(n: int, start: str, key: str = "a") -> dict[str, object]:
    return {"k": key, "n": n, "start": f"2024-01-01 {start}"}
