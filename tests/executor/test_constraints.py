"""What sinks do with values that their columns cannot hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException

from flinkplan.executor.build.constraints import enforce_constraints
from flinkplan.executor.build.context import TranslationContext
from flinkplan.executor.build.stream import SEQUENCE, Stream
from flinkplan.executor.connectors.tables import table_of
from flinkplan.executor.errors import TableError
from flinkplan.executor.jvm.types import spark_type
from flinkplan.executor.prepare.known.constraints import LENGTH, NESTED, NOT_NULL, check_enforcers
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan
from flinkplan.plan.nodes import Sink
from flinkplan.plan.record import replace
from flinkplan.plan.types.parser import parse_type

from .building import query_of
from .plans import BLACKHOLE, Fields, passthrough, pipeline, scan, sink_node

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def enforced(
    spark: SparkSession,
    option: tuple[str, str],
    declared: str,
    values: list[Any],
    persisted: bool = True,
    **session: str,
) -> list[Any]:
    """What a sink of one column of the type ``declared`` makes of ``values``, when the plan or the session says so.

    ``session``: further options, by the part of their names that tells them apart.
    """
    fields: Fields = (("a", declared),)
    node = pipeline(
        [
            scan(BLACKHOLE, fields),
            {**sink_node(BLACKHOLE, fields), "configuration": dict([option] if persisted else [])},
        ]
    ).nodes[1]
    assert isinstance(node, Sink)
    more = {f"table.exec.sink.{key.replace('_', '-')}-enforcer": value for key, value in session.items()}
    given = parse_type(declared).nullable_()
    rows = [(value, i) for i, value in enumerate(values)]
    frame = spark.createDataFrame(rows, f"c0 {spark_type(given).simpleString()}, {SEQUENCE} bigint")
    table = table_of(node.dynamic_table_sink.table, {})
    query = replace(query_of(Plan("2.3", (), ()), Mode.BOUNDED), options=dict([option]) | more)
    context = TranslationContext(spark, query)
    stream = enforce_constraints(node, table, Stream(frame, node.output_type), context)
    return [row[0] for row in stream.frame.collect()]


@pytest.mark.parametrize(
    ("option", "declared", "values", "kept"),
    [
        ((NOT_NULL, "DROP"), "INT NOT NULL", [1, None, 2], [1, 2]),
        ((NOT_NULL, "ERROR"), "INT NOT NULL", [1, 2], [1, 2]),
        ((NOT_NULL, "ERROR"), "INT", [1, None], [1, None]),
        ((LENGTH, "IGNORE"), "CHAR(2)", ["a", "abc"], ["a", "abc"]),
        ((LENGTH, "TRIM_PAD"), "CHAR(2)", ["a", "abc", None], ["a ", "ab", None]),
        ((LENGTH, "TRIM_PAD"), "VARCHAR(2)", ["a", "abc"], ["a", "ab"]),
        ((LENGTH, "TRIM_PAD"), "BINARY(2)", [b"a", b"abc"], [b"a\0", b"ab"]),
        ((LENGTH, "ERROR"), "VARCHAR(2)", ["a", "ab"], ["a", "ab"]),
    ],
)
def test_rows_are_kept_mended_or_dropped(
    spark: SparkSession, option: tuple[str, str], declared: str, values: list[Any], kept: list[Any]
) -> None:
    assert enforced(spark, option, declared, values) == kept


def test_the_session_says_what_the_plan_leaves_open(spark: SparkSession) -> None:
    assert enforced(spark, (NOT_NULL, "DROP"), "INT NOT NULL", [1, None], persisted=False) == [1]


@pytest.mark.parametrize(
    ("option", "declared", "value", "message"),
    [
        ((NOT_NULL, "ERROR"), "INT NOT NULL", None, "Column 'a' is NOT NULL, however, a null value is being written"),
        ((LENGTH, "ERROR"), "VARCHAR(2)", "abc", "Column 'a' is VARCHAR(2), however, a value of another length"),
        ((LENGTH, "ERROR"), "CHAR(2)", "a", "Column 'a' is CHAR(2), however, a value of another length"),
    ],
)
def test_rows_fail_the_job(
    spark: SparkSession, option: tuple[str, str], declared: str, value: Any, message: str
) -> None:
    with pytest.raises(PySparkException) as caught:
        enforced(spark, option, declared, [value])
    assert message in str(caught.value)


ROW, LIST = "ROW<x VARCHAR(2) NOT NULL, y INT>", "ARRAY<ROW<x INT NOT NULL>>"


@pytest.mark.parametrize(
    ("nested", "option", "declared", "values", "kept"),
    [
        ("IGNORE", (NOT_NULL, "DROP"), ROW, [("a", 1), (None, 2), None], [("a", 1), (None, 2), None]),
        ("ROWS", (NOT_NULL, "DROP"), ROW, [("a", 1), (None, 2), None], [("a", 1), None]),
        ("ROWS", (LENGTH, "TRIM_PAD"), ROW, [("abc", 1), None], [("ab", 1), None]),
        ("ROWS", (NOT_NULL, "DROP"), LIST, [[(None,)]], [[(None,)]]),
        ("ROWS_AND_COLLECTIONS", (NOT_NULL, "DROP"), LIST, [[(1,), (None,)], [], [(2,)], None], [[], [(2,)], None]),
        ("ROWS_AND_COLLECTIONS", (NOT_NULL, "DROP"), "MAP<INT, INT NOT NULL>", [{1: None}, {1: 2}], [{1: 2}]),
    ],
)
def test_constraints_inside_values_count_where_they_are_asked_for(
    spark: SparkSession, nested: str, option: tuple[str, str], declared: str, values: list[Any], kept: list[Any]
) -> None:
    assert enforced(spark, option, declared, values, nested_constraint=nested) == kept


@pytest.mark.parametrize(
    ("option", "declared", "value", "message"),
    [
        ((NOT_NULL, "ERROR"), ROW, (None, 1), "Column 'a.x' is NOT NULL"),
        ((LENGTH, "ERROR"), ROW, ("abc", 1), "Column 'a.x' is VARCHAR(2)"),
        ((NOT_NULL, "ERROR"), LIST, [(1,), (None,)], "Column 'a.element.x' is NOT NULL"),
    ],
)
def test_errors_name_the_place_inside_a_value(
    spark: SparkSession, option: tuple[str, str], declared: str, value: Any, message: str
) -> None:
    with pytest.raises(PySparkException) as caught:
        enforced(spark, option, declared, [value], nested_constraint="ROWS_AND_COLLECTIONS")
    assert message in str(caught.value)


@pytest.mark.parametrize("cut", ["TRIM_PAD", "trim_pad"])
def test_elements_of_collections_are_not_cut(cut: str) -> None:
    (node,) = (n for n in passthrough(BLACKHOLE).nodes if isinstance(n, Sink))
    with pytest.raises(TableError, match="does not go with"):
        check_enforcers(node, {LENGTH: cut, NESTED: "ROWS_AND_COLLECTIONS"})
