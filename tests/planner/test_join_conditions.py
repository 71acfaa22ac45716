"""What joins imply for their inputs, and how the functions in their conditions are typed."""

from __future__ import annotations

from flinkplan.plan.rex import Call
from flinkplan.plan.specs import JoinType
from flinkplan.planner.algebra.logical import Filter, Join
from flinkplan.planner.algebra.rel import Rel
from flinkplan.planner.algebra.tree import walk_once
from flinkplan.planner.program import LOGICAL_STAGES, run
from flinkplan.planner.rex.expressions import conjunctions
from tests.planner.outlines import bind, outline


def _of_class(rel: Rel, kind: type[Rel]) -> list[Rel]:
    return [each for each, _ in walk_once(rel).values() if isinstance(each, kind)]


def test_or_of_three_tables_filters_each_of_them() -> None:
    """The condition of the upper join, pushed into the lower one, implies filters there, too."""
    query = (
        "SELECT a.id FROM a, c, cdc WHERE a.id = c.cid AND a.id = cdc.id AND "
        "((a.v = 1 AND c.grp = 'g' AND cdc.k = 'x') OR (a.v = 2 AND c.grp = 'h' AND cdc.k = 'y'))"
    )
    pushed = run(bind(query), {}, LOGICAL_STAGES[:3])
    text = outline(pushed)
    assert "v = 1" in text and "grp = 'g'" in text
    assert len(_of_class(pushed, Filter)) == 3


def test_functions_over_the_side_without_a_row_are_nullable() -> None:
    """Operators and columns are not.  Source: ``StandardConvertletTable.convertFunction``."""
    rel = bind("SELECT a.id FROM a LEFT JOIN cdc ON a.v = ABS(cdc.id) AND a.id < cdc.id + 1")
    (join,) = _of_class(rel, Join)
    assert isinstance(join, Join) and join.type is JoinType.LEFT
    first, second = (part.operands[1] for part in conjunctions(join.condition) if isinstance(part, Call))
    assert first.type.nullable and isinstance(first, Call) and not first.operands[0].type.nullable
    assert not second.type.nullable
