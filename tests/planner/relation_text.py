"""The algebra as text, in the style of Calcite's ``EXPLAIN``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flinkplan.plan.rex import Call, CorrelVariable, FieldAccess, InputRef, Literal, Range, RexNode, Sarg, shown_name
from flinkplan.plan.specs import AggregateCall
from flinkplan.planner.algebra import logical as algebra
from flinkplan.planner.algebra.rel import Rel
from flinkplan.planner.rex.unplanned import Over, SubQuery


def explain(rel: Rel, *, types: bool = False) -> str:
    """One line a relation, inputs indented; with ``types`` each line ends with the row type."""
    lines: list[str] = []
    _explain(rel, 0, lines, types)
    return "\n".join(lines)


def _explain(rel: Rel, depth: int, lines: list[str], types: bool) -> None:
    name = type(rel).__name__
    details = _DETAILS.get(type(rel), lambda _: "")(rel)
    line = f"{'  ' * depth}{name}({details})"
    lines.append(f"{line}  {rel.row_type}" if types else line)
    for child in rel.inputs:
        _explain(child, depth + 1, lines, types)


def rex_text(rex: RexNode) -> str:
    """An expression as Calcite prints it: ``$0`` for a column, ``CAST($1):BIGINT``."""
    match rex:
        case InputRef(index):
            return f"${index}"
        case Literal(None, t):
            return f"null:{t.nullable_()}"
        case Literal(value, t, symbol):
            if symbol is not None:
                return f"FLAG({value})"
            shown = f"'{value}'" if t.root in ("CHAR", "VARCHAR") else str(value)
            plain = t.root in ("INT", "CHAR", "BOOLEAN", "DATE")
            return shown if plain else f"{shown}:{t.nullable_()}"
        case Call(name, operands, t):
            inner = ", ".join(map(rex_text, operands))
            return f"{shown_name(name)}({inner})" + (f":{t}" if "CAST" in name else "")
        case Sarg(ranges, null_as):
            return f"Sarg[{', '.join(map(_range, ranges))}{'' if null_as == 'UNKNOWN' else f'; NULL AS {null_as}'}]"
        case FieldAccess(name, expr):
            return f"{rex_text(expr)}.{name}"
        case CorrelVariable(correl):
            return correl
    if isinstance(rex, Over):
        order = ", ".join(f"{rex_text(e)} {'ASC' if up else 'DESC'}" for e, up, _ in rex.order)
        partition = ", ".join(map(rex_text, rex.partition))
        operands_text = ", ".join(map(rex_text, rex.operands))
        return f"{rex.function.internal_name}({operands_text}) OVER (PARTITION BY {partition} ORDER BY {order})"
    if isinstance(rex, SubQuery):
        inner = ", ".join(map(rex_text, rex.operands))
        return f"{rex.kind.value}({inner}, {{\n{explain(rex.rel)}\n}})"
    return str(rex)


def _range(r: Range) -> str:
    if r.lower is not None and r.upper is not None and r.lower.value == r.upper.value:
        return str(r.lower.value)
    lower = "(-∞" if r.lower is None else f"{'[' if r.lower.closed else '('}{r.lower.value}"
    upper = "+∞)" if r.upper is None else f"{r.upper.value}{']' if r.upper.closed else ')'}"
    return f"{lower}..{upper}"


def _columns(rel: Any) -> str:
    return ", ".join(f"{n}=[{rex_text(e)}]" for n, e in zip(rel.names, rel.exprs, strict=True))


def _call(call: AggregateCall) -> str:
    distinct = "DISTINCT " if call.distinct else ""
    arguments = ", ".join(f"${i}" for i in call.arg_list)
    condition = f" FILTER ${call.filter_arg}" if call.filter_arg >= 0 else ""
    return f"{call.name or '#'}=[{call.function_name}({distinct}{arguments}){condition}]"


def _aggregate(rel: algebra.Aggregate) -> str:
    parts = [f"group=[{set(rel.grouping) or '{}'}]"]
    if rel.grouping_sets is not None:
        parts.append(f"groups={list(rel.grouping_sets)}")
    parts += map(_call, rel.calls)
    return ", ".join(parts) + (f", ttl={rel.ttl.by_input}" if rel.ttl else "")


def _join(rel: Any) -> str:
    ttl = f", ttl={rel.ttl.by_input}" if getattr(rel, "ttl", None) else ""
    return f"condition=[{rex_text(rel.condition)}], type=[{rel.type.value.lower()}]{ttl}"


def _sort(rel: algebra.Sort) -> str:
    parts = [f"${f.index} {'ASC' if f.is_ascending else 'DESC'}" for f in rel.order]
    parts += [f"{n}={v}" for n, v in (("offset", rel.offset), ("fetch", rel.fetch)) if v is not None]
    return ", ".join(parts)


def _values(rel: algebra.Values) -> str:
    return ", ".join("{" + ", ".join(map(rex_text, t)) + "}" for t in rel.tuples)


_DETAILS: dict[type[Rel], Callable[[Any], str]] = {
    algebra.Scan: lambda r: r.table.identifier.name,
    algebra.Values: _values,
    algebra.Project: _columns,
    algebra.Filter: lambda r: rex_text(r.condition),
    algebra.Watermark: lambda r: f"{r.names[r.rowtime_index]}: {rex_text(r.expr)}",
    algebra.Aggregate: _aggregate,
    algebra.Join: _join,
    algebra.TemporalJoin: lambda r: f"{_join(r)}, time=[{rex_text(r.time)}]",
    algebra.Correlate: lambda r: f"{r.correl}, {r.type.value.lower()}, {rex_text(r.call)}",
    algebra.SetOp: lambda r: f"{r.kind.value}{' ALL' if r.all else ''}",
    algebra.WindowFunction: lambda r: (
        f"{r.kind}, time=${r.time_index}, size={r.size}, slide={r.slide}, offset={r.offset}, keys={r.partition_keys}"
    ),
    algebra.Sort: _sort,
    algebra.TableModify: lambda r: r.table.identifier.name,
}
