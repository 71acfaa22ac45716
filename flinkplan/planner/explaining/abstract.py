"""The abstract syntax tree of EXPLAIN: the bound relations as Calcite prints them.

Source: ``RelNode.explain`` of the ``LogicalXxx`` nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ...plan.functions.comparison import NOT, OR, SEARCH
from ...plan.functions.table import UNNEST_ROWS, UNNEST_ROWS_WITH_ORDINALITY
from ...plan.record import Record, replace
from ...plan.rex import Call, CorrelVariable, FieldAccess, InputRef, Literal, RexNode, children, transform, walk
from ...plan.specs import AggregateCall, JoinType, SortField
from ...plan.types import INT, LogicalType, row
from ..algebra import logical as a
from ..algebra import physical as p
from ..algebra.names import anonymous
from ..algebra.rel import Rel
from ..lowering.aggregates import group_window_text
from ..lowering.patterns import after_text, pattern_text
from ..lowering.process_tables import call_text
from ..rex.expressions import identity, inline, is_call, or_, refs, rewrite
from ..rex.numbered import numbered
from ..rex.printer import definition_digest, full_type_name, record_type, untyped_literal
from ..rex.sargs import complement, expand, read, write
from ..rex.unplanned import SubQuery
from .hints import written_hints
from .trees import tree_lines

_JOINS = {kind: kind.value.lower() for kind in JoinType}


_OF_TABLE_API: ContextVar[bool] = ContextVar("of_table_api", default=False)


@contextmanager
def of_table_api() -> Iterator[None]:
    """Inside it, trees are shown as the Table API makes them."""
    token = _OF_TABLE_API.set(True)
    try:
        yield
    finally:
        _OF_TABLE_API.reset(token)


_LISTS: ContextVar[Mapping[RexNode, RexNode] | None] = ContextVar("lists", default=None)


@contextmanager
def lists_as_written(lists: Mapping[RexNode, RexNode]) -> Iterator[None]:
    """Inside it, IN lists are shown in the order that they are written in."""
    token = _LISTS.set(lists)
    try:
        yield
    finally:
        _LISTS.reset(token)


def abstract_lines(rel: Rel) -> Iterator[str]:
    """The lines of a relation's tree."""
    return tree_lines(rel, _label)


def _label(rel: Any) -> tuple[str, Sequence[Any]]:
    for cls, rule in _RULES.items():
        if isinstance(rel, cls):
            name, parts, inputs = rule(rel)
            return f"{name}({', '.join(parts)})" if parts else name, inputs
    return f"{type(rel).__name__}()", rel.inputs


Shown = tuple[str, list[str], Sequence[Any]]


def _text(rex: RexNode) -> str:
    return numbered(rex, _subquery_lines)


def _subquery_lines(rel: Rel, indent: str = "") -> Iterator[str]:
    text, inputs = _label(rel)
    yield indent + text
    for each in inputs:
        yield from _subquery_lines(each, indent + "  ")


def _table(rel: a.Scan | a.TableModify) -> list[str]:
    identifier = rel.table.identifier
    return [part for part in (identifier.catalog, identifier.database, identifier.name) if part]


def _sink(rel: a.TableModify) -> Shown:
    targets = ",".join(f"[{i}]" for i in rel.target_columns or ())
    parts = [f"table=[{'.'.join(_table(rel))}]", *([f"targetColumns=[{targets}]"] if targets else [])]
    return "LogicalSink", [*parts, f"fields=[{', '.join(rel.names)}]"], rel.inputs


def _scan(rel: a.Scan) -> Shown:
    """A table; columns of metadata stand behind those that are stored, and are cast to their declared types."""
    columns = rel.table.resolved.schema.columns
    keys = sorted({c.metadata_key or c.name for c in columns if c.kind == "METADATA"})
    if not keys:
        return _source(_Source(rel))
    declared = {c.name: c.metadata_key or c.name for c in columns if c.kind == "METADATA"}
    stored = [name for name in rel.names if name not in declared]
    exprs = []
    for name, t in zip(rel.names, rel.types, strict=True):
        if name in declared:
            text = f"CAST(${len(stored) + keys.index(declared[name])}):{full_type_name(t)}"
            exprs.append(f"{name}=[{text}{'' if t.nullable else ' NOT NULL'}]")
        else:
            exprs.append(f"{name}=[${stored.index(name)}]")
    return "LogicalProject", exprs, (_Source(rel, tuple(keys)),)


class _Source(Record):
    """A table with the metadata that is read from it."""

    scan: a.Scan
    metadata: tuple[str, ...] = ()


def _source(source: _Source) -> Shown:
    rel = source.scan
    metadata = [f"metadata=[{', '.join(source.metadata)}]"] if source.metadata else []
    parts = [f"table=[[{', '.join([*_table(rel), *metadata])}]]"]
    hints = []
    if rel.options:
        options = ", ".join(f"{key}={value}" for key, value in sorted(rel.options))
        hints.append(f"[OPTIONS inheritPath:[] options:{{{options}}}]")
    if rel.hinted_as:
        hints.append(f"[ALIAS inheritPath:[] options:[{rel.hinted_as}]]")
    if hints:
        parts.append(f"hints=[[{', '.join(hints)}]]")
    return "LogicalTableScan", parts, ()


def _project(rel: a.Project) -> Shown:
    exprs = [f"{n}=[{_text(e)}]" for n, e in zip(rel.names, rel.exprs, strict=True)]
    return "LogicalProject", [*_variables(rel.exprs), *exprs], rel.inputs


def _variables(exprs: Iterable[RexNode]) -> list[str]:
    """The correlation variables that subqueries in the expressions read."""
    correlated = {each.correl for rex in exprs for each in walk(rex) if isinstance(each, SubQuery) and each.correl}
    return [f"variablesSet=[[{', '.join(sorted(correlated))}]]"] if correlated else []


def _filter(rel: a.Filter) -> Shown:
    """A filter; of WHERE, lists are written out, which they are in no other place."""
    is_where = not _OF_TABLE_API.get() and not isinstance(rel.input, a.Aggregate)
    condition = rewrite(rel.condition, _written_out) if is_where else rel.condition
    return "LogicalFilter", [f"condition=[{_text(condition)}]", *_variables([condition])], rel.inputs


def _written_out(rex: RexNode) -> RexNode:
    if (written := (_LISTS.get() or {}).get(rex)) is not None:
        return written
    if is_call(rex, OR) and any(is_call(part, OR) for part in children(rex)):
        return or_(children(rex))
    searched = read(rex) if is_call(rex, SEARCH) else None
    if searched is not None and searched.is_complemented_points:
        return NOT.call(expand(write(complement(searched))))
    return expand(rex)


def _watermark(rel: a.Watermark) -> Shown:
    parts = [f"rowtime=[{rel.names[rel.rowtime_index]}]", f"watermark=[{_text(rel.expr)}]"]
    return "LogicalWatermarkAssigner", parts, rel.inputs


def _aggregate(rel: a.Aggregate) -> Shown:
    parts = [f"group=[{{{', '.join(map(str, rel.grouping))}}}]"]
    if rel.grouping_sets is not None:
        sets = ", ".join(f"{{{', '.join(map(str, s))}}}" for s in rel.grouping_sets)
        parts.append(f"groups=[[{sets}]]")
    parts += _calls(rel.calls, rel.names[len(rel.grouping) :])
    return "LogicalAggregate", [*parts, *written_hints(rel)], rel.inputs


def _table_aggregate(rel: a.TableAggregate) -> Shown:
    group = f"group=[{{{', '.join(map(str, rel.grouping))}}}]"
    return "LogicalTableAggregate", [group, f"tableAggregate=[[{_call(rel.call)}]]"], rel.inputs


def _calls(calls: Sequence[AggregateCall], names: Sequence[str]) -> list[str]:
    """Calls with their names; one without a name has its number."""
    named = zip(calls, names, strict=False)
    return [f"{name if call.name else f'agg#{i}'}=[{_call(call)}]" for i, (call, name) in enumerate(named)]


def _call(call: AggregateCall) -> str:
    distinct = "DISTINCT " if call.distinct else ""
    arguments = ", ".join(f"${i}" for i in call.arg_list)
    where = f" FILTER ${call.filter_arg}" if call.filter_arg >= 0 else ""
    return f"{call.function_name}({distinct}{arguments}){where}"


def _window_aggregate(rel: p.LegacyWindowAggregate) -> Shown:
    names = rel.names[len(rel.grouping) :]
    parts = [f"group=[{{{', '.join(map(str, rel.grouping))}}}]", *_calls(rel.calls, names)]
    parts.append(f"window=[{group_window_text(rel.window)}]")
    parts.append(f"properties=[{', '.join(named.name for named in rel.properties)}]")
    return "LogicalWindowAggregate", parts, rel.inputs


def _join(rel: a.Join) -> Shown:
    if isinstance(rel.right, a.Snapshot) and rel.right.time is not None:
        return _temporal(rel)
    parts = [f"condition=[{_text(rel.condition)}]", f"joinType=[{_JOINS[rel.kind]}]"]
    return "LogicalJoin", [*parts, *written_hints(rel)], rel.inputs


class _Function(Record):
    """The rows of a table function, which reads the row of a correlate."""

    call: RexNode
    fields: LogicalType
    condition: RexNode | None


def _correlate(rel: a.Correlate) -> Shown:
    reads = sorted(
        r.expr.type.field_names.index(r.name)
        for r in {r for r in walk(rel.call) if isinstance(r, FieldAccess) and isinstance(r.expr, CorrelVariable)}
    )
    call = rel.call
    if rel.by_position:
        call, reads = transform(call, lambda rex: _by_position(rex, rel)), []
    rows: Any = _Function(call, rel.function_type, rel.condition)
    if is_call(call, UNNEST_ROWS) or is_call(call, UNNEST_ROWS_WITH_ORDINALITY):
        is_named = rel.aliases != rel.function_type.field_names or is_call(call, UNNEST_ROWS_WITH_ORDINALITY)
        rows = _Unnested(call, rel.condition, rel.aliases if is_named else None)
    if not rel.correl:
        return _RULES[type(rows)](rows)
    parts = [
        f"correlation=[{rel.correl}]",
        f"joinType=[{_JOINS[rel.type]}]",
        f"requiredColumns=[{{{', '.join(map(str, reads))}}}]",
    ]
    return "LogicalCorrelate", parts, (rel.input, rows)


def _by_position(rex: RexNode, rel: a.Correlate) -> RexNode:
    if not isinstance(rex, FieldAccess) or not isinstance(rex.expr, CorrelVariable):
        return rex
    index = rel.input.names.index(rex.name)
    return InputRef(index, rel.input.types[index])


def _function(rel: _Function) -> Shown:
    if rel.condition is not None:
        return "LogicalFilter", [f"condition=[{_text(rel.condition)}]"], (replace(rel, condition=None),)
    parts = [f"invocation=[{_text(rel.call)}]", f"rowType=[{record_type(rel.fields)}]"]
    return "LogicalTableFunctionScan", parts, ()


class _Unnested(Record):
    """The elements of a collection, and how the statement names them if it does."""

    call: Call
    condition: RexNode | None
    aliases: tuple[str, ...] | None


class _Collection(Record):
    """The collection that is unnested."""

    rex: RexNode
    with_ordinality: bool


class _Projected(Record):
    """A projection of what is printed so."""

    parts: tuple[str, ...]
    input: Any


def _unnested(rel: _Unnested) -> Shown:
    if rel.condition is not None:
        return "LogicalFilter", [f"condition=[{_text(rel.condition)}]"], (replace(rel, condition=None),)
    collection = _Collection(rel.call.operands[0], is_call(rel.call, UNNEST_ROWS_WITH_ORDINALITY))
    if rel.aliases is None:
        return _collection(collection)
    return _shown_projection(_Projected(tuple(f"{name}=[${i}]" for i, name in enumerate(rel.aliases)), collection))


def _collection(rel: _Collection) -> Shown:
    name = rel.rex.name if isinstance(rel.rex, FieldAccess) else anonymous(0)
    single = a.Values(fields=row([("ZERO", INT)], nullable=False), tuples=((Literal("0", INT),),))
    parts = ["withOrdinality=[true]"] if rel.with_ordinality else []
    return "Uncollect", parts, (_Projected((f"{name}=[{_text(rel.rex)}]",), single),)


def _shown_projection(rel: _Projected) -> Shown:
    return "LogicalProject", [*rel.parts], (rel.input,)


class _Versions(Record):
    """The right side of a temporal join: its rows as of a time of the left row, those that the condition accepts."""

    input: Rel
    condition: str
    period: str


def _temporal(rel: a.TemporalJoin | a.Join) -> Shown:
    """A temporal or a lookup join, which are a correlation until they are known as joins."""
    left, right = rel.left, rel.right
    of = rel if isinstance(rel, a.TemporalJoin) else right
    assert isinstance(of, (a.TemporalJoin, a.Snapshot)) and of.time is not None
    row = CorrelVariable(of.correl, left.row_type)
    read: tuple[RexNode, ...] = (*(FieldAccess(name, row) for name in left.names), *identity(right.types))
    columns = sorted(column for column in refs(rel.condition) | refs(of.time) if column < left.width)
    parts = [
        f"correlation=[{of.correl}]",
        f"joinType=[{_JOINS[rel.type]}]",
        f"requiredColumns=[{{{', '.join(map(str, columns))}}}]",
    ]
    versions = right.input if isinstance(right, a.Snapshot) else right
    condition, period = (_text(inline(rex, read)) for rex in (rel.condition, of.time))
    return "LogicalCorrelate", parts, (left, _Versions(versions, condition, period))


def _versions(rel: _Versions) -> Shown:
    if not rel.condition:
        return "LogicalSnapshot", [f"period=[{rel.period}]"], (rel.input,)
    return "LogicalFilter", [f"condition=[{rel.condition}]"], (replace(rel, condition=""),)


def _lateral(rel: a.Lateral) -> Shown:
    parts = [f"correlation=[{rel.correl}]", f"joinType=[{_JOINS[rel.kind]}]"]
    return "LogicalCorrelate", parts, rel.inputs


def _window_function(rel: a.WindowFunction) -> Shown:
    column = rel.names[rel.time_index]
    arguments = [f"DESCRIPTOR(_UTF-16LE'{column}')"]
    arguments += map(_text, rel.intervals)
    table = "TABLE(#0)"
    if rel.partition_keys:
        table += f" PARTITION BY({', '.join(f'${key}' for key in rel.partition_keys)})"
    invocation = f"{rel.kind}({', '.join([table, *arguments])})"
    parts = [f"invocation=[{invocation}]", f"rowType=[{record_type(rel.row_type)}]"]
    return "LogicalTableFunctionScan", parts, (_projected(rel.input),)


def _match(rel: a.Match) -> Shown:
    after = rel.after
    assert isinstance(after, (Literal, Call))
    shown = f"FLAG({after_text(after)})" if isinstance(after, Literal) else pattern_text(after)
    parts = {
        "partition": f"[{', '.join(map(str, rel.partition))}]",
        "order": f"[{', '.join(f'{field.index} {_direction(field)}' for field in rel.order)}]",
        "outputFields": f"[{', '.join(rel.names)}]",
        "allRows": "false",
        "after": shown,
        "pattern": pattern_text(rel.pattern),
        "isStrictStarts": "false",
        "isStrictEnds": "false",
        **({} if rel.interval is None else {"interval": _text(rel.interval)}),
        "subsets": f"[{', '.join('[' + ', '.join(names) + ']' for _, names in rel.subsets)}]",
        "patternDefinitions": f"[{', '.join(definition_digest(rex) for _, rex in rel.definitions)}]",
        "inputFields": f"[{', '.join(rel.input.names)}]",
    }
    return "LogicalMatch", [f"{key}=[{text}]" for key, text in parts.items()], rel.inputs


def _projected(rel: Rel) -> Rel:
    """A table as a function reads it, below a projection."""
    return rel if isinstance(rel, a.Project) else a.Project(input=rel, exprs=identity(rel.types), names=rel.names)


def _process_table(rel: a.ProcessTable) -> Shown:
    parts = [f"invocation=[{call_text(rel.call)}]", f"rowType=[{record_type(rel.row_type)}]"]
    return "LogicalTableFunctionScan", parts, tuple(map(_projected, rel.inputs))


def _set_operation(rel: a.SetOp) -> Shown:
    """A set operation, whose inputs have the types that they are written with."""
    name = {"UNION": "LogicalUnion", "INTERSECT": "LogicalIntersect", "EXCEPT": "LogicalMinus"}[rel.kind.value]
    return name, [f"all=[{str(rel.all).lower()}]"], tuple(map(_as_written, rel.operands, rel.written or rel.operands))


def _as_written(operand: Rel, written: Any) -> Rel:
    """An input of a set operation without the casts to the common types; ``None``: these are all it computes."""
    if written and isinstance(written, tuple) and isinstance(operand, a.Project):
        return replace(operand, exprs=written)
    return operand.inputs[0] if written is None else operand


def _values(rel: a.Values) -> Shown:
    rows = (
        "{ " + ", ".join(untyped_literal(v) if isinstance(v, Literal) else _text(v) for v in row) + " }"
        for row in rel.tuples
    )
    return "LogicalValues", [f"tuples=[[{', '.join(rows)}]]"], ()


def _sort(rel: a.Sort) -> Shown:
    parts = [f"sort{i}=[${field.index}]" for i, field in enumerate(rel.order)]
    parts += [f"dir{i}=[{_direction(field)}]" for i, field in enumerate(rel.order)]
    parts += [
        f"{name}=[{value}]"
        for name, value in (("offset", rel.offset or None), ("fetch", rel.fetch))
        if value is not None
    ]
    return "LogicalSort", parts, rel.inputs


def _direction(field: SortField) -> str:
    """The direction; Calcite's own place of NULLs, as the largest values, is not said."""
    direction = "ASC" if field.is_ascending else "DESC"
    if field.null_is_last is field.is_ascending:
        return direction
    return f"{direction}-nulls-{'last' if field.null_is_last else 'first'}"


_RULES: Mapping[type, Callable[[Any], Shown]] = {
    a.TableModify: _sink,
    a.Scan: _scan,
    _Source: _source,
    a.Project: _project,
    a.Filter: _filter,
    a.Watermark: _watermark,
    a.Aggregate: _aggregate,
    a.TableAggregate: _table_aggregate,
    p.LegacyWindowAggregate: _window_aggregate,
    a.Join: _join,
    a.Correlate: _correlate,
    _Function: _function,
    _Unnested: _unnested,
    _Collection: _collection,
    _Projected: _shown_projection,
    _Versions: _versions,
    a.TemporalJoin: _temporal,
    a.Lateral: _lateral,
    a.Match: _match,
    a.WindowFunction: _window_function,
    a.ProcessTable: _process_table,
    a.SetOp: _set_operation,
    a.Values: _values,
    a.Sort: _sort,
}
