"""Lowering of sources, sinks and operators without state."""

from __future__ import annotations

from collections.abc import Sequence

from ...plan import nodes
from ...plan.connectors import CHANGELOG, said_kinds, without_said_kinds
from ...plan.nodes.base import OWN, ExecNode
from ...plan.record import Json, replace
from ...plan.rex import Call, Literal, RexNode
from ...plan.specs import (
    PIPELINED_INPUT,
    ConflictStrategy,
    ContextResolvedTable,
    Distribution,
    DistributionType,
    FilterPushDown,
    InputProperty,
    LimitPushDown,
    MiniBatchInterval,
    Overwrite,
    Partitioning,
    PartitionPushDown,
    ProjectPushDown,
    ReadingMetadata,
    SinkAbility,
    TableSinkSpec,
    TableSourceSpec,
)
from ..algebra import physical as p
from ..algebra.scan_columns import source_columns
from ..catalog.catalog import Identifier, Table
from ..catalog.restoring import reference
from ..connectors import table_options
from ..metadata.keys import smallest_key, upsert_keys
from ..rex.printer import condition_digest, digest, expression, named, operator_name, record_type, untyped_literal
from .context import Context, Rules, columns, names


def _reference(table: Table, options: tuple[tuple[str, str], ...], ctx: Context) -> ContextResolvedTable:
    resolved = table.resolved
    merged = table_options(table, dict(options))
    if options or CHANGELOG in merged:
        told = without_said_kinds(merged)
        resolved = replace(resolved, options=dict(sorted(told.items())) if options else told)
    if ctx.complete:
        return ContextResolvedTable(str(table.identifier), resolved)
    return reference(table, resolved, ctx.config)


def _own(table: Table, options: tuple[tuple[str, str], ...]) -> Json:
    """What the node says of the table where Flink does not look, as it would refuse it among the table's options."""
    said = said_kinds(table_options(table, dict(options)))
    return Json({OWN: said} if said else {})


def _parts(identifier: Identifier) -> tuple[str, str, str]:
    return identifier.catalog, identifier.database, identifier.name


def scan(rel: p.SourceScan, ctx: Context) -> ExecNode:
    """A source, with the digests of what was pushed into it."""
    digests, fields = [], source_columns(rel)
    for ability in rel.abilities:
        match ability:
            case PartitionPushDown(partitions):
                texts = ["{" + ", ".join(f"{k}={v}" for k, v in sorted(part.items())) + "}" for part in partitions]
                digests.append(f"partitions=[{', '.join(texts)}]")
            case FilterPushDown(predicates):
                digests.append(f"filter=[{_conjunction(predicates, fields)}]")
            case ProjectPushDown(produced_type=produced):
                fields = produced.field_names
                digests.append(f"project=[{', '.join(fields)}]")
            case ReadingMetadata(keys, produced):
                fields = produced.field_names
                digests.append(f"metadata=[{', '.join(keys)}]")
            case LimitPushDown(limit):
                digests.append(f"limit=[{limit}]")
    table = ", ".join([*_parts(rel.table.identifier), *digests])
    text = f"TableSourceScan(table=[[{table}]], fields=[{', '.join(names(rel))}]{_scan_hints(rel)})"
    own = _own(rel.table, rel.options)
    return ctx.node(nodes.TableSourceScan, rel, text, scan_table_source=source_spec(rel, ctx), unknown=own)


def source_spec(rel: p.SourceScan, ctx: Context) -> TableSourceSpec:
    """The table that a source reads and what was pushed into it."""
    return TableSourceSpec(_reference(rel.table, rel.options, ctx), rel.abilities or None)


def _scan_hints(rel: p.SourceScan) -> str:
    hints = []
    if rel.options:
        hints.append("[OPTIONS options:{" + ", ".join(f"{k}={v}" for k, v in rel.options) + "}]")
    if rel.alias:
        hints.append(f"[ALIAS options:[{rel.alias}]]")
    return f", hints=[[{', '.join(hints)}]]" if hints else ""


def _conjunction(predicates: tuple[RexNode, ...], fields: tuple[str, ...]) -> str:
    text = ""
    for predicate in predicates:
        one = digest(predicate, fields)
        text = f"and({text}, {one})" if text else one
    return text


def sink(rel: p.Sink, ctx: Context) -> ExecNode:
    """A sink."""
    details = f"table=[{'.'.join(_parts(rel.table.identifier))}]"
    paths = None
    if rel.target_columns is not None:
        paths = tuple((i,) for i in rel.target_columns)
        details += f", targetColumns=[{','.join(f'[{i}]' for i in rel.target_columns)}]"
    details += f", fields=[{', '.join(names(rel))}]"
    if rel.upsert_materialize:
        details += ", upsertMaterialize=[true]"
    if rel.conflict:
        details += f", conflictStrategy=[{rel.conflict}]"
    if rel.options:
        details += ", hints=[[[OPTIONS options:{" + ", ".join(f"{k}={v}" for k, v in rel.options) + "}]]]"
    abilities: list[SinkAbility] = []
    if rel.overwrite:
        abilities.append(Overwrite(True))
    if rel.static_partition:
        abilities.append(Partitioning(dict(rel.static_partition)))
    spec = TableSinkSpec(_reference(rel.table, rel.options, ctx), tuple(abilities) or None, paths)
    key = smallest_key(upsert_keys(rel.input.inputs[0] if rel.is_united else rel.input))
    return ctx.node(
        nodes.Sink,
        rel,
        f"Sink({details})",
        dynamic_table_sink=spec,
        input_changelog_mode=rel.input.changes.row_kinds,
        require_upsert_materialize=rel.upsert_materialize,
        state=ctx.states(nodes.Sink) if rel.upsert_materialize else None,
        input_upsert_key=key or None,
        conflict_strategy=ConflictStrategy(rel.conflict) if rel.conflict else None,
        unknown=_own(rel.table, rel.options),
    )


def select(exprs: tuple[RexNode, ...], output: tuple[str, ...], fields: tuple[str, ...]) -> str:
    """``a, (b + 1) AS c``."""
    return ", ".join(named(expression(e, fields), name) for e, name in zip(exprs, output, strict=True))


def calc(rel: p.Calc, ctx: Context) -> ExecNode:
    """A projection with a filter."""
    fields = rel.input_names or names(rel.input)
    text = f"select=[{select(rel.projection, names(rel), fields)}]"
    if rel.condition is not None:
        text += f", where=[{expression(rel.condition, fields)}]"
    return ctx.node(nodes.Calc, rel, f"Calc({text})", projection=rel.projection, condition=rel.condition)


def exchange(rel: p.Exchange, ctx: Context) -> ExecNode:
    """A shuffle; its input property says how."""
    if rel.keys:
        distribution = Distribution(DistributionType.HASH, rel.keys)
        text = f"hash[{columns(rel.input, rel.keys)}]"
    else:
        distribution, text = Distribution(DistributionType.SINGLETON), "single"
    return nodes.Exchange(
        id=0,
        version=1,
        input_properties=(InputProperty(distribution, PIPELINED_INPUT.dam_behavior, PIPELINED_INPUT.priority),),
        output_type=rel.row_type.nullable_(),
        description=f"Exchange(distribution=[{text}])",
    )


def watermark(rel: p.WatermarkAssigner, ctx: Context) -> ExecNode:
    """A watermark assigner."""
    fields = names(rel.input)
    text = f"rowtime=[{fields[rel.rowtime_index]}], watermark=[{expression(rel.expr, fields)}]"
    return ctx.node(
        nodes.WatermarkAssigner,
        rel,
        f"WatermarkAssigner({text})",
        watermark_expr=rel.expr,
        rowtime_field_index=rel.rowtime_index,
    )


def mini_batch(rel: p.MiniBatchAssigner, ctx: Context) -> ExecNode:
    """A mini-batch assigner."""
    text = f"MiniBatchAssigner(interval=[{rel.interval}ms], mode=[{rel.mode}])"
    return ctx.node(nodes.MiniBatchAssigner, rel, text, mini_batch_interval=MiniBatchInterval(rel.interval, rel.mode))


def drop_update_before(rel: p.DropUpdateBefore, ctx: Context) -> ExecNode:
    """A filter of -U rows."""
    return ctx.node(nodes.DropUpdateBefore, rel, "DropUpdateBefore")


def normalize(rel: p.ChangelogNormalize, ctx: Context) -> ExecNode:
    """A changelog normalisation."""
    text = f"key=[{columns(rel, rel.unique_keys)}]"
    if rel.condition is not None:
        text += f", condition=[{expression(rel.condition, names(rel.input))}]"
    return ctx.node(
        nodes.ChangelogNormalize,
        rel,
        f"ChangelogNormalize({text})",
        unique_keys=rel.unique_keys,
        generate_update_before=rel.changes.has_update_before,
        state=ctx.states(nodes.ChangelogNormalize),
        filter_condition=rel.condition,
    )


def union(rel: p.UnionAll, ctx: Context) -> ExecNode:
    """A union."""
    return ctx.node(nodes.Union, rel, f"Union(all=[true], union=[{', '.join(names(rel))}])")


def values(rel: p.ConstantRows, ctx: Context) -> ExecNode:
    """Constant rows."""
    rows = ", ".join("{ " + ", ".join(_constant(v) for v in row) + " }" for row in rel.tuples)
    return ctx.node(nodes.Values, rel, f"Values(tuples=[[{rows}]])", tuples=rel.tuples)


def _constant(rex: RexNode) -> str:
    return untyped_literal(rex) if isinstance(rex, Literal) else digest(rex, ())


def expand(rel: p.Expand, ctx: Context) -> ExecNode:
    """A row for each projection."""
    fields, output = names(rel.input), names(rel)

    def one(rex: RexNode, name: str) -> str:
        text = expression(rex, fields)
        return named("null" if text.startswith("null:") else text, name)

    rows = ["{" + ", ".join(one(r, n) for r, n in zip(row, output, strict=True)) + "}" for row in rel.projects]
    return ctx.node(nodes.Expand, rel, f"Expand(projects=[{', '.join(rows)}])", projects=rel.projects)


def correlate(rel: p.TableFunctionJoin, ctx: Context) -> ExecNode:
    """A correlation with a table function."""
    call = digest(rel.call, [f"${i}" for i in range(len(names(rel.input)))])
    table = _listed_invocation(rel.call, names(rel.input))
    text = (
        f"invocation=[{call}], correlate=[table({table})], select=[{','.join(names(rel))}], "
        f"rowType=[{record_type(rel.row_type, of_function=not names(rel.input))}], joinType=[{rel.type.value}]"
    )
    if rel.condition is not None:
        right = [f"${i}" for i in range(rel.width)]
        text += f", condition=[{condition_digest(rel.condition, right)}]"
    return ctx.node(
        nodes.Correlate,
        rel,
        f"Correlate({text})",
        join_type=rel.type.value,
        function_call=rel.call,
        condition=rel.condition,
    )


def _listed_invocation(call: RexNode, fields: Sequence[str]) -> str:
    """A table function's call with arguments as a projection shows them, operators first, no blanks between these."""
    if not isinstance(call, Call):
        return digest(call, fields)
    return f"{operator_name(call)}({','.join(expression(o, fields, infix=False) for o in call.operands)})"


RULES: Rules = {
    p.SourceScan: scan,
    p.Sink: sink,
    p.Calc: calc,
    p.Exchange: exchange,
    p.WatermarkAssigner: watermark,
    p.MiniBatchAssigner: mini_batch,
    p.DropUpdateBefore: drop_update_before,
    p.ChangelogNormalize: normalize,
    p.UnionAll: union,
    p.ConstantRows: values,
    p.Expand: expand,
    p.TableFunctionJoin: correlate,
}
