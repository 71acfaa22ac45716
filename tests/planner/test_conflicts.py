"""Which sinks keep rows by their key, and which statements have to say what becomes of conflicts.

Each expectation is what Flink 2.3 compiles, or refuses to.
"""

from __future__ import annotations

import pytest

from flinkplan.planner import compile_script
from flinkplan.planner.errors import PlanningError

TABLES = """
CREATE TABLE u (id INT, k STRING, x INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = 'u', 'format' = 'debezium-json');
CREATE TABLE a (id INT, k STRING, x INT) WITH ('connector' = 'filesystem', 'path' = 'a', 'format' = 'json');
"""
SINKS = {
    "print": "'connector' = 'print'",
    "blackhole": "'connector' = 'blackhole'",
    "journal": "'connector' = 'filesystem', 'path' = 'o', 'format' = 'debezium-json'",
}
ANYWAY, KEEPS, REFUSED = "as they come", "kept by key", "refused"
OF_UPDATES = {
    "SELECT id, x FROM u": (ANYWAY, ANYWAY, KEEPS),
    "SELECT x, id FROM u": (REFUSED, KEEPS, KEEPS),
    "SELECT id, x FROM a": (ANYWAY, REFUSED, KEEPS),
    "SELECT id, COUNT(*) FROM a GROUP BY id": (ANYWAY, ANYWAY, KEEPS),
    "SELECT COUNT(*), id FROM a GROUP BY id": (REFUSED, KEEPS, KEEPS),
    "SELECT id, x FROM a WHERE k IN (SELECT k FROM u)": (REFUSED, KEEPS, KEEPS),
}
"""Without more, with ON CONFLICT DO DEDUPLICATE, and where they are kept by force: sinks that ask for no old rows."""


def rows_are(sink: str, query: str, more: str = "", option: str = "AUTO") -> str:
    """What becomes of the rows of a query in a sink whose key is the first column."""
    table = f"CREATE TABLE o (p BIGINT, q BIGINT, PRIMARY KEY (p) NOT ENFORCED) WITH ({SINKS[sink]});"
    setting = f"SET 'table.exec.sink.upsert-materialize' = '{option}';"
    try:
        plan = compile_script(f"{setting}{TABLES}{table}INSERT INTO o {query} {more};")
    except PlanningError:
        return REFUSED
    return KEEPS if plan.nodes[-1].is_stateful else ANYWAY


@pytest.mark.parametrize("sink", ["print", "blackhole"])
@pytest.mark.parametrize(("query", "expected"), OF_UPDATES.items(), ids=OF_UPDATES)
def test_sinks_that_take_what_comes(sink: str, query: str, expected: tuple[str, str, str]) -> None:
    told = "ON CONFLICT DO DEDUPLICATE"
    assert (rows_are(sink, query), rows_are(sink, query, told), rows_are(sink, query, option="FORCE")) == expected
    assert rows_are(sink, query, option="NONE") == ANYWAY


@pytest.mark.parametrize("query", OF_UPDATES)
def test_sinks_that_ask_for_old_rows(query: str) -> None:
    assert rows_are("journal", query) == ANYWAY
    assert rows_are("journal", query, "ON CONFLICT DO DEDUPLICATE") == REFUSED
