"""Subqueries in expressions become columns of a join.  Source: Calcite's ``SubQueryRemoveRule``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto
from typing import Protocol

from ...plan.errors import UnsupportedError
from ...plan.functions import Function, called
from ...plan.functions.aggregate import COUNT
from ...plan.functions.cast import CAST
from ...plan.functions.comparison import (
    AND,
    EQ,
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
)
from ...plan.functions.conditional import CASE
from ...plan.record import Struct, field, replace
from ...plan.rex import Call, FieldAccess, InputRef, Literal, RexNode, children
from ...plan.specs import AggregateCall, JoinType
from ...plan.types import BOOLEAN, INT, LogicalType
from ..algebra.builders import append_columns, compare_columns, distinct, filtered
from ..algebra.calls import is_call_of
from ..algebra.logical import Aggregate, Filter, Join, Project
from ..algebra.names import uniquify
from ..algebra.rel import Rel
from ..metadata.uniqueness import are_columns_unique
from ..rex.builder import comparison_operands
from ..rex.expressions import (
    FALSE,
    TRUE,
    UNKNOWN,
    and_,
    case,
    cast,
    compare,
    conjunctions,
    holds_subquery,
    identity,
    inline,
    is_call,
    or_,
    rewrite,
    shift,
    test,
)
from ..rex.simplify import negate, simplify_condition
from ..rex.unplanned import SubQuery, SubQueryKind
from .aggregates import (
    distinct_counts,
    distinct_counts_by_call,
    extreme_value,
    marked_rows,
    row_counts,
    single_value,
    without_check,
)
from .decorrelation import Frame, correlated_columns, decorrelated, free_variables
from .semi_joins import has_a_row, is_correlated, joined


class Rewriter(Protocol):
    """What :class:`Joins` needs of the rewriter of relations."""

    met_correlation: bool
    """Whether any of them read the rows of another one."""
    took_apart: bool
    """Whether one of them no longer does."""

    def expand(self, rel: Rel) -> Rel:
        """The relation of a joined subquery, without subqueries in it."""
        ...


class Logic(Enum):
    """Which truth values of a condition have to be told apart.  Source: ``RelOptUtil.Logic``, ``LogicVisitor``."""

    TRUE = auto()
    """UNKNOWN counts as FALSE, as in a filter."""
    TWO_VALUED = auto()
    """The condition is never UNKNOWN."""
    THREE_VALUED = auto()
    UNKNOWN_AS_FALSE = auto()
    UNKNOWN_AS_TRUE = auto()


_LOGIC: dict[Function | None, Logic] = {
    IS_TRUE: Logic.UNKNOWN_AS_FALSE,
    IS_NOT_TRUE: Logic.UNKNOWN_AS_FALSE,
    IS_FALSE: Logic.UNKNOWN_AS_TRUE,
    IS_NOT_FALSE: Logic.UNKNOWN_AS_TRUE,
}


def _asked_of_operands(rex: RexNode, logic: Logic) -> Logic:
    """The logic of a call's operands, given that of the call."""
    return logic if is_call(rex, AND) else _LOGIC.get(called(rex), Logic.THREE_VALUED)


class Joins(Struct):
    """Joins the source with the subqueries of an expression, and replaces the subqueries by columns.

    Source: ``SubQueryRemoveRule.rewriteIn``, ``rewriteExists``, ``rewriteSome``, ``rewriteScalarQuery``.
    """

    rewriter: Rewriter
    source: Rel
    shift: int = 0
    """The number of columns of the other join input, which stand before the source's columns."""
    own_conditions: Sequence[RexNode] = ()
    """What the filter of the subqueries asks of its input alone.

    It goes below the first subquery that is decorrelated, and so to the outer rows.  Source: ``FilterCorrelateRule``.
    """

    asked: dict[SubQuery[Rel], Logic] = field(default_factory=dict)
    """The logic of each subquery, over all places where it stands."""
    values: dict[SubQuery[Rel], RexNode] = field(default_factory=dict)
    """The expression that replaces each subquery."""

    has_correlated: bool = False
    """Whether a correlated subquery was joined.

    All subqueries of a relation have one correlation variable.  Flink's rules that find a subquery's row by its key
    apply to the first of them only.  Source: ``DeduplicateCorrelateVariables``, ``RelDecorrelator.checkCorVars``.
    """
    outer_rows: Rel | None = None
    """What the first decorrelated subquery was joined with: the outer rows of all, as they share the variable.

    Source: ``RelDecorrelator.CorelMapBuilder``, which keeps the innermost of the Correlates of a variable.
    """

    def rewritten(self, rex: RexNode, logic: Logic) -> RexNode:
        """The expression without subqueries; equal subqueries are joined once."""
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
        if not holds_subquery(rex):
            return rex
        if not isinstance(rex, Call):
            return rewrite(rex, lambda r: self._rewritten(r, Logic.THREE_VALUED) if isinstance(r, SubQuery) else r)
        operands = [self._rewritten(o, _asked_of_operands(rex, logic)) for o in rex.operands]
        if is_call(rex, NOT) and is_call(operands[0], CASE):
            return _negated(operands[0])
        if is_call(rex, CASE) and rex.type.root != "BOOLEAN":
            operands[:-1:2] = map(simplify_condition, operands[:-1:2])
        return replace(rex, operands=tuple(operands))

    def _value(self, node: SubQuery[Rel], logic: Logic) -> RexNode:
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
        some = self._some(node)
        return some if node.type.nullable or not some.type.nullable else cast(some, node.type)

    def attach(self, kind: JoinType, right: Rel, correl: str | None) -> tuple[RexNode, ...]:
        """Join the source with a relation that may be correlated; returns the added columns."""
        if correl is None or correl not in free_variables(right):
            return self._join(kind, right, [])
        self.rewriter.met_correlation = self.rewriter.took_apart = self.has_correlated = True
        if kind is JoinType.LEFT and _is_scalar_aggregate(right):
            return self._aggregates(right, correl)
        frame = self._decorrelated(right, correl)
        added = self._join(kind, frame.rel, self._equalities(frame.rel, frame.outer))
        return tuple(added[frame.places[i]] for i in range(right.width))

    def _decorrelated(self, rel: Rel, correl: str) -> Frame:
        if self.outer_rows is None:
            self.source = self.outer_rows = filtered(self.source, self.own_conditions)
        return decorrelated(rel, correl, self.outer_rows)

    def _equalities(self, right: Rel, outer: Mapping[int, int]) -> list[RexNode]:
        return [compare_columns(self.source, c, right, outer[c]) for c in sorted(outer)]

    def _aggregates(self, right: Rel, correl: str) -> tuple[RexNode, ...]:
        """The added columns of an aggregation; after the outer join counts of no rows are 0 and other aggregates NULL.

        Source: ``AdjustProjectForCountAggregateRule``.
        """
        exprs: tuple[RexNode, ...] = identity(right.types)
        names = right.names
        while isinstance(right, Project):
            exprs = tuple(inline(e, right.exprs) for e in exprs)
            right = right.input
        assert isinstance(right, Aggregate)
        width = self.source.width
        frame = self._decorrelated(right, correl)
        added = self._join(JoinType.LEFT, frame.rel, self._equalities(frame.rel, frame.outer))
        values = []
        for i, call in enumerate(right.calls):
            value = added[frame.places[i]]
            if is_call_of(call, COUNT):
                zero = Literal(0, call.type.not_null())
                value = case([test(IS_NULL, value), zero, value], call.type.nullable_())
            values.append(value)
        results = tuple(cast(_typed_anew(e, values), e.type.nullable_()) for e in exprs)
        return self._computed(width, results, names)

    def _computed(self, width: int, values: tuple[RexNode, ...], names: Iterable[str]) -> tuple[RexNode, ...]:
        """The values as columns behind the source's first ``width`` ones."""
        exprs = (*identity(self.source.types)[:width], *values)
        columns = uniquify([*self.source.names[:width], *names])
        self.source = Project(input=self.source, exprs=exprs, names=columns)
        return identity(self.source.types)[width:]

    def _scalar(self, node: SubQuery[Rel]) -> RexNode:
        rel = self.rewriter.expand(node.rel)
        correlated = node.correl is not None and node.correl in free_variables(rel)
        first, self.has_correlated = not self.has_correlated, self.has_correlated or correlated
        if node.correl is not None and correlated and first:
            keyed = self._keyed(rel, node.correl) or self._aggregated_by_key(rel, node.correl)
            if keyed is not None:
                return keyed
        if not are_columns_unique(rel, ()):
            rel = single_value(rel)
        if correlated:
            rel = without_check(rel)
        return self.attach(JoinType.LEFT, rel, node.correl)[0]

    def _keyed(self, rel: Rel, correl: str) -> RexNode | None:
        """A column of the one row with a key that the outer row gives: ``RemoveCorrelationForScalarProjectRule``."""
        if not isinstance(rel, Project) or not isinstance(rel.input, Filter):
            return None
        table = rel.input.input
        if correl in free_variables(table) or is_correlated(rel.exprs[0], correl):
            return None
        parts = conjunctions(rel.input.condition)
        outer = [p for p in parts if is_correlated(p, correl)]
        keys = {o.index for p in outer for o in children(p) if isinstance(o, InputRef)}
        if not all(is_call(p, EQ) for p in outer) or not are_columns_unique(table, keys):
            return None
        width = self.source.width
        added = self._join(JoinType.LEFT, table, [joined(p, self.source, width, correl) for p in parts])
        return _typed_anew(rel.exprs[0], added, absent=test(IS_NULL, added[min(keys)]))

    def _aggregated_by_key(self, rel: Rel, correl: str) -> RexNode | None:
        """What is computed of aggregates over the rows that equal a key of the outer row.

        Those are joined first, then grouped by the source's columns: ``RemoveCorrelationForScalarAggregateRule``.
        """
        match rel:
            case Project(
                exprs=(value,),
                input=Aggregate(
                    grouping=(), grouping_sets=None, calls=calls, input=Project(input=Filter() as below) as computed
                ),
            ):
                rows = below.input
            case _:
                return None
        if correl in free_variables(rows) or any(is_correlated(e, correl) for e in computed.exprs):
            return None
        parts = conjunctions(below.condition)
        keys = [c for p in parts if is_call(p, EQ) for c in _equated_with(p, correl)]
        if not keys or set(keys) != {c for p in parts for c in correlated_columns(p, correl)}:
            return None
        if not are_columns_unique(self.source, keys):
            return None
        width = self.source.width
        exprs: tuple[RexNode, ...] = (*identity(rows.types), TRUE)
        marked = Project(input=rows, exprs=exprs, names=uniquify([*rows.names, "nullIndicator"]))
        *added, mark = self._join(JoinType.LEFT, marked, [joined(p, self.source, width, correl) for p in parts])
        arguments = [_typed_anew(e, added, absent=test(IS_NULL, mark)) for e in computed.exprs]
        if not all(c.arg_list for c in calls):
            arguments.append(mark)
        self._computed(width, tuple(arguments), [*computed.names, "nullIndicator"][: len(arguments)])
        types = self.source.types
        last = len(types) - 1
        calls = tuple(_over_groups(c, tuple(width + a for a in c.arg_list) or (last,), width, types) for c in calls)
        self.source = Aggregate(input=self.source, grouping=tuple(range(width)), calls=calls)
        result = _typed_anew(value, identity(self.source.types)[width:])
        return self._computed(width, (cast(result, result.type.nullable_()),), rel.names)[0]

    def _exists(self, node: SubQuery[Rel], logic: Logic) -> RexNode:
        """Whether the subquery has a row."""
        rel = self.rewriter.expand(node.rel)
        if has_a_row(rel):
            return TRUE
        rows = distinct(Project(input=rel, exprs=(TRUE,), names=("i",)))
        if logic is Logic.TRUE:
            self.attach(JoinType.INNER, rows, node.correl)
            return TRUE
        return test(IS_NOT_NULL, self.attach(JoinType.LEFT, rows, node.correl)[0])

    def _contained(self, node: SubQuery[Rel], logic: Logic) -> RexNode:
        """Whether the operands are among the rows of the subquery."""
        rel = self.rewriter.expand(node.rel)
        if not node.type.nullable and logic is not Logic.TRUE:
            logic = Logic.TWO_VALUED
        reads_outer = node.correl is not None and node.correl in free_variables(rel)
        counts: tuple[RexNode, ...] = ()
        if logic in (Logic.THREE_VALUED, Logic.UNKNOWN_AS_TRUE):
            kind = JoinType.LEFT if reads_outer else JoinType.INNER
            counts = self.attach(kind, row_counts(rel), node.correl)
        if logic is Logic.TRUE:
            self._match(node, distinct(rel))
            return TRUE
        if reads_outer:
            raise _refused(node, "of the outer row in this place", "use it alone, or joined by AND, in WHERE")
        equal = self._equal_operands(node, rel, range(rel.width))
        has_match = test(IS_NOT_NULL, self._join(JoinType.LEFT, marked_rows(rel, "i"), equal)[-1])
        unknown = TRUE if logic is Logic.UNKNOWN_AS_TRUE else UNKNOWN
        branches: list[RexNode] = [compare(EQ, counts[0], _ZERO), FALSE] if counts else []
        nulls = [test(IS_NULL, o) for o in node.operands if o.type.nullable]
        branches += [or_(nulls), UNKNOWN] if nulls else []
        branches += [has_match, TRUE]
        branches += [compare(LT, counts[1], counts[0]), unknown] if counts else []
        return case([*branches, FALSE], BOOLEAN) if len(branches) > 2 else has_match

    def _match(self, node: SubQuery[Rel], rows: Rel) -> None:
        """Join the source with the rows that equal the operands; the relation may be correlated."""
        if node.correl is None or node.correl not in free_variables(rows):
            self._join(JoinType.INNER, rows, self._equal_operands(node, rows, range(rows.width)))
            return
        self.rewriter.met_correlation = self.rewriter.took_apart = True
        frame = self._decorrelated(rows, node.correl)
        equal = self._equal_operands(node, frame.rel, [frame.places[i] for i in range(rows.width)])
        self._join(JoinType.INNER, frame.rel, [*self._equalities(frame.rel, frame.outer), *equal])

    def _equal_operands(self, node: SubQuery[Rel], right: Rel, places: Iterable[int]) -> list[RexNode]:
        """The equality of each operand with the column at its place in the relation that is joined."""
        width, types = self.source.width, right.types
        return [
            compare(EQ, *comparison_operands((o, InputRef(width + i, types[i]))))
            for o, i in zip(node.operands, places, strict=True)
        ]

    def _some(self, node: SubQuery[Rel]) -> RexNode:
        """Whether the comparison holds for some row, decided by the extreme value."""
        rel = self.rewriter.expand(node.rel)
        comparison, operand = node.comparison, node.operands[0]
        assert comparison is not None
        correlated = node.correl is not None and node.correl in free_variables(rel)
        if comparison is NE:
            counts = distinct_counts_by_call(rel) if correlated else distinct_counts(rel)
        else:
            counts = extreme_value(rel, comparison)
        if node.correl is not None and correlated:
            columns, no_rows = self._attach_marked(counts, node.correl)
        else:
            columns = self.attach(JoinType.INNER, counts, node.correl)
            no_rows = FALSE
        rows, values, extreme = columns if comparison is NE else (columns[1], columns[2], columns[0])
        holds = compare(comparison, *comparison_operands((operand, extreme)))
        branches: list[RexNode] = [or_([no_rows, compare(EQ, rows, _ZERO)]), FALSE]
        if comparison is not NE:
            branches += [test(IS_TRUE, holds), TRUE, compare(GT, rows, values), UNKNOWN]
            return case([*branches, holds], BOOLEAN)
        branches += [test(IS_NULL, operand), UNKNOWN] if operand.type.nullable else []
        few = and_([compare(NE, values, rows), compare(LE, values, _ONE)])
        branches += [few, or_([holds, UNKNOWN]), compare(EQ, values, _ONE), holds]
        return case([*branches, TRUE], BOOLEAN)

    def _attach_marked(self, rel: Rel, correl: str) -> tuple[tuple[RexNode, ...], RexNode]:
        """The columns of a correlated relation that is joined, and the condition that an outer row has none of it."""
        self.rewriter.met_correlation = self.rewriter.took_apart = self.has_correlated = True
        frame = self._decorrelated(append_columns(rel, [TRUE], ["trueLiteral"]), correl)
        added = self._join(JoinType.LEFT, frame.rel, self._equalities(frame.rel, frame.outer))
        *columns, mark = (added[frame.places[i]] for i in range(rel.width + 1))
        return tuple(columns), test(IS_NULL, mark)

    def _join(self, kind: JoinType, right: Rel, conditions: Iterable[RexNode]) -> tuple[RexNode, ...]:
        """Join the source with a relation; returns the added columns."""
        left = self.source
        width = left.width
        self.source = Join(left=left, right=right, type=kind, condition=and_(conditions))
        return tuple(shift(column, self.shift) for column in identity(self.source.types)[width:])


_ZERO = Literal(0, INT.not_null())
_ONE = Literal(1, INT.not_null())


def _negated(rex: RexNode) -> RexNode:
    """NOT of a CASE, pushed into its results."""
    *branches, last = children(rex)
    return case([*(negate(b) if i % 2 else b for i, b in enumerate(branches)), negate(last)], rex.type)


def _refused(node: SubQuery[Rel], where: str, hint: str) -> UnsupportedError:
    return UnsupportedError(f"Flink cannot plan {node.kind.value} {where}", hint=hint)


def _typed_anew(rex: RexNode, values: Sequence[RexNode], absent: RexNode | None = None) -> RexNode:
    """The expression over other values, with the types of calls derived anew.

    Calls and literals yield NULL where ``absent`` holds, if it is given.
    Source: ``RelDecorrelator.RemoveCorrelationRexShuttle``.
    """
    if isinstance(rex, InputRef):
        return values[rex.index]
    operands = tuple(_typed_anew(o, values, absent) for o in children(rex))
    new = rex
    if isinstance(rex, Call) and operands != rex.operands:
        function = None if is_call(rex, CAST) else called(rex)
        new = function.call(*operands) if function else replace(rex, operands=operands)
    elif not isinstance(rex, Literal):
        return rex
    nullable = new.type.nullable_()
    return new if absent is None else case([absent, Literal(None, nullable), new], nullable)


def _equated_with(comparison: Call, correl: str) -> list[int]:
    """The column of the outer row that is one side of a comparison; empty if there is none."""
    left, right = comparison.operands
    for outer, own in ((left, right), (right, left)):
        if isinstance(outer, FieldAccess) and is_correlated(outer, correl) and not is_correlated(own, correl):
            return correlated_columns(outer, correl)
    return []


def _over_groups(
    call: AggregateCall, arguments: tuple[int, ...], shift: int, types: Sequence[LogicalType]
) -> AggregateCall:
    """A call of an aggregation without groups as one over groups, its arguments and filter shifted."""
    t = call.type
    if not is_call_of(call, COUNT):
        t = t.with_nullability(any(types[a].nullable for a in arguments) or call.filter_arg >= 0)
    filter_arg = call.filter_arg + shift if call.filter_arg >= 0 else -1
    return replace(call, arg_list=arguments, filter_arg=filter_arg, type=t)


def _is_scalar_aggregate(rel: Rel) -> bool:
    while isinstance(rel, Project):
        rel = rel.input
    return isinstance(rel, Aggregate) and not rel.grouping and rel.grouping_sets is None
