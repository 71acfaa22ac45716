"""Constants that filters imply, as arguments of Python functions."""

from __future__ import annotations

from flinkplan.plan.functions.model import Kind
from flinkplan.plan.functions.user import PythonDeclaration, PythonKind
from flinkplan.plan.nodes.python import PythonCalc
from flinkplan.plan.rex import Call, Literal
from flinkplan.plan.types import INT
from flinkplan.planner import compile_script

SCRIPT = """
CREATE TABLE t (id INT) WITH ('connector' = 'datagen');
CREATE TABLE o (id INT, v INT) WITH ('connector' = 'print');
CREATE TEMPORARY SYSTEM FUNCTION f AS 'm.f' LANGUAGE PYTHON;
INSERT INTO o SELECT id, f(id) FROM t WHERE id = 3;
"""


def test_a_constant_argument_stays_in_the_call() -> None:
    declared = PythonDeclaration(Kind.SCALAR, PythonKind.GENERAL, INT)
    plan = compile_script(SCRIPT, load=lambda path: declared)
    (node,) = (node for node in plan.nodes if isinstance(node, PythonCalc))
    (call,) = (rex for rex in node.projection if isinstance(rex, Call))
    assert call.operands == (Literal(3, INT.not_null()),)
