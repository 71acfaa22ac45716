"""Names of columns, as the relations' inputs have them once rules have changed these.

Source: the row types that Calcite derives anew whenever a relation gets another input
(``SqlValidatorUtil.deriveJoinRowType``, ``Filter``, ``Sort``).
"""

from __future__ import annotations

from ...plan.record import replace
from ..algebra.logical import Aggregate, Correlate, Filter, Join, Project, Rel, SetOp, Sort
from ..algebra.physical import Calc
from ..algebra.row_types import row_of, unique_names
from .predicates import ONE_SIDED


def derive_names(rel: Rel) -> Rel:
    """A relation that passes columns on names them as its inputs do, and a function's columns as the function does.

    A projection alone gives other names.
    """
    match rel:
        case Filter(input=Aggregate(calls=(_, *_), input=source)) if not isinstance(source, (Filter, SetOp)):
            return rel
        case Filter() | Sort():
            names = rel.input.names
        case Aggregate() if not rel.calls or not isinstance(rel.input, (Project, Calc)):
            keys = (rel.input.names[i] for i in rel.grouping)
            names = unique_names([*keys, *rel.names[len(rel.grouping) :]])
        case Correlate():
            names = unique_names([*rel.input.names, *rel.function_type.field_names])
        case SetOp():
            names = rel.operands[0].names
        case Join():
            names = joined_names(rel)
        case _:
            return rel
    return rel if names == rel.names else replace(rel, row_type=row_of(names, rel.types))


def joined_names(rel: Join) -> tuple[str, ...]:
    """The names of a join's columns, by its inputs."""
    left, right = (i.names for i in rel.inputs)
    return left if rel.type in ONE_SIDED else tuple(unique_names([*left, *right]))
