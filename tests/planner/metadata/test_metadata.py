"""What is known of the relations of small trees, as their golden files show it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from flinkplan.planner.algebra.rel import Rel
from flinkplan.planner.metadata.estimates import Estimates
from flinkplan.planner.metadata.keys import Keys, unique_keys, upsert_keys
from flinkplan.planner.metadata.modify_kinds import modify_kinds
from flinkplan.planner.metadata.monotonicity import monotonicity
from flinkplan.planner.metadata.uniqueness import are_columns_unique
from flinkplan.planner.program import LOGICAL_STAGES, physical, run
from tests.conftest import Golden
from tests.planner.outlines import bind

CASES = {
    "scans": ["SELECT * FROM a", "SELECT * FROM cdc", "SELECT k FROM cdc", "SELECT * FROM ev"],
    "projections": [
        "SELECT id, id AS again, v FROM cdc",
        "SELECT CAST(id AS BIGINT) AS wide, CAST(id AS SMALLINT) AS narrow FROM cdc",
        "SELECT k FROM cdc WHERE v > 3 AND id = 1",
    ],
    "aggregates": [
        "SELECT k, COUNT(*), MAX(v), MIN(v), SUM(v) FROM a GROUP BY k",
        "SELECT k, MAX(v) FROM cdc GROUP BY k",
        "SELECT COUNT(*) FROM a",
        "SELECT n, COUNT(*) FROM (SELECT k, COUNT(*) AS n FROM a GROUP BY k) GROUP BY n",
        "SELECT DISTINCT k, v FROM a",
    ],
    "joins": [
        "SELECT a.id, cdc.k FROM a JOIN cdc ON a.id = cdc.id",
        "SELECT a.id, cdc.k FROM a LEFT JOIN cdc ON a.id = cdc.id",
        "SELECT x.id, y.v FROM cdc x JOIN cdc y ON x.id = y.v",
        "SELECT id FROM cdc WHERE k IN (SELECT name FROM c)",
        "SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM c WHERE cid = a.id)",
    ],
    "ranks": [
        "SELECT id, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS rn FROM a) WHERE rn <= 3",
        "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM ev) WHERE rn = 1",
        "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS rn FROM ev) WHERE rn = 1",
        "SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY ts) FROM ev",
    ],
    "sets": ["SELECT k FROM a UNION ALL SELECT name FROM c", "SELECT k FROM a UNION SELECT name FROM c"],
    "orders": ["SELECT id, v FROM a ORDER BY v LIMIT 3", "SELECT id FROM cdc LIMIT 2", "VALUES (1, 'x'), (2, 'x')"],
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_known(name: str, golden: Golden) -> None:
    blocks = []
    for query in CASES[name]:
        rel = bind(query)
        trees = [*_lines(run(rel, {}, LOGICAL_STAGES), _expected), "--", *_lines(physical(rel, {}), _known)]
        blocks.append("\n".join([query, *trees, ""]))
    golden.check(f"{name}.txt", "\n".join(blocks))


def _lines(rel: Rel, say: object, depth: int = 0) -> Iterator[str]:
    assert callable(say)
    yield f"{'  ' * depth}{type(rel).__name__}({', '.join(rel.names)}) {say(rel)}"
    for each in rel.inputs:
        yield from _lines(each, say, depth + 1)


def _expected(rel: Rel) -> str:
    """How many rows are expected, and whether each column alone tells them apart."""
    unique = [
        "-" if known is None else str(known) for known in (are_columns_unique(rel, {i}) for i in range(rel.width))
    ]
    return f"{Estimates().rows(rel):.0f} rows, unique: {', '.join(unique)}"


def _known(rel: Rel) -> str:
    """Keys, kinds of changes and the directions of columns."""
    kinds = ", ".join(sorted(str(getattr(kind, "name", kind)) for kind in modify_kinds(rel)))
    directions = monotonicity(rel)
    told = "-" if directions is None else ", ".join(map(str, directions))
    return f"keys {_text(unique_keys(rel))}, upsert keys {_text(upsert_keys(rel))}, {kinds}; {told}"


def _text(keys: Keys) -> str:
    return str(sorted(sorted(key) for key in keys))
