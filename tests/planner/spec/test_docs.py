"""The example of docs/spec.md is true."""

from __future__ import annotations

import re
from pathlib import Path

from tests.planner.spec.support import errors, plan

PAGE = (Path(__file__).parents[3] / "docs/spec.md").read_text("utf-8")


def example(language: str) -> str:
    match = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert match is not None
    return match[1]


def test_both_say_the_same() -> None:
    assert plan(example("yaml"), "pipeline.yaml") == plan(example("sql"), "pipeline.sql")


def test_the_error_is_as_shown() -> None:
    (error,) = errors(example("yaml").replace("SUM(total)", "SUM(totl)"))
    shown = f"error: {error.message}\n --> {error.where}\n{error.snippet}\nhint: {error.hint}\n"
    assert shown in PAGE
