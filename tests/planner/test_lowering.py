"""What nodes say of themselves: descriptions, states, changelog modes, sharing."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from flinkplan.plan.document import Plan
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes import (
    Calc,
    ChangelogNormalize,
    Deduplicate,
    DropUpdateBefore,
    ExecNode,
    GlobalGroupAggregate,
    GroupAggregate,
    IncrementalGroupAggregate,
    Join,
    MiniBatchAssigner,
    MultiJoin,
    OverAggregate,
    Rank,
    Sink,
    TableSourceScan,
    node_to_json,
)
from flinkplan.plan.rex import Literal
from flinkplan.planner import compile_script

TABLES = """
CREATE TABLE a (id INT, k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'json');
CREATE TABLE c (cid INT, name STRING, PRIMARY KEY (cid) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'json');
CREATE TABLE cdc (id INT, k STRING, v INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'debezium-json');
CREATE TABLE ev (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
  WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'json');
"""
LOG = "'connector' = 'filesystem', 'path' = 'p', 'format' = 'debezium-json'"
JSON = "'connector' = 'filesystem', 'path' = 'p', 'format' = 'json'"
UPSERT = "'connector' = 'blackhole'"
MINI_BATCH = {"table.exec.mini-batch.enabled": "true", "table.exec.mini-batch.allow-latency": "5 s"}


def compiled(query: str, columns: str, options: Mapping[str, str] | None = None, connector: str = LOG) -> Plan:
    """The plan of a query into a table of these columns."""
    sink = f"CREATE TABLE o ({columns}) WITH ({connector});"
    return compile_script(f"{TABLES}{sink}\nINSERT INTO o {query};", options=options)


def node(plan: Plan, cls: type[ExecNode]) -> ExecNode:
    """The first node of a class."""
    return next(n for n in plan.nodes if isinstance(n, cls))


@pytest.mark.parametrize(
    ("query", "columns", "cls", "description"),
    [
        ("SELECT id FROM a WHERE v IN (1, 2)", "id INT", Calc, "Calc(select=[id], where=[SEARCH(v, Sarg[1, 2])])"),
        ("SELECT id FROM a WHERE k = 'x'", "id INT", Calc, "Calc(select=[id], where=[(k = 'x')])"),
        (
            "SELECT v * 2.0E0, v + 60E0 FROM a",
            "x DOUBLE, y DOUBLE",
            Calc,
            "Calc(select=[(v * 2.0E0) AS EXPR$0, (v + 6E1) AS EXPR$1])",
        ),
        ("SELECT v + PI() FROM a", "x DOUBLE", Calc, "Calc(select=[(v + 3.1415926535897931159E0) AS EXPR$0])"),
        (
            "SELECT id FROM a WHERE CAST(v AS DOUBLE) > 2E2",
            "x INT",
            Calc,
            "Calc(select=[id], where=[(CAST(v AS DOUBLE) > 2.000E2)])",
        ),
        (
            "SELECT id FROM a WHERE CAST(v AS DOUBLE) IN (1E0, 3E10)",
            "x INT",
            Calc,
            "Calc(select=[id], where=[SEARCH(CAST(v AS DOUBLE), Sarg[1.0, 3.0E+10])])",
        ),
        (
            "SELECT id FROM a WHERE k = 'x'",
            "id INT",
            TableSourceScan,
            "TableSourceScan(table=[[default_catalog, default_database, a, filter=[=(k, "
            "_UTF-16LE'x':VARCHAR(2147483647) CHARACTER SET \"UTF-16LE\")], project=[id, k], metadata=[]]], "
            "fields=[id, k])",
        ),
        (
            "SELECT k, COUNT(DISTINCT v) FILTER (WHERE v > 1) FROM a GROUP BY k",
            "k STRING, n BIGINT",
            GroupAggregate,
            "GroupAggregate(groupBy=[k], select=[k, COUNT(DISTINCT v) FILTER $f2 AS EXPR$1])",
        ),
        (
            "SELECT id, name FROM a LEFT JOIN c ON a.id = c.cid",
            "id INT, name STRING",
            Join,
            "Join(joinType=[LeftOuterJoin], where=[(id = cid)], select=[id, cid, name], "
            "leftInputSpec=[NoUniqueKey], rightInputSpec=[JoinKeyContainsUniqueKey])",
        ),
        (
            "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS rn FROM a) WHERE rn <= 2",
            "id INT",
            Rank,
            "Rank(strategy=[AppendFastStrategy], rankType=[ROW_NUMBER], rankRange=[rankStart=1, rankEnd=2], "
            "partitionBy=[k], orderBy=[v DESC], select=[id, k, v])",
        ),
        (
            "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM ev) WHERE rn = 1",
            "id INT",
            Deduplicate,
            "Deduplicate(keep=[FirstRow], key=[k], order=[ROWTIME], outputInsertOnly=[true])",
        ),
    ],
)
def test_description(query: str, columns: str, cls: type[ExecNode], description: str) -> None:
    assert node(compiled(query, columns), cls).description == description


@pytest.mark.parametrize(("options", "insert_only"), [({}, True), (MINI_BATCH, False)])
def test_first_rows_may_be_replaced_in_mini_batches(options: Mapping[str, str], insert_only: bool) -> None:
    first = "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM ev) WHERE rn = 1"
    deduplicate = node(compiled(first, "id INT", options), Deduplicate)
    assert isinstance(deduplicate, Deduplicate)
    assert deduplicate.output_insert_only == insert_only


@pytest.mark.parametrize(("calls", "index"), [("COUNT(DISTINCT v), COUNT(*)", 1), ("COUNT(DISTINCT v), MAX(id)", None)])
def test_a_split_aggregation_counts_a_groups_rows_once(calls: str, index: int | None) -> None:
    split = {**MINI_BATCH, "table.optimizer.distinct-agg.split.enabled": "true"}
    plan = compiled(f"SELECT k, {calls} FROM cdc GROUP BY k", "k STRING, a BIGINT, b BIGINT", split)
    final = node(plan, GlobalGroupAggregate)
    assert isinstance(final, GlobalGroupAggregate)
    assert (final.need_retraction, final.index_of_count_star) == (True, index)
    assert ("indexOfCountStar=[1]" in final.description) == (index is not None)


def test_what_one_call_keeps_stands_together_between_the_phases_too() -> None:
    split = {**MINI_BATCH, "table.optimizer.distinct-agg.split.enabled": "true"}
    plan = compiled("SELECT k, COUNT(DISTINCT v), SUM(id) FROM cdc GROUP BY k", "k STRING, a BIGINT, b INT", split)
    between = node(plan, IncrementalGroupAggregate)
    assert between.description is not None
    assert "SUM_RETRACT((sum$1, count$2)) AS (sum$1, count$2)" in between.description


def test_constants_of_an_over_window_stand_as_its_calls_name_them() -> None:
    frame = "OVER (PARTITION BY id ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"
    over = node(
        compiled(f"SELECT LISTAGG(k, '/') {frame}, LISTAGG(k, '-') {frame} FROM ev", "a STRING, b STRING"),
        OverAggregate,
    )
    assert isinstance(over, OverAggregate)
    assert [c.value for c in over.over_spec.constants if isinstance(c, Literal)] == ["/", 2, "-"]


def test_a_constant_to_partition_by_is_one_of_the_constants_alone() -> None:
    query = "SELECT k, SUM(v) OVER (PARTITION BY 'all', k, k ORDER BY ts) FROM ev"
    over = node(compiled(query, "k STRING, n INT"), OverAggregate)
    assert isinstance(over, OverAggregate)
    assert over.over_spec.partition.fields == (0,)
    assert [c.value for c in over.over_spec.constants if isinstance(c, Literal)] == ["all"]


def test_a_key_of_several_joins_is_known_by_any_of_its_equal_columns() -> None:
    joins = "SELECT x.id, x.v, y.v, z.v FROM cdc x JOIN cdc y ON x.id = y.id JOIN cdc z ON y.id = z.id"
    columns = "id INT, a INT, b INT, c INT"
    sink = node(compiled(joins, columns, {"table.optimizer.multi-join.enabled": "true"}), Sink)
    assert isinstance(sink, Sink)
    assert sink.input_upsert_key == (0,)


def test_overwriting_is_told_before_the_partition() -> None:
    sink = node(
        compile_script(
            f"""{TABLES}
            CREATE TABLE o (id INT, k STRING) PARTITIONED BY (k) WITH ({JSON});
            INSERT OVERWRITE o PARTITION (k = 'x') SELECT id FROM a;"""
        ),
        Sink,
    )
    assert isinstance(sink, Sink)
    assert [type(a).__name__ for a in sink.dynamic_table_sink.abilities or ()] == ["Overwrite", "Partitioning"]


def test_state_takes_the_hint_before_the_option() -> None:
    query = "SELECT /*+ STATE_TTL('a' = '1d') */ a.id, c.name FROM a JOIN c ON a.id = c.cid"
    join = node(compiled(query, "id INT, name STRING", {"table.exec.state.ttl": "90 min"}), Join)
    assert [(s.name, s.ttl) for s in join.states] == [("leftState", "1 d"), ("rightState", "90 min")]


def test_what_a_hint_on_several_joins_leaves_out_is_kept_for_ever() -> None:
    query = "SELECT /*+ STATE_TTL('y' = '2d') */ x.id, z.v FROM a x JOIN a y ON x.id = y.id JOIN a z ON x.id = z.id"
    settings = {"table.exec.state.ttl": "1 h", "table.optimizer.multi-join.enabled": "true"}
    join = node(compiled(query, "id INT, v INT", settings), MultiJoin)
    assert [state.ttl for state in join.states] == ["0 ms", "2 d", "0 ms"]
    assert "options:[0s, 2d, 0s]" in (join.description or "")


@pytest.mark.parametrize(
    ("query", "ttls"),
    [
        ("SELECT /*+ STATE_TTL('a' = '1d') */ DISTINCT id FROM a", ["1 d"]),
        ("SELECT /*+ STATE_TTL('a' = '1d') */ DISTINCT CAST(COUNT(*) AS INT) FROM a GROUP BY id", ["1 d", "2 h"]),
        ("SELECT DISTINCT id FROM (SELECT /*+ STATE_TTL('a' = '1d') */ DISTINCT id, v FROM a)", ["1 d", "2 h"]),
        ("SELECT /*+ STATE_TTL('default_catalog.default_database.a' = '1d') */ DISTINCT id FROM a", ["1 d"]),
        ("SELECT /*+ STATE_TTL('a' = '3d', 'a' = '1d'), STATE_TTL('a' = '2d') */ DISTINCT id FROM a", ["1 d"]),
    ],
)
def test_the_hint_of_a_select_is_for_its_aggregate_or_else_its_distinct(query: str, ttls: list[str]) -> None:
    plan = compiled(query, "id INT", {"table.exec.state.ttl": "2 h"})
    assert [state.ttl for n in plan.nodes if isinstance(n, GroupAggregate) for state in n.states] == ttls


@pytest.mark.parametrize(("order", "key"), [("id", (0,)), ("id, id DESC", (0,)), ("v", None), ("v, id", None)])
@pytest.mark.parametrize("limit", ["LIMIT 3", ""])
def test_a_key_outlives_a_sort_by_itself(limit: str, order: str, key: tuple[int, ...] | None) -> None:
    sink = node(compiled(f"SELECT id, v FROM cdc ORDER BY {order} {limit}", "id INT, v INT"), Sink)
    assert isinstance(sink, Sink)
    assert sink.input_upsert_key == key


@pytest.mark.parametrize(
    ("query", "kinds"),
    [
        ("SELECT k, COUNT(*) FROM a GROUP BY k", ("INSERT", "UPDATE_AFTER")),
        (
            "SELECT k, COUNT(*) FROM cdc GROUP BY k",
            ("INSERT", "UPDATE_AFTER", "DELETE"),
        ),
        ("SELECT k, CAST(v AS BIGINT) FROM a", ("INSERT",)),
    ],
)
def test_changes_that_reach_an_upsert_sink(query: str, kinds: tuple[str, ...]) -> None:
    sink = node(compiled(query, "k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED", connector=UPSERT), Sink)
    assert isinstance(sink, Sink)
    assert tuple(kind.value for kind in sink.input_changelog_mode) == kinds
    assert not sink.require_upsert_materialize


def test_a_source_whose_old_rows_nobody_needs_drops_them() -> None:
    plan = compiled("SELECT id, v FROM cdc", "id INT, v INT, PRIMARY KEY (id) NOT ENFORCED", connector=UPSERT)
    assert isinstance(plan.nodes[1], DropUpdateBefore)


def test_a_source_that_repeats_events_is_normalized_by_its_key() -> None:
    options = {"table.exec.source.cdc-events-duplicate": "true"}
    plan = compiled("SELECT id, v FROM cdc WHERE id > 1 AND v > 2", "id INT, v INT", options)
    normalize = node(plan, ChangelogNormalize)
    assert normalize.description == "ChangelogNormalize(key=[id], condition=[(v > 2)])"


@pytest.mark.parametrize(
    ("query", "interval"),
    [
        ("SELECT k, COUNT(*) FROM a GROUP BY k", "ProcTime"),
        ("SELECT k, COUNT(*) FROM ev GROUP BY k", "ProcTime"),
        (
            "SELECT k, n FROM (SELECT window_start, k, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), "
            "INTERVAL '1' HOUR)) GROUP BY window_start, window_end, k)",
            "RowTime",
        ),
    ],
)
def test_mini_batches_follow_the_time_that_operators_wait_for(query: str, interval: str) -> None:
    assigner = node(compiled(query, "k STRING, n BIGINT", MINI_BATCH), MiniBatchAssigner)
    assert isinstance(assigner, MiniBatchAssigner)
    assert (assigner.mini_batch_interval.interval, assigner.mini_batch_interval.mode) == (5000, interval)


def test_sinks_share_equal_subplans_and_scans() -> None:
    plan = compile_script(
        f"""{TABLES}
        CREATE TABLE o1 (k STRING, n BIGINT) WITH ({LOG});
        CREATE TABLE o2 (k STRING, n BIGINT) WITH ({LOG});
        CREATE TABLE o3 (id INT) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'json');
        EXECUTE STATEMENT SET BEGIN
        INSERT INTO o1 SELECT k, COUNT(*) FROM a GROUP BY k;
        INSERT INTO o2 SELECT k, n FROM (SELECT k, COUNT(*) AS n FROM a GROUP BY k);
        INSERT INTO o3 SELECT id FROM a;
        END;"""
    )
    (scan,) = (n for n in plan.nodes if isinstance(n, TableSourceScan))
    assert [type(n).__name__ for n in plan.outputs(scan)] == ["Calc", "Calc"]
    assert [n.id for n in plan.nodes] == list(range(1, len(plan.nodes) + 1))


@pytest.mark.parametrize(
    ("query", "columns", "connector", "message"),
    [
        ("SELECT k, COUNT(*) FROM a GROUP BY k", "k STRING, n BIGINT", JSON, "takes no updates"),
        ("SELECT k, id FROM cdc", "k STRING, id INT, PRIMARY KEY (k) NOT ENFORCED", UPSERT, "is not the key by which"),
        ("SELECT k, COUNT(*) FROM a GROUP BY k ON CONFLICT DO DEDUPLICATE", "k STRING, n BIGINT", LOG, "ON CONFLICT"),
    ],
)
def test_what_the_sink_cannot_take_is_refused(query: str, columns: str, connector: str, message: str) -> None:
    with pytest.raises(FlinkplanError, match=message):
        compiled(query, columns, connector=connector)


def test_a_count_of_rows_that_take_back_is_called_so_without_other_functions() -> None:
    plan = compile_script(
        "SET 'table.exec.mini-batch.enabled' = 'true'; SET 'table.exec.mini-batch.size' = '9';"
        "SET 'table.exec.mini-batch.allow-latency' = '1 s';"
        "CREATE TABLE c (id INT, k STRING) WITH ('connector'='filesystem', 'path'='/c', 'format'='debezium-json');"
        "CREATE TABLE o (k STRING) WITH ('connector'='filesystem', 'path'='/o', 'format'='debezium-json');"
        "INSERT INTO o SELECT DISTINCT k FROM c;"
    )
    local = next(node for node in plan.nodes if node.description.startswith("LocalGroupAggregate"))
    assert local.description == "LocalGroupAggregate(groupBy=[k], select=[k, COUNT_RETRACT(*) AS count1$0])"


def test_a_subquery_reads_the_column_that_rows_are_grouped_by() -> None:
    """In Flink it reads what stands at the column's place in the group's row, or fails."""
    query = "SELECT v, (SELECT MAX(ev.id) FROM ev WHERE ev.v = a.v) FROM a GROUP BY v"
    join = node(compiled(query, "v INT, n INT"), Join)
    assert join.description.startswith("Join(joinType=[LeftOuterJoin], where=[(v = v0)]")


def test_a_tables_comment_stands_before_its_options() -> None:
    plan = compile_script(
        "CREATE TABLE t (a INT, p STRING) COMMENT 'what it holds' PARTITIONED BY (p)"
        " WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');"
        "CREATE TABLE o (a INT) WITH ('connector' = 'blackhole');"
        "INSERT INTO o SELECT a FROM t;"
    )
    table = node_to_json(plan.nodes[0])["scanTableSource"]["table"]["resolvedTable"]
    assert list(table) == ["schema", "partitionKeys", "comment", "options"]


def test_columns_of_a_view_have_the_names_that_it_lists() -> None:
    plan = compile_script(
        "CREATE TABLE t (a INT, b STRING) WITH ('connector' = 'datagen');"
        "CREATE VIEW v (x, y) AS SELECT a, UPPER(b) FROM t;"
        "CREATE TABLE o (a INT, b STRING) WITH ('connector' = 'blackhole');"
        "INSERT INTO o SELECT x, y FROM v;"
    )
    assert plan.nodes[1].output_type.field_names == ("x", "y")


def test_a_rowtime_that_is_left_out_is_a_plain_null() -> None:
    plan = compile_script(
        "CREATE TABLE t (a INT) WITH ('connector' = 'datagen');"
        "CREATE TABLE o (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'blackhole');"
        "INSERT INTO o (a) SELECT a FROM t;"
    )
    assert str(plan.nodes[1].output_type.fields[1].type) == "TIMESTAMP(3)"
