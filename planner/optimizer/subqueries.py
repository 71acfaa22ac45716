"""Subqueries as joins.

Sources: ``FlinkSubQueryRemoveRule``, ``SubQueryDecorrelator``, Calcite's ``SubQueryRemoveRule``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ...plan.errors import UnsupportedError
from ...plan.functions import aggregate as functions
from ...plan.rex import FUNCTION, Call, CorrelVariable, FieldAccess, InputRef, Literal, RexNode, children
from ...plan.specs import AggregateCall, JoinType
from ...plan.types import BIGINT, INT, LogicalType
from ..algebra import Aggregate, Filter, Join, Project, Rel, SubQuery, SubQueryKind
from ..rexbuilder import comparison_operands
from .predicates import filtered, join_row_type
from .projections import columns
from .rexes import (
    AND,
    CASE,
    EQ,
    GE,
    GT,
    IS_NOT_NULL,
    IS_NOT_TRUE,
    IS_NULL,
    LE,
    LT,
    NE,
    NEGATED,
    NOT,
    OR,
    TRUE,
    and_,
    case,
    compare,
    conjunctions,
    identity,
    is_call,
    or_,
    refs,
    remap,
    rewrite,
    shift,
    test,
)
from .row_types import concat, row_of, unique_names
from .tree import bottom_up


def rewrite_subqueries(rel: Rel) -> Rel:
    """IN and EXISTS of a filter become semi and anti joins; a scalar subquery becomes a column of a join."""
    if isinstance(rel, Filter) and _holds(rel.condition):
        return _filter(rel)
    if isinstance(rel, Project) and any(map(_holds, rel.exprs)):
        return _project(rel)
    if isinstance(rel, Join) and _holds(rel.condition):
        raise UnsupportedError("a subquery in the condition of a join cannot be planned yet", hint="move it to WHERE")
    return rel


def _holds(rex: RexNode) -> bool:
    return isinstance(rex, SubQuery) or any(map(_holds, children(rex)))


def _filter(rel: Filter) -> Rel:
    source = rel.input
    rest: list[RexNode] = []
    for part in sorted(conjunctions(rel.condition), key=lambda c: is_call(c, NOT)):
        negated = is_call(part, NOT)
        inner = children(part)[0] if negated else part
        if isinstance(inner, SubQuery) and inner.kind in (SubQueryKind.IN, SubQueryKind.EXISTS):
            source = _semi_join(source, inner, JoinType.ANTI if negated else JoinType.SEMI)
        else:
            rest.append(part)
    if not any(map(_holds, rest)):
        return filtered(source, rest)
    width = len(source.row_type.fields)
    joins = _Joins(source)
    condition = joins.condition(and_(rest))
    return columns(filtered(joins.source, [condition]), range(width))


def _project(rel: Project) -> Rel:
    joins = _Joins(rel.input)
    exprs = tuple(map(joins.value, rel.exprs))
    return replace(rel, input=joins.source, exprs=exprs)


def _semi_join(left: Rel, subquery: SubQuery, kind: JoinType) -> Rel:
    right, conditions = decorrelate(rewritten(subquery.rel), subquery.correl)
    width = len(left.row_type.fields)
    parts: list[RexNode] = []
    for i, operand in enumerate(subquery.operands):
        column: RexNode = InputRef(width + i, right.row_type.fields[i].type)
        a, b = comparison_operands((operand, column))
        equal: RexNode = compare(EQ, a, b)
        nullable = [x for x in (a, b) if x.type.nullable]
        if kind is JoinType.ANTI and nullable:
            equal = or_([*(test(IS_NULL, x) for x in nullable), equal])
        parts.append(equal)
    parts += [_joined(c, left, width, subquery.correl) for c in conditions]
    return Join(left=left, right=right, type=kind, condition=and_(parts), row_type=left.row_type)


def rewritten(rel: Rel) -> Rel:
    """A subquery's relation with its own subqueries rewritten."""
    return bottom_up(rel, rewrite_subqueries)


def _joined(rex: RexNode, left: Rel, width: int, correl: str | None) -> RexNode:
    """A correlated condition as one of a join: outer columns on the left, the subquery's on the right."""
    names = left.row_type.field_names

    def outer(node: RexNode) -> RexNode:
        if isinstance(node, FieldAccess) and isinstance(node.expr, CorrelVariable) and node.expr.correl == correl:
            index = names.index(node.name)
            return InputRef(index, left.row_type.fields[index].type)
        return node

    return rewrite(shift(rex, width), outer)


def _correlated(rex: RexNode, correl: str | None) -> bool:
    if isinstance(rex, CorrelVariable):
        return rex.correl == correl
    return any(_correlated(c, correl) for c in children(rex))


def decorrelate(rel: Rel, correl: str | None) -> tuple[Rel, list[RexNode]]:
    """The relation without the conditions that read the outer row, and these, over its columns."""
    match rel:
        case Filter():
            source, conditions = decorrelate(rel.input, correl)
            own = conjunctions(rel.condition)
            conditions = [*conditions, *(c for c in own if _correlated(c, correl))]
            return filtered(source, [c for c in own if not _correlated(c, correl)]), conditions
        case Project():
            source, conditions = decorrelate(rel.input, correl)
            if any(_correlated(e, correl) for e in rel.exprs):
                raise UnsupportedError("a subquery that selects a column of the outer query cannot be planned yet")
            return _projected(rel, source, conditions)
        case Join(type=JoinType.INNER):
            left, left_conditions = decorrelate(rel.left, correl)
            right, right_conditions = decorrelate(rel.right, correl)
            width = len(left.row_type.fields)
            own = conjunctions(rel.condition)
            conditions = [*left_conditions, *(shift(c, width) for c in right_conditions)]
            conditions += [c for c in own if _correlated(c, correl)]
            condition = and_(c for c in own if not _correlated(c, correl))
            row_type = join_row_type(rel.type, left, right)
            return replace(rel, left=left, right=right, condition=condition, row_type=row_type), conditions
        case Aggregate():
            source, conditions = decorrelate(rel.input, correl)
            return _grouped(rel, source, conditions)
    if correl is not None and _reads(rel, correl):
        raise UnsupportedError("this correlated subquery cannot be planned yet")
    return rel, []


def _reads(rel: Rel, correl: str) -> bool:
    own = [getattr(rel, name, None) for name in ("condition", "call", "expr")]
    own += list(getattr(rel, "exprs", ()))
    if any(_correlated(e, correl) for e in own if e is not None):
        return True
    return any(_reads(i, correl) for i in rel.inputs)


def _projected(rel: Project, source: Rel, conditions: list[RexNode]) -> tuple[Rel, list[RexNode]]:
    """The projection, with the columns that the conditions read behind its own."""
    exprs = list(rel.exprs)
    names = list(rel.row_type.field_names)
    place: dict[int, int] = {}
    for i in sorted(set().union(*map(refs, conditions))):
        ref = InputRef(i, source.row_type.fields[i].type)
        if ref in exprs:
            place[i] = exprs.index(ref)
        else:
            place[i] = len(exprs)
            exprs.append(ref)
            names.append(source.row_type.fields[i].name)
    row_type = row_of(unique_names(names), (e.type for e in exprs))
    return Project(input=source, exprs=tuple(exprs), row_type=row_type), [remap(c, place) for c in conditions]


def _grouped(rel: Aggregate, source: Rel, conditions: list[RexNode]) -> tuple[Rel, list[RexNode]]:
    """The aggregation per value of the columns that the conditions read, these in front."""
    if not conditions:
        return replace(rel, input=source), []
    read = sorted(set().union(*map(refs, conditions)))
    added = tuple(i for i in read if i not in rel.grouping)
    columns_ = identity(source.row_type)
    source = filtered(source, [test(IS_NOT_NULL, columns_[i]) for i in read if columns_[i].type.nullable])
    fields = (*(source.row_type.fields[i] for i in added), *rel.row_type.fields)
    grouping = (*added, *rel.grouping)
    row_type = row_of(unique_names(f.name for f in fields), (f.type for f in fields))
    new = replace(rel, input=source, grouping=grouping, row_type=row_type)
    place = {g: i for i, g in enumerate(grouping)}
    return new, [remap(c, {r: place[r] for r in read}) for c in conditions]


# ---------------------------------------------------------------- subqueries inside expressions


@dataclass
class _Joins:
    """Joins the source with what the subqueries of an expression yield, and puts columns in their place.

    Source: ``SubQueryRemoveRule.rewriteIn``, ``rewriteExists``, ``rewriteSome``, ``rewriteScalarQuery``.
    """

    source: Rel

    def condition(self, rex: RexNode) -> RexNode:
        """A condition of which UNKNOWN counts as FALSE."""
        if isinstance(rex, Call) and rex.name in (AND, OR):
            return replace(rex, operands=tuple(map(self.condition, rex.operands)))
        if isinstance(rex, SubQuery) and rex.kind is SubQueryKind.IN:
            return self._contained(rex)
        if isinstance(rex, SubQuery) and rex.kind is SubQueryKind.SOME:
            return self._some(rex)
        if isinstance(rex, Call) and rex.name == NOT:
            inner = rex.operands[0]
            if isinstance(inner, SubQuery) and inner.kind is SubQueryKind.SOME:
                return self._none(inner)
        return self.value(rex)

    def value(self, rex: RexNode) -> RexNode:
        """Any expression."""
        if is_call(rex, CASE):
            last = len(children(rex)) - 1
            operands = (self.condition(o) if i % 2 == 0 and i < last else o for i, o in enumerate(children(rex)))
            rex = case(operands, rex.type)
        return rewrite(rex, self._column)

    def _column(self, node: RexNode) -> RexNode:
        if not isinstance(node, SubQuery):
            return node
        if node.kind is SubQueryKind.SCALAR:
            return self._scalar(node)
        if node.kind is SubQueryKind.EXISTS:
            return self._exists(node)
        raise _unsupported(node)

    def _scalar(self, node: SubQuery) -> RexNode:
        rel = rewritten(node.rel)
        if not _single_row(rel):
            rel = _single_value(rel)
        right, conditions = decorrelate(rel, node.correl)
        value = len(right.row_type.fields) - 1 if isinstance(right, Aggregate) else 0
        width = len(self.source.row_type.fields)
        joined = [_outer_first(_joined(c, self.source, width, node.correl), width) for c in conditions]
        return self._join(JoinType.LEFT, right, joined)[value]

    def _exists(self, node: SubQuery) -> RexNode:
        """Whether the row's keys are among those of the subquery."""
        right, conditions = decorrelate(rewritten(node.rel), node.correl)
        if not conditions or not all(is_call(c, EQ) for c in conditions):
            raise _unsupported(node)
        keys = sorted(set().union(*map(refs, conditions)))
        fields = identity(right.row_type)
        right = filtered(right, [test(IS_NOT_NULL, fields[k]) for k in keys if fields[k].type.nullable])
        width = len(self.source.row_type.fields)
        places = {key: i for i, key in enumerate(keys)}
        joined = [_joined(remap(c, places), self.source, width, node.correl) for c in conditions]
        marked = _marked(columns(right, keys), f"$f{len(keys)}")
        return test(IS_NOT_NULL, self._join(JoinType.LEFT, marked, [_outer_first(c, width) for c in joined])[-1])

    def _contained(self, node: SubQuery) -> RexNode:
        """Whether the operands are among the rows of the subquery; what NULL makes unknown is FALSE."""
        right, conditions = decorrelate(rewritten(node.rel), node.correl)
        if conditions:
            raise _unsupported(node)
        found: list[RexNode] = []
        if any(t.nullable for t in (*(o.type for o in node.operands), *right.row_type.field_types)):
            (rows,) = self._join(JoinType.INNER, _aggregated(right, [_COUNT]), [])
            found.append(compare(NE, rows, _ZERO))
        width = len(self.source.row_type.fields)
        equal = [
            compare(EQ, *comparison_operands((o, InputRef(width + i, t))))
            for i, (o, t) in enumerate(zip(node.operands, right.row_type.field_types, strict=True))
        ]
        flag = self._join(JoinType.LEFT, _marked(right, "i"), equal)[-1]
        found.append(test(IS_NOT_NULL, flag))
        return and_([*found, *(test(IS_NOT_NULL, o) for o in node.operands if o.type.nullable)])

    def _some(self, node: SubQuery) -> RexNode:
        """Whether the comparison holds for the row of the subquery for which it is easiest."""
        extreme, rows, _ = self._extreme(node)
        return and_([compare(NE, rows, _ZERO), self._compared(node, extreme)])

    def _none(self, node: SubQuery) -> RexNode:
        """Whether the comparison fails for every row of the subquery."""
        extreme, rows, values = self._extreme(node)
        holds = self._compared(node, extreme)
        doubtful = test(IS_NOT_TRUE, or_([holds, compare(GT, rows, values)]))
        return or_([compare(EQ, rows, _ZERO), and_([replace(holds, name=NEGATED[holds.name]), doubtful])])

    def _extreme(self, node: SubQuery) -> tuple[RexNode, ...]:
        """The least or greatest value, the number of rows and that of values."""
        right, conditions = decorrelate(rewritten(node.rel), node.correl)
        if conditions or f"${node.comparison}$1" not in _EASIEST:
            raise _unsupported(node)
        t = right.row_type.fields[0].type
        function = _EASIEST[f"${node.comparison}$1"]
        extreme = _call("m", function, (0,), t.nullable_())
        if t.nullable:
            counted: Rel = _aggregated(right, [extreme, _COUNT, replace(_COUNT, name="d", arg_list=(0,))])
        else:
            counted = _aggregated(right, [extreme, _COUNT])
            value, rows = identity(counted.row_type)
            row_type = row_of(("m", "c", "d"), (value.type, rows.type, rows.type))
            counted = Project(input=counted, exprs=(value, rows, rows), row_type=row_type)
        return self._join(JoinType.INNER, counted, [])

    def _compared(self, node: SubQuery, extreme: RexNode) -> Call:
        return compare(f"${node.comparison}$1", *comparison_operands((node.operands[0], extreme)))

    def _join(self, kind: JoinType, right: Rel, conditions: Iterable[RexNode]) -> tuple[RexNode, ...]:
        """Join the source with a relation; the columns that this adds."""
        left = self.source
        width = len(left.row_type.fields)
        names = concat(left.row_type, right.row_type).field_names
        row_type = join_row_type(kind, left, right, names)
        self.source = Join(left=left, right=right, type=kind, condition=and_(conditions), row_type=row_type)
        return identity(row_type)[width:]


_ZERO = Literal(0, INT.not_null())
_EASIEST = {LT: "$MAX$1", LE: "$MAX$1", GT: "$MIN$1", GE: "$MIN$1"}
"""The value of a column that is compared with most easily."""


def _unsupported(node: SubQuery) -> UnsupportedError:
    return UnsupportedError(
        f"{node.kind.value} in this place cannot be planned yet", hint="use it alone, or joined by AND, in WHERE"
    )


def _call(name: str | None, function: str, arguments: tuple[int, ...], t: LogicalType) -> AggregateCall:
    return AggregateCall(
        name=name,
        syntax="FUNCTION_STAR" if function == "$COUNT$1" else FUNCTION,
        internal_name=function,
        arg_list=arguments,
        filter_arg=-1,
        distinct=False,
        approximate=False,
        ignore_nulls=False,
        type=t,
    )


_COUNT = _call("c", "$COUNT$1", (), BIGINT.not_null())


def _aggregated(rel: Rel, calls: Iterable[AggregateCall]) -> Aggregate:
    """One row of the calls' results."""
    calls = tuple(calls)
    row_type = row_of((str(c.name) for c in calls), (c.type for c in calls))
    return Aggregate(input=rel, grouping=(), calls=calls, row_type=row_type)


def _marked(rel: Rel, name: str) -> Rel:
    """Each row once, TRUE behind it."""
    exprs: tuple[RexNode, ...] = (*identity(rel.row_type), TRUE)
    grouped = Aggregate(input=rel, grouping=tuple(range(len(rel.row_type.fields))), calls=(), row_type=rel.row_type)
    row_type = row_of((*rel.row_type.field_names, name), (e.type for e in exprs))
    return Project(input=grouped, exprs=exprs, row_type=row_type)


def _outer_first(rex: RexNode, width: int) -> RexNode:
    """An equality with its outer column on the left."""
    if is_call(rex, EQ) and refs(children(rex)[0]) and min(refs(children(rex)[0])) >= width:
        return compare(EQ, *reversed(children(rex)))
    return rex


def _single_row(rel: Rel) -> bool:
    """Whether a relation has one row at most for sure."""
    if isinstance(rel, Aggregate):
        return not rel.grouping
    return isinstance(rel, Project) and _single_row(rel.input)


def _single_value(rel: Rel) -> Rel:
    """The one value of a relation; Flink fails at run time where there are several."""
    field = rel.row_type.fields[0]
    call = _call(None, functions.SINGLE_VALUE.internal_name, (0,), field.type.nullable_())
    return Aggregate(input=rel, grouping=(), calls=(call,), row_type=row_of(["$f0"], [field.type.nullable_()]))
