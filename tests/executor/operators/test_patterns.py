"""What MATCH_RECOGNIZE emits: rows and their order are those of Flink's runs of the statements beside them.

In micro-batches each step goes on from restored state.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flinkplan.executor.build.stream import SEQUENCE, Stream, column_name
from flinkplan.executor.build.time.event_time import assign_watermarks
from flinkplan.executor.jvm.types import spark_type
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.functions.patterns import EXCLUSION, MATCH_ROWTIME, PERMUTATION
from flinkplan.plan.nodes import Match
from flinkplan.plan.record import Json, replace
from flinkplan.plan.rex import Call, Literal, PatternInputRef, RexNode
from flinkplan.plan.specs import MatchSpec, PartitionSpec, SortField, SortSpec
from flinkplan.plan.types import (
    BIGINT,
    BOOLEAN,
    INT,
    NULL,
    STRING,
    SYMBOL,
    LogicalType,
    TimeKind,
    row,
    timestamp,
)

from ..building import build
from ..conftest import Bench
from ..plans import refusal
from .event_time import ROWTIME, timed_source

if TYPE_CHECKING:
    pass

ID, K, X, TS = range(4)
EVENTS = row([("id", INT), ("k", STRING), ("x", INT), ("ts", ROWTIME)])
INTERVAL = LogicalType("INTERVAL_SECOND")

ROWS: Sequence[tuple[int, str, int | None, int]] = (
    (1, "a", 5, 1),
    (2, "a", 3, 2),
    (3, "b", 1, 2),
    (4, "a", 2, 4),
    (5, "a", 4, 3),
    (6, "b", 4, 5),
    (7, "a", 6, 6),
    (8, "b", None, 6),
    (9, "a", 1, 7),
    (10, "b", 2, 8),
    (11, "a", 2, 9),
    (12, "b", 3, 8),
    (13, "a", 7, 12),
    (14, "b", 0, 12),
)
"""The columns ``id``, ``k``, ``x`` and the seconds of ``ts``, whose watermark is two seconds behind."""


def ref(variable: str, column: int = X) -> PatternInputRef:
    return PatternInputRef(variable, column, EVENTS.field_types[column])


def number(value: int) -> Literal:
    return Literal(value, INT.not_null())


def call(name: str, *operands: RexNode, of: LogicalType = BOOLEAN, syntax: str = "BINARY") -> Call:
    return Call(f"${name}$1", operands, of, syntax)


def at(name: str, rex: RexNode, offset: int = 0) -> Call:
    """FIRST, LAST or PREV of an expression."""
    return call(name, rex, number(offset), of=rex.type, syntax="FUNCTION")


def aggregate(name: str, rex: RexNode, of: LogicalType = INT) -> Call:
    return call(name, rex, of=of, syntax="FUNCTION")


def now(variable: str) -> Call:
    """``variable.x`` within its own condition."""
    return at("PREV", ref(variable))


def quantified(of: RexNode, least: int, most: int, *, reluctant: bool = False) -> Call:
    operands = (of, number(least), number(most), Literal(reluctant, BOOLEAN.not_null()))
    return Call("$PATTERN_QUANTIFIER$1", operands, NULL, "SPECIAL")


def name(variable: str) -> Literal:
    return Literal(variable, LogicalType("CHAR", False, len(variable)))


def a_plus(variable: str, *, reluctant: bool = False) -> Call:
    return quantified(name(variable), 1, -1, reluctant=reluctant)


def concat(*parts: RexNode) -> RexNode:
    found = parts[0]
    for part in parts[1:]:
        found = Call("", (found, part), NULL, "BINARY", Json({"sqlKind": "PATTERN_CONCAT"}))
    return found


def after(option: str) -> Literal:
    return Literal(option, SYMBOL, "MATCH_RECOGNIZE_AFTER_OPTION")


PAST_LAST, TO_NEXT = after("SKIP_PAST_LAST_ROW"), after("SKIP_TO_NEXT_ROW")


def skip_to(place: str, variable: str) -> Call:
    return Call(f"$SKIP TO {place}$1", (name(variable),), NULL, "PREFIX")


def match(
    pattern: RexNode,
    define: Mapping[str, RexNode],
    measures: Sequence[RexNode],
    skip: RexNode = PAST_LAST,
    *,
    within: int | None = None,
    order: Sequence[SortField] = (SortField(TS, True, False),),
    **changed: Any,
) -> Match:
    """A node by ``k`` whose measures are ``m0``, ``m1`` …; ``within`` in milliseconds."""
    named = {f"m{i}": call("FINAL", m, of=m.type, syntax="PREFIX") for i, m in enumerate(measures)}
    spec = MatchSpec(
        pattern=pattern,
        pattern_definitions=Json(define),
        measures=Json(named),
        after=skip,
        subsets=Json(),
        all_rows=False,
        partition=PartitionSpec((K,)),
        order_by=SortSpec(tuple(order)),
        interval=None if within is None else Literal(str(within), INTERVAL),
    )
    output = row([("k", STRING), *((measure, rex.type) for measure, rex in named.items())])
    return Match(id=1, version=1, match_spec=replace(spec, **changed), output_type=output)


A, B, C = name("A"), name("B"), name("C")
IDS = (ref("A", ID), ref("B", ID), ref("C", ID))
CASES: Mapping[str, tuple[Match, Sequence[tuple[Any, ...]]]] = {
    # PATTERN (A B+ C) DEFINE B AS B.x < LAST(B.x, 1) OR (LAST(B.x, 1) IS NULL AND B.x < A.x), C AS C.x > LAST(B.x)
    "what was matched before": (
        match(
            concat(A, a_plus("B"), C),
            {
                "B": call(
                    "OR",
                    call("<", now("B"), at("LAST", ref("B"), 1)),
                    call(
                        "AND",
                        call("IS NULL", at("LAST", ref("B"), 1), syntax="POSTFIX"),
                        call("<", now("B"), at("LAST", ref("A"))),
                    ),
                ),
                "C": call(">", now("C"), at("LAST", ref("B"))),
            },
            IDS,
        ),
        [("a", 1, 2, 5), ("a", 7, 9, 11)],
    ),
    # AFTER MATCH SKIP TO NEXT ROW PATTERN (A+? B) DEFINE A AS A.x < 5, B AS B.x > 2
    "reluctant": (
        match(
            concat(a_plus("A", reluctant=True), B),
            {"A": call("<", now("A"), number(5)), "B": call(">", now("B"), number(2))},
            (at("FIRST", ref("A", ID)), at("LAST", ref("A", ID)), ref("B", ID)),
            TO_NEXT,
        ),
        [
            ("a", 2, 2, 5),
            ("b", 3, 3, 6),
            ("a", 5, 4, 7),
            ("a", 4, 4, 7),
            ("b", 10, 10, 12),
            ("a", 9, 11, 13),
            ("a", 11, 11, 13),
        ],
    ),
    # AFTER MATCH SKIP TO LAST A PATTERN (A{2,3} B) DEFINE A AS SUM(A.x) < 11, B AS B.x <> AVG(A.x)
    "aggregates": (
        match(
            concat(quantified(A, 2, 3), B),
            {
                "A": call("<", aggregate("SUM", ref("A")), number(11)),
                "B": call(
                    "<>",
                    now("B"),
                    call("/", aggregate("SUM", ref("A")), aggregate("COUNT", ref("A"), BIGINT.not_null()), of=BIGINT),
                ),
            },
            (at("FIRST", ref("A", ID)), aggregate("SUM", ref("A")), ref("B", ID)),
            skip_to("LAST", "A"),
        ),
        [("a", 2, 9, 7), ("a", 4, 9, 11)],
    ),
    # AFTER MATCH SKIP TO NEXT ROW PATTERN (A B* C) WITHIN INTERVAL '4' SECOND DEFINE B AS B.x > 2, C AS C.x < A.x
    "within": (
        match(
            concat(A, quantified(B, 0, -1), C),
            {"B": call(">", now("B"), number(2)), "C": call("<", now("C"), at("LAST", ref("A")))},
            IDS,
            TO_NEXT,
            within=4000,
        ),
        [("a", 1, 5, 4), ("a", 2, 5, 4), ("a", 5, None, 4), ("a", 4, 7, 9), ("a", 7, None, 9)],
    ),
    # AFTER MATCH SKIP TO NEXT ROW PATTERN (A B? C) DEFINE B AS B.x > A.x, C AS C.x IS NOT NULL
    "optional": (
        match(
            concat(A, quantified(B, 0, 1), C),
            {
                "B": call(">", now("B"), at("LAST", ref("A"))),
                "C": call("IS NOT NULL", now("C"), syntax="POSTFIX"),
            },
            IDS,
            TO_NEXT,
        ),
        [
            ("a", 1, None, 2),
            ("a", 2, None, 5),
            ("a", 5, None, 4),
            ("b", 3, None, 6),
            ("a", 4, None, 7),
            ("a", 7, None, 9),
            ("b", 8, None, 10),
            ("b", 10, None, 12),
            ("a", 9, None, 11),
            ("a", 11, None, 13),
            ("b", 12, None, 14),
        ],
    ),
    # ORDER BY ts, x DESC MEASURES …, MATCH_ROWTIME() AFTER MATCH SKIP TO NEXT ROW PATTERN (A B) DEFINE B AS B.x <= A.x
    "order and time": (
        match(
            concat(A, B),
            {"B": call("<=", now("B"), at("LAST", ref("A")))},
            (ref("A", ID), ref("B", ID), call("MATCH_ROWTIME", of=ROWTIME, syntax="FUNCTION")),
            TO_NEXT,
            order=(SortField(TS, True, False), SortField(X, False, True)),
        ),
        [
            ("a", 1, 2, "2024-01-01 00:00:02"),
            ("a", 5, 4, "2024-01-01 00:00:04"),
            ("a", 7, 9, "2024-01-01 00:00:07"),
            ("b", 12, 10, "2024-01-01 00:00:08"),
            ("b", 10, 14, "2024-01-01 00:00:12"),
        ],
    ),
}
"""Nodes and what Flink emits by them."""


def events(rows: Sequence[tuple[int, str, int | None, int]]) -> list[tuple[Any, ...]]:
    return [(*values, f"2024-01-01T00:00:{second:02}Z") for *values, second in rows]


def in_one_pass(bench: Bench, folder: Path, node: Match) -> list[tuple[Any, ...]]:
    """What comes of all rows at once."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import LongType, StructField, StructType

    columns = [StructField(column_name(i), spark_type(t)) for i, t in enumerate(EVENTS.field_types)]
    lines = [
        json.dumps({column_name(i): v for i, v in enumerate(values)} | {SEQUENCE: place})
        for place, values in enumerate(events(ROWS))
    ]
    (folder / "all.json").write_text("\n".join(lines))
    schema = StructType([*columns, StructField(SEQUENCE, LongType())])
    frame = bench.spark.read.schema(schema).json(str(folder / "all.json"))
    context = replace(bench.context, query=replace(bench.context.query, mode=Mode.BOUNDED, is_batch=True))
    stream = Stream(frame, EVENTS)
    timed = assign_watermarks(stream, stream.column(TS), F.unix_millis(stream.column(TS)) - 2000, context)
    found = build(node, (timed,), context).frame
    values = [
        F.col(field.name).cast("string") if field.dataType.typeName() == "timestamp" else F.col(field.name)
        for field in found.schema
    ]
    return [tuple(values[:-1]) for values in sorted(found.select(values).collect(), key=lambda r: r[-1])]


@pytest.mark.spark
@pytest.mark.parametrize("case", CASES)
def test_all_rows_at_once(case: str, bench: Bench, tmp_path: Path) -> None:
    node, expected = CASES[case]
    assert in_one_pass(bench, tmp_path, node) == expected


@pytest.mark.spark
@pytest.mark.parametrize("case", CASES)
def test_micro_batches_find_the_same(case: str, bench: Bench) -> None:
    node, expected = CASES[case]
    stream = build(node, (timed_source(bench, "events", EVENTS, TS, delay=2000),), bench.context)
    found = []
    for rows in (ROWS[:5], ROWS[5:8], ROWS[8:], [(0, "z", None, 50)], [(0, "z", None, 55)]):
        bench.put("events", *events(rows))
        found += [values for _, *values in bench.step(stream) if values[0] != "z"]
    assert sorted(map(tuple, found), key=repr) == sorted(expected, key=repr)


@pytest.mark.spark
def test_late_rows_are_not_looked_at(bench: Bench) -> None:
    node = match(concat(A, B), {"B": call("<", now("B"), at("LAST", ref("A")))}, IDS[:2])
    stream = build(node, (timed_source(bench, "events", EVENTS, TS, delay=2000),), bench.context)
    bench.put("events", *events([(1, "a", 5, 10), (2, "z", 0, 20)]))
    assert bench.step(stream) == []
    bench.put("events", *events([(3, "a", 1, 15), (4, "a", 2, 21), (5, "z", 0, 40)]))
    assert bench.step(stream) == []
    bench.put("events", *events([(6, "z", 0, 55)]))
    assert [values for _, *values in bench.step(stream)] == [["a", 1, 4]]
    assert bench.context.parts.late_counters[node.id].total() == 1


@pytest.mark.spark
def test_in_processing_time_rows_are_looked_at_as_they_come(bench: Bench) -> None:
    proctime = timestamp(3, kind=TimeKind.PROCTIME)
    of = row([("id", INT), ("k", STRING), ("x", INT), ("ts", proctime)])
    conditions = {"B": call(">", now("B"), at("LAST", ref("A"))), "C": call("<", now("C"), at("LAST", ref("A")))}
    node = match(concat(A, a_plus("B"), C), conditions, IDS, within=60_000)
    stream = build(node, (bench.source("events", of),), bench.context)
    found = []
    for at_ms, rows in ((0, [(1, "a", 2), (2, "a", 3)]), (50_000, [(3, "a", 4), (4, "a", 1)]), (60_000, [(5, "a", 2)])):
        bench.put("events", *((*values, None) for values in rows))
        found.append([values for _, *values in bench.step(stream, at=at_ms)])
    assert found == [[], [["a", 1, 3, 4]], []]
    bench.put("events", (6, "a", 3, None))
    assert bench.step(stream, at=70_000) == []
    bench.put("events", (7, "a", 0, None))
    assert bench.step(stream, at=120_000) == []  # what began with row 5 has lasted too long


@pytest.mark.spark
@pytest.mark.parametrize(
    ("skip", "message"),
    [(skip_to("LAST", "B"), "no row of a match is one of B"), (skip_to("FIRST", "A"), "the first row of a match")],
)
def test_a_match_that_cannot_be_skipped_from_fails(skip: RexNode, message: str, bench: Bench, tmp_path: Path) -> None:
    node = match(concat(A, quantified(B, 0, -1), C), {"B": call(">", now("B"), number(99))}, IDS, skip)
    with pytest.raises(Exception, match=message):
        in_one_pass(bench, tmp_path, node)


ALTERNATIVE = Call("$|$1", (A, B), NULL, "BINARY")


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (ALTERNATIVE, "alternatives"),
        (concat(A, EXCLUSION.typed(NULL, B)), "exclusions"),
        (PERMUTATION.typed(NULL, A, B), "PERMUTE"),
        (concat(quantified(concat(A, B), 1, -1), C), "quantifiers of groups"),
        (concat(A, B, A), "stands twice"),
        (concat(A, a_plus("B")), "ends with the greedy variable B"),
        (concat(quantified(A, 0, 1), quantified(B, 0, 2)), "may match no row"),
        (concat(a_plus("A"), quantified(B, 0, 1), C), "the optional variable B behind the greedy A"),
        (concat(A, quantified(B, 0, 1, reluctant=True), C), r"reluctant optional variable B\?\?"),
        (concat(A, quantified(B, 0, 0), C), "from 0 to 0"),
        (concat(A, quantified(B, 3, 2), C), "from 3 to 2"),
    ],
)
def test_patterns_that_flink_refuses_are_refused(pattern: RexNode, message: str) -> None:
    assert re.search(message, refusal(match(pattern, {}, IDS[:1]), EVENTS))


AS_B = concat(A, B)


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (match(AS_B, {"B": call(">", at("PREV", ref("B"), 1), number(1))}, IDS[:1]), "need not belong to the match"),
        (match(AS_B, {}, [call("RUNNING", ref("A"), of=INT, syntax="PREFIX")]), "RUNNING"),
        (match(AS_B, {}, [aggregate("SUM", call("+", ref("A"), ref("B"), of=INT))]), "several variables"),
        (match(AS_B, {}, [aggregate("COUNT", number(1))]), "no variable"),
        (match(AS_B, {}, [ref("U")], subsets=Json(U=("A", "B"))), "SUBSET U"),
        (match(AS_B, {}, IDS[:1], all_rows=True), "ALL ROWS PER MATCH"),
        (match(AS_B, {}, IDS[:1], skip_to("LAST", "D")), "no variable of the pattern"),
        (match(AS_B, {}, IDS[:1], order=(SortField(X, True, False),)), "time attribute first"),
        (match(AS_B, {}, IDS[:1], order=(SortField(TS, False, False),)), "from early to late"),
        (match(AS_B, {}, IDS[:1], interval=Literal("3", LogicalType("INTERVAL_MONTH"))), "WITHIN"),
        (
            match(AS_B, {"B": call("IS NOT NULL", MATCH_ROWTIME.call())}, IDS[:1]),
            "within DEFINE",
        ),
    ],
)
def test_what_else_flink_refuses_is_refused(node: Match, message: str) -> None:
    assert message in refusal(node, EVENTS)


def test_a_subset_that_nothing_reads_makes_no_difference() -> None:
    assert refusal(match(AS_B, {}, IDS[:1], subsets=Json(U=("A", "B"))), EVENTS) == ""
