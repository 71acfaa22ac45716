"""The declaration of a function: names, arguments, result type, and properties.

One :class:`Function` describes a function or operator for all layers: the binder finds it by its SQL name and
checks the arguments, the plan names it by syntax and internal name, and the executor translates it by these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from ..record import Record
from ..rex import FUNCTION, Call, Literal, RexNode
from ..types import LogicalType
from .typing import in_family

BINARY = "BINARY"
PREFIX = "PREFIX"
POSTFIX = "POSTFIX"
SPECIAL = "SPECIAL"
INTERNAL = "INTERNAL"
FUNCTION_STAR = "FUNCTION_STAR"
FUNCTION_ID = "FUNCTION_ID"
"""The syntax of a function that is called without parentheses."""


class Kind(Enum):
    """What sort of function it is."""

    SCALAR = "scalar"
    AGGREGATE = "aggregate"
    RANKING = "ranking"
    """Only with OVER: ROW_NUMBER, LAG …"""
    PATTERN = "pattern"
    """Only in MATCH_RECOGNIZE: LAST, MATCH_ROWTIME …"""
    TABLE = "table"
    PROCESS_TABLE = "process table"
    WINDOW = "window"
    """A windowing table function, or a group window of the legacy syntax."""


class Style(Enum):
    """How a node's description prints a call."""

    CALL = "call"
    INFIX = "infix"
    """Between its operands."""
    POSTFIX = "postfix"
    """After its operand."""
    CAST = "cast"
    """With its type after AS."""
    ALIAS = "alias"
    """As its first operand."""


class LocalTime(Enum):
    """Whether a value depends on the session's time zone."""

    BY_TYPE = "by type"
    """It does if an argument or the result is an instant (TIMESTAMP_LTZ)."""
    ALWAYS = "always"
    """It depends on the time zone although none of its types is an instant."""
    NEVER = "never"
    """It does not depend on the time zone, even if it has instants."""


class Pushing(Enum):
    """Whether a predicate that calls the function can be pushed into a source.

    Flink looks up functions in its own catalog, by their names without underscores.
    """

    BY_NAME = "by name"
    """Yes if its SQL name has no underscore."""
    BY_ANOTHER = "by another name"
    """Yes: the catalog has it under its SQL name without underscores."""
    NEVER = "never"


class Direction(Enum):
    """How the result of an aggregate changes when rows are added."""

    INCREASING = "increasing"
    DECREASING = "decreasing"
    BY_SIGN = "by sign"
    """Increasing if no argument is negative, decreasing if none is positive."""


class EmptyResult(Enum):
    """The result of an aggregate over no rows."""

    NULL = "null"
    ZERO = "zero"


class Aggregation(Record):
    """The properties of an aggregate function that rules use; a rule does not apply if its property is not declared.

    ``merged_by`` names the function that merges the results for parts of a group.  If they cannot be merged, ``parts``
    are functions that together compute the result, each with the function that merges it.  ``is_splittable`` says that
    the parts may come from the two sides of a join.
    """

    empty_result: EmptyResult | None = None
    direction: Direction | None = None
    merged_by: str | None = None
    parts: tuple[tuple[str, str], ...] = ()
    is_splittable: bool = False
    is_argument_of_single_row: bool = False
    """For a single row the result is the argument."""
    selects_argument: bool = False
    """The result is the argument of one of the rows, so bounds of the arguments are bounds of the result."""
    ignores_duplicates: bool = False
    """DISTINCT does not change the result, so plans leave it out."""
    is_bucketed: bool = False
    """It is split into buckets of its argument even without DISTINCT."""
    compares: bool = False
    """It takes only types with an order."""
    variance: tuple[bool, bool] | None = None
    """For a variance or standard deviation: whether it is of a sample, and whether the root is taken."""

    merges_arguments: int | None = None
    """The maximum number of arguments of calls whose results can be merged; ``None`` for any number."""

    def split(self, name: str, arguments: int) -> tuple[tuple[str, str], ...]:
        """The functions that compute a call for parts of a group, each with the function that merges its results.

        Empty if the call, which has this number of arguments, cannot be split.
        """
        if self.merges_arguments is not None and arguments > self.merges_arguments:
            return ()
        return self.parts or (((name, self.merged_by),) if self.merged_by else ())


class Arguments(Record):
    """The arguments of a call; rules read literals in ``values``, ``grouped`` is False for a global aggregate."""

    types: tuple[LogicalType, ...]
    values: tuple[RexNode, ...] = ()
    grouped: bool = True

    def __len__(self) -> int:
        return len(self.types)

    @property
    def any_nullable(self) -> bool:
        return any(t.nullable for t in self.types)

    def literal(self, position: int) -> object:
        """The value of a literal argument; ``None`` if there is no such argument or it is not a literal."""
        if position >= len(self.values):
            return None
        value = self.values[position]
        return value.value if isinstance(value, Literal) else None


ReturnRule = Callable[[Arguments], LogicalType]
"""Computes the type of the result from the arguments."""

ArgumentRule = Callable[[Sequence[LogicalType], int], LogicalType | None]
"""Takes all argument types and a position; returns the type that the argument is cast to, ``None`` if it cannot be."""


class Argument(Record):
    """A parameter: its name in messages and its rule."""

    name: str
    rule: ArgumentRule

    def __str__(self) -> str:
        return f"<{self.name}>"


class Signature(Record):
    """The parameters of a function; ``rest`` takes any number of further arguments."""

    parameters: tuple[Argument, ...]
    rest: Argument | None = None

    def takes(self, count: int) -> bool:
        """Whether a call may have this number of arguments."""
        fixed = len(self.parameters)
        return count == fixed or (count > fixed and self.rest is not None)

    def accept(self, types: Sequence[LogicalType]) -> tuple[LogicalType, ...] | None:
        """The types that the arguments are cast to; ``None`` if the arguments do not fit."""
        if not self.takes(len(types)):
            return None
        fixed = len(self.parameters)
        expected = []
        for i in range(len(types)):
            parameter = self.parameters[i] if i < fixed else self.rest
            assert parameter is not None
            parameter_type = parameter.rule(types, i)
            if parameter_type is None:
                return None
            expected.append(parameter_type)
        return tuple(expected)

    def __str__(self) -> str:
        parts = [str(p) for p in self.parameters]
        if self.rest is not None:
            parts.append(f"{self.rest}…")
        return ", ".join(parts)


class Function(Record, eq=False):
    """A function or operator.  Each exists only once, so they are compared by identity."""

    name: str
    """The SQL name, upper case; for an operator its symbol."""
    internal_name: str
    """The name in a plan, such as ``$UPPER$1``."""
    signatures: tuple[Signature, ...]
    returns: ReturnRule
    syntax: str = FUNCTION
    kind: Kind = Kind.SCALAR
    deterministic: bool = True
    aliases: tuple[str, ...] = ()
    named: bool = True
    """Whether SQL can call it by its name."""
    bridged: bool = False
    """Whether Flink takes it from its own catalog instead of Calcite's operators.

    Descriptions then show its name as it is written in the statement, unless that is an alias.  Source:
    ``BuiltInFunctionDefinitions`` with an implementation, ``FunctionCatalogOperatorTable``.
    """
    strict: bool = False
    """Whether the result is NULL if and only if an argument is NULL.  Source: Calcite's ``Strong``."""
    sees_null: bool = False
    """Whether the result may be a value although an argument is NULL."""
    masks: bool = False
    """Whether the result does not show the values of its arguments, as that of a digest or of a count."""
    commutes: bool = False
    """Whether its operands may be swapped."""
    states_target_type: bool = False
    """Whether the call states the type of its result, as CAST does."""
    safe: bool = False
    """Whether it cannot fail, so that it may be evaluated for rows for which CASE would not evaluate it."""
    pushing: Pushing = Pushing.BY_NAME
    local_time: LocalTime = LocalTime.BY_TYPE
    style: Style = Style.CALL
    printed: str | None = None
    """Its name in descriptions, if that is another one."""
    is_restorable: bool = True
    """Whether Flink can read a plan that calls it."""
    aggregation: Aggregation = Aggregation()

    @property
    def is_pushable(self) -> bool:
        """Whether a predicate that calls it can be pushed into a source."""
        by_name = self.pushing is Pushing.BY_NAME and "_" not in self.internal_name
        return by_name or self.pushing is Pushing.BY_ANOTHER

    @property
    def key(self) -> tuple[str, str]:
        """Its identity in a plan."""
        return self.syntax, self.internal_name

    def accept(self, types: Sequence[LogicalType]) -> tuple[LogicalType, ...] | None:
        """The argument types by the first signature that fits; ``None`` if none does."""
        for signature in self.signatures:
            accepted = signature.accept(types)
            if accepted is not None:
                return accepted
        return None

    def accept_operands(self, operands: Sequence[RexNode]) -> tuple[LogicalType, ...] | None:
        """The types that the operands of a call are cast to; ``None`` if they do not fit."""
        return self.accept([operand.type for operand in operands])

    def call(self, *operands: RexNode) -> Call:
        """A call of the function on operands that fit, typed by its return rule."""
        arguments = Arguments(tuple(o.type for o in operands), operands)
        return self.typed(self.returns(arguments), *operands)

    def typed(self, t: LogicalType, *operands: RexNode) -> Call:
        """A call of the function with a given type instead of that of the return rule."""
        return Call(self.internal_name, operands, t, self.syntax)

    @property
    def usage(self) -> tuple[str, ...]:
        """How it may be called, for messages."""
        return tuple(f"{self.name}({s})" for s in self.signatures)


def family(name: str) -> Argument:
    """A parameter of any type of a family; NULL fits every family."""

    def rule(types: Sequence[LogicalType], position: int) -> LogicalType | None:
        t = types[position]
        return t if t.root == "NULL" or in_family(t, name) else None

    return Argument(name, rule)
