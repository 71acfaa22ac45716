"""What the expressions of MATCH_RECOGNIZE read of a match, and what of them is refused.

Source of the rules: Flink's ``MatchCodeGenerator``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....plan.errors import PlanError, UnsupportedError
from ....plan.functions import called, is_deterministic
from ....plan.functions.patterns import (
    FINAL,
    FIRST,
    LAST,
    MATCH_PROCTIME,
    MATCH_ROWTIME,
    NEXT,
    PREV,
    RUNNING,
)
from ....plan.functions.temporal import PROCTIME
from ....plan.nodes import Match
from ....plan.record import Record, replace
from ....plan.rex import Call, FieldAccess, InputRef, Literal, PatternInputRef, RexNode, shown_name, transform, walk
from ....plan.specs import AggregateCall, MatchSpec, PatternVariable
from ....plan.types import LogicalType
from ...aggregate_functions import ACCUMULATORS, check_calls, function_name
from .patterns import variables_of

ANY = "*"
"""What stands for any variable."""

_PHYSICAL = (PREV, NEXT)
_LOGICAL = (FIRST, LAST)
_NO_AGGREGATES = ("LAG", "ROW_NUMBER", "RANK", "DENSE_RANK")


class Navigation(Record):
    """A column of one row of a match.

    The row is ``offset`` behind the first one of ``variable``, if ``first``, or before the last one; ``column`` is a
    place in what :class:`RowValues` has of it.
    """

    variable: str
    first: bool
    offset: int
    column: int
    type: LogicalType


class Aggregate(Record):
    """A call of an aggregate function over the rows of a variable; its operands are over :class:`RowValues`."""

    variable: str
    call: Call


Leaf = Navigation | Aggregate


class RowValues:
    """What is read of single rows: expressions over the input, each once."""

    def __init__(self) -> None:
        self.expressions: list[RexNode] = []

    def place(self, rex: RexNode) -> int:
        """Where an expression over the input stands among them."""
        if rex not in self.expressions:
            self.expressions.append(rex)
        return self.expressions.index(rex)

    @property
    def types(self) -> list[LogicalType]:
        """Their types."""
        return [rex.type for rex in self.expressions]


class MatchValues:
    """What expressions read of a match: columns of rows first, then aggregates, those over a variable together."""

    def __init__(self, rows: RowValues, current: str | None = None) -> None:
        """``current``: the variable whose condition the expressions are of."""
        self._rows = rows
        self._current = current
        self._found: list[Leaf] = []

    def take(self, rex: RexNode) -> RexNode:
        """``rex`` over what is read of a match, in the order in which it is found; see :meth:`placed`."""
        return self._taken(rex, False, 0)

    def take_first(self, rex: RexNode) -> RexNode:
        """The same of an expression over the input, of the first row of a match."""
        return self._leaf(Navigation(ANY, True, 0, self._rows.place(rex), rex.type.nullable_()))

    def _taken(self, rex: RexNode, first: bool, offset: int) -> RexNode:
        match rex:
            case PatternInputRef(alpha=alpha, index=index, type=t):
                column = self._rows.place(InputRef(index, t))
                return self._leaf(Navigation(alpha, first, offset, column, t.nullable_()))
            case Call(operands=(inner,)) if called(rex) is FINAL:
                return self._taken(inner, first, offset)
            case Call() if called(rex) is RUNNING:
                raise UnsupportedError("RUNNING in MATCH_RECOGNIZE, as Flink has it", hint="leave it out")
            case Call(name=name, operands=(inner, _)) if called(rex) in _PHYSICAL:
                if _offset(rex) != 0:
                    raise _physical_offset(name)
                return self._taken(inner, False, 0)
            case Call(operands=(inner, _)) if called(rex) in _LOGICAL:
                return self._taken(inner, called(rex) is FIRST, _offset(rex))
            case Call() if is_aggregate(rex):
                return self._leaf(Aggregate(variable_of(rex), self._over_rows(rex)))
            case Call() if self._current is not None and is_volatile(rex):
                return self._leaf(Navigation(self._current, False, 0, self._rows.place(rex), rex.type.nullable_()))
            case Call():
                return replace(rex, operands=tuple(self._taken(o, first, offset) for o in rex.operands))
            case FieldAccess(expr=expr):
                return replace(rex, expr=self._taken(expr, first, offset))
        return rex

    def _leaf(self, leaf: Leaf) -> InputRef:
        if leaf not in self._found:
            self._found.append(leaf)
        return InputRef(self._found.index(leaf), leaf.type if isinstance(leaf, Navigation) else leaf.call.type)

    def _over_rows(self, call: Call) -> Call:
        def over_row(part: RexNode) -> RexNode:
            match part:
                case PatternInputRef(index=index, type=t):
                    return InputRef(self._rows.place(InputRef(index, t)), t)
                case Call(name=name) if called(part) in (*_PHYSICAL, *_LOGICAL):
                    raise UnsupportedError(f"{shown_name(name)} within an aggregate of MATCH_RECOGNIZE")
            return part

        return replace(call, operands=tuple(transform(o, over_row) for o in call.operands))

    @property
    def navigations(self) -> list[Navigation]:
        """The columns of rows, in their order."""
        return [leaf for leaf in self._found if isinstance(leaf, Navigation)]

    @property
    def aggregates(self) -> Mapping[str, list[Aggregate]]:
        """The aggregates by their variables, in their order."""
        by_variable: dict[str, list[Aggregate]] = {}
        for leaf in self._found:
            if isinstance(leaf, Aggregate):
                by_variable.setdefault(leaf.variable, []).append(leaf)
        return by_variable

    @property
    def _ordered(self) -> list[Leaf]:
        return [*self.navigations, *(call for calls in self.aggregates.values() for call in calls)]

    @property
    def types(self) -> list[LogicalType]:
        """The types of all that is read, in its order."""
        return [leaf.type if isinstance(leaf, Navigation) else leaf.call.type for leaf in self._ordered]

    def placed(self, taken: RexNode) -> RexNode:
        """What :meth:`take` has returned, over all that was taken, in its order."""
        ordered = self._ordered

        def moved(part: RexNode) -> RexNode:
            return replace(part, index=ordered.index(self._found[part.index])) if type(part) is InputRef else part

        return transform(taken, moved)


def _offset(call: Call) -> int:
    match call.operands[1]:
        case Literal(value=int(offset)) if offset >= 0:
            return offset
    raise UnsupportedError(f"{shown_name(call.name)} with an offset that is no number")


def _physical_offset(name: str) -> UnsupportedError:
    return UnsupportedError(
        f"{shown_name(name)} of a row that need not belong to the match, as Flink has it",
        hint="write LAST(variable.column, n)",
    )


def is_aggregate(rex: RexNode) -> bool:
    """Whether an expression calls an aggregate function."""
    if type(rex) is not Call or rex.reference is not None:
        return False
    name = function_name(aggregate_call(rex, ()))
    return name in ACCUMULATORS and name not in _NO_AGGREGATES


def is_volatile(rex: RexNode) -> bool:
    """Whether an expression reads no row, and is another at another time."""
    return not is_deterministic(rex) and not any(type(part) is PatternInputRef for part in walk(rex))


def aggregate_call(call: Call, arguments: Sequence[int]) -> AggregateCall:
    """The call of an aggregate function over columns."""
    return AggregateCall(
        name=None,
        syntax=call.syntax,
        internal_name=call.name,
        arg_list=tuple(arguments),
        filter_arg=-1,
        distinct=False,
        approximate=False,
        ignore_nulls=False,
        type=call.type,
    )


def variable_of(call: Call) -> str:
    """The variable over whose rows an aggregate function is called; all where it names no column."""
    if not call.operands:
        return ANY
    variables = {part.alpha for part in walk(call) if type(part) is PatternInputRef}
    if any(type(part) is Call and not part.operands for part in walk(call)):
        variables.add(ANY)
    if len(variables) != 1:
        what = "no variable" if not variables else "several variables"
        raise UnsupportedError(f"{shown_name(call.name)} over {what} of a pattern", hint="use columns of one")
    return variables.pop()


def as_measure(rex: RexNode) -> RexNode:
    """A measure whose MATCH_PROCTIME() is the function that tells the time."""

    def timed(part: RexNode) -> RexNode:
        return PROCTIME.call() if called(part) is MATCH_PROCTIME else part

    return transform(rex, timed)


def check_expressions(spec: MatchSpec, row: LogicalType) -> None:
    """Raise :class:`UnsupportedError` for what no expression over a match may be; ``row`` is the input's type."""
    rows = RowValues()
    for rex in (*spec.pattern_definitions.values(), *spec.measures.values()):
        for part in walk(rex):
            if type(part) is PatternInputRef:
                check_column(part.index, row)
                if part.alpha in spec.subsets:
                    raise UnsupportedError(f"the rows of the SUBSET {part.alpha}, of which there are none in Flink")
    for name, rex in spec.pattern_definitions.items():
        if any(_is_match_time(part) for part in walk(rex)):
            raise UnsupportedError("the time of a match within DEFINE")
        _check_aggregates(MatchValues(rows, name), rex)
    for rex in spec.measures.values():
        _check_aggregates(MatchValues(rows), rex)


def check_column(index: int, row: LogicalType) -> None:
    """Raise :class:`PlanError` for a column that rows of the type ``row`` have not."""
    if not 0 <= index < len(row.fields):
        raise PlanError(f"MATCH_RECOGNIZE reads column {index} of an input that has {len(row.fields)}")


def _check_aggregates(values: MatchValues, rex: RexNode) -> None:
    values.take(rex)
    for calls in values.aggregates.values():
        check_calls(aggregate_call(leaf.call, ()) for leaf in calls)


def _is_match_time(rex: RexNode) -> bool:
    return called(rex) in (MATCH_ROWTIME, MATCH_PROCTIME)


def condition_values(spec: MatchSpec, variable: PatternVariable, rows: RowValues) -> tuple[MatchValues, RexNode | None]:
    """What the condition of a variable reads, and the condition over that; ``None``: there is none."""
    values = MatchValues(rows, variable.name)
    rex = spec.pattern_definitions.get(variable.name)
    return values, values.placed(values.take(rex)) if rex is not None else None


def measure_values(node: Match, row: LogicalType, rows: RowValues) -> tuple[MatchValues, list[RexNode]]:
    """What the columns of the result read, and these over that and the time of the match, which stands behind."""
    spec = node.match_spec
    values = MatchValues(rows)
    keys = [values.take_first(InputRef(k, row.field_types[k])) for k in spec.partition.fields]
    names = [name for name in node.output_type.field_names[len(keys) :] if name in spec.measures]
    taken = [*keys, *(values.take(as_measure(spec.measures[name])) for name in names)]
    if len(taken) != len(node.output_type.fields):
        raise UnsupportedError("a column of MATCH_RECOGNIZE that is no measure")
    placed = [values.placed(rex) for rex in taken]
    time = len(values.types)

    def timed(part: RexNode) -> RexNode:
        return InputRef(time, part.type) if called(part) is MATCH_ROWTIME else part

    return values, [transform(rex, timed) for rex in placed]


def row_values(node: Match, row: LogicalType) -> RowValues:
    """What is kept of each row of the input: what conditions and measures read, and by what rows are ordered."""
    spec = node.match_spec
    rows = RowValues()
    for variable in variables_of(spec):
        condition_values(spec, variable, rows)
    measure_values(node, row, rows)
    first, *further = spec.order_by.fields
    for field in further if rows.expressions else (first, *further):
        rows.place(InputRef(field.index, row.field_types[field.index]))
    return rows
