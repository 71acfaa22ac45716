"""What is concluded from counts."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from flinkplan.doctor.examining import diagnoses, kinds
from flinkplan.doctor.joins import shortest_gap
from flinkplan.doctor.keys import KeyComparison, compare_keys
from flinkplan.doctor.model import Diagnosis, as_json
from flinkplan.doctor.query import CompareKeys, QueryCase, no_keys
from flinkplan.doctor.windows import next_window
from flinkplan.executor.prepare.job_plan import prepare
from flinkplan.executor.prepare.known.source_names import source_names
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.names import node_names
from flinkplan.plan.nodes import ExecNode, Join, TableSourceScan
from flinkplan.plan.record import replace
from flinkplan.plan.specs import CumulativeWindow, HoppingWindow, TumblingWindow
from flinkplan.planner import compile_script
from flinkplan.state.counts import Flow, OperatorCounts, Period, QueryCounts, SourceCounts

FILES = "WITH ('connector' = 'filesystem', 'path' = '/d', 'format' = 'json', 'source.monitor-interval' = '1 s')"
TABLES = f"""
CREATE TABLE a (id STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) {FILES};
CREATE TABLE b (id STRING, w INT, tb TIMESTAMP(3), WATERMARK FOR tb AS tb) {FILES};
CREATE TABLE o (x STRING, y BIGINT) WITH ('connector' = 'blackhole');
"""
WINDOWS = """
INSERT INTO o SELECT id, COUNT(*)
FROM TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY id, window_start, window_end
"""
JOIN = "INSERT INTO o SELECT a.id, CAST(b.w AS BIGINT) FROM a JOIN b ON a.id = b.id"

START = 1_704_103_200_000
"""2024-01-01 10:00:00."""
MINUTE = 60_000


def case(
    statement: str,
    rows: Mapping[str, int],
    *,
    passed: Mapping[str, int] | None = None,
    operators: Mapping[str, OperatorCounts] | None = None,
    periods: Mapping[str, tuple[Period, ...]] | None = None,
    watermarks: Mapping[str, int] | None = None,
    watermark: str | None = None,
    written: int = 0,
    now: int = START + 30_000,
    mode: Mode = Mode.STREAMING,
    tables: str = TABLES,
    keys: CompareKeys = no_keys,
) -> QueryCase:
    """A query that has read ``rows`` of its tables, of which ``passed`` came to each reader (all, by default)."""
    job = prepare(compile_script(tables + statement), mode)
    ((sink, query),) = job.queries.items()
    names = node_names(job.plan)
    ids = {name: id for id, name in names.items()}
    scans = {node.scan_table_source.table.name: node for node in query.plan.nodes if isinstance(node, TableSourceScan)}
    sources, flows = {}, []
    for name, count in rows.items():
        active = (Period(START, START),) if count else ()
        sources[scans[name].id] = SourceCounts(count, (periods or {}).get(name, active))
        reader = first_reader(
            query.plan.outputs(scans[name])[0], query.plan.outputs, [n.id for n, _ in query.operators]
        )
        flows.append(Flow(scans[name].id, None if query.is_batch else reader, (passed or rows)[name]))
    assigners = {name.split("`")[-2]: id for id, name in source_names(query.plan).items()}
    counts = QueryCounts(
        sources,
        tuple(flows),
        {ids[name]: each for name, each in (operators or {}).items()},
        1,
        written,
        START if written else None,
        watermark,
    )
    marks = {assigners[name]: mark for name, mark in (watermarks or {}).items()}
    return QueryCase(sink, query, names, counts, START, now, mode.is_endless, False, marks, keys)


def first_reader(node: ExecNode, outputs, stateful: list[int]) -> int:  # type: ignore[no-untyped-def]
    """The first node with state behind a node, else the sink."""
    while node.id not in stateful and outputs(node):
        (node,) = outputs(node)
    return node.id


def found(query: QueryCase) -> list[str]:
    """The kinds of diagnoses."""
    return [each.id for each in diagnoses(query)]


def only(query: QueryCase) -> Diagnosis:
    """The one diagnosis."""
    (one,) = diagnoses(query)
    assert as_json(one)["message"] == one.message
    return one


def test_nothing_is_wrong_where_rows_come_out() -> None:
    assert found(case("INSERT INTO o SELECT id, v FROM a", {"a": 3}, written=3)) == []


def test_the_first_batch() -> None:
    query = replace(case("INSERT INTO o SELECT id, v FROM a", {"a": 0}), has_begun=True)
    assert found(query) == ["no-rows"]
    one = only(replace(query, counts=QueryCounts()))
    assert one.message == "the first batch has not ended, 30 s after the job began"


def test_a_source_without_rows() -> None:
    one = only(case("INSERT INTO o SELECT id, v FROM a", {"a": 0}, now=START + 3 * MINUTE))
    assert one.message == "`a` has had no rows since the job began, 3 min ago"
    assert one.hint == "look whether there are files below /d"


def test_a_source_that_has_become_quiet() -> None:
    one = only(case("INSERT INTO o SELECT id, v FROM a", {"a": 3}, written=3, now=START + 90_000))
    assert one.message == "`a` has had no rows for 1 min 30 s; before, there were 3"


def test_a_topic_that_is_read_from_its_end() -> None:
    topic = "CREATE TABLE t (id STRING) WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'json', \
        'properties.bootstrap.servers' = 'h:1', 'scan.startup.mode' = 'latest-offset');"
    one = only(case("INSERT INTO o SELECT id, 1 FROM t", {"t": 0}, tables=TABLES + topic))
    assert "'earliest-offset' reads the topic from its beginning" in (one.hint or "")


def test_a_filter_that_lets_nothing_pass() -> None:
    one = only(case("INSERT INTO o SELECT id, v FROM a WHERE id = 'X' AND v > 1", {"a": 40}, passed={"a": 0}))
    assert one.message == "none of 40 rows of `a` passes the filter ((id = 'X') AND (v > 1))"
    assert (one.node, one.id) == ("calc", "filter")


def test_a_filter_behind_an_operator() -> None:
    statement = "INSERT INTO o SELECT id, COUNT(*) FROM a GROUP BY id HAVING COUNT(*) > 9"
    counts = {"group-aggregate": OperatorCounts(5, 5, state_rows=5)}
    one = only(case(statement, {"a": 5}, operators=counts))
    assert one.message == "none of 5 rows of `group-aggregate` passes the filter (EXPR$1 > 9)"


def test_late_rows() -> None:
    operators = {"global-window-aggregate": OperatorCounts(4, 2, 3, 12_500)}
    query = case(WINDOWS.format("a"), {"a": 7}, operators=operators, written=2, watermark="2024-01-01 10:00:00.000")
    one = only(query)
    assert one.message == "global-window-aggregate has dropped 3 rows as late, the latest of them by 12 s"
    assert one.hint is not None
    assert one.hint.startswith("with WATERMARK FOR `ts` AS `ts` - INTERVAL '18' SECOND(2) in `a` none would be late")


@pytest.mark.parametrize(
    ("lateness", "watermark", "hint"),
    [
        (3 * 365 * 86_400_000, "2024-01-01 10:00:00.000", "look whether the times are in the unit"),
        (3_000, "2031-01-01 10:00:00.000", "a row with a time in the future has moved it"),
        (None, "2024-01-01 10:00:00.000", "let the watermark be further behind"),
    ],
    ids=["another unit", "a watermark ahead of the clock", "unknown"],
)
def test_why_rows_are_late(lateness: int | None, watermark: str, hint: str) -> None:
    operators = {"global-window-aggregate": OperatorCounts(4, 2, 3, lateness)}
    query = case(WINDOWS.format("a"), {"a": 7}, operators=operators, watermark=watermark, written=2)
    assert hint in (only(query).hint or "")


def test_all_rows_are_late_rather_than_filtered() -> None:
    operators = {"global-window-aggregate": OperatorCounts(0, 0, 7, 100)}
    view = "CREATE VIEW f AS SELECT * FROM a WHERE v > 0;" + WINDOWS.format("f")
    reached = "2024-01-01 10:00:00.000"
    assert found(case(view, {"a": 7}, passed={"a": 0}, operators=operators, watermark=reached)) == ["late-rows"]


def test_a_window_that_waits_for_its_only_source() -> None:
    operators = {"global-window-aggregate": OperatorCounts(7, 0, state_rows=3)}
    one = only(case(WINDOWS.format("a"), {"a": 7}, operators=operators, watermark="2024-01-01 10:00:30.000", now=START))
    assert one.message == (
        "the window [2024-01-01 10:00:00, 2024-01-01 10:01:00) of global-window-aggregate closes when the watermark "
        "passes 2024-01-01 10:01:00; that of `a` holds it back: it is 2024-01-01 10:00:30"
    )
    assert one.hint == (
        "a row of `a` with `ts` at or after 2024-01-01 10:01:05 moves it there; watermarks move with rows alone"
    )


UNION = f"CREATE VIEW u AS SELECT id, ts FROM a UNION ALL SELECT id, tb FROM b; {WINDOWS.format('u')}"


def test_the_source_that_holds_a_watermark_back() -> None:
    operators = {"global-window-aggregate": OperatorCounts(9, 0, state_rows=3)}
    marks = {"a": START + 5 * MINUTE, "b": START + 20_000}
    query = case(UNION, {"a": 7, "b": 2}, operators=operators, watermarks=marks, now=START + 2 * MINUTE)
    assert found(query) == ["no-rows", "no-rows", "watermark"]
    one = diagnoses(query)[-1]
    assert "that of `b` holds it back: it is 2024-01-01 10:00:20 (`a` is at 2024-01-01 10:05:00)" in one.message
    assert "`b` has had no rows for 2 min; SET 'table.exec.source.idle-timeout' = '30 s'" in (one.hint or "")


def test_a_source_without_a_watermark() -> None:
    operators = {"global-window-aggregate": OperatorCounts(7, 0, state_rows=3)}
    query = case(UNION, {"a": 7, "b": 0}, operators=operators, watermarks={"a": START}, now=START)
    assert found(query) == ["no-rows", "watermark"]
    assert diagnoses(query)[-1].message.endswith("that of `b`: there is none yet (`a` is at 2024-01-01 10:00:00)")


def test_no_window_waits_at_the_end_of_the_input() -> None:
    operators = {"global-window-aggregate": OperatorCounts(7, 0, state_rows=3)}
    assert found(case(WINDOWS.format("a"), {"a": 7}, operators=operators, watermark="end of input", now=START)) == []


def test_the_next_window() -> None:
    tumbling, hopping = TumblingWindow("PT1M"), HoppingWindow("PT1M", "PT30S")
    assert next_window(tumbling, 59_998) == (0, 60_000)
    assert next_window(tumbling, 59_999) == (60_000, 120_000)
    assert next_window(TumblingWindow("PT1M", "PT10S"), 0) == (-50_000, 10_000)
    assert next_window(hopping, 0) == (-30_000, 30_000)
    assert next_window(CumulativeWindow("PT3M", "PT1M"), 60_000) == (0, 120_000)


def met(in_: int, out: int) -> Mapping[str, OperatorCounts]:
    return {"join": OperatorCounts(in_, out, state_rows=in_)}


def test_a_join_whose_sides_never_met() -> None:
    one = only(case(JOIN, {"a": 4, "b": 3}, operators=met(7, 0)))
    assert one.message == "no rows have met in join on a.id = b.id: 4 rows came on the left, 3 on the right"
    assert one.hint == "look whether the keys of both sides are written alike: their case, spaces and types"
    assert found(case(JOIN, {"a": 4, "b": 3}, operators=met(7, 2), written=2)) == []


def test_a_join_without_rows_of_one_side_is_not_the_reason() -> None:
    assert found(case(JOIN, {"a": 4, "b": 0}, operators=met(4, 0))) == ["no-rows"]
    statement = f"{JOIN} WHERE b.w > 3"
    assert found(case(statement, {"a": 4, "b": 3}, passed={"a": 4, "b": 0}, operators=met(4, 0))) == ["filter"]


@pytest.mark.parametrize(
    ("left", "right", "what"),
    [
        ([("ann ",)], [("ann",)], "spaces around them, such as 'ann ' and 'ann'"),
        ([("Ann",), ("x",)], [("ANN",), ("y",)], "case, such as 'Ann' and 'ANN'"),
        ([(" Ann",)], [("ANN",)], "spaces around them and case, such as ' Ann' and 'ANN'"),
        ([("007",)], [("7",)], "how numbers are written, such as '007' and '7'"),
        ([("7.0",)], [(7,)], "how numbers are written, such as '7.0' and 7"),
        ([("Zo\u00eb",)], [("Zoe\u0308",)], "how Unicode characters are composed"),
        ([("a-1",)], [("A1",)], "characters that are no letters or digits, such as 'a-1' and 'A1'"),
    ],
)
def test_keys_that_are_written_otherwise(left: list[tuple[object]], right: list[tuple[object]], what: str) -> None:
    def compare(query: QueryCase, join: Join) -> KeyComparison:
        return compare_keys(left, right)

    one = only(case(JOIN, {"a": 4, "b": 3}, operators=met(7, 0), keys=compare))
    assert what in one.message
    assert one.hint
    assert as_json(one)["comparison"]["alike"] == 1


def test_keys_that_have_nothing_in_common() -> None:
    def compare(query: QueryCase, join: Join) -> KeyComparison:
        return compare_keys([("x",)], [("y",)])

    one = only(case(JOIN, {"a": 4, "b": 3}, operators=met(7, 0), keys=compare))
    assert one.message.endswith("no key is on both sides, such as 'x' on the left and 'y' on the right")


def test_an_outer_join_emits_rows_though_its_sides_never_met() -> None:
    outer = JOIN.replace("JOIN", "LEFT JOIN")

    def compare(query: QueryCase, join: Join) -> KeyComparison:
        return compare_keys([("X",)], [("x",)])

    def equal(query: QueryCase, join: Join) -> KeyComparison:
        return compare_keys([("x",)], [("x",)])

    rows = {"a": 4, "b": 3}
    assert found(case(outer, rows, operators=met(7, 4), written=4, keys=compare)) == ["join-keys"]
    assert found(case(outer, rows, operators=met(7, 4), written=4, keys=equal)) == []


def test_null_keys() -> None:
    one = only(case(JOIN, {"a": 4, "b": 3}, passed={"a": 4, "b": 0}, operators=met(4, 0)))
    assert one.message == "each of 3 rows of `b` has NULL in b.id, by which join joins"


def test_a_table_in_which_nothing_is_found() -> None:
    names = "CREATE TABLE names (id STRING, name STRING) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/d', \
        'table-name' = 'n');"
    statement = f"""{names} INSERT INTO o SELECT n.name, 1 FROM (SELECT id, PROCTIME() AS p FROM a) AS x
        JOIN names FOR SYSTEM_TIME AS OF x.p AS n ON x.id = n.id"""
    one = only(case(statement, {"a": 4}))
    assert one.message == "no row of `names` was found for any of 4 rows of `a`"
    assert found(case(statement.replace("JOIN", "LEFT JOIN"), {"a": 4}, written=4)) == []


def test_state_that_expires_before_the_other_side_comes() -> None:
    ttl = "SET 'table.exec.state.ttl' = '5 min';"
    times = {"a": (Period(START, START + 10_000),), "b": (Period(START + 12 * MINUTE, START + 12 * MINUTE),)}

    def query(setting: str) -> QueryCase:
        rows = {"a": 4, "b": 3}
        return case(setting + JOIN, rows, operators=met(7, 0), periods=times, now=START + 12 * MINUTE)

    one = next(each for each in diagnoses(query(ttl)) if each.id == "ttl")
    assert one.node == "join"
    assert one.message == (
        "rows of the left side of join expire 5 min after they came; those of the right side came 11 min 50 s later, "
        "or more"
    )
    assert one.hint == "a TTL longer than the gap: flinkplan ttl PLAN --set join.leftState='12 min' --in-place"
    assert found(query("")) == ["no-rows", "join-keys"]


def test_gaps() -> None:
    assert shortest_gap([Period(0, 10)], [Period(20, 30)]) == 10
    assert shortest_gap([Period(0, 10), Period(12, 15)], [Period(20, 30)]) == 5
    assert shortest_gap([Period(0, 10)], [Period(5, 30)]) == 0
    assert shortest_gap([Period(20, 30)], [Period(0, 10)]) is None


def test_an_interval_join_of_times_that_are_far_apart() -> None:
    statement = """INSERT INTO o SELECT a.id, CAST(b.w AS BIGINT) FROM a JOIN b ON a.id = b.id
        AND a.ts BETWEEN b.tb - INTERVAL '10' MINUTE AND b.tb"""
    marks = {"a": START + 3 * 60 * MINUTE, "b": START}
    operators = {"interval-join": OperatorCounts(7, 0)}
    query = case(statement, {"a": 4, "b": 3}, operators=operators, watermarks=marks, now=START)
    one = next(each for each in diagnoses(query) if each.id == "interval")
    assert "which is 3 h apart; it joins times of which the left one is from -10 min to 0 ms after" in one.message


def test_a_batch_has_no_counts_of_its_join() -> None:
    bounded = TABLES.replace(", 'source.monitor-interval' = '1 s'", "")
    query = case(JOIN, {"a": 4, "b": 3}, tables=bounded, mode=Mode.BOUNDED)
    assert found(query) == ["join-keys"]


def test_each_kind_says_what_it_is() -> None:
    assert len({kind.id for kind in kinds()}) == len(kinds()) == 10
    assert all(kind.summary.endswith(".") and kind.evidence for kind in kinds())
