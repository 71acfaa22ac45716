"""Lowering of sources, sinks and operators without state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...plan import nodes, specs
from ...plan.arrow_data import NAME, internal
from ...plan.connectors import CHANGELOG, declared_kinds, without_declared_kinds
from ...plan.elements import OPTION, elements_property, without_elements
from ...plan.functions import called
from ...plan.functions.java import java_function_of
from ...plan.functions.user import PythonKind, calls_python, python_kind
from ...plan.nodes.base import OWN, ExecNode
from ...plan.record import Json, replace
from ...plan.rex import Call, CorrelVariable, FieldAccess, InputRef, Literal, RexNode, transform, walk
from ...plan.settings import MATERIALIZER, SETTINGS, value_of
from ..algebra import logical as a
from ..algebra import physical as p
from ..algebra.rel import AssignsWatermark, WritesTable
from ..algebra.scan_columns import source_columns
from ..catalog.catalog import Identifier, Table
from ..catalog.restoring import reference
from ..connectors import table_options
from ..metadata.keys import smallest_key, upsert_keys
from ..rex.printer import (
    condition_digest,
    digest,
    expression,
    is_prefix,
    named,
    operator_name,
    record_type,
    untyped_literal,
)
from .context import Context, Parts, Rules, Texts, columns, input_fields, no_parts


def _reference(table: Table, options: tuple[tuple[str, str], ...], ctx: Context) -> specs.ContextResolvedTable:
    resolved = table.resolved
    if (resolved.options or {}).get("connector") == NAME:
        schema = replace(resolved.schema, columns=tuple(map(internal, resolved.schema.columns)))
        resolved = replace(resolved, schema=schema)
    merged = table_options(table, dict(options))
    if options or CHANGELOG in merged or OPTION in merged:
        shown_options = without_elements(without_declared_kinds(merged))
        resolved = replace(resolved, options=dict(sorted(shown_options.items())) if options else shown_options)
    if ctx.complete:
        return specs.ContextResolvedTable(str(table.identifier), resolved)
    return reference(table, resolved, ctx.config)


def _own(table: Table, options: tuple[tuple[str, str], ...]) -> Json:
    """What the node says of the table where Flink does not look, as it would refuse it among the table's options."""
    merged = table_options(table, dict(options))
    said = {**declared_kinds(merged), **elements_property(merged)}
    return Json({OWN: said} if said else {})


def _parts(identifier: Identifier) -> tuple[str, ...]:
    """The parts of a name; a table that is in no catalog has one."""
    if not identifier.catalog:
        return (identifier.name,)
    return identifier.catalog, identifier.database, identifier.name


def _scan(rel: p.SourceScan, ctx: Context) -> ExecNode:
    """A source, with the digests of what was pushed into it."""
    digests, fields = [], source_columns(rel)
    for ability in rel.abilities:
        match ability:
            case specs.PartitionPushDown(partitions):
                digests.append(f"partitions=[{', '.join(map(partition_text, partitions))}]")
            case specs.FilterPushDown(predicates):
                digests.append(f"filter=[{_conjunction(predicates, fields)}]")
            case specs.ProjectPushDown(produced_type=produced):
                fields = produced.field_names
                digests.append(f"project=[{', '.join(fields)}]")
            case specs.ReadingMetadata(keys, produced):
                fields = produced.field_names
                digests.append(f"metadata=[{', '.join(keys)}]")
            case specs.LimitPushDown(limit):
                digests.append(f"limit=[{limit}]")
    table = ", ".join([*_parts(rel.table.identifier), *digests])
    text = f"table=[[{table}]], fields=[{', '.join(rel.names)}]{_scan_hints(rel)}"
    own = _own(rel.table, rel.options)
    return ctx.node(nodes.TableSourceScan, rel, text, scan_table_source=source_spec(rel, ctx), unknown=own)


def partition_text(values: Mapping[str, str | None]) -> str:
    """``{a=x, b=null}``."""
    return "{" + ", ".join(f"{key}={'null' if value is None else value}" for key, value in sorted(values.items())) + "}"


def source_spec(rel: p.SourceScan, ctx: Context) -> specs.TableSourceSpec:
    """The table that a source reads and what was pushed into it."""
    return specs.TableSourceSpec(_reference(rel.table, rel.options, ctx), rel.abilities or None)


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


def _sink(rel: p.Sink, ctx: Context) -> ExecNode:
    details = f"table=[{'.'.join(_parts(rel.table.identifier))}]"
    paths = None
    if rel.target_columns is not None:
        paths = tuple((i,) for i in rel.target_columns)
        details += f", targetColumns=[{','.join(f'[{i}]' for i in rel.target_columns)}]"
    details += f", fields=[{', '.join(rel.names)}]"
    if rel.upsert_materialize:
        details += ", upsertMaterialize=[true]"
    if rel.conflict:
        details += f", conflictStrategy=[{rel.conflict}]"
    if rel.options:
        details += ", hints=[[[OPTIONS options:{" + ", ".join(f"{k}={v}" for k, v in rel.options) + "}]]]"
    abilities: list[specs.SinkAbility] = []
    if rel.overwrite:
        abilities.append(specs.Overwrite(True))
    if rel.static_partition:
        abilities.append(specs.Partitioning(dict(rel.static_partition)))
    spec = specs.TableSinkSpec(_reference(rel.table, rel.options, ctx), tuple(abilities) or None, paths)
    key = smallest_key(upsert_keys(rel.input.inputs[0] if rel.is_united else rel.input))
    return ctx.node(
        nodes.Sink,
        rel,
        details,
        dynamic_table_sink=spec,
        input_changelog_mode=specs.ReceivedKind.of(rel.input.changes.row_kinds),
        require_upsert_materialize=rel.upsert_materialize,
        state=ctx.states(nodes.Sink) if rel.upsert_materialize else None,
        input_upsert_key=key or None,
        upsert_materialize_strategy=_materializer(ctx),
        conflict_strategy=specs.ConflictStrategy(rel.conflict) if rel.conflict else None,
        unknown=_own(rel.table, rel.options),
    )


def _materializer(ctx: Context) -> str | None:
    """How the rows of a key are kept; the plan leaves the default out."""
    strategy = value_of(ctx.config, MATERIALIZER).upper()
    return None if strategy == SETTINGS[MATERIALIZER].option.default else strategy


def select(exprs: tuple[RexNode, ...], output: tuple[str, ...], fields: tuple[str, ...]) -> str:
    """``a, (b + 1) AS c``."""
    return ", ".join(named(expression(e, fields), name) for e, name in zip(exprs, output, strict=True))


def _calc(rel: p.Calc, ctx: Context) -> ExecNode:
    fields = rel.input_names or rel.input.names
    text = f"select=[{select(rel.projection, rel.names, fields)}]"
    if rel.condition is not None:
        text += f", where=[{expression(rel.condition, fields)}]"
    if any(calls_python(e, PythonKind.ASYNC) for e in rel.projection):
        is_java = any(java_function_of(part) is not None for e in rel.projection for part in walk(e))
        return ctx.node(nodes.AsyncCalc if is_java else nodes.PythonAsyncCalc, rel, text, projection=rel.projection)
    if any(map(calls_python, rel.projection)):
        return ctx.node(nodes.PythonCalc, rel, text, projection=rel.projection)
    return ctx.node(nodes.Calc, rel, text, projection=rel.projection, condition=rel.condition)


def _exchange(rel: p.Exchange, ctx: Context) -> ExecNode:
    """A shuffle; its input property says how."""
    if rel.keys:
        distribution = specs.Distribution(specs.DistributionType.HASH, rel.keys)
        text = f"hash[{columns(rel.input, rel.keys)}]"
    else:
        distribution, text = specs.Distribution(specs.DistributionType.SINGLETON), "single"
    return nodes.Exchange(
        id=0,
        version=1,
        input_properties=(
            specs.InputProperty(distribution, specs.PIPELINED_INPUT.dam_behavior, specs.PIPELINED_INPUT.priority),
        ),
        output_type=rel.row_type.nullable_(),
        description=f"Exchange(distribution=[{text}])",
    )


def _watermark(rel: p.WatermarkAssigner, ctx: Context) -> ExecNode:
    fields = rel.input.names
    text = f"rowtime=[{fields[rel.rowtime_index]}], watermark=[{expression(rel.expr, fields)}]"
    return ctx.node(
        nodes.WatermarkAssigner,
        rel,
        text,
        watermark_expr=rel.expr,
        rowtime_field_index=rel.rowtime_index,
    )


def _mini_batch(rel: p.MiniBatchAssigner, ctx: Context) -> ExecNode:
    text = f"interval=[{rel.interval}ms], mode=[{rel.mode}]"
    return ctx.node(
        nodes.MiniBatchAssigner, rel, text, mini_batch_interval=specs.MiniBatchInterval(rel.interval, rel.mode)
    )


def _drop_update_before(rel: p.DropUpdateBefore, ctx: Context) -> ExecNode:
    return ctx.node(nodes.DropUpdateBefore, rel)


def _normalize(rel: p.ChangelogNormalize, ctx: Context) -> ExecNode:
    text = f"key=[{columns(rel, rel.unique_keys)}]"
    if rel.condition is not None:
        text += f", condition=[{expression(rel.condition, rel.input.names)}]"
    return ctx.node(
        nodes.ChangelogNormalize,
        rel,
        text,
        unique_keys=rel.unique_keys,
        generate_update_before=rel.changes.has_update_before,
        state=ctx.states(nodes.ChangelogNormalize),
        filter_condition=rel.condition,
    )


def _union(rel: p.UnionAll, ctx: Context) -> ExecNode:
    return ctx.node(nodes.Union, rel, "all=[true]", f"union=[{', '.join(rel.names)}]")


def _values(rel: p.ConstantRows, ctx: Context) -> ExecNode:
    rows = ", ".join("{ " + ", ".join(_constant(v) for v in row) + " }" for row in rel.tuples)
    type_ = f"type=[{record_type(rel.row_type)}], " if is_prefix() else ""
    return ctx.node(nodes.Values, rel, f"{type_}tuples=[[{rows}]]", tuples=rel.tuples)


def _constant(rex: RexNode) -> str:
    return untyped_literal(rex) if isinstance(rex, Literal) else digest(rex, ())


def _expand(rel: p.Expand, ctx: Context) -> ExecNode:
    fields, output = rel.input.names, rel.names

    def one(rex: RexNode, name: str) -> str:
        text = untyped_literal(rex) if isinstance(rex, Literal) and rex.value is not None else expression(rex, fields)
        return named("null" if text.startswith("null:") else text, name)

    rows = ["{" + ", ".join(one(r, n) for r, n in zip(row, output, strict=True)) + "}" for row in rel.projects]
    return ctx.node(nodes.Expand, rel, f"projects=[{', '.join(rows)}]", projects=rel.projects)


def _correlate(rel: p.TableFunctionJoin, ctx: Context) -> ExecNode:
    of_user = called(rel.call) is not None and isinstance(rel.call, Call) and rel.call.reference is not None
    shown = _over_columns(rel.call) if python_kind(rel.call) is not None else rel.call
    call = digest(shown, [f"${i}" for i in range(len(rel.input.names))])
    table = _listed_invocation(shown, rel.input.names)
    output = record_type(rel.row_type, function_output=not rel.input.names and not of_user)
    text = (
        f"invocation=[{call}], correlate=[table({table})], select=[{','.join(rel.names)}], "
        f"rowType=[{output}], joinType=[{rel.type.value}]"
    )
    if rel.condition is not None:
        right = [f"${i}" for i in range(rel.width)]
        text += f", condition=[{condition_digest(rel.condition, right)}]"
    elif python_kind(rel.call) is not None and rel.input.width:
        call_ = _over_columns(rel.call)
        return ctx.node(nodes.PythonCorrelate, rel, text, join_type=rel.type.value, function_call=call_)
    return ctx.node(
        nodes.Correlate,
        rel,
        text,
        join_type=rel.type.value,
        function_call=rel.call,
        condition=rel.condition,
    )


def _over_columns(rex: RexNode) -> RexNode:
    """The call of a table function over the columns of its input instead of its row."""

    def column(node: RexNode) -> RexNode:
        if isinstance(node, FieldAccess) and isinstance(node.expr, CorrelVariable):
            return InputRef(node.expr.type.field_names.index(node.name), node.type)
        return node

    return transform(rex, column)


def _listed_invocation(call: RexNode, fields: Sequence[str]) -> str:
    """A table function's call with arguments as a projection shows them, operators first, no blanks between these."""
    if not isinstance(call, Call):
        return digest(call, fields)
    return f"{operator_name(call)}({','.join(expression(o, fields, infix=False) for o in call.operands)})"


# ---------------------------------------------------------------- the texts of explain --rules


def table_parts(rel: a.Scan | p.SourceScan | WritesTable) -> Parts:
    """A table, with the options of a hint."""
    yield f"table=[{rel.table.identifier.name}]"
    if rel.options:
        yield f"options=[{', '.join(f'{key}={value}' for key, value in rel.options)}]"


def _source_parts(rel: p.SourceScan) -> Parts:
    yield from table_parts(rel)
    fields = source_columns(rel)
    for ability in rel.abilities:
        match ability:
            case specs.PartitionPushDown(partitions):
                yield f"partitions=[{', '.join(map(partition_text, partitions))}]"
            case specs.FilterPushDown(predicates):
                yield f"filter=[{', '.join(expression(predicate, fields) for predicate in predicates)}]"
            case specs.ProjectPushDown(produced_type=produced):
                fields = produced.field_names
                yield f"project=[{', '.join(produced.field_names)}]"
            case specs.ReadingMetadata(keys, produced):
                fields = produced.field_names
                if keys:
                    yield f"metadata=[{', '.join(keys)}]"
            case specs.LimitPushDown(limit):
                yield f"limit=[{limit}]"
    yield f"fields=[{', '.join(rel.names)}]"


def _sink_parts(rel: p.Sink) -> Parts:
    yield from table_parts(rel)
    if rel.upsert_materialize:
        yield "upsertMaterialize=[true]"


def values_parts(rel: a.Values | p.ConstantRows) -> Parts:
    """Constant rows."""
    rows = ("{" + ", ".join(expression(value, ()) for value in row) + "}" for row in rel.tuples)
    return (f"tuples=[{', '.join(rows)}]",)


def _calc_parts(rel: p.Calc) -> Parts:
    yield f"select=[{select(rel.projection, rel.names, input_fields(rel))}]"
    if rel.condition is not None:
        yield f"where=[{expression(rel.condition, input_fields(rel))}]"


def _exchange_parts(rel: p.Exchange) -> Parts:
    return (f"distribution=[hash[{columns(rel.input, rel.keys)}]]" if rel.keys else "distribution=[single]",)


def watermark_parts(rel: AssignsWatermark) -> Parts:
    """A time attribute and its watermark."""
    fields = input_fields(rel)
    return f"rowtime=[{fields[rel.rowtime_index]}]", f"watermark=[{expression(rel.expr, fields)}]"


def _mini_batch_parts(rel: p.MiniBatchAssigner) -> Parts:
    return f"interval=[{rel.interval}ms]", f"mode=[{rel.mode}]"


def _normalize_parts(rel: p.ChangelogNormalize) -> Parts:
    yield f"key=[{columns(rel.input, rel.unique_keys)}]"
    if rel.condition is not None:
        yield f"condition=[{expression(rel.condition, rel.input.names)}]"


def _union_parts(rel: p.UnionAll) -> Parts:
    return ("all=[true]", f"union=[{', '.join(rel.names)}]")


def _expand_parts(rel: p.Expand) -> Parts:
    rows = ("{" + ", ".join(expression(rex, rel.input.names) for rex in row) + "}" for row in rel.projects)
    return f"projects=[{', '.join(rows)}]", f"select=[{', '.join(rel.names)}]"


TEXTS: Texts = {
    p.SourceScan: _source_parts,
    p.Sink: _sink_parts,
    p.Calc: _calc_parts,
    p.Exchange: _exchange_parts,
    p.WatermarkAssigner: watermark_parts,
    p.MiniBatchAssigner: _mini_batch_parts,
    p.DropUpdateBefore: no_parts,
    p.ChangelogNormalize: _normalize_parts,
    p.UnionAll: _union_parts,
    p.ConstantRows: values_parts,
    p.Expand: _expand_parts,
}


RULES: Rules = {
    p.SourceScan: _scan,
    p.Sink: _sink,
    p.Calc: _calc,
    p.Exchange: _exchange,
    p.WatermarkAssigner: _watermark,
    p.MiniBatchAssigner: _mini_batch,
    p.DropUpdateBefore: _drop_update_before,
    p.ChangelogNormalize: _normalize,
    p.UnionAll: _union,
    p.ConstantRows: _values,
    p.Expand: _expand,
    p.TableFunctionJoin: _correlate,
}
