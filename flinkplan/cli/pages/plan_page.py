"""A plan as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ...plan.document import Plan
from ...plan.errors import FlinkplanError
from ...plan.explain import Operator, explain
from ...plan.lineage import origins_of, uses_of
from ...plan.lineage.report import lineage_rows
from ...plan.lineage.uses import NodeColumn
from ...plan.names import node_names
from ...plan.nodes import ExecNode, Sink, TableSourceScan
from .model import ColumnUse, Edge, Graph, Node, Section
from .script import Places, Script

if TYPE_CHECKING:
    from ...executor.prepare.steps import Step


def plan_page(
    plan: Plan,
    title: str,
    sql: str | None = None,
    places: Mapping[int, Places] | None = None,
    is_yaml: bool = False,
) -> Graph:
    """The operators of a plan with their properties and what runs them on Spark.

    ``sql`` is the pipeline in SQL or YAML to show beside it; ``places`` are the places of operators in it, by node id.
    """
    script = Script.of(sql, places or {}, is_yaml)
    operators = explain(plan)
    steps = _steps(plan)
    names = node_names(plan)
    return Graph(
        title,
        _subtitle(plan, steps),
        tuple(
            _node(operator, names[id], steps.get(id), script.places.get(id, ())) for id, operator in operators.items()
        ),
        tuple(edges(plan, operators)),
        sections=(_all_states(operators, names), *_lineage(plan)),
        sql=script.text,
        colours=script.colours,
        uses=tuple(_column_uses(plan)),
    )


def _subtitle(plan: Plan, steps: Mapping[int, Step]) -> str:
    runs = "" if steps else "; not executed here, see 'flinkplan validate --for spark'"
    return f"a plan of Flink {plan.flink_version}, {len(plan.nodes)} operators{runs}"


def _steps(plan: Plan) -> dict[int, Step]:
    """What runs each node on Spark, by node id; empty for a plan that cannot be executed."""
    from ...executor.prepare.checks import check_runnable
    from ...executor.prepare.job_plan import prepare_by_default

    try:
        check_runnable(plan)
        queries = prepare_by_default(plan).queries.values()
        return {id: step for query in queries for id, step in query.steps.items()}
    except FlinkplanError:
        return {}


def edges(plan: Plan, operators: Mapping[int, Operator]) -> Iterator[Edge]:
    """The edges of a plan, with the kinds of rows on them."""
    for node in plan.nodes:
        for source in plan.inputs(node):
            yield Edge(str(source.id), str(node.id), operators[source.id].changelog)


def _node(operator: Operator, name: str, step: Step | None, places: Places) -> Node:
    node = operator.node
    return Node(
        str(node.id),
        str(node.id),
        short_name(node),
        about(node),
        _badges(operator, step),
        tuple(sections(operator, name, step)),
        stateful=bool(operator.states),
        places=places,
    )


def _badges(operator: Operator, step: Step | None) -> tuple[str, ...]:
    ttls = {f"TTL {state.ttl}" for state in operator.states if state.ttl not in (None, "0 ms")}
    return (*([step.engine] if step and step.by else []), *sorted(ttls))


def short_name(node: ExecNode) -> str:
    """The operator's name, with which its description begins."""
    return (node.description or node.type).partition("(")[0]


def about(node: ExecNode) -> str:
    """The table that a source or sink uses; for other nodes the text in brackets of the description."""
    if isinstance(node, TableSourceScan):
        return node.scan_table_source.table.name
    if isinstance(node, Sink):
        return node.dynamic_table_sink.table.name
    return (node.description or "").partition("(")[2].removesuffix(")")


def sections(operator: Operator, name: str, step: Step | None) -> Iterator[Section]:
    """The sections about an operator."""
    node = operator.node
    yield Section("Description", node.description or node.type)
    properties = [("name", name), ("type", node.type), ("rows", operator.changelog)]
    if operator.keys:
        properties.append(("keys", ", ".join(operator.keys)))
    yield Section("Operator", rows=tuple(properties))
    if operator.states:
        rows = tuple((s.name, "for ever" if s.ttl == "0 ms" else str(s.ttl), s.meaning) for s in operator.states)
        yield Section("State", heads=("name", "TTL", "what an expired entry means"), rows=rows)
    if step is not None:
        yield from _on_spark(step)
    names = node.column_names if isinstance(node, Sink) else [field.name for field in node.fields]
    listed = tuple((name or "", str(field.type)) for name, field in zip(names, node.fields, strict=True))
    yield Section("Columns", rows=listed, lists_columns=True)


def _on_spark(step: Step) -> Iterator[Section]:
    rows = [("by", " ".join(filter(None, (step.engine, step.by)))), ("why", step.why)]
    if step.shuffle is not None:
        rows.append(("shuffle", ", ".join(step.shuffle) or "all rows into one partition"))
    rows += [("before it", f"{each.engine} {each.by}: {each.why}") for each in step.runs_before]
    yield Section("On Spark", rows=tuple(rows))
    if step.states:
        kept = tuple((s.name, s.kind, s.holds, s.kept) for s in step.states)
        yield Section("State on Spark", heads=("name", "kind", "for a key", "kept"), rows=kept)


def _column_uses(plan: Plan) -> Iterator[ColumnUse]:
    """Which columns of the operators are computed from which."""
    for id, uses in uses_of(plan).items():
        for column, used in enumerate(uses.columns):
            for use in used:
                if isinstance(use.column, NodeColumn):
                    how = ", ".join(use.functions) if use.kind.is_direct else use.kind.value
                    yield ColumnUse(str(id), column, str(use.column.node), use.column.index, how)


def _lineage(plan: Plan) -> Iterator[Section]:
    """What the columns of each sink come from."""
    for sink in origins_of(plan).sinks:
        heads = ("column", "from", "how")
        yield Section(f"Lineage of {sink.table.name}", heads=heads, rows=tuple(lineage_rows(sink)))


def _all_states(operators: Mapping[int, Operator], names: Mapping[int, str]) -> Section:
    rows = tuple(
        (f"{names[id]}.{state.name}", "for ever" if state.ttl == "0 ms" else str(state.ttl))
        for id, operator in operators.items()
        for state in operator.states
    )
    return Section("All states", None if rows else "This plan keeps no state.", heads=("state", "TTL"), rows=rows)
