"""The samples' plans are what their pipelines compile to."""

from pathlib import Path

import pytest

from flinkplan.plan.document import dumps
from flinkplan.planner import compile_script

SAMPLES = sorted((Path(__file__).parents[2] / "sample_plans").glob("*/pipeline.sql"))


def test_there_are_samples() -> None:
    assert len(SAMPLES) >= 4


@pytest.mark.parametrize("pipeline", SAMPLES, ids=lambda path: path.parent.name)
def test_plan_is_current(pipeline: Path) -> None:
    compiled = dumps(compile_script(pipeline.read_text("utf-8"), file=str(pipeline)))
    kept = pipeline.with_name("plan.json").read_text("utf-8")
    assert compiled == kept.rstrip("\n"), (
        f"run: flinkplan compile {pipeline} -o {pipeline.with_name('plan.json')} --force"
    )
