"""Subqueries as joins.  Sources: ``FlinkSubQueryRemoveRule``, Calcite's ``SubQueryRemoveRule``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto

from ...plan.errors import UnsupportedError
from ...plan.functions import aggregate as functions
from ...plan.record import Struct, field, replace
from ...plan.rex import Call, InputRef, Literal, RexNode, children
from ...plan.specs import JoinType
from ...plan.types import BIGINT, BOOLEAN, INT
from ..algebra import Aggregate, Filter, Join, Lateral, Project, Rel, SubQuery, SubQueryKind
from ..rexbuilder import comparison_operands
from .decorrelation import compare_columns, decorrelated, distinct, free_variables
from .lateral_ranks import to_lateral_rank
from .predicates import filtered, join_row_type
from .projections import columns
from .rexes import (
    AND,
    CASE,
    EQ,
    FALSE,
    GE,
    GT,
    IS_FALSE,
    IS_NOT_FALSE,
    IS_NOT_NULL,
    IS_NOT_TRUE,
    IS_NULL,
    IS_TRUE,
    LE,
    LT,
    NE,
    NOT,
    OR,
    TRUE,
    UNKNOWN,
    and_,
    case,
    cast,
    compare,
    conjunctions,
    identity,
    inline,
    is_call,
    not_,
    or_,
    rewrite,
    shift,
    test,
)
from .row_types import concat, row_of, unique_names
from .semi_joins import aggregated, call_of, has_a_row, is_correlated, joined, semi_join
from .simplify import negate, reordered_condition, simplify, simplify_condition
from .tree import bottom_up
from .uniqueness import are_columns_unique


def rewrite_subqueries(rel: Rel) -> Rel:
    """IN and EXISTS of a filter become semi and anti joins; any other subquery becomes columns of a join."""
    match rel:
        case Filter() if _holds(rel.condition):
            return _filter(replace(rel, condition=simplify_condition(rel.condition)))
        case Project() if any(map(_holds, rel.exprs)):
            joins = _Joins(rel.input)
            exprs = tuple(simplify(joins.rewritten(e, Logic.THREE_VALUED)) for e in rel.exprs)
            return replace(rel, input=joins.source, exprs=exprs)
        case Join() if _holds(rel.condition):
            return _join(rel)
        case Lateral():
            return _lateral(rel)
    return rel


def _holds(rex: RexNode) -> bool:
    return isinstance(rex, SubQuery) or any(map(_holds, children(rex)))


def _filter(rel: Filter, *, semi_joins: bool = True) -> Rel:
    if not _holds(rel.condition):
        return rel
    source = rel.input
    rest: list[RexNode] = []
    for part in _separated(rel.condition):
        negated = is_call(part, NOT)
        inner = children(part)[0] if negated else part
        found = None
        if semi_joins and isinstance(inner, SubQuery) and inner.kind in (SubQueryKind.IN, SubQueryKind.EXISTS):
            kind = JoinType.ANTI if negated else JoinType.SEMI
            matches = bottom_up(inner.rel, rewrite_subqueries)
            found = semi_join(source, inner, matches, kind)
        if found is None:
            rest.append(part)
        else:
            source = found
    if not any(map(_holds, rest)):
        return filtered(source, rest)
    width = len(source.row_type.fields)
    joins = _Joins(source)
    condition = reordered_condition(simplify_condition(and_(joins.rewritten(part, Logic.TRUE) for part in rest)))
    return columns(filtered(joins.source, conjunctions(condition)), range(width))


def _separated(rex: RexNode) -> Iterator[RexNode]:
    """The conditions that must all hold, with NOT pushed inwards as far as there are subqueries."""
    for part in conjunctions(rex):
        inner = children(part)[0] if is_call(part, NOT, IS_TRUE) else part
        if not _holds(part) or isinstance(inner, SubQuery) or inner is part:
            yield part if not is_call(part, IS_TRUE) else inner
        elif is_call(part, IS_TRUE) or is_call(inner, NOT):
            yield from _separated(inner if is_call(part, IS_TRUE) else children(inner)[0])
        elif is_call(inner, OR):
            yield from _separated(and_(map(not_, children(inner))))
        elif is_call(inner, AND):
            yield or_(map(not_, children(inner)))
        else:
            yield part


def _join(rel: Join) -> Rel:
    """A scalar subquery of a join's condition is joined with the right input."""
    joins = _Joins(rel.right, shift=len(rel.left.row_type.fields))
    condition = joins.rewritten(rel.condition, Logic.TRUE)
    row_type = join_row_type(rel.type, rel.left, joins.source)
    join = replace(rel, right=joins.source, condition=condition, row_type=row_type)
    return columns(join, range(len(rel.row_type.fields)))


def _lateral(rel: Lateral) -> Rel:
    ranked = to_lateral_rank(rel)
    if ranked is not None:
        return ranked
    joins = _Joins(rel.left)
    added = joins.attach(rel.type, rel.right, rel.correl)
    exprs = (*identity(joins.source.row_type)[: len(rel.left.row_type.fields)], *added)
    row_type = row_of(rel.row_type.field_names, (e.type for e in exprs))
    return Project(input=joins.source, exprs=exprs, row_type=row_type)


def _expanded(rel: Rel) -> Rel:
    """The relation of a subquery that is joined, with its own subqueries joined too: none is a semi join then."""
    return bottom_up(rel, lambda r: _filter(r, semi_joins=False) if isinstance(r, Filter) else rewrite_subqueries(r))


# ---------------------------------------------------------------- subqueries inside expressions


class Logic(Enum):
    """What is asked of a condition.  Source: ``RelOptUtil.Logic``, ``LogicVisitor``."""

    TRUE = auto()
    """Only rows for which it is TRUE are kept."""
    TWO_VALUED = auto()
    """It cannot be unknown."""
    THREE_VALUED = auto()
    UNKNOWN_AS_FALSE = auto()
    UNKNOWN_AS_TRUE = auto()


_LOGIC = {
    IS_TRUE: Logic.UNKNOWN_AS_FALSE,
    IS_NOT_TRUE: Logic.UNKNOWN_AS_FALSE,
    IS_FALSE: Logic.UNKNOWN_AS_TRUE,
    IS_NOT_FALSE: Logic.UNKNOWN_AS_TRUE,
}


def _asked_of_operands(rex: RexNode, logic: Logic) -> Logic:
    """What is asked of a call's operands where this is asked of the call."""
    return logic if is_call(rex, AND) else _LOGIC.get(getattr(rex, "name", ""), Logic.THREE_VALUED)


class _Joins(Struct):
    """Joins the source with what the subqueries of an expression yield, and puts columns in their place.

    Source: ``SubQueryRemoveRule.rewriteIn``, ``rewriteExists``, ``rewriteSome``, ``rewriteScalarQuery``.
    """

    source: Rel
    shift: int = 0
    """How many columns of another relation stand before the source's, in a join."""

    asked: dict[SubQuery, Logic] = field(default_factory=dict)
    """What is asked of each subquery at all the places where it stands."""
    values: dict[SubQuery, RexNode] = field(default_factory=dict)
    """What has taken the place of a subquery."""

    def rewritten(self, rex: RexNode, logic: Logic) -> RexNode:
        """The expression without subqueries; equal ones are joined once."""
        self._ask(rex, logic)
        return self._rewritten(rex, logic)

    def _ask(self, rex: RexNode, logic: Logic) -> None:
        if isinstance(rex, SubQuery):
            self.asked[rex] = logic if self.asked.get(rex, logic) is logic else Logic.THREE_VALUED
        for operand in children(rex):
            self._ask(operand, _asked_of_operands(rex, logic))

    def _rewritten(self, rex: RexNode, logic: Logic) -> RexNode:
        if isinstance(rex, SubQuery):
            if rex not in self.values:
                self.values[rex] = self._value(rex, self.asked.get(rex, logic))
            return self.values[rex]
        if not _holds(rex):
            return rex
        if not isinstance(rex, Call):
            return rewrite(rex, lambda r: self._rewritten(r, Logic.THREE_VALUED) if isinstance(r, SubQuery) else r)
        operands = [self._rewritten(o, _asked_of_operands(rex, logic)) for o in rex.operands]
        if is_call(rex, NOT) and is_call(operands[0], CASE):
            return _negated(operands[0])
        if is_call(rex, CASE) and rex.type.root != "BOOLEAN":
            operands[:-1:2] = map(simplify_condition, operands[:-1:2])
        return replace(rex, operands=tuple(operands))

    def _value(self, node: SubQuery, logic: Logic) -> RexNode:
        if self.shift and node.kind is not SubQueryKind.SCALAR:
            raise _refused(node, "in the condition of a join", "move it to WHERE")
        node = replace(node, operands=tuple(self._rewritten(o, Logic.THREE_VALUED) for o in node.operands))
        match node.kind:
            case SubQueryKind.SCALAR:
                return self._scalar(node)
            case SubQueryKind.EXISTS:
                return self._exists(node, logic)
            case SubQueryKind.IN:
                return self._contained(node, logic)
        return self._some(node)

    def attach(self, kind: JoinType, right: Rel, correl: str | None) -> tuple[RexNode, ...]:
        """Join the source with a relation that may read its rows; the columns that this adds."""
        if correl is None or correl not in free_variables(right):
            return self._join(kind, right, [])
        if kind is JoinType.LEFT and _is_scalar_aggregate(right):
            return self._aggregates(right, correl)
        frame = decorrelated(right, correl, self.source)
        added = self._join(kind, frame.rel, self._equalities(frame.rel, frame.outer))
        return tuple(added[frame.places[i]] for i in range(len(right.row_type.fields)))

    def _equalities(self, right: Rel, outer: Mapping[int, int]) -> list[RexNode]:
        return [compare_columns(self.source, c, right, outer[c]) for c in sorted(outer)]

    def _aggregates(self, right: Rel, correl: str) -> tuple[RexNode, ...]:
        """Aggregates of no rows are NULL behind an outer join, and counts 0; what is computed of them is so above.

        Source: ``AdjustProjectForCountAggregateRule``.
        """
        exprs: tuple[RexNode, ...] = identity(right.row_type)
        names = right.row_type.field_names
        while isinstance(right, Project):
            exprs = tuple(inline(e, right.exprs) for e in exprs)
            right = right.input
        assert isinstance(right, Aggregate)
        width = len(self.source.row_type.fields)
        frame = decorrelated(right, correl, self.source)
        added = self._join(JoinType.LEFT, frame.rel, self._equalities(frame.rel, frame.outer))
        values = []
        for i, call in enumerate(right.calls):
            value = added[frame.places[i]]
            if call.internal_name == "$COUNT$1":
                zero = Literal(0, call.type.not_null())
                value = case([test(IS_NULL, value), zero, value], call.type.nullable_())
            values.append(value)
        found = tuple(cast(inline(e, tuple(values)), e.type.nullable_()) for e in exprs)
        return self._computed(width, found, names)

    def _computed(self, width: int, values: tuple[RexNode, ...], names: Iterable[str]) -> tuple[RexNode, ...]:
        """Columns that hold the values, behind the source's first ones."""
        exprs = (*identity(self.source.row_type)[:width], *values)
        columns = unique_names([*self.source.row_type.field_names[:width], *names])
        row_type = row_of(columns, (e.type for e in exprs))
        self.source = Project(input=self.source, exprs=exprs, row_type=row_type)
        return identity(row_type)[width:]

    def _scalar(self, node: SubQuery) -> RexNode:
        rel = _expanded(node.rel)
        if node.correl is not None and node.correl in free_variables(rel):
            found = self._keyed(rel, node.correl)
            if found is not None:
                return found
        if not _single_row(rel):
            rel = _single_value(rel)
        return self.attach(JoinType.LEFT, rel, node.correl)[0]

    def _keyed(self, rel: Rel, correl: str) -> RexNode | None:
        """A column of the one row with a key that the outer row gives: ``RemoveCorrelationForScalarProjectRule``."""
        if not isinstance(rel, Project) or not isinstance(rel.input, Filter):
            return None
        table = rel.input.input
        if correl in free_variables(table) or is_correlated(rel.exprs[0], correl):
            return None
        parts = conjunctions(rel.input.condition)
        keys = {o.index for p in parts if is_call(p, EQ) for o in children(p) if isinstance(o, InputRef)}
        if not all(is_call(p, EQ) and is_correlated(p, correl) for p in parts) or not are_columns_unique(table, keys):
            return None
        width = len(self.source.row_type.fields)
        added = self._join(JoinType.LEFT, table, [joined(p, self.source, width, correl) for p in parts])
        return inline(rel.exprs[0], added)

    def _exists(self, node: SubQuery, logic: Logic) -> RexNode:
        """Whether the subquery has a row."""
        rel = _expanded(node.rel)
        if has_a_row(rel):
            return TRUE
        rows = distinct(Project(input=rel, exprs=(TRUE,), row_type=row_of(["i"], [TRUE.type])))
        if logic is Logic.TRUE:
            self.attach(JoinType.INNER, rows, node.correl)
            return TRUE
        return test(IS_NOT_NULL, self.attach(JoinType.LEFT, rows, node.correl)[0])

    def _contained(self, node: SubQuery, logic: Logic) -> RexNode:
        """Whether the operands are among the rows of the subquery."""
        rel = _expanded(node.rel)
        if not node.type.nullable and logic is not Logic.TRUE:
            logic = Logic.TWO_VALUED
        reads_outer = node.correl is not None and node.correl in free_variables(rel)
        counts: tuple[RexNode, ...] = ()
        if logic in (Logic.THREE_VALUED, Logic.UNKNOWN_AS_TRUE):
            kind = JoinType.LEFT if reads_outer else JoinType.INNER
            counts = self.attach(kind, _counted(rel), node.correl)
        if reads_outer:
            raise _refused(node, "of the outer row in this place", "use it alone, or joined by AND, in WHERE")
        width = len(self.source.row_type.fields)
        types = rel.row_type.field_types
        equal = [
            compare(EQ, *comparison_operands((o, InputRef(width + i, t))))
            for i, (o, t) in enumerate(zip(node.operands, types, strict=True))
        ]
        if logic is Logic.TRUE:
            self._join(JoinType.INNER, distinct(rel), equal)
            return TRUE
        found = test(IS_NOT_NULL, self._join(JoinType.LEFT, _marked(rel, "i"), equal)[-1])
        unknown = TRUE if logic is Logic.UNKNOWN_AS_TRUE else UNKNOWN
        branches: list[RexNode] = [compare(EQ, counts[0], _ZERO), FALSE] if counts else []
        nulls = [test(IS_NULL, o) for o in node.operands if o.type.nullable]
        branches += [or_(nulls), UNKNOWN] if nulls else []
        branches += [found, TRUE]
        branches += [compare(LT, counts[1], counts[0]), unknown] if counts else []
        return case([*branches, FALSE], BOOLEAN) if len(branches) > 2 else found

    def _some(self, node: SubQuery) -> RexNode:
        """Whether the comparison holds for some row: for that for which it is easiest."""
        rel = _expanded(node.rel)
        kind = JoinType.INNER
        if f"${node.comparison}$1" == NE:
            rows, values, extreme = self.attach(kind, _varieties(rel), node.correl)
            holds = self._compared(node, extreme)
            operand = node.operands[0]
            branches: list[RexNode] = [compare(EQ, rows, _ZERO), FALSE]
            branches += [test(IS_NULL, operand), UNKNOWN] if operand.type.nullable else []
            few = and_([compare(NE, values, rows), compare(LE, values, _ONE)])
            branches += [few, or_([holds, UNKNOWN]), compare(EQ, values, _ONE), holds]
            return case([*branches, TRUE], BOOLEAN)
        extreme, rows, values = self.attach(kind, _extreme(rel, f"${node.comparison}$1"), node.correl)
        holds = self._compared(node, extreme)
        branches = [compare(EQ, rows, _ZERO), FALSE, test(IS_TRUE, holds), TRUE]
        branches += [compare(GT, rows, values), UNKNOWN]
        return case([*branches, holds], BOOLEAN)

    def _compared(self, node: SubQuery, extreme: RexNode) -> Call:
        return compare(f"${node.comparison}$1", *comparison_operands((node.operands[0], extreme)))

    def _join(self, kind: JoinType, right: Rel, conditions: Iterable[RexNode]) -> tuple[RexNode, ...]:
        """Join the source with a relation; the columns that this adds."""
        left = self.source
        width = len(left.row_type.fields)
        names = concat(left.row_type, right.row_type).field_names
        row_type = join_row_type(kind, left, right, names)
        self.source = Join(left=left, right=right, type=kind, condition=and_(conditions), row_type=row_type)
        return tuple(shift(column, self.shift) for column in identity(row_type)[width:])


_ZERO = Literal(0, INT.not_null())
_ONE = Literal(1, INT.not_null())
_EASIEST = {LT: "$MAX$1", LE: "$MAX$1", GT: "$MIN$1", GE: "$MIN$1"}
"""The value of a column that is compared with most easily."""


def _negated(rex: RexNode) -> RexNode:
    """NOT of a CASE: that of what it yields."""
    *branches, last = children(rex)
    return case([*(negate(b) if i % 2 else b for i, b in enumerate(branches)), negate(last)], rex.type)


def _refused(node: SubQuery, where: str, hint: str) -> UnsupportedError:
    return UnsupportedError(f"Flink cannot plan {node.kind.value} {where}", hint=hint)


def _is_scalar_aggregate(rel: Rel) -> bool:
    while isinstance(rel, Project):
        rel = rel.input
    return isinstance(rel, Aggregate) and not rel.grouping and rel.grouping_sets is None


def _counted(rel: Rel) -> Rel:
    """The number of rows, and of those without NULL."""
    nullable = tuple(i for i, t in enumerate(rel.row_type.field_types) if t.nullable)
    if nullable:
        counted = replace(_COUNT, name="ck", arg_list=tuple(range(len(nullable))))
        return aggregated(columns(rel, nullable), [_COUNT, counted])
    return _twice(aggregated(rel, [_COUNT]), "ck")


def _extreme(rel: Rel, comparison: str) -> Rel:
    """The value of a column that is compared with most easily, the number of rows and that of values."""
    t = rel.row_type.fields[0].type
    extreme = call_of("m", _EASIEST[comparison], (0,), t.nullable_())
    if t.nullable:
        return aggregated(rel, [extreme, _COUNT, replace(_COUNT, name="d", arg_list=(0,))])
    return _twice(aggregated(rel, [extreme, _COUNT]), "d")


def _varieties(rel: Rel) -> Rel:
    """The numbers of different rows and of different values, and the greatest value."""
    t = rel.row_type.fields[0].type
    greatest = call_of("m", "$MAX$1", (0,), t.nullable_())
    values = replace(_COUNT, name="d", arg_list=(0,))
    if t.nullable:
        return aggregated(distinct(rel), [_COUNT, values, greatest])
    found = aggregated(distinct(rel), [_COUNT, greatest])
    rows, m = identity(found.row_type)
    return Project(input=found, exprs=(rows, rows, m), row_type=row_of(("c", "d", "m"), (rows.type, rows.type, m.type)))


def _twice(rel: Rel, name: str) -> Project:
    """The relation with its last column again under another name."""
    exprs = (*identity(rel.row_type), identity(rel.row_type)[-1])
    names = (*rel.row_type.field_names, name)
    return Project(input=rel, exprs=exprs, row_type=row_of(names, (e.type for e in exprs)))


_COUNT = call_of("c", "$COUNT$1", (), BIGINT.not_null())


def _marked(rel: Rel, name: str) -> Rel:
    """Each row once, TRUE behind it."""
    exprs: tuple[RexNode, ...] = (*identity(rel.row_type), TRUE)
    grouped = Aggregate(input=rel, grouping=tuple(range(len(rel.row_type.fields))), calls=(), row_type=rel.row_type)
    row_type = row_of((*rel.row_type.field_names, name), (e.type for e in exprs))
    return Project(input=grouped, exprs=exprs, row_type=row_type)


def _single_row(rel: Rel) -> bool:
    """Whether a relation has one row at most for sure."""
    if isinstance(rel, Aggregate):
        return not rel.grouping
    return isinstance(rel, Project) and _single_row(rel.input)


def _single_value(rel: Rel) -> Rel:
    """The one value of a relation; Flink fails at run time where there are several."""
    field = rel.row_type.fields[0]
    call = call_of(None, functions.SINGLE_VALUE.internal_name, (0,), field.type.nullable_())
    return Aggregate(input=rel, grouping=(), calls=(call,), row_type=row_of(["$f0"], [field.type.nullable_()]))
