"""The abstract syntax tree of EXPLAIN: the bound relations as Calcite prints them.

Source: ``RelNode.explain`` of the ``LogicalXxx`` nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...plan.record import Record, replace
from ...plan.rex import CorrelVariable, FieldAccess, InputRef, Literal, RexNode, transform, walk
from ...plan.specs import AggregateCall, JoinType, SortField
from ...plan.types import LogicalType
from ..algebra import logical as a
from ..algebra import physical as p
from ..algebra.rel import Rel
from ..lowering.aggregates import group_window_text
from ..lowering.process_tables import call_text
from ..rex.expressions import identity
from ..rex.numbered import numbered
from ..rex.printer import full_type_name, record_type, untyped_literal
from .trees import tree_lines

_JOINS = {kind: kind.value.lower() for kind in JoinType}


def abstract_lines(rel: Rel) -> Iterator[str]:
    """The lines of a relation's tree."""
    return tree_lines(rel, _label)


def _label(rel: Any) -> tuple[str, Sequence[Any]]:
    for cls, rule in _RULES.items():
        if isinstance(rel, cls):
            name, parts, inputs = rule(rel)
            return f"{name}({', '.join(parts)})", inputs
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
    if rel.options:
        options = ", ".join(f"{key}={value}" for key, value in sorted(rel.options))
        parts.append(f"hints=[[[OPTIONS inheritPath:[] options:{{{options}}}]]]")
    return "LogicalTableScan", parts, ()


def _project(rel: a.Project) -> Shown:
    return "LogicalProject", [f"{n}=[{_text(e)}]" for n, e in zip(rel.names, rel.exprs, strict=True)], rel.inputs


def _filter(rel: a.Filter) -> Shown:
    return "LogicalFilter", [f"condition=[{_text(rel.condition)}]"], rel.inputs


def _watermark(rel: a.Watermark) -> Shown:
    parts = [f"rowtime=[{rel.names[rel.rowtime_index]}]", f"watermark=[{_text(rel.expr)}]"]
    return "LogicalWatermarkAssigner", parts, rel.inputs


def _aggregate(rel: a.Aggregate) -> Shown:
    parts = [f"group=[{{{', '.join(map(str, rel.grouping))}}}]"]
    if rel.grouping_sets is not None:
        sets = ", ".join(f"{{{', '.join(map(str, s))}}}" for s in rel.grouping_sets)
        parts.append(f"groups=[[{sets}]]")
    return "LogicalAggregate", parts + _calls(rel.calls, rel.names[len(rel.grouping) :]), rel.inputs


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
    parts = [f"condition=[{_text(rel.condition)}]", f"joinType=[{_JOINS[rel.kind]}]"]
    return "LogicalJoin", parts, rel.inputs


class _Function(Record):
    """The rows of a table function, which reads the row of a correlate."""

    call: RexNode
    fields: LogicalType
    condition: RexNode | None


def _correlate(rel: a.Correlate) -> Shown:
    reads = sorted(
        rel.input.names.index(r.name)
        for r in {r for r in walk(rel.call) if isinstance(r, FieldAccess) and isinstance(r.expr, CorrelVariable)}
        if r.name in rel.input.names
    )
    call = rel.call
    if rel.by_position:
        call, reads = transform(call, lambda rex: _by_position(rex, rel)), []
    if not rel.correl:
        return _function(_Function(call, rel.function_type, rel.condition))
    parts = [
        f"correlation=[{rel.correl}]",
        f"joinType=[{_JOINS[rel.type]}]",
        f"requiredColumns=[{{{', '.join(map(str, reads))}}}]",
    ]
    return "LogicalCorrelate", parts, (rel.input, _Function(call, rel.function_type, rel.condition))


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


def _projected(rel: Rel) -> Rel:
    """A table as a function reads it, below a projection."""
    return rel if isinstance(rel, a.Project) else a.Project(input=rel, exprs=identity(rel.types), names=rel.names)


def _process_table(rel: a.ProcessTable) -> Shown:
    parts = [f"invocation=[{call_text(rel.call)}]", f"rowType=[{record_type(rel.row_type)}]"]
    return "LogicalTableFunctionScan", parts, tuple(map(_projected, rel.inputs))


def _set_operation(rel: a.SetOp) -> Shown:
    name = {"UNION": "LogicalUnion", "INTERSECT": "LogicalIntersect", "EXCEPT": "LogicalMinus"}[rel.kind.value]
    return name, [f"all=[{str(rel.all).lower()}]"], rel.inputs


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
    p.LegacyWindowAggregate: _window_aggregate,
    a.Join: _join,
    a.Correlate: _correlate,
    _Function: _function,
    a.Lateral: _lateral,
    a.WindowFunction: _window_function,
    a.ProcessTable: _process_table,
    a.SetOp: _set_operation,
    a.Values: _values,
    a.Sort: _sort,
}
