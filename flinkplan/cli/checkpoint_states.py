"""The state of checkpoints of 'flinkplan execute' in the neutral form, for commands that write it elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from ..plan.document import Plan

if TYPE_CHECKING:
    from ..state.form import JobState


@contextmanager
def checkpoint_state(
    checkpoint: str,
    plan: Plan,
    variables: Mapping[str, str],
    options: Mapping[str, str],
    flink: str | None,
    restarted: Collection[str] = (),
    *,
    debug: bool = False,
) -> Iterator[JobState]:
    """The state of a checkpoint as Flink's operators of the plan keep it; see :class:`CheckpointState`.

    Starts Flink, which says how its operators keep their states, and Spark.
    """
    from ..executor.checkpoints.job_state import CheckpointState
    from ..executor.jobs.options import JobOptions
    from ..executor.jvm.quiet import quiet_jvm
    from ..executor.jvm.session import session
    from ..flink.empty_savepoint import RunnablePlan, empty_savepoints

    with next(empty_savepoints([RunnablePlan(plan, options)], flink)) as empty:
        operators = empty.manifest.operators
    with nullcontext() if debug else quiet_jvm():
        spark = session(lean=True)
    job = JobOptions(variables=variables, options=options, lean=True, spark=spark)
    with CheckpointState(plan, checkpoint, operators, spark, job, restarted) as state:
        yield state
