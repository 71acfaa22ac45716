"""The registry of functions agrees with the function table."""

from __future__ import annotations

import pytest

import flinkplan.executor.expressions  # noqa: F401  (fills the registry)
from flinkplan.executor.expressions.registry import REGISTRY, sql_name
from flinkplan.plan.functions import all_functions, function_of
from flinkplan.plan.functions.conditional import FORMER_HASH_CODE
from flinkplan.plan.functions.model import Kind

OF_THE_PLANNER = {"OVERLAPS", "PRINT", "SOURCE_WATERMARK", "STREAMRECORD_TIMESTAMP"}
"""Those that the planner rewrites, or that stand elsewhere than in an expression."""


def test_every_function_is_known_to_the_table() -> None:
    unknown = [name for syntax, name in REGISTRY if function_of(syntax, name) is None]
    assert unknown == [FORMER_HASH_CODE]


def test_every_scalar_function_is_done() -> None:
    missing = {f.name for f in all_functions() if f.kind is Kind.SCALAR and f.key not in REGISTRY}
    assert missing == OF_THE_PLANNER


@pytest.mark.parametrize(
    ("internal", "name"),
    [("$UPPER$1", "UPPER"), ("$IS NOT NULL$1", "IS NOT NULL"), ("$/INT$1", "/INT"), ("$$SUM0$1", "SUM0")],
)
def test_sql_name(internal: str, name: str) -> None:
    assert sql_name(internal) == name
