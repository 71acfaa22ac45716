"""What the plan says of a table that is looked up, beside what its description shows; and hints that are refused."""

from __future__ import annotations

from typing import Any

import pytest

from flinkplan.compat.validation import validate_text
from flinkplan.plan.document import dumps
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes.base import node_to_json
from flinkplan.planner import compile_script
from flinkplan.planner.errors import PlanningError

from .test_flink_plans import TABLES

ORDERS = "FROM o JOIN dims FOR SYSTEM_TIME AS OF o.pt AS d ON o.cid = d.id"


def lookup(statement: str) -> dict[str, Any]:
    """The JSON of the node that looks a table up."""
    (join,) = (n for n in compile_script(TABLES + statement).nodes if n.metadata.name == "stream-exec-lookup-join")
    return node_to_json(join)


def test_keys_are_columns_and_constants() -> None:
    node = lookup(f"INSERT INTO sis SELECT o.id, d.name {ORDERS} AND d.age = 11;")
    assert node["lookupKeys"] == {
        "0": {"type": "FieldRef", "index": 1},
        "2": {
            "type": "Constant",
            "sourceType": "INT",
            "literal": {"kind": "LITERAL", "value": 11, "type": "INT NOT NULL"},
        },
    }
    assert (
        node["temporalTable"]["outputType"] == "ROW<`id` INT NOT NULL, `name` VARCHAR(2147483647), `age` INT> NOT NULL"
    )
    assert [ability["type"] for ability in node["temporalTable"]["lookupTableSource"]["abilities"]] == [
        "ProjectPushDown",
        "FilterPushDown",
    ]
    assert [column["inputIndex"] for column in node["projectionOnTemporalTable"]] == [0, 1]
    assert node["lookupKeyContainsPrimaryKey"] is True
    assert list(node)[-1] == "preferCustomShuffle"


def test_retries_and_changes_stand_in_the_node() -> None:
    hint = (
        "/*+ LOOKUP('table' = 'd', 'retry-predicate' = 'lookup_miss', 'retry-strategy' = 'fixed_delay', "
        "'fixed-delay' = '10 s', 'max-attempts' = '3') */"
    )
    orders = ORDERS.replace("o JOIN", "clocked o JOIN").replace("o.cid", "o.a")
    node = lookup(f"INSERT INTO kisi SELECT {hint} o.id, d.name, d.age {orders};")
    assert node["retryOptions"] == {
        "retry-predicate": "lookup_miss",
        "retry-strategy": "FIXED_DELAY",
        "fixed-delay": 10000,
        "max-attempts": 3,
    }
    assert node["inputChangelogMode"] == ["INSERT", "UPDATE_BEFORE", "UPDATE_AFTER", "DELETE"]
    assert node["inputUpsertKey"] == [0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("'table' = 'x'", "names 'x', which this SELECT does not join"),
        ("'shuffle' = 'true'", "does not say which table"),
        ("'table' = 'd', 'asink' = 'true'", "did you mean 'async'?"),
        ("'table' = 'd', 'async' = 'maybe'", "'maybe' is no value of async"),
        ("'table' = 'd', 'retry-predicate' = 'lookup_miss'", "has no option 'retry-strategy'"),
        ("'table' = 'd', 'output-mode' = 'sorted'", "ORDERED or ALLOW_UNORDERED"),
    ],
)
def test_hints_say_which_table_and_how(options: str, words: str) -> None:
    with pytest.raises(FlinkplanError, match=words):
        lookup(f"INSERT INTO sis SELECT /*+ LOOKUP({options}) */ o.id, d.name {ORDERS};")


def test_what_is_asked_for_by_no_column_never_runs() -> None:
    plan = compile_script(f"{TABLES}INSERT INTO sis SELECT o.id, d.name {ORDERS.replace('=', '>')};")
    (finding,) = (each for each in validate_text(dumps(plan)) if each.rule == "never-runs")
    assert finding.pointer.endswith("/lookupKeys")


def test_null_does_not_look_up() -> None:
    with pytest.raises(PlanningError, match="not looked up by IS NOT DISTINCT FROM"):
        lookup(f"INSERT INTO sis SELECT o.id, d.name {ORDERS.replace('= d.id', 'IS NOT DISTINCT FROM d.age')};")
