"""Relations of the Table API.  Sources: ``QueryOperationConverter``, Calcite's ``RelBuilder``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..plan.functions import Arguments, Function, Kind, conditional, find_function
from ..plan.functions.aggregate import JSON_ARRAYAGG, JSON_OBJECTAGG, SUM0
from ..plan.functions.cast import CAST
from ..plan.functions.comparison import EQ
from ..plan.record import replace
from ..plan.rex import InputRef, Literal, RexNode, transform
from ..plan.specs import AggregateCall
from ..plan.types import LogicalType
from ..planner.algebra.calls import aggregate_call, remap_calls
from ..planner.algebra.logical import Aggregate, Filter, Project
from ..planner.algebra.names import uniquify
from ..planner.algebra.rel import Rel
from ..planner.binder.calls import fit
from ..planner.binder.context import Context
from ..planner.rex.builder import text
from ..planner.rex.expressions import contains_over, identity, inline, is_always_true, is_call, unaliased
from ..planner.rex.simplify import first_condition, shorten
from ..planner.sql import ast
from .expression import Expression
from .naming import ValidationError, field_name, function_of_call, key, rewritten
from .resolving import Resolver


def project(rel: Rel, exprs: Sequence[RexNode], names: Sequence[str]) -> Rel:
    """A projection; one over a projection becomes a single one, unless that has OVER calls."""
    if isinstance(rel, Project) and not any(map(contains_over, rel.exprs)):
        exprs, rel = [inline(e, rel.exprs) for e in exprs], rel.input
    return Project(input=rel, exprs=tuple(map(_simplified, exprs)), names=tuple(names))


def _simplified(rex: RexNode) -> RexNode:
    """An expression as ``RelBuilder.project`` simplifies it: no operand of it may change its type."""
    if contains_over(rex):
        return rex
    simplified = _with_nullable_literals(rex, shorten)
    return simplified if simplified.type == rex.type else rex


def _with_nullable_literals(rex: RexNode, simplified: Callable[[RexNode], RexNode]) -> RexNode:
    """Simplify an expression, without the casts that only make a literal nullable, which Flink keeps."""
    kept: list[RexNode] = []

    def hide(node: RexNode) -> RexNode:
        if not is_call(node, CAST) or not isinstance(node.operands[0], Literal):
            return node
        if node.operands[0].type.nullable_() != node.type:
            return node
        kept.append(node)
        return InputRef(_HIDDEN + len(kept) - 1, node.type)

    def show(node: RexNode) -> RexNode:
        return kept[node.index - _HIDDEN] if isinstance(node, InputRef) and node.index >= _HIDDEN else node

    result = simplified(transform(rex, hide))
    return transform(result, show) if kept else result


_HIDDEN = 1_000_000
"""The index of the column that stands for the first literal that is kept."""


def named_explicitly(exprs: Sequence[RexNode], names: Sequence[str], fields: Sequence[str | None]) -> list[RexNode]:
    """The expressions, those under calls of AS that have another name than their column.

    ``fields`` are the names that they have without it.  Source: ``ProjectionOperationFactory`` with explicit aliases.
    """
    return [
        e if name == own else conditional.ALIAS.typed(e.type, e, text(name))
        for e, name, own in zip(exprs, names, fields, strict=True)
    ]


def filtered(rel: Rel, condition: RexNode) -> Rel:
    """A filter; none for a condition that is always true."""
    simplified = _with_nullable_literals(condition, first_condition)
    return rel if is_always_true(simplified) else Filter(input=rel, condition=simplified)


def column_names(fields: Sequence[Any]) -> list[str]:
    """The names of columns: those of expressions, else by their positions.

    Raises :class:`ValidationError` if a name is given twice.  Source: ``ProjectionOperationFactory``.
    """
    names = [field_name(f) or f"_c{i}" for i, f in enumerate(fields)]
    check_unique(names)
    return names


def check_unique(names: Iterable[str]) -> None:
    """Raise :class:`ValidationError` if a name is there twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValidationError(f"the column name '{name}' is ambiguous", hint="rename one of them with alias(…)")
        seen.add(name)


class Registrar:
    """Columns that an aggregation reads: those of its input, and computed ones behind them.

    Source: ``RelBuilder.Registrar``.
    """

    def __init__(self, rel: Rel) -> None:
        self.rel = rel
        self.exprs: list[RexNode] = list(identity(rel.types))
        self.names: list[str | None] = list(rel.names)

    def add(self, rex: RexNode, name: str | None = None) -> int:
        """The position of an expression's column."""
        if rex in self.exprs:
            at = self.exprs.index(rex)
        else:
            at = len(self.exprs)
            self.exprs.append(rex)
            self.names.append(None)
        if name is not None:
            self.names[at] = name
        return at

    def built(self) -> Rel:
        """The input with the computed columns behind its own."""
        if len(self.exprs) == self.rel.width and list(self.rel.names) == self.names:
            return self.rel
        names = (own or self._inferred(rex) for own, rex in zip(self.names, self.exprs, strict=True))
        return project(self.rel, self.exprs, uniquify(names))

    def _inferred(self, rex: RexNode) -> str | None:
        """The name of the column that is cast.  Source: ``RelBuilder.inferAlias``."""
        while is_call(rex, CAST):
            rex = rex.operands[0]
        return self.rel.names[rex.index] if isinstance(rex, InputRef) else None


def aggregate_function(context: Context, called: Any) -> Function:
    """The aggregate function of a name, or a declared one.  Raises :class:`ValidationError` if it is not one."""
    if called == "$SUM0":
        return SUM0
    if isinstance(called, str) and called.startswith("JSON_"):
        name, _, on_null = called.partition(" ")
        return (JSON_OBJECTAGG if name == "JSON_OBJECTAGG" else JSON_ARRAYAGG)[on_null]
    builtin = find_function(called) if isinstance(called, str) else None
    function = builtin or function_of_call(context, called)
    if function.kind not in (Kind.AGGREGATE, Kind.RANKING):
        raise ValidationError(f"{function.name} is not an aggregate function")
    return function


def is_aggregate(context: Context, value: Any) -> bool:
    """Whether an expression itself is an aggregate."""
    if not isinstance(value, Expression):
        return False
    if value._name == "distinct":
        return is_aggregate(context, value._args[0])
    if value._name == "agg":
        return True
    if value._name != "call":
        return False
    if isinstance(value._args[0], str) and (builtin := find_function(value._args[0])) is not None:
        return builtin.kind is Kind.AGGREGATE
    try:
        return function_of_call(context, value._args[0]).kind is Kind.AGGREGATE
    except ValidationError:
        return False


def holds_aggregate(context: Context, value: Any) -> bool:
    """Whether an aggregate stands in an expression, outside of OVER."""
    if not isinstance(value, Expression) or value._name == "over":
        return False
    return is_aggregate(context, value) or any(holds_aggregate(context, a) for a in value._args)


def operands_of(resolver: Resolver, value: Expression) -> tuple[Function, bool, tuple[RexNode, ...]]:
    """The function of an aggregate, whether it is DISTINCT, and its operands."""
    distinct = value._name == "distinct"
    if distinct:
        value = value._args[0]
    called, *args = value._args
    function = aggregate_function(resolver.context, called)
    operands = resolver.all(resolver.expanded(args))
    return function, distinct, fit(function, operands, ast.NO_SPAN)


def aggregate_of(
    resolver: Resolver, registrar: Registrar, value: Expression, name: str, is_grouped: bool
) -> AggregateCall:
    """The call of an aggregate over the registrar's columns."""
    function, distinct, operands = operands_of(resolver, value)
    arguments = Arguments(tuple(o.type for o in operands), operands, is_grouped)
    places = [registrar.add(o) for o in operands]
    return aggregate_call(
        function,
        places,
        function.returns(arguments),
        name=name,
        distinct=distinct and not function.aggregation.ignores_duplicates,
    )


class Replacer:
    """Replaces aggregates and properties of windows by columns named ``EXPR$0``, ``EXPR$1``, …

    Source: ``OperationExpressionsUtils``.
    """

    def __init__(self, context: Context, prefix: str = "EXPR$", windows: Sequence[str] = ()) -> None:
        self.context = context
        self.prefix = prefix
        self.windows = windows
        self.aggregates: dict[Any, tuple[str, Expression]] = {}
        self.properties: dict[Any, tuple[str, str]] = {}
        self._count = 0

    def __call__(self, value: Any) -> Any:
        """The expression over the columns of the aggregation."""
        return rewritten(value, self._replaced)

    def _replaced(self, value: Expression) -> Expression | None:
        if value._name == "property":
            kind, window = value._args
            if not isinstance(window, Expression) or window._args[0] not in self.windows:
                raise ValidationError(f"'{window}' is no window of the table", hint="group by the window's alias")
            return self._column(self.properties, key(value), kind)
        if is_aggregate(self.context, value):
            return self._column(self.aggregates, key(value), value)
        return None

    def _column(self, known: dict[Any, Any], of: Any, what: Any) -> Expression:
        if of not in known:
            known[of] = (f"{self.prefix}{self._count}", what)
            self._count += 1
        return Expression("col", known[of][0])


def _counting_rows(call: AggregateCall, source: Rel) -> AggregateCall:
    """COUNT of a column that is never NULL counts rows."""
    counts = call.internal_name == "$COUNT$1" and not call.distinct
    if not counts or any(source.types[i].nullable for i in call.arg_list):
        return call
    return replace(call, arg_list=())


def _own_name(group: Any) -> str | None:
    """The name of what is grouped by, which only columns and AS give; that of a conversion is not taken."""
    return field_name(group) if isinstance(group, Expression) and group._name in ("as", "col") else None


def aggregated(
    rel: Rel,
    resolver: Resolver,
    groups: Sequence[Any],
    aggregates: Iterable[tuple[str, Expression]],
    build: Callable[[Rel, tuple[int, ...], tuple[AggregateCall, ...]], Rel] | None = None,
    *,
    reads_all: bool = False,
) -> Rel:
    """The aggregation of a relation by groups; ``build`` makes another one than GROUP BY.

    A projection below is cut to the columns that are read, unless ``reads_all``.  Source: ``RelBuilder.aggregate``.
    """
    registrar = Registrar(rel)
    grouping = [registrar.add(resolver.rex(g), _own_name(g)) for g in groups]
    calls = [aggregate_of(resolver, registrar, value, name, bool(groups)) for name, value in aggregates]
    source = registrar.built()
    if build is None:
        calls = [_counting_rows(call, source) for call in calls]
    places = sorted({*grouping, *(i for c in calls for i in c.arg_list)})
    if not reads_all and isinstance(source, Project) and len(places) < source.width and places:
        mapping = {old: new for new, old in enumerate(places)}
        kept = replace(
            source, exprs=tuple(source.exprs[i] for i in places), names=tuple(source.names[i] for i in places)
        )
        source, grouping = kept, [mapping[g] for g in grouping]
        calls = list(remap_calls(calls, mapping))
    if build is not None:
        return build(source, tuple(grouping), tuple(calls))
    ordered = tuple(sorted(grouping))
    aggregate = Aggregate(input=source, grouping=ordered, calls=tuple(calls))
    if list(ordered) == grouping:
        return aggregate
    columns = identity(aggregate.types)
    order = [ordered.index(g) for g in grouping] + list(range(len(ordered), aggregate.width))
    return project(aggregate, [columns[i] for i in order], [aggregate.names[i] for i in order])


__all__ = [
    "Registrar",
    "Replacer",
    "aggregate_function",
    "aggregated",
    "check_unique",
    "column_names",
    "filtered",
    "holds_aggregate",
    "is_aggregate",
    "operands_of",
    "project",
]


def with_types(rel: Rel, types: Sequence[LogicalType]) -> Rel:
    """A relation with these types of its columns, which differ in whether they may be NULL."""
    if tuple(types) == rel.types:
        return rel
    columns = [c if c.type == t else CAST.typed(t, c) for c, t in zip(identity(rel.types), types, strict=True)]
    cast = project(rel, columns, rel.names)
    return replace(cast, exprs=tuple(map(_cast_without_name, cast.exprs))) if isinstance(cast, Project) else cast


def _cast_without_name(rex: RexNode) -> RexNode:
    return replace(rex, operands=(unaliased(rex.operands[0]),)) if is_call(rex, CAST) else rex


def compares_sides(rex: RexNode, width: int) -> bool:
    """Whether a condition compares a column of the left side with one of the right side.

    Those that are in an expression do not count.  Source: ``JoinOperationFactory``.
    """
    if not is_call(rex, EQ):
        return False
    sides = [o.index >= width for o in rex.operands if isinstance(o, InputRef)]
    return len(sides) == 2 and sides[0] != sides[1]
