"""Trees as text, and the trees that a query has between two phases."""

from __future__ import annotations

from collections.abc import Mapping

from flinkplan.plan.functions import Kind
from flinkplan.plan.functions.user import PythonDeclaration, PythonKind
from flinkplan.plan.types import BOOLEAN, INT, STRING, row
from flinkplan.planner.algebra.rel import Rel
from flinkplan.planner.binder import Context, bind_query
from flinkplan.planner.catalog.functions import Registered
from flinkplan.planner.program import LOGICAL_STAGES
from flinkplan.planner.session import Session
from flinkplan.planner.sql import ast, parse_script
from flinkplan.planner.tracing.relations import tree_lines

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


FUNCTIONS = {
    "plus_one": PythonDeclaration(Kind.SCALAR, PythonKind.GENERAL, INT),
    "doubled": PythonDeclaration(Kind.SCALAR, PythonKind.PANDAS, INT),
    "is_odd": PythonDeclaration(Kind.SCALAR, PythonKind.GENERAL, BOOLEAN),
    "words": PythonDeclaration(Kind.TABLE, PythonKind.GENERAL, row([("f0", STRING)], nullable=False)),
}
"""Python functions, all of the system."""


LOGICAL = [phase for stage in LOGICAL_STAGES for phase in stage.phases]
"""The phases of all logical stages."""


def bind(query: str, config: Mapping[str, str] | None = None) -> Rel:
    """What a query over the tables above means."""
    session = Session(config)
    for name, declaration in FUNCTIONS.items():
        session.catalog.functions.add_system(name, Registered(name, declaration))
    *definitions, view = parse_script(f"{TABLES}CREATE VIEW q AS {query};").statements
    for statement in definitions:
        session.apply(statement)
    assert isinstance(view, ast.CreateView)
    return bind_query(Context(session.catalog, session.config), view.query)


def before_and_after(query: str, phase: str, config: Mapping[str, str] | None = None) -> tuple[Rel, Rel]:
    """The tree that reaches the first phase of that name, and what the phase makes of it."""
    index = next(i for i, stage in enumerate(LOGICAL) if stage.name == phase)
    rel = bind(query, config)
    for earlier in LOGICAL[:index]:
        rel = earlier.run(rel, config or {})
    return rel, LOGICAL[index].run(rel, config or {})


def outline(rel: Rel) -> str:
    """One line a relation, inputs indented."""
    return "\n".join(tree_lines(rel))
