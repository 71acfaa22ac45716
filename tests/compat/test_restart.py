"""Whether a plan may go on from a checkpoint: decided before Spark is started."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from flinkplan.compat.diff import Exceptions
from flinkplan.compat.restart import RestartError, check_restart
from flinkplan.executor.context import Mode
from flinkplan.executor.job import JobOptions, execute
from flinkplan.plan.checkpoint import CheckpointRecord
from flinkplan.plan.document import Plan, dumps, loads
from flinkplan.plan.errors import FlinkplanError
from flinkplan.planner import compile_script
from tests.cli.support import flinkplan, flinkplan_process
from tests.compat.pipelines import SUMS, SUMS_COLUMNS, script

PLAN = compile_script(script(SUMS, SUMS_COLUMNS))
TTL = loads(dumps(PLAN).replace('"0 ms"', '"3 s"'))
KEY = compile_script(script(SUMS.replace("product", "shop"), SUMS_COLUMNS))
LESS = compile_script(script(SUMS.replace("MAX(", "MIN("), SUMS_COLUMNS))
NOTHING = Exceptions()


@pytest.fixture
def checkpoint(tmp_path: Path) -> Iterator[Path]:
    """A checkpoint made by :data:`PLAN`."""
    CheckpointRecord(tmp_path / "checkpoint").begin(PLAN, "available-now")
    return tmp_path / "checkpoint"


def test_a_new_checkpoint(tmp_path: Path) -> None:
    assert check_restart(str(tmp_path / "new"), PLAN, NOTHING) is None


@pytest.mark.parametrize("plan", [PLAN, TTL], ids=["same", "compatible"])
def test_a_plan_that_goes_on(checkpoint: Path, plan: Plan) -> None:
    assert check_restart(str(checkpoint), plan, NOTHING) is not None


@pytest.mark.parametrize(
    ("plan", "verdict", "rule"), [(LESS, "partial", "aggregate-changed"), (KEY, "incompatible", "keys-changed")]
)
def test_a_plan_that_is_refused(checkpoint: Path, plan: Plan, verdict: str, rule: str) -> None:
    with pytest.raises(RestartError) as refused:
        check_restart(str(checkpoint), plan, NOTHING)
    assert f"{verdict}: group-aggregate: " in refused.value.message
    assert refused.value.hint is not None
    ways_out = (f"--allow {rule}@group-aggregate", "--checkpoint NEW-DIR", "flinkplan upgrade")
    assert [way for way in ways_out if way not in refused.value.hint] == []


def test_what_is_refused_can_be_allowed(checkpoint: Path) -> None:
    allowed = Exceptions(allowed=["keys-changed@group-aggregate"])
    assert check_restart(str(checkpoint), KEY, allowed) is not None


def test_a_job_that_has_ended(checkpoint: Path) -> None:
    CheckpointRecord(checkpoint).end()
    with pytest.raises(RestartError, match="has ended"):
        check_restart(str(checkpoint), PLAN, NOTHING)


def test_event_time_jobs_keep_to_their_kind_of_mode(checkpoint: Path) -> None:
    with pytest.raises(FlinkplanError, match="made in the mode available-now and cannot go on in the mode bounded"):
        execute(PLAN, JobOptions(str(checkpoint), variables={"DIR": str(checkpoint)}, mode=Mode.BOUNDED))


def test_a_checkpoint_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "report" / "offsets").mkdir(parents=True)
    with pytest.raises(RestartError, match="does not say which plan"):
        check_restart(str(tmp_path), PLAN, NOTHING)


def test_execute_refuses_before_spark_is_started(checkpoint: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(dumps(KEY))
    code = "assert 'pyspark' not in sys.modules; sys.exit(status)"
    done = flinkplan_process("execute", str(plan), "--checkpoint", str(checkpoint), code=code)
    assert done.returncode == 1
    assert "incompatible: group-aggregate: grouping[0] product → shop (keys-changed)" in done.stderr
    assert CheckpointRecord(checkpoint).plan_text() == dumps(PLAN)


def test_state_of_no_checkpoint(tmp_path: Path) -> None:
    outcome = flinkplan("state", str(tmp_path))
    assert (outcome.code, "there is no checkpoint here" in outcome.err) == (3, True)
