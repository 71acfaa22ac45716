"""Moves savepoints of Flink to Spark and back, and compares what is in them, for cases of Flink's restore tests::

    python -m tests.parity.over_spark CASES_FOLDER [PATTERN…]

Cases are those of :mod:`.restore`.  Each entry of a key must be as in the savepoint when it comes back from the
checkpoint that was written of it, but for whether a row once was an insert or an update.  ``FLINK_PYTHON`` names a
Python with apache-flink.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from flinkplan.executor.checkpoints.job_state import CheckpointState
from flinkplan.executor.checkpoints.move import write_checkpoint
from flinkplan.executor.jobs.job import JobOptions
from flinkplan.executor.prepare.modes import Mode
from flinkplan.flink.savepoint import read_savepoints
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes import TableSourceScan
from flinkplan.plan.record import replace
from flinkplan.plan.savepoint import flink_states
from flinkplan.state.form import JobState
from tests.flink.state_text import actual

from .flink import PYTHON_VARIABLE
from .local_spark import LocalSpark
from .restore import Case, Rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LIKE: Mapping[str, str] = {
    "sorted-map": "a map, whose entries are in no order",
    "processedCountState": "kept beside rows that are counted anew",
    **dict.fromkeys(
        (flink_states.PATTERN_MATCHES, flink_states.PATTERN_ENTRIES, flink_states.PATTERN_EVENT_COUNTS),
        "matches have other versions, which lead the same way",
    ),
    **dict.fromkeys(
        (
            flink_states.OVER_NEXT_ID,
            flink_states.OVER_ORDER,
            flink_states.OVER_ROWS_BY_ID,
            flink_states.OVER_ACCUMULATORS_BY_ROW,
        ),
        "rows are numbered anew",
    ),
    **dict.fromkeys(
        (flink_states.TEMPORAL_NEXT, flink_states.TEMPORAL_TIMER, "_timer_state/event_timers"),
        "rows that wait are numbered anew, and versions that no row waits for have timers",
    ),
    **dict.fromkeys(
        (flink_states.PATTERN_QUEUE, flink_states.PATTERN_EVENTS), "columns that the pattern does not read are NULL"
    ),
}
"""States that may be others, and why."""

_ORDERED = ("valueToOrderMap", "orderToValueMap")
"""How the names of states end in which values have numbers by the time at which they came: they are numbered anew."""

_ACCESSED = re.compile(r" @\d+$")
"""What an entry with a TTL ends in."""

CASE_SECONDS = 240
"""How long a case may take."""


def differing(case: Case, state: JobState, spark: SparkSession, work: Path) -> str:
    """Which states come back as others."""
    plan = case.plan(work)
    checkpoint = str(work / "checkpoint")
    options = JobOptions(mode=Mode.AVAILABLE_NOW, spark=spark, options=case.content["config"], collector=Rows())
    for node in plan.nodes:
        if isinstance(node, TableSourceScan):
            (work / node.scan_table_source.table.name).mkdir(parents=True, exist_ok=True)
    write_checkpoint(plan, state, checkpoint, spark, options)
    restarted = [node.scan_table_source.table.name for node in plan.nodes if isinstance(node, TableSourceScan)]
    before = actual(state)
    ordered = {
        (key[0], name) for key in before if key[1].endswith(_ORDERED) for name in (key[1], flink_states.ACCUMULATORS)
    }
    wrong = []
    operators = tuple(
        operator for operator in state.manifest.operators if any(t.kind.is_keyed for t in operator.states)
    )
    with CheckpointState(
        plan, checkpoint, operators, spark, replace(options, checkpoint=checkpoint), restarted
    ) as back:
        for key, entries in actual(back).items():
            if key[1] in LIKE or key in ordered:
                continue
            kept, given = ([entry.replace("+U[", "+I[") for entry in each] for each in (before[key], entries))
            if sorted(kept) != sorted(given):
                lost = [entry for entry in kept if entry not in given and not _expires(entry)]
                new = [entry for entry in given if entry not in kept]
                if lost or new:
                    wrong.append(f"{key[1]} has not {lost[:2]} but {new[:2]}")
    return "; ".join(wrong)


def _expires(entry: str) -> bool:
    """Whether an entry says when it was written, which was long ago: it may have expired."""
    return _ACCESSED.search(entry) is not None


def main(arguments: Sequence[str]) -> int:
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    folder, *patterns = arguments
    found = (Case(file.parent) for file in sorted(Path(folder).glob("*/case.json")))
    cases = [
        c for c in found if not c.content["skip"] and (not patterns or any(fnmatchcase(c.name, p) for p in patterns))
    ]
    cases = [case for case in cases if case.content.get("keyed_entries")]
    spark = LocalSpark()
    uids = sorted({uid for case in cases for uid in case.uids()})
    right = 0
    savepoints = read_savepoints([case.savepoint for case in cases], os.environ.get(PYTHON_VARIABLE), uids)
    for case, state in zip(cases, savepoints, strict=True):
        work = Path(tempfile.mkdtemp(prefix="over-spark-"))
        try:
            with state, spark.at_most(CASE_SECONDS) as running:
                result = differing(case, state, running, work)
        except FlinkplanError as e:
            result = f"refused: {e.where}: {e.message}"
        except Exception as e:
            result = f"failed: {type(e).__name__}: {str(e)[:300]}"
            if "DEBUG" in os.environ:
                traceback.print_exc()
        finally:
            shutil.rmtree(work, ignore_errors=True)
        right += not result
        print(f"{case.name}: {result or 'right'}", flush=True)
    print(f"{right} of {len(cases)} come back as they were")
    return 0 if right == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
