"""Trees as text, and the trees that a query has between two phases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flinkplan.plan.specs import FilterPushDown, LimitPushDown, ProjectPushDown
from flinkplan.planner.algebra import logical as a
from flinkplan.planner.algebra import physical as p
from flinkplan.planner.algebra.rel import Rel
from flinkplan.planner.binder import Context, bind_query
from flinkplan.planner.lowering.aggregate_text import call_text
from flinkplan.planner.program import LOGICAL_STAGES
from flinkplan.planner.rex.printer import expression, named
from flinkplan.planner.session import Session
from flinkplan.planner.sql import ast, parse_script

TABLES = """
CREATE TABLE a (id INT, k STRING, v INT, b BOOLEAN) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'json');
CREATE TABLE c (cid INT, name STRING, grp STRING) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'json');
CREATE TABLE nested (id INT, xs ARRAY<INT>) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'json');
CREATE TABLE ev (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
  WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'json');
CREATE TABLE cdc (id INT, k STRING, v INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'debezium-json');
CREATE TABLE versions (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'format' = 'debezium-json');
CREATE TABLE clocked (id INT, k STRING, pt AS PROCTIME())
  WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'json');
CREATE TABLE looked (id INT, k STRING, v INT)
  WITH ('connector' = 'jdbc', 'url' = 'jdbc:derby:memory:d', 'table-name' = 'looked');
CREATE TABLE days (id INT, d STRING) PARTITIONED BY (d)
  WITH ('connector' = 'filesystem', 'path' = 'no-such-folder', 'format' = 'json');
CREATE TABLE files (size BIGINT METADATA FROM 'file.size', id INT, name STRING METADATA FROM 'file.name' VIRTUAL)
  WITH ('connector' = 'filesystem', 'format' = 'json');
"""


LOGICAL = [phase for stage in LOGICAL_STAGES for phase in stage.phases]
"""The phases of all logical stages."""


def bind(query: str, config: Mapping[str, str] | None = None) -> Rel:
    """What a query over the tables above means."""
    session = Session(config)
    *definitions, view = parse_script(f"{TABLES}CREATE VIEW q AS {query};").statements
    for statement in definitions:
        session.apply(statement)
    assert isinstance(view, ast.CreateView)
    return bind_query(Context(session.catalog, session.config), view.query)


def before_and_after(query: str, phase: str, config: Mapping[str, str] | None = None) -> tuple[Rel, Rel]:
    """The tree that reaches the first phase of that name, and what the phase makes of it."""
    index = next(i for i, found in enumerate(LOGICAL) if found.name == phase)
    rel = bind(query, config)
    for earlier in LOGICAL[:index]:
        rel = earlier.run(rel, config or {})
    return rel, LOGICAL[index].run(rel, config or {})


def outline(rel: Rel) -> str:
    """One line a relation, inputs indented."""
    return "\n".join(_lines(rel, 0))


def _lines(rel: Rel, depth: int) -> list[str]:
    fields = [n for i in rel.inputs for n in i.names]
    line = f"{'  ' * depth}{type(rel).__name__}({_detail(rel, fields)})"
    return [line, *(text for i in rel.inputs for text in _lines(i, depth + 1))]


def _detail(rel: Rel, fields: Sequence[str]) -> str:
    names = rel.names

    def columns(exprs: Sequence[object]) -> str:
        return ", ".join(named(_text(e, fields), n) for e, n in zip(exprs, names, strict=True))

    match rel:
        case a.Filter():
            given = "" if rel.given is None else f" AS {', '.join(rel.given)}"
            return _text(rel.condition, fields) + given
        case a.Correlate():
            return ", ".join(names[rel.input.width :])
        case a.Project():
            return columns(rel.exprs)
        case p.Calc():
            where = "" if rel.condition is None else f" WHERE {_text(rel.condition, fields)}"
            return columns(rel.projection) + where
        case a.Aggregate():
            return f"[{', '.join(fields[g] for g in rel.grouping)}] " + ", ".join(
                call_text(c, fields) for c in rel.calls
            )
        case p.OverAggregate():
            return ", ".join(call_text(c, fields) for g in rel.groups for c in g.agg_calls)
        case a.Join():
            return f"{rel.type.value} {_text(rel.condition, fields)}"
        case a.MultiJoin():
            kinds = zip(rel.kinds, rel.conditions, strict=True)
            return ", ".join(f"{kind.value} {_text(condition, names)}" for kind, condition in kinds)
        case p.Rank():
            return f"{rel.kind} [{', '.join(fields[i] for i in rel.partition)}] {rel.range}"
        case p.SourceScan():
            return ", ".join([rel.table.identifier.name, *map(_ability, rel.abilities)])
        case a.Scan():
            return rel.table.identifier.name
        case a.SetOp():
            return f"{rel.kind.value}{' ALL' if rel.all else ''}"
    return ""


def _text(rex: object, fields: Sequence[str]) -> str:
    try:
        return expression(rex, fields)  # type: ignore[arg-type]
    except TypeError:
        return type(rex).__name__


def _ability(ability: object) -> str:
    match ability:
        case ProjectPushDown(produced_type=produced):
            return f"project={list(produced.field_names)}"
        case FilterPushDown(predicates):
            return f"filters={len(predicates)}"
        case LimitPushDown(limit):
            return f"limit={limit}"
    return type(ability).__name__
