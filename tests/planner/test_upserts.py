"""Where upserts of a source are normalized, and where they go on as they are.

Each expectation is what Flink 2.3 compiles for a source and a sink of these kinds of changes.
"""

from __future__ import annotations

import pytest

from flinkplan.planner import compile_script

KEYED = "id INT PRIMARY KEY NOT ENFORCED, g INT, s STRING"
SOURCES = "\n".join(
    f"CREATE TABLE {name} ({KEYED}) WITH ('connector' = 'any', 'flinkplan.changelog' = '{kinds}');"
    for name, kinds in (("ups", "I,UA,D"), ("everything", "I,UB,UA,D"))
)
SINKS = """
CREATE TABLE to_ups (id INT PRIMARY KEY NOT ENFORCED, g INT, s STRING)
  WITH ('connector' = 'any', 'flinkplan.changelog' = 'I,UA,D');
CREATE TABLE to_all (id INT, g INT, s STRING) WITH ('connector' = 'print');
CREATE TABLE by_key (id INT PRIMARY KEY NOT ENFORCED, g INT, s STRING) WITH ('connector' = 'dynamodb');
CREATE TABLE documents (id INT PRIMARY KEY NOT ENFORCED, g INT, s STRING) WITH ('connector' = 'mongodb-cdc');
"""
JOIN = "SELECT a.id, b.g, b.s FROM {0} a JOIN {0} b ON a.id = b.id"
COUNT = "SELECT g, CAST(COUNT(*) AS INT), MAX(s) FROM {} GROUP BY g"


def normalizations(statement: str) -> int:
    plan = compile_script(f"{SOURCES}{SINKS}{statement};")
    return sum(node.type == "stream-exec-changelog-normalize_1" for node in plan.nodes)


@pytest.mark.parametrize(
    ("query", "into_upserts", "into_all"),
    [
        ("SELECT * FROM ups", 0, 1),
        ("SELECT * FROM ups WHERE id > 1", 0, 1),
        ("SELECT * FROM ups WHERE g > 1", 1, 1),
        (COUNT.format("ups"), 1, 1),
        (JOIN.format("ups"), 0, 2),
        ("SELECT * FROM everything", 0, 0),
    ],
)
def test_upserts_are_normalized_for_old_rows_and_filters(query: str, into_upserts: int, into_all: int) -> None:
    assert normalizations(f"INSERT INTO to_ups {query}") == into_upserts
    assert normalizations(f"INSERT INTO to_all {query}") >= min(into_all, 1)


def test_deletions_by_key_alone_are_made_whole_for_sinks_that_want_the_row() -> None:
    assert normalizations("INSERT INTO by_key SELECT * FROM documents") == 0
    assert normalizations("INSERT INTO to_ups SELECT * FROM documents") == 1
    assert normalizations("INSERT INTO by_key SELECT * FROM documents WHERE id > 1") == 0


def test_events_that_may_be_told_twice_are_always_normalized() -> None:
    setting = "SET 'table.exec.source.cdc-events-duplicate' = 'true';"
    plan = compile_script(f"{setting}{SOURCES}{SINKS}INSERT INTO to_ups SELECT * FROM everything;")
    assert [node.type.split("-", 2)[2] for node in plan.nodes] == [
        "table-source-scan_2",
        "drop-update-before_1",
        "exchange_1",
        "changelog-normalize_1",
        "sink_2",
    ]
