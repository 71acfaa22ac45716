"""Scripts that programs write: what takes time that grows with the square of a script, or faster, never ends here."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from flinkplan.plan.functions import is_deterministic
from flinkplan.plan.nodes import Calc, Join, TableSourceScan
from flinkplan.plan.record import cached_on_record, replace
from flinkplan.plan.rex import Call, InputRef, RexNode, Sarg
from flinkplan.plan.types import INT, row
from flinkplan.planner import compile_script
from flinkplan.planner.algebra.logical import SetKind, SetOp, Values
from flinkplan.planner.algebra.rel import Rel
from flinkplan.planner.binder import tables
from flinkplan.planner.binder.context import Context
from flinkplan.planner.catalog.catalog import View
from flinkplan.planner.rex.expressions import refs, remap, retype
from flinkplan.planner.rules.rule import rule
from flinkplan.planner.sql import ast

MINI_BATCHES = (
    "SET 'table.exec.mini-batch.enabled' = 'true'; SET 'table.exec.mini-batch.allow-latency' = '1 s'; "
    "SET 'table.exec.mini-batch.size' = '3';"
)
TABLES = """
CREATE TABLE t (a INT) WITH ('connector' = 'datagen');
CREATE TABLE o (a INT) WITH ('connector' = 'blackhole');
"""


def test_forty_joins() -> None:
    joins = " ".join(f"JOIN t t{i} ON t{i}.a = t{i - 1}.a" for i in range(1, 41))
    plan = compile_script(f"{TABLES} INSERT INTO o SELECT t0.a FROM t t0 {joins};")
    assert sum(isinstance(node, Join) for node in plan.nodes) == 40


@pytest.mark.parametrize(("operator", "ranges"), [("IN", 5000), ("NOT IN", 5001)])
def test_a_list_of_thousands_of_values(operator: str, ranges: int) -> None:
    values = ", ".join(str(2 * i) for i in range(5000))
    plan = compile_script(f"{TABLES} INSERT INTO o SELECT a FROM t WHERE a {operator} ({values});")
    (calc,) = (node for node in plan.nodes if isinstance(node, Calc))
    assert isinstance(calc.condition, Call)
    sarg = calc.condition.operands[1]
    assert isinstance(sarg, Sarg)
    assert len(sarg.ranges) == ranges


@pytest.mark.parametrize("values", [range(3000), [f"'x{i:04}'" for i in range(3000)]], ids=["numbers", "texts"])
def test_thousands_of_inequalities(values: Sequence[object]) -> None:
    column = "CHAR_LENGTH(CAST(a AS STRING))" if isinstance(values, range) else "CAST(a AS STRING)"
    condition = " AND ".join(f"{column} <> {value}" for value in values)
    plan = compile_script(f"{TABLES} INSERT INTO o SELECT a FROM t WHERE {condition};")
    assert any(isinstance(node, Calc) and node.condition is not None for node in plan.nodes)


def test_what_is_known_of_a_relation_is_found_once() -> None:
    asked: list[Rel] = []

    @cached_on_record
    def depth(rel: Rel, step: int = 1) -> int:
        asked.append(rel)
        return step + max((depth(i, step) for i in rel.inputs), default=0)

    values = Values(fields=row(()), tuples=())
    rel: Rel = values
    for _ in range(20):
        rel = SetOp(kind=SetKind.UNION, all=True, operands=(rel, rel))
    assert depth(rel) == depth(rel) == 21
    assert len(asked) == 21
    assert depth(rel, 2) == depth(rel, 2) == 42
    assert len(asked) == 42


def test_a_relation_that_is_read_twice_is_rewritten_once() -> None:
    rewritten: list[Rel] = []

    @rule(on=Values)
    def without_rows(rel: Values) -> Rel:
        rewritten.append(rel)
        return replace(rel, tuples=())

    rel: Rel = Values(fields=row(()), tuples=((),))
    for _ in range(20):
        rel = SetOp(kind=SetKind.UNION, all=True, operands=(rel, rel))
    one, other = without_rows.run(rel).inputs
    assert one is other
    assert len(rewritten) == 1


def test_a_view_is_bound_once_for_all_that_read_it(monkeypatch: pytest.MonkeyPatch) -> None:
    bound: list[str] = []

    def bind(context: Context, view: View, name: ast.Name) -> Rel:
        bound.append(view.identifier.name)
        return bind_view(context, view, name)

    bind_view = tables._bind_view
    monkeypatch.setattr(tables, "_bind_view", bind)
    views = [f"v{i}" for i in range(60)]
    chain = "".join(
        f"CREATE TEMPORARY VIEW {view} AS SELECT a FROM {below};"
        for view, below in zip(views, ["t", *views], strict=False)
    )
    compile_script(f"{TABLES} {chain} INSERT INTO o SELECT l.a FROM v59 l JOIN v59 r ON l.a = r.a;")
    assert bound == views


@pytest.mark.parametrize(
    "change",
    [
        "DROP TABLE t; CREATE TABLE t (a INT NOT NULL) WITH ('connector' = 'datagen');",
        "CREATE TEMPORARY TABLE t (a INT NOT NULL) WITH ('connector' = 'datagen');",
        "CREATE TABLE n (a INT NOT NULL) WITH ('connector' = 'datagen');"
        "DROP TEMPORARY VIEW v; CREATE TEMPORARY VIEW v AS SELECT a FROM n;",
    ],
)
def test_a_view_is_bound_again_when_what_it_reads_has_changed(change: str) -> None:
    views = "CREATE TEMPORARY VIEW v AS SELECT a FROM t; CREATE TEMPORARY VIEW w AS SELECT a FROM v;"
    known = "CREATE TEMPORARY VIEW x AS SELECT a FROM w;"
    plan = compile_script(f"{TABLES} {views} {known} {change} INSERT INTO o SELECT a FROM w;")
    (scan,) = (node for node in plan.nodes if isinstance(node, TableSourceScan))
    assert scan.output_type.field_types == (INT.not_null(),)


def test_what_an_expression_calls_is_found_once() -> None:
    rex: RexNode = InputRef(0, INT)
    for _ in range(60):
        rex = Call("$+$1", (rex, rex), INT, "BINARY")
    assert is_deterministic(rex)
    assert refs(rex) == {0}


def test_an_expression_of_the_same_columns_stays_itself_with_what_is_known_of_it() -> None:
    rex = Call("$+$1", (InputRef(1, INT), InputRef(1, INT)), INT, "BINARY")
    assert retype(rex, (INT, INT)) is rex
    assert remap(rex, {1: 1}) is rex
    assert refs(retype(rex, (INT, INT.not_null()))) == {1}
    assert refs(remap(rex, {1: 0})) == {0}


@pytest.mark.parametrize(
    "step",
    [
        "SELECT x.a FROM {0} x JOIN {0} y ON x.a = y.a",
        "SELECT x.a FROM {0} x LEFT JOIN {0} y ON x.a = y.a",
        "SELECT a + 1 AS a FROM {0} UNION ALL SELECT a FROM {0}",
        "SELECT x.a, COUNT(*) AS n FROM {0} x JOIN {0} y ON x.a = y.a GROUP BY x.a",
    ],
)
@pytest.mark.parametrize("options", ["", MINI_BATCHES])
def test_queries_that_are_read_twice_on_each_level_cost_no_more_than_once(step: str, options: str) -> None:
    """Taken apart they would be 2³⁰ scans."""
    queries = ["q0 AS (SELECT a FROM t)"]
    queries += [f"q{i + 1} AS ({step.format(f'q{i}')})" for i in range(30)]
    query = f"WITH {', '.join(queries)} SELECT a FROM q30"
    tables = "CREATE TABLE s (a INT) WITH ('connector' = 'blackhole');"
    plan = compile_script(f"{options} {TABLES} {tables} INSERT INTO s {query};")
    assert len(plan.nodes) < 20 * 30
