"""What Flink compiles, and refuses when it starts the plan: its plans say more than its operators can do.

Each was seen of Flink 2.3: ``StreamExecSort``, ``StreamExecLimit``, ``StreamExecOverAggregate``,
``StreamExecTemporalJoin``, ``StreamExecMatch``, the nodes of windows, ``ScalarOperatorGens``, the CSV and JSON formats.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...plan.document import Plan
from ...plan.durations import parse_duration
from ...plan.errors import FlinkplanError
from ...plan.findings import Finding, Severity
from ...plan.functions.comparison import EQ, NE, are_text_and_number
from ...plan.nodes import ExecNode, Limit, Match, OverAggregate, Sink, Sort, SortLimit, TemporalJoin
from ...plan.rex import Call, Literal, RexNode, walk
from ...plan.specs import ConstantRankRange, HoppingWindow
from ...plan.text.positions import pointer
from ...plan.types import CHARACTER, LogicalType

RULE = "flink-start"

_NO_END = 2**63 - 1
_NOT_IN_STREAMS = {"LEAD": "LAG looks back instead", "NTILE": "RANK and ROW_NUMBER can be had"}


def starts_on_flink(plan: Plan) -> Iterator[Finding]:
    """What keeps Flink from starting a plan that it has compiled, or could have."""
    for index, node in enumerate(plan.nodes):
        for message, hint in (*_of_node(plan, node), *_comparisons(node)):
            place = pointer("nodes", index)
            told = f"Flink does not start this: {message}"
            yield Finding(RULE, Severity.ERROR, told, place, None, node.id, node.type, hint)


def _of_node(plan: Plan, node: ExecNode) -> Iterator[tuple[str, str]]:
    match node:
        case Sort():
            yield (
                "a stream is sorted by other than its event time, ascending",
                "sort by the time attribute first, or add LIMIT; here a bounded job is sorted",
            )
        case SortLimit(rank_range=ConstantRankRange(end=end)) | Limit(rank_range=ConstantRankRange(end=end)):
            if end >= _NO_END:
                yield "OFFSET has no LIMIT", "say how many rows follow: LIMIT … OFFSET …"
        case OverAggregate():
            yield from _over(node)
        case TemporalJoin(is_temporal_function_join=False) if node.is_processing_time:
            yield "a join with the versions of a table as of processing time", "join as of an event time"
        case Match():
            yield from _pattern(plan, node)
        case Sink():
            yield from _sink(node)
    window = getattr(getattr(node, "windowing", None), "window", None)
    if isinstance(window, HoppingWindow) and _millis(window.size) % max(_millis(window.slide), 1):
        yield "the size of a sliding window is no multiple of its slide", "choose a slide that divides the size"


def _millis(duration: str) -> int:
    try:
        return parse_duration(duration)
    except FlinkplanError:
        return 0


def _over(node: OverAggregate) -> Iterator[tuple[str, str]]:
    for group in node.over_spec.groups:
        if not group.order_by.fields:
            yield "OVER has no ORDER BY", "order by the time attribute"
        elif group.upper_bound.kind == "BOUNDED_WINDOW" and group.upper_bound.is_following:
            yield "the frame of OVER reaches beyond the current row", "let it end with CURRENT ROW"
        for call in group.agg_calls:
            if call.function_name in _NOT_IN_STREAMS:
                yield f"there is no {call.function_name} on streams", _NOT_IN_STREAMS[call.function_name]


def _pattern(plan: Plan, node: Match) -> Iterator[tuple[str, str]]:
    spec = node.match_spec
    fields = spec.order_by.fields
    types = [input_.output_type.field_types for input_ in plan.inputs(node)]
    first = types[0][fields[0].index] if types and fields else None
    if node.metadata.is_batch:
        pass  # the rows are sorted by any columns
    elif first is None or not first.is_time_attribute:
        yield "MATCH_RECOGNIZE is ordered by no time attribute", "order by the column that has the watermark"
    elif not fields[0].is_ascending:
        yield "MATCH_RECOGNIZE is ordered backwards", "order by the time attribute, ascending"
    if any(part.name == "$|$1" for part in walk(spec.pattern) if isinstance(part, Call)):
        yield "the pattern has alternatives", "match a variable whose condition joins theirs with OR"
    for part in walk(spec.pattern):
        if _quantifier(part) == (0, 0):
            yield "the pattern has a variable that never occurs", "leave the variable with {0} out"
    last: RexNode = spec.pattern
    while isinstance(last, Call) and _quantifier(last) is None and last.operands:
        last = last.operands[-1]
    bounds = _quantifier(last)
    if bounds is not None and bounds[0] != bounds[1] and isinstance(last, Call) and _value(last.operands[3]) is False:
        yield (
            "the last variable of the pattern is greedy",
            "end it with a plain variable, or a reluctant one: +?",
        )


def _quantifier(rex: RexNode) -> tuple[Any, Any] | None:
    """How often a part of a pattern stands at least and at most."""
    if isinstance(rex, Call) and rex.name == "$PATTERN_QUANTIFIER$1" and len(rex.operands) == 4:
        return _value(rex.operands[1]), _value(rex.operands[2])
    return None


def _value(rex: RexNode) -> object:
    return rex.value if isinstance(rex, Literal) else None


def _sink(node: Sink) -> Iterator[tuple[str, str]]:
    if node.dynamic_table_sink.overwrites and not node.metadata.is_batch:
        yield "INSERT OVERWRITE on a stream", "write INSERT INTO"
    resolved = node.dynamic_table_sink.table.resolved_table
    if resolved is None:
        return
    format_ = (resolved.options or {}).get("format", "")
    for column in resolved.schema.columns:
        for t in _within(column.data_type) if column.data_type is not None else ():
            if t.root == "MAP" and format_ == "csv":
                yield f"CSV has no maps, as in the column '{column.name}'", "write JSON, or columns of their own"
            elif t.root == "MAP" and "json" in format_ and t.children[0].root not in CHARACTER:
                yield f"the keys of maps are texts in JSON, not so in '{column.name}'", "CAST the keys to STRING"


def _within(t: LogicalType) -> Iterator[LogicalType]:
    yield t
    for part in (*t.children, *(f.type for f in t.fields)):
        yield from _within(part)


def _comparisons(node: ExecNode) -> Iterator[tuple[str, str]]:
    own = [getattr(node, name, None) for name in ("projection", "condition")]
    exprs = [rex for value in own for rex in (value if isinstance(value, tuple) else (value,)) if rex is not None]
    if any(map(_mixes_text_and_number, (part for rex in exprs for part in walk(rex)))):
        yield "a text is compared with a number", "CAST one of them to the type of the other"


def _mixes_text_and_number(rex: RexNode) -> bool:
    if not isinstance(rex, Call) or rex.name not in (EQ.internal_name, NE.internal_name) or len(rex.operands) != 2:
        return False
    left, right = rex.operands
    return are_text_and_number(left.type, right.type)
