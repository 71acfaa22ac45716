"""Relations of both algebras as text, one line each, in the style of Flink's ``EXPLAIN``."""

from __future__ import annotations

from collections.abc import Iterator

from ...plan.durations import format_duration
from ...plan.rex import RexNode
from ...plan.row_kinds import kinds_text
from .. import lowering
from ..algebra import logical as a
from ..algebra.dispatch import Dispatch
from ..algebra.rel import Rel
from ..lowering.aggregates import aggregation_parts, table_aggregation_parts
from ..lowering.context import Parts, columns, input_fields, no_parts
from ..lowering.joins import JOIN_NAMES, correlate_parts, join_parts, multi_join_parts
from ..lowering.patterns import match_parts
from ..lowering.process_tables import process_table_parts
from ..lowering.ranks import sort_parts
from ..lowering.relational import select, table_parts, values_parts, watermark_parts
from ..lowering.stream_windows import window_operator_parts
from ..rex.expressions import rewrite
from ..rex.printer import expression
from ..rex.unplanned import SubQuery


def tree_lines(rel: Rel) -> Iterator[str]:
    """The lines of a tree, inputs indented; behind a relation's own line stand the trees of its subqueries.

    A physical relation whose changelog mode is inferred shows it as ``changelogMode=[I,UA,D]``.  What stands below a
    relation that several others read is shown once.
    """
    return _lines(rel, 0, set())


def _lines(rel: Rel, depth: int, shown: set[int]) -> Iterator[str]:
    parts = list(_PARTS[rel](rel))
    if rel.change_trait is not None:
        parts.append(f"changelogMode=[{kinds_text(frozenset(rel.change_trait.row_kinds)) or 'NONE'}]")
    is_repeated = id(rel) in shown and bool(_inputs(rel))
    shown.add(id(rel))
    yield f"{'  ' * depth}{type(rel).__name__}({', '.join(parts)}){' (see above)' * is_repeated}"
    if is_repeated:
        return
    for subquery in _subqueries(rel):
        yield f"{'  ' * (depth + 1)}subquery:"
        yield from _lines(subquery, depth + 2, shown)
    for each in _inputs(rel):
        yield from _lines(each, depth + 1, shown)


def _inputs(rel: Rel) -> tuple[Rel, ...]:
    """The inputs of a relation, with those of window operators, which are planned by themselves."""
    match rel:
        case a.WindowOperator():
            return (rel.rows,)
        case a.LateRows():
            return (rel.operator,)
    return rel.inputs


def _subqueries(rel: Rel) -> Iterator[Rel]:
    """The relations of the subqueries in a relation's expressions."""
    match rel:
        case a.Project():
            exprs = rel.exprs
        case a.Filter() | a.Join():
            exprs = (rel.condition,)
        case _:
            return
    relations: list[Rel] = []

    def collect(rex: RexNode) -> RexNode:
        if isinstance(rex, SubQuery):
            relations.append(rex.rel)
        return rex

    for rex in exprs:
        rewrite(rex, collect)
    yield from relations


def _project(rel: a.Project) -> Parts:
    return (f"select=[{select(rel.exprs, rel.names, input_fields(rel))}]",)


def _filter(rel: a.Filter) -> Parts:
    yield f"where=[{expression(rel.condition, input_fields(rel))}]"
    if rel.given is not None:
        yield f"names=[{', '.join(rel.given)}]"


def _lateral(rel: a.Lateral) -> Parts:
    return f"joinType=[{JOIN_NAMES[rel.kind]}]", f"correlation=[{rel.correl}]"


def _snapshot(rel: a.Snapshot) -> Parts:
    return ("period=[PROCTIME]",) if rel.lookup is None else ("period=[PROCTIME]", "lookup=[true]")


def _set_operation(rel: a.SetOp) -> Parts:
    return f"kind=[{rel.kind.value}]", f"all=[{str(rel.all).lower()}]"


def _window_function(rel: a.WindowFunction) -> Parts:
    sizes = {"size": rel.size, "slide": rel.slide, "offset": rel.offset}
    times = (f"{name}=[{format_duration(millis)}]" for name, millis in sizes.items() if millis is not None)
    yield f"window=[{rel.kind}(time_col=[{rel.input.names[rel.time_index]}], {', '.join(times)})]"
    if rel.partition_keys:
        yield f"partitionBy=[{columns(rel.input, rel.partition_keys)}]"


_PARTS: Dispatch[Parts] = Dispatch(
    "the text",
    {
        **lowering.TEXTS,
        a.Scan: table_parts,
        a.TableModify: table_parts,
        a.Values: values_parts,
        a.Project: _project,
        a.Filter: _filter,
        a.Watermark: watermark_parts,
        a.Aggregate: aggregation_parts,
        a.TableAggregate: table_aggregation_parts,
        a.Join: join_parts,
        a.TemporalJoin: join_parts,
        a.Lateral: _lateral,
        a.MultiJoin: multi_join_parts,
        a.Snapshot: _snapshot,
        a.Correlate: correlate_parts,
        a.SetOp: _set_operation,
        a.WindowFunction: _window_function,
        a.Match: match_parts,
        a.ProcessTable: process_table_parts,
        a.WindowOperator: window_operator_parts,
        a.LateRows: no_parts,
        a.Sort: sort_parts,
    },
    unknown=(),
    logical=True,
    physical=True,
)
