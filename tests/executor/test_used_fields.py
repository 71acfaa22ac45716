"""What of rows within rows a source need not make."""

from __future__ import annotations

import pytest

from flinkplan.executor.errors import ExecutionError
from flinkplan.executor.prepare.known.used_fields import fields_read
from flinkplan.plan.document import Plan
from flinkplan.plan.nodes import TableSourceScan
from flinkplan.planner import compile_script

from .jobs import Place

SCRIPT = """\
CREATE TABLE t (
  kind INT,
  a ROW<id BIGINT, name STRING, made TIMESTAMP(3), more ROW<x INT, y STRING>>,
  b ROW<id BIGINT NOT NULL, name STRING>,
  ts AS a.made,
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH ('connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'json');
CREATE TABLE o (n BIGINT, m STRING) WITH ('connector' = 'filesystem', 'path' = '{root}/out', 'format' = 'json');
INSERT INTO o {query};
"""


def compiled(query: str, root: object = "/nowhere") -> Plan:
    return compile_script(SCRIPT.format(root=root, query=query))


def read(query: str) -> set[tuple[int | str, ...]]:
    """The paths that are read, of columns by their names."""
    plan = compiled(query)
    (scan,) = (node for node in plan.nodes if isinstance(node, TableSourceScan))
    return {(scan.fields[int(index)].name, *names) for index, *names in fields_read(plan, scan)}


TIME = ("a", "made")


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        pytest.param("SELECT a.id, a.more.y FROM t", {("a", "id"), ("a", "more", "y"), TIME}, id="fields"),
        pytest.param(
            "SELECT a.id, b.name FROM t WHERE kind > 1", {("a", "id"), ("b", "name"), ("kind",), TIME}, id="kind"
        ),
        pytest.param("SELECT kind, CAST(a AS STRING) FROM t", {("kind",), ("a",), TIME}, id="whole"),
        pytest.param(
            "SELECT kind, x.name FROM (SELECT b AS x, kind FROM t) WHERE x.id > 1",
            {("kind",), ("b", "id"), ("b", "name"), TIME},
            id="renamed",
        ),
        pytest.param(
            "SELECT a.id, b.name FROM t WHERE kind = 1 UNION ALL SELECT b.id, a.name FROM t WHERE kind = 2",
            {("a", "id"), ("a", "name"), ("b", "id"), ("b", "name"), ("kind",), TIME},
            id="both of two readers",
        ),
    ],
)
def test_what_is_read(query: str, paths: set[tuple[str, ...]]) -> None:
    assert read(query) == paths


@pytest.mark.spark
@pytest.mark.parametrize("streams", [False, True], ids=["batch", "stream"])
def test_fields_that_nobody_reads_are_checked_all_the_same(place: Place, streams: bool) -> None:
    """A text is whatever it is, but a number must be one, and what must be there is."""
    at = "2024-01-01 10:00:00"
    place.put(
        "1", {"kind": 1, "a": {"id": 1, "name": {"a": 1}, "made": at, "more": {"x": 1, "y": "z"}}, "b": {"id": 2}}
    )
    place.run(compiled("SELECT a.id, a.more.y FROM t", place.root), streams=streams)
    assert place.rows() == [{"n": 1, "m": "z"}]


@pytest.mark.spark
def test_a_number_that_nobody_reads_must_be_one(place: Place) -> None:
    place.put("1", {"kind": 1, "a": {"id": "x", "made": "2024-01-01 10:00:00", "more": {"x": 1, "y": "z"}}})
    with pytest.raises(ExecutionError, match="Fail to deserialize at field: id"):
        place.run(compiled("SELECT 1, a.more.y FROM t", place.root))


@pytest.mark.spark
@pytest.mark.parametrize("streams", [False, True], ids=["batch", "stream"])
def test_a_field_is_read_of_a_row_that_a_kernel_emits(place: Place, streams: bool) -> None:
    """Spark would have the kernel emit this field alone, and then read what is in its place in the whole row."""
    rows = "SELECT *, ROW_NUMBER() OVER (PARTITION BY kind ORDER BY ts) AS n FROM t"
    more = {"id": 7, "name": "x", "made": "2024-01-01 10:00:00", "more": {"x": 1, "y": "z"}}
    place.put("1", *({"kind": kind, "a": more, "b": {"id": 8, "name": "w"}} for kind in (1, 1)))
    place.run(compiled(f"SELECT kind, a.more.y FROM ({rows}) WHERE n = 1", place.root), streams=streams)
    assert place.rows() == [{"n": 1, "m": "z"}]
