"""MATCH_RECOGNIZE.

The conditions and measures are rewritten before they are bound, as Calcite does: a function that goes to a row of a
variable goes to each operand of what it is applied to, and in a condition a column without one is that of the row at
hand or of the last row of its variable.  Sources: ``SqlValidatorImpl.validateMatchRecognize``, its
``NavigationExpander``, ``NavigationReplacer`` and ``PatternValidator``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar

from ...plan.findings import did_you_mean
from ...plan.functions import Function, patterns
from ...plan.functions.aggregate import AVG, COUNT, SUM
from ...plan.functions.cast import CAST
from ...plan.functions.model import BINARY, Arguments
from ...plan.record import Json, Record, replace
from ...plan.rex import Call, InputRef, Literal, PatternInputRef, RexNode, transform
from ...plan.settings import is_batch_mode
from ...plan.types import NULL, TIMESTAMPS, char
from ..algebra.logical import Match, Watermark
from ..algebra.rel import Rel
from ..rex.builder import integer, symbol
from ..rex.expressions import FALSE, TRUE, is_call
from ..sql import ast
from .averages import average, variance
from .calls import call, expands, fit
from .context import Context
from .errors import BindError, unsupported
from .expressions import ExpressionBinder
from .order import sort_field
from .scope import Namespace, Scope

N = TypeVar("N", bound=ast.Node)

_ANY_ROW = "*"
"""What stands for the variable where a column is of any row."""
_NEAR = {"PREV": patterns.PREV, "NEXT": patterns.NEXT}
_OF_VARIABLE = {"FIRST": patterns.FIRST, "LAST": patterns.LAST}
_NAVIGATION = {**_NEAR, **_OF_VARIABLE}
_MODIFIERS = {"FINAL": patterns.FINAL, "RUNNING": patterns.RUNNING}
_OF_MATCH = {**_MODIFIERS, "MATCH_ROWTIME": patterns.MATCH_ROWTIME, "MATCH_PROCTIME": patterns.MATCH_PROCTIME}
_AGGREGATES = frozenset({"AVG", "COUNT", "MAX", "MIN", "SUM", "SUM0"})
"""Those that Calcite knows as aggregates of a variable's rows."""


def bind_match(context: Context, node: ast.MatchRecognize, source: Rel, name: str | None) -> Rel:
    """The matches of a pattern in a relation, which may have a name.

    Raises :class:`BindError` or ``UnsupportedError``.
    """
    if node.all_rows:
        raise unsupported("ALL ROWS PER MATCH", node.span, "Flink gives ONE ROW PER MATCH")
    if not node.measures:
        raise BindError("MATCH_RECOGNIZE yields nothing without MEASURES", node.span, "add MEASURES A.column AS name")
    if node.alias is not None and node.alias.columns:
        hint = "leave the names behind its alias out"
        raise BindError("the columns of MATCH_RECOGNIZE are named in MEASURES", node.alias.span, hint)
    if node.within is not None and not isinstance(node.within, ast.IntervalLiteral):
        raise BindError("WITHIN takes an interval", node.within.span, "write INTERVAL '10' MINUTE")
    matched = _variables(node.pattern)
    for each in (node.after.variable, *(v for subset in node.subsets for v in subset.variables)):
        if each is not None and each.name not in matched:
            raise _unknown(each, matched)
    if is_batch_mode(context.config):
        source = _with_event_time(context, node, source, name)
    scope = Scope((Namespace(source.row_type, 0, name),))
    plain = ExpressionBinder(context, scope, "MATCH_RECOGNIZE")
    variables = {*matched, *(s.name.name for s in node.subsets)}
    variables |= {d.variable.name for d in node.definitions}
    variables |= {name} if name else set()  # Flink takes it for a variable, too
    binder = _MatchBinder(context, scope, variables)
    return Match(
        input=source,
        partition=tuple(_column(plain, e).index for e in node.partition_by),
        order=tuple(sort_field(_column(plain, i.expression).index, i) for i in node.order_by),
        pattern=_pattern(node.pattern),
        after=_after(node.after),
        interval=None if node.within is None else plain.bind(node.within),
        subsets=tuple((s.name.name, tuple(v.name for v in s.variables)) for s in node.subsets),
        definitions=tuple((d.variable.name, binder.definition(d)) for d in node.definitions),
        measures=_unique(node.measures, tuple((m.name.name, binder.measure(m)) for m in node.measures)),
        perhaps_null=frozenset(m.name.name for m in node.measures if _is_average(m.expression)),
    )


def _with_event_time(context: Context, node: ast.MatchRecognize, source: Rel, name: str | None) -> Rel:
    """The relation, in which the timestamp that rows are ordered by is event time, as in batch mode any may be."""
    if not node.order_by:
        return source
    binder = ExpressionBinder(context, Scope((Namespace(source.row_type, 0, name),)), "MATCH_RECOGNIZE")
    time = _column(binder, node.order_by[0].expression)
    if time.type.is_time_attribute or time.type.root not in TIMESTAMPS:
        return source
    return Watermark(input=source, rowtime_index=time.index, expr=time)


def _unknown(name: ast.Identifier, variables: Collection[str]) -> BindError:
    hint = did_you_mean(name.name, sorted(variables))
    return BindError(f"the pattern has no variable '{name}'", name.span, hint)


def _is_average(node: ast.Expression) -> bool:
    return isinstance(node, ast.FunctionCall) and _called(node) == "AVG"


def _unique(
    measures: tuple[ast.Measure, ...], bound: tuple[tuple[str, RexNode], ...]
) -> tuple[tuple[str, RexNode], ...]:
    seen: set[str] = set()
    for measure in measures:
        if measure.name.name in seen:
            raise BindError(f"there are two measures '{measure.name}'", measure.name.span, "give each its own name")
        seen.add(measure.name.name)
    return bound


def _column(binder: ExpressionBinder, node: ast.Expression) -> InputRef:
    rex = binder.bind(node) if isinstance(node, ast.ColumnRef) else None
    if not isinstance(rex, InputRef):
        raise BindError("MATCH_RECOGNIZE goes by columns", node.span, "compute it in a subquery, and name the column")
    return rex


# ---------------------------------------------------------------- the pattern


def _variables(node: ast.Pattern) -> set[str]:
    return {n.name.name for n in node.walk() if isinstance(n, ast.PatternVariable)}


def _name(name: ast.Identifier) -> RexNode:
    return Literal(name.name, char(len(name.name), nullable=False))


def _pattern(node: ast.Pattern) -> RexNode:
    """A pattern as Flink has it: literals name variables, and all else has no type."""
    match node:
        case ast.PatternVariable(name):
            return _name(name)
        case ast.PatternSequence(left, right):
            named = Json({"sqlKind": patterns.SEQUENCE})
            return Call("", (_pattern(left), _pattern(right)), NULL, BINARY, named)
        case ast.PatternChoice(left, right):
            return patterns.CHOICE.typed(NULL, _pattern(left), _pattern(right))
        case ast.PatternRepetition(operand, least, most, is_reluctant):
            bounds = integer(least), integer(most), TRUE if is_reluctant else FALSE
            return patterns.QUANTIFIER.typed(NULL, _pattern(operand), *bounds)
        case ast.PatternPermutation(items):
            return patterns.PERMUTATION.typed(NULL, *map(_pattern, items))
        case ast.PatternExclusion(operand):
            return patterns.EXCLUSION.typed(NULL, _pattern(operand))


def _after(node: ast.AfterMatch) -> RexNode:
    if node.variable is None:
        return symbol("MATCH_RECOGNIZE_AFTER_OPTION", f"SKIP {node.where}".replace(" ", "_"))
    return patterns.SKIPS[node.where].typed(NULL, _name(node.variable))


# ---------------------------------------------------------------- conditions and measures


class _MatchBinder(ExpressionBinder):
    """Binds expressions over the rows that variables have matched."""

    def __init__(self, context: Context, scope: Scope, variables: Collection[str]) -> None:
        super().__init__(context, scope, "DEFINE")
        self.variables = variables
        self.keeps_as_written = True

    def definition(self, node: ast.PatternDefinition) -> RexNode:
        """The condition of a variable."""
        _Checks(self.variable_of, is_measure=False).of(node.condition)
        return self.condition(self._placed(_spread(node.condition), node.variable.name))

    def measure(self, node: ast.Measure) -> RexNode:
        """A measure, which is of the whole match."""
        _Checks(self.variable_of, is_measure=True).of(node.expression)
        rex = self.bind(_spread(node.expression))
        return rex if is_call(rex, patterns.FINAL) else patterns.FINAL.call(rex)

    def variable_of(self, node: ast.ColumnRef) -> str:
        """The variable that a column is of."""
        is_named = len(node.parts) > 1 and node.parts[0].name in self.variables
        return node.parts[0].name if is_named else _ANY_ROW

    def column(self, node: ast.ColumnRef) -> RexNode:
        alpha = self.variable_of(node)
        qualifier = node.parts[0]
        if alpha == _ANY_ROW and len(node.parts) > 1 and qualifier.name not in dict(self.scope.row_fields):
            raise _unknown(qualifier, self.variables)
        rex = self.scope.resolve(node.parts if alpha == _ANY_ROW else node.parts[1:])
        return transform(rex, lambda r: PatternInputRef(alpha, r.index, r.type) if isinstance(r, InputRef) else r)

    def aggregate(self, node: ast.FunctionCall, function: Function) -> RexNode:
        """An aggregate of a variable's rows."""
        if node.distinct or node.filter is not None or node.within_group:
            raise BindError(f"{function.name} takes the rows of a variable as they are", node.span)
        star = function is COUNT and any(isinstance(a, ast.Star) for a in node.args)
        operands = () if star else fit(function, self.bind_all(node.args), node.span)
        if function is AVG:
            total = SUM.call(*operands)
            # of what is never NULL Calcite takes the sum for one that may be, and casts it
            total = total if total.type.nullable else CAST.typed(total.type, total)
            return average(AVG.call(*operands).type, total, COUNT.call(*operands))
        arguments = Arguments(tuple(o.type for o in operands), operands, grouped=False)
        if kind := function.aggregation.variance:
            return variance(function.returns(arguments), operands[0], Function.call, *kind)
        return function.typed(function.returns(arguments), *operands)

    def navigated(self, function: Function, node: ast.FunctionCall) -> RexNode:
        """A value at a row that a function goes to."""
        if not isinstance(node.args[1], ast.NumericLiteral):
            raise BindError(f"{function.name} goes a fixed number of rows", node.args[1].span, "write a whole number")
        return call(function, self.bind_all(node.args), node)

    def _placed(self, node: ast.Expression, alpha: str) -> ast.Expression:
        """A condition whose columns say which row of their variable they are of."""
        if isinstance(node, ast.FunctionCall):
            name = _called(node)
            if name in _AGGREGATES or name in _OF_VARIABLE or name in _MODIFIERS:
                return node
            column = node.args[0] if name == "PREV" else None
            if isinstance(column, ast.ColumnRef):
                return node if self.variable_of(column) == alpha else _going("LAST", *node.args)
        if isinstance(node, ast.ColumnRef):
            return _going("PREV" if self.variable_of(node) == alpha else "LAST", node, _number(0))
        return _over_operands(node, lambda operand: self._placed(operand, alpha))


@expands(*_NAVIGATION, *_OF_MATCH)
def _match_time(binder: ExpressionBinder, node: ast.FunctionCall) -> RexNode:
    name = _called(node)
    if not isinstance(binder, _MatchBinder):
        raise BindError(f"{name} can be used only in MATCH_RECOGNIZE", node.span)
    if name in _NAVIGATION:
        return binder.navigated(_NAVIGATION[name], node)
    if node.args and name == "MATCH_ROWTIME" and not isinstance(node.args[0], ast.ColumnRef):
        raise BindError("MATCH_ROWTIME takes a column, not an expression", node.span, "name the column of event time")
    operands = binder.bind_all(node.args)
    if operands and name == "MATCH_ROWTIME" and not operands[0].type.is_rowtime:
        given = operands[0].type.nullable_()
        raise BindError(f"MATCH_ROWTIME takes the column of event time, not {given}", node.span)
    return call(_OF_MATCH[name], operands, node)


def _called(node: ast.FunctionCall) -> str:
    return str(node.name).upper()


def _going(name: str, *args: ast.Expression) -> ast.FunctionCall:
    return ast.FunctionCall(ast.Name((ast.Identifier(name),)), args, span=args[0].span)


def _number(value: int) -> ast.Expression:
    return ast.NumericLiteral(str(value))


def _over_operands(node: N, change: Callable[[ast.Expression], ast.Expression]) -> N:
    """A node over what is made of each of its operands."""

    def changed(value: object) -> object:
        if isinstance(value, ast.Expression):
            return change(value)
        if isinstance(value, tuple):
            return tuple(map(changed, value))
        return _over_operands(value, change) if isinstance(value, ast.Node) else value

    return replace(node, **{name: changed(getattr(node, name)) for name in node.__struct_fields__})


class _Step(Record):
    """A function that goes to a row, and how far."""

    name: str
    offset: ast.Expression

    def to(self, node: ast.Expression) -> ast.Expression:
        """The function applied to an expression."""
        return node if isinstance(node, ast.Symbol) else _going(self.name, node, self.offset)


def _spread(node: ast.Expression, step: _Step | None = None) -> ast.Expression:
    """An expression in which functions that go to a row are applied to operands, with their offsets written out."""
    if isinstance(node, ast.FunctionCall) and _called(node) in _NAVIGATION:
        name = _called(node)
        if not 1 <= len(node.args) <= 2:
            raise BindError(f"{name} takes a value and how far to go", node.span, f"write {name}(A.column, 1)")
        offset = node.args[1] if len(node.args) == 2 else _number(int(name in _NEAR))
        spread = _spread(node.args[0], _Step(name, offset))
        return spread if step is None else step.to(spread)
    operands = [n for n in node.children() if isinstance(n, (ast.Expression, ast.When))]
    if step is not None and (not operands or isinstance(node, ast.ColumnRef)):
        return step.to(node)
    return _over_operands(node, lambda operand: _spread(operand) if step is None else step.to(_spread(operand)))


class _Checks(Record):
    """What functions may stand inside others; ``around`` names those that an expression stands in."""

    variable_of: Callable[[ast.ColumnRef], str]
    is_measure: bool
    around: tuple[str, ...] = ()

    def of(self, node: ast.Node) -> set[str]:
        """The variables that an expression is of.  Raises :class:`BindError`."""
        if isinstance(node, ast.ColumnRef):
            return {self.variable_of(node)}
        name = _called(node) if isinstance(node, ast.FunctionCall) else ""
        inside = self
        if name in _NAVIGATION or name in _AGGREGATES:
            self._check(name, node)
            inside = replace(self, around=(*self.around, name))
        elif name in _MODIFIERS and not self.is_measure:
            raise BindError(f"{name} stands in MEASURES only", node.span)
        variables = set().union(*(inside.of(child) for child in node.children()))
        if (name in _NAVIGATION or name in _AGGREGATES) and len(variables) != 1 and (variables or name != "COUNT"):
            many = " and ".join(f"'{v}'" for v in sorted(variables)) or "none"
            raise BindError(f"{name} takes values of one variable, and these are of {many}", node.span)
        return variables

    def _check(self, name: str, node: ast.Node) -> None:
        if name in _NEAR and self.is_measure:
            raise BindError(f"{name} stands in DEFINE only", node.span, "use FIRST or LAST in MEASURES")
        if any(each in _NAVIGATION for each in self.around):
            raise BindError(f"{name} cannot stand inside {self.around[-1]}", node.span)
