"""Calls of Python functions: each calc either calls Python functions only, or none.

Sources: ``PythonCalcSplitRule`` with the rules of ``RemoteCalcSplitRuleBase``, ``PythonCorrelateSplitRule``,
``CalcPythonCorrelateTransposeRule``, ``SplitPythonConditionFromJoinRule``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...plan.functions.user import PythonKind, calls_builtin, calls_python, calls_python_anywhere, python_kind
from ...plan.record import Record, replace
from ...plan.rex import Call, CorrelVariable, FieldAccess, InputRef, RexNode, transform
from ...plan.specs import JoinType
from ..algebra.builders import holds_python
from ..algebra.logical import Correlate, Filter, Join
from ..algebra.names import uniquify
from ..algebra.physical import Calc
from ..algebra.rel import Rel
from ..errors import PlanningError
from ..rex.expressions import and_, conjunctions, identity, ordered_refs, unaliased
from .rule import rule

Test = Callable[[RexNode], bool]


# ---------------------------------------------------------------- calcs


@rule(on=Calc)
def split_python_calcs(rel: Calc) -> Rel:
    """Split a calc that calls Python functions: built-in calls, conditions and other kinds get calcs of their own."""
    if not holds_python(rel):
        return rel
    for split in _SPLITS:
        rel = _split_all(split, rel)
    return _with_names_of_results(rel)


def _with_names_of_results(rel: Calc) -> Calc:
    """Calcs that only take all fields of a function's result apart name them as the function does.

    Source: ``PythonMapRenameRule``.
    """
    below = rel.input
    if not isinstance(below, Calc):
        return rel
    rel = replace(rel, input=_with_names_of_results(below))
    fields = [unaliased(rex) for rex in rel.projection]
    rows = {rex.expr for rex in fields if type(rex) is FieldAccess}
    if rel.condition is not None or len(rows) != 1:
        return rel
    (row,) = rows
    names = tuple(rex.name for rex in fields if type(rex) is FieldAccess)
    if type(row) is not InputRef or not calls_python(below.projection[row.index]) or names != row.type.field_names:
        return rel
    return replace(rel, names=names) if len(names) == len(fields) else rel


def _split_all(split: Split, rel: Calc) -> Calc:
    """The calc, and those below it, split as long as the split matches."""
    while split.matches(rel):
        rel = split.apply(rel)
    below = rel.input
    if isinstance(below, Calc):
        rel = replace(rel, input=_split_all(split, below))
    return rel


class Split(Record):
    """A split of a calc into one above and one below.

    ``matches`` says whether a calc is split; ``converts`` gives the test of expressions that go below; which of the
    condition and the projection are rewritten for that says ``condition`` and ``projection``.  A condition that is not
    rewritten goes below whole.
    """

    name: str
    matches: Callable[[Calc], bool]
    converts: Callable[[Calc], Test]
    condition: bool = False
    projection: bool = True
    shares: bool = False
    """Whether equal expressions go below once."""

    def apply(self, rel: Calc) -> Calc:
        """The two calcs."""
        extractor = Extractor(rel.input.width, self.converts(rel), self.shares)
        above_condition = extractor.visit(rel.condition) if self.condition and rel.condition is not None else None
        below_condition = None if self.condition else rel.condition
        projection = rel.projection
        if self.projection:
            projection = tuple(map(extractor.visit, projection))
        projection = tuple(map(extractor.same, projection))
        return _two_calcs(rel, extractor.extracted, projection, above_condition, below_condition)


class Extractor:
    """Replaces expressions by references to columns behind the input's, in which they are computed.

    Source: ``ScalarFunctionSplitter``.
    """

    def __init__(self, offset: int, converts: Test, shares: bool = False) -> None:
        self.offset = offset
        self.converts = converts
        self.shares = shares
        self.extracted: list[RexNode] = []

    def visit(self, rex: RexNode) -> RexNode:
        """The expression with what is extracted replaced."""
        if type(rex) is Call:
            if self.converts(rex):
                return self._extract(rex)
            operands = tuple(map(self.visit, rex.operands))
            return rex if operands == rex.operands else replace(rex, operands=operands)
        if type(rex) is FieldAccess and self.converts(rex):
            return self._field(rex)
        return rex

    def same(self, rex: RexNode) -> RexNode:
        """The column of an extracted expression that is the very expression, or else the expression."""
        if rex in self.extracted and type(rex) is Call:
            return InputRef(self.offset + self.extracted.index(rex), rex.type)
        return rex

    def _extract(self, rex: RexNode) -> RexNode:
        if self.shares and rex in self.extracted:
            return InputRef(self.offset + self.extracted.index(rex), rex.type)
        self.extracted.append(rex)
        return InputRef(self.offset + len(self.extracted) - 1, rex.type)

    def _field(self, rex: FieldAccess) -> RexNode:
        if calls_python(rex.expr):
            return FieldAccess(rex.name, self._extract(rex.expr))
        if type(rex.expr) is CorrelVariable:
            return InputRef(rex.expr.type.field_names.index(rex.name), rex.type)
        if type(rex.expr) is FieldAccess and type(rex.expr.expr) is not CorrelVariable:
            self._extract(rex.expr)  # Flink computes the row as well
        return self._extract(rex)


def _two_calcs(
    rel: Calc,
    extracted: Sequence[RexNode],
    projection: Sequence[RexNode],
    above_condition: RexNode | None,
    below_condition: RexNode | None,
) -> Calc:
    source = rel.input
    width = source.width
    names = rel.input_names or source.names
    conditions = [] if above_condition is None else [above_condition]
    accessed = [i for i in ordered_refs([*projection, *conditions]) if i < width]
    columns = identity(source.types)
    below = Calc(
        input=source,
        projection=(*[columns[i] for i in accessed], *extracted),
        names=uniquify([*[names[i] for i in accessed], *[f"f{i}" for i in range(len(extracted))]]),
        condition=below_condition,
        input_names=rel.input_names,
    )
    places = {old: new for new, old in enumerate(accessed)}
    places |= {width + i: len(accessed) + i for i in range(len(extracted))}

    def moved(rex: RexNode) -> RexNode:
        return transform(rex, lambda r: replace(r, index=places[r.index]) if type(r) is InputRef else r)

    return Calc(
        input=below,
        projection=tuple(map(moved, projection)),
        names=rel.names,
        condition=None if above_condition is None else moved(above_condition),
    )


def _is_python(rex: RexNode) -> bool:
    return python_kind(rex) is not None


def _is_builtin(rex: RexNode) -> bool:
    return type(rex) is Call and python_kind(rex) is None


def _field_of_python(rex: RexNode) -> bool:
    return type(rex) is FieldAccess and calls_python(rex.expr)


def _accesses_python(rex: RexNode) -> bool:
    if type(rex) is Call:
        return any(map(_accesses_python, rex.operands))
    if type(rex) is FieldAccess and type(rex.expr) is FieldAccess and calls_python_anywhere(rex.expr):
        raise PlanningError(
            "Flink cannot plan the field of a field of a Python function's result",
            hint="call the function in a subquery, and take the fields outside",
        )
    return _field_of_python(rex)


def _accesses_field(rex: RexNode) -> bool:
    return type(rex) is FieldAccess or (type(rex) is Call and any(map(_accesses_field, rex.operands)))


def _any_python(rel: Calc, kind: PythonKind | None = None) -> bool:
    return any(calls_python(e, kind) for e in rel.projection)


def _mixes(first: PythonKind, second: PythonKind) -> Callable[[Calc], bool]:
    return lambda rel: _any_python(rel, first) and _any_python(rel, second)


def _of_other_kind(first: PythonKind, second: PythonKind) -> Callable[[Calc], Test]:
    """Calls of the second kind where one of the first stands on top, else all others."""

    def converts(rel: Calc) -> Test:
        on_top = any(python_kind(e) is first for e in rel.projection)
        return lambda rex: type(rex) is Call and on_top == (python_kind(rex) is second)

    return converts


def _of_other_language(rel: Calc) -> Test:
    """Python calls where a built-in one stands on top, else the built-in ones."""
    on_top = any(map(_is_builtin, rel.projection))
    return lambda rex: type(rex) is Call and on_top == _is_python(rex)


def _is_out_of_order(rel: Calc) -> bool:
    """Whether a calc with Python calls has others than columns and calls, or columns behind calls."""
    if not _any_python(rel):
        return False
    if any(type(e) not in (Call, InputRef) for e in rel.projection):
        return True
    calls = [i for i, e in enumerate(rel.projection) if type(e) is Call]
    columns = [i for i, e in enumerate(rel.projection) if type(e) is InputRef]
    return bool(calls and columns) and calls[0] < columns[-1]


def _is_async(rex: RexNode) -> bool:
    return python_kind(rex) is PythonKind.ASYNC


def _nests_async(rex: RexNode) -> bool:
    """Whether an asynchronous call reads the result of another one."""
    return type(rex) is Call and (
        (_is_async(rex) and any(calls_python(o, PythonKind.ASYNC) for o in rex.operands))
        or any(map(_nests_async, rex.operands))
    )


def _is_inner_async(rex: RexNode) -> bool:
    return _is_async(rex) and not _nests_async(rex)


def _first_async(rel: Calc) -> Test:
    first = next(e for e in rel.projection if _is_async(e))
    return lambda rex: rex is first


def _nothing(rel: Calc) -> Test:
    return lambda rex: False


_GENERAL, _PANDAS, _ASYNC = PythonKind.GENERAL, PythonKind.PANDAS, PythonKind.ASYNC

_SPLITS = (
    Split(
        "fields in the condition",
        lambda rel: rel.condition is not None and _accesses_python(rel.condition),
        lambda rel: _field_of_python,
        condition=True,
        shares=True,
    ),
    Split(
        "fields in the projection",
        lambda rel: any(map(_accesses_python, rel.projection)),
        lambda rel: _field_of_python,
        shares=True,
    ),
    Split(
        "the condition",
        lambda rel: rel.condition is not None and calls_python(rel.condition),
        lambda rel: _is_python,
        condition=True,
        projection=False,
    ),
    Split(
        "the projection",
        lambda rel: _any_python(rel) and any(map(calls_builtin, rel.projection)),
        _of_other_language,
    ),
    Split("pandas calls", _mixes(_GENERAL, _PANDAS), _of_other_kind(_GENERAL, _PANDAS)),
    Split(
        "fields as arguments",
        lambda rel: _any_python(rel) and any(map(_accesses_field, rel.projection)),
        lambda rel: lambda rex: type(rex) is FieldAccess,
    ),
    Split(
        "the condition below",
        lambda rel: rel.condition is not None and _any_python(rel),
        _nothing,
        projection=False,
    ),
    Split("the order of columns", _is_out_of_order, lambda rel: _is_python),
    Split("asynchronous calls", _mixes(_GENERAL, _ASYNC), _of_other_kind(_GENERAL, _ASYNC)),
    Split("asynchronous pandas calls", _mixes(_PANDAS, _ASYNC), _of_other_kind(_PANDAS, _ASYNC)),
    Split("nested asynchronous calls", lambda rel: any(map(_nests_async, rel.projection)), lambda rel: _is_inner_async),
    Split("one asynchronous call each", lambda rel: sum(map(_is_async, rel.projection)) > 1, _first_async),
)
"""In the order of ``FlinkStreamRuleSets.LOGICAL_REWRITE``."""


# ---------------------------------------------------------------- joins and table functions


@rule(on=Join)
def split_python_joins(rel: Join) -> Rel:
    """Conditions of an inner join that call Python functions become a filter above it."""
    parts = conjunctions(rel.condition)
    python = [p for p in parts if calls_python_anywhere(p)]
    if not python:
        return rel
    if rel.type is not JoinType.INNER:
        raise PlanningError(
            "a Python function in the condition of an outer join must read one side only, the one that may be missing",
            hint="call it in a subquery below the join, and compare its result",
        )
    kept = and_(p for p in parts if p not in python)
    return Filter(input=replace(rel, condition=kept), condition=and_(python))


@rule(on=Correlate)
def split_python_correlates(rel: Correlate) -> Rel:
    """The conditions and the built-in arguments of a Python table function become calcs above and below it.

    So do calls of Python functions in the arguments of another one.  Source: ``PythonCorrelateSplitRule``.
    """
    if not isinstance(rel.call, Call) or not rel.input.width:
        return rel
    if not _is_python(rel.call):
        with_python = any(map(calls_python_anywhere, rel.call.operands))
        return _with_calc_below(rel, rel.call, _is_python) if with_python else rel
    if rel.condition is not None and rel.type is JoinType.INNER:
        width = rel.input.width
        condition = transform(rel.condition, lambda r: replace(r, index=r.index + width) if type(r) is InputRef else r)
        return Filter(input=split_python_correlates(replace(rel, condition=None)), condition=condition)
    if not any(_needs_calc(o) for o in rel.call.operands):
        return rel
    builtin = calls_builtin_anywhere(rel.call.operands)
    return _with_calc_below(rel, rel.call, _is_builtin if builtin else (lambda rex: type(rex) is FieldAccess))


def _needs_calc(rex: RexNode) -> bool:
    """Whether an argument holds a built-in call or a field of a column."""
    if type(rex) is Call:
        return python_kind(rex) is None or any(map(_needs_calc, rex.operands))
    return type(rex) is FieldAccess and type(rex.expr) is not CorrelVariable


def _with_calc_below(rel: Correlate, call: Call, moves: Test) -> Rel:
    width = rel.input.width
    extractor = Extractor(width, moves)
    operands = tuple(map(extractor.visit, call.operands))
    columns = [_of_row(e) for e in extractor.extracted]
    names = uniquify([*rel.input.names, *(f"f{i}" for i in range(len(columns)))])
    below = Calc(input=rel.input, projection=(*identity(rel.input.types), *columns), names=names)
    variable = CorrelVariable(rel.correl, below.row_type)

    def through_variable(rex: RexNode) -> RexNode:
        if type(rex) is FieldAccess and type(rex.expr) is CorrelVariable:
            return FieldAccess(rex.name, variable)
        return FieldAccess(names[rex.index], variable) if type(rex) is InputRef and _is_python(call) else rex

    # extracted columns are references already, which Flink leaves to functions that are not Python's; columns of the
    # row may be fields of its variable or references
    moved = tuple(transform(o, through_variable) for o in operands)
    new = replace(rel, input=below, call=replace(call, operands=moved))
    kept = [i for i in range(new.width) if i < width or i >= below.width]
    outputs = identity(new.types)
    return Calc(input=new, projection=tuple(outputs[i] for i in kept), names=rel.names)


def calls_builtin_anywhere(exprs: Iterable[RexNode]) -> bool:
    """Whether any of the expressions calls a built-in function."""
    return any(map(calls_builtin, exprs))


def _of_row(rex: RexNode) -> RexNode:
    """An expression over the row of a correlation as one over the columns of that row."""

    def column(node: RexNode) -> RexNode:
        if type(node) is FieldAccess and type(node.expr) is CorrelVariable:
            return InputRef(node.expr.type.field_names.index(node.name), node.type)
        return node

    return transform(rex, column)
