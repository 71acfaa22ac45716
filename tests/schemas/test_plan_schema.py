from __future__ import annotations

import json

import pytest

from flinkplan.schemas.generate import schema_text, spec_schema_text
from flinkplan.schemas.loader import PLAN, SPEC, load_schema, schema_file, validator
from tests.parity.corpus import Case, cases


def test_the_file_is_what_the_nodes_say_today() -> None:
    assert schema_file(PLAN).read_text("utf-8") == schema_text(), "run: python -m flinkplan.schemas.generate"


def test_the_windows_of_a_pipeline_are_those_that_are_declared() -> None:
    assert schema_file(SPEC).read_text("utf-8") == spec_schema_text(), "run: python -m flinkplan.schemas.generate"


def test_it_is_a_schema() -> None:
    type(validator(PLAN)).check_schema(load_schema(PLAN))


@pytest.mark.parametrize("case", [case for case in cases() if case.compiles][::8], ids=lambda case: case.name)
def test_accepts_what_flink_compiles(case: Case) -> None:
    errors = list(validator(PLAN).iter_errors(json.loads(case.plan_file.read_text("utf-8"))))
    assert [error.message for error in errors] == []


@pytest.mark.parametrize(
    "document",
    [
        [],
        {},
        {"flinkVersion": "2.3", "nodes": [], "edges": [], "more": 1},
        {"flinkVersion": 2.3, "nodes": [], "edges": []},
        {"flinkVersion": "2.3", "nodes": [{"id": 1, "type": "stream-exec-none_1"}], "edges": []},
        {"flinkVersion": "2.3", "nodes": [{"id": 1, "type": "stream-exec-calc_1"}], "edges": []},
        {"flinkVersion": "2.3", "nodes": [], "edges": [{"source": 1}]},
    ],
)
def test_refuses_what_is_no_plan(document: object) -> None:
    assert not validator(PLAN).is_valid(document)
