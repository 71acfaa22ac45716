"""What a function declaration says: names, arguments, result type.

One :class:`Function` describes one function or operator for everybody: the binder finds it by SQL name and
checks the arguments, the plan names it by syntax and internal name, the executor translates it by those.
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
"""A function that is called by its name alone, without parentheses."""


class Kind(Enum):
    """What a function makes of its arguments."""

    SCALAR = "scalar"
    AGGREGATE = "aggregate"
    RANKING = "ranking"
    """Only with OVER: ROW_NUMBER, LAG …"""
    PATTERN = "pattern"
    """Only in MATCH_RECOGNIZE: LAST, MATCH_ROWTIME …"""
    TABLE = "table"
    WINDOW = "window"
    """A windowing table function, or a group window of the legacy syntax."""


class Style(Enum):
    """How a node's description prints a call."""

    CALL = "call"
    INFIX = "infix"
    """Between its operands."""
    POSTFIX = "postfix"
    """Behind its operand."""
    CAST = "cast"
    """With its type behind AS."""


class LocalTime(Enum):
    """Whether a value depends on the session's time zone."""

    BY_TYPE = "by type"
    """Where an argument or the result is an instant."""
    ALWAYS = "always"
    """It tells local time without an instant among its types."""
    NEVER = "never"
    """It is the same everywhere, instants or not."""


class Pushing(Enum):
    """Whether a predicate that calls the function can be handed to a source.

    Flink looks functions up in its own catalog, by their names without underscores.
    """

    BY_NAME = "by name"
    """Its SQL name has no underscore, and so it is found."""
    BY_ANOTHER = "by another name"
    """The catalog has it without the underscores of its SQL name."""
    NEVER = "never"


class Direction(Enum):
    """Where an aggregate over more and more rows goes."""

    INCREASING = "increasing"
    DECREASING = "decreasing"
    BY_SIGN = "by sign"
    """The one where no argument is below zero, the other where none is above."""


class OfNothing(Enum):
    """What an aggregate yields of no rows."""

    NULL = "null"
    ZERO = "zero"


class Aggregation(Record):
    """What rules know of an aggregate function; what is left out is not known, and no rule applies.

    ``merged_by`` names the function that puts results of parts of a group together, ``parts`` are those functions that
    compute it together where it has no result of its own to merge, each with what merges it.  ``is_splittable``: parts
    may be those of the two sides of a join.
    """

    of_nothing: OfNothing | None = None
    direction: Direction | None = None
    merged_by: str | None = None
    parts: tuple[tuple[str, str], ...] = ()
    is_splittable: bool = False
    is_of_one: bool = False
    """Of one row it is the row's argument."""
    is_one_of: bool = False
    """It is the argument of one of the rows, so that bounds of these are its own."""
    ignores_repeats: bool = False
    """DISTINCT makes no difference to it, so that plans do without."""
    is_spread: bool = False
    """It is spread over buckets of its argument although it is not distinct."""
    compares: bool = False
    """It takes types with an order alone."""
    variance: tuple[bool, bool] | None = None
    """A variance: whether of a sample, and whether its root is taken."""

    merges_arguments: int | None = None
    """Results of calls with more arguments cannot be merged, as what merges them takes nothing but the results."""

    def split(self, name: str, arguments: int) -> tuple[tuple[str, str], ...]:
        """What computes a call of so many arguments of parts of a group, each with what merges its results.

        Nothing where the call cannot be split.
        """
        if self.merges_arguments is not None and arguments > self.merges_arguments:
            return ()
        return self.parts or (((name, self.merged_by),) if self.merged_by else ())


class Arguments(Record):
    """The arguments of a call; ``values`` lets a rule see literals, ``grouped`` is False for a global aggregate."""

    types: tuple[LogicalType, ...]
    values: tuple[RexNode, ...] = ()
    grouped: bool = True

    def __len__(self) -> int:
        return len(self.types)

    @property
    def any_nullable(self) -> bool:
        return any(t.nullable for t in self.types)

    def literal(self, position: int) -> object:
        """The value of a literal argument; ``None`` for any other, or beyond the last."""
        if position >= len(self.values):
            return None
        value = self.values[position]
        return value.value if isinstance(value, Literal) else None


ReturnRule = Callable[[Arguments], LogicalType]
"""From the arguments to the type of the result."""

ArgumentRule = Callable[[Sequence[LogicalType], int], LogicalType | None]
"""From all argument types and a position to the type that the argument must have; ``None`` if it cannot."""


class Argument(Record):
    """A parameter: its name in messages and its rule."""

    name: str
    rule: ArgumentRule

    def __str__(self) -> str:
        return f"<{self.name}>"


class Signature(Record):
    """The parameters of one way to call a function; ``rest`` takes any number of further arguments."""

    parameters: tuple[Argument, ...]
    rest: Argument | None = None

    def takes(self, count: int) -> bool:
        """Whether there may be so many arguments."""
        fixed = len(self.parameters)
        return count == fixed or (count > fixed and self.rest is not None)

    def accept(self, types: Sequence[LogicalType]) -> tuple[LogicalType, ...] | None:
        """The types the arguments must have (to be cast to where they differ), or ``None`` if they do not fit."""
        if not self.takes(len(types)):
            return None
        fixed = len(self.parameters)
        expected = []
        for i in range(len(types)):
            parameter = self.parameters[i] if i < fixed else self.rest
            assert parameter is not None
            found = parameter.rule(types, i)
            if found is None:
                return None
            expected.append(found)
        return tuple(expected)

    def __str__(self) -> str:
        parts = [str(p) for p in self.parameters]
        if self.rest is not None:
            parts.append(f"{self.rest}…")
        return ", ".join(parts)


class Function(Record, eq=False):
    """A function or operator.  There is one of each, so that they compare by what they are, not by what they hold."""

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
    """Whether Flink takes it from its own catalog, not from among Calcite's operators.

    Descriptions then show its name as the statement has it, unless that is an alias.  Source:
    ``BuiltInFunctionDefinitions`` with an implementation, ``FunctionCatalogOperatorTable``.
    """
    strict: bool = False
    """Whether it is NULL where an argument is, and only there.  Source: ``Strong``."""
    sees_null: bool = False
    """Whether it may yield a value where an argument is NULL."""
    commutes: bool = False
    """Whether its operands may change places."""
    is_of_target: bool = False
    """Whether it is called for the type of its result, which its operands do not tell."""
    safe: bool = False
    """Whether it cannot fail, so that it may be evaluated where CASE would not have."""
    pushing: Pushing = Pushing.BY_NAME
    local_time: LocalTime = LocalTime.BY_TYPE
    style: Style = Style.CALL
    printed: str | None = None
    """What descriptions call it, where that is not its name."""
    is_found_again: bool = True
    """Whether Flink knows its name when it reads a plan that it has written."""
    aggregation: Aggregation = Aggregation()

    @property
    def is_pushable(self) -> bool:
        """Whether a predicate that calls it can be handed to a source."""
        by_name = self.pushing is Pushing.BY_NAME and "_" not in self.internal_name
        return by_name or self.pushing is Pushing.BY_ANOTHER

    @property
    def key(self) -> tuple[str, str]:
        """What identifies it in a plan."""
        return self.syntax, self.internal_name

    def accept(self, types: Sequence[LogicalType]) -> tuple[LogicalType, ...] | None:
        """The argument types by the first signature that fits; ``None`` if none does."""
        for signature in self.signatures:
            accepted = signature.accept(types)
            if accepted is not None:
                return accepted
        return None

    def call(self, *operands: RexNode) -> Call:
        """A call of the function on operands that fit, typed by its return rule."""
        arguments = Arguments(tuple(o.type for o in operands), operands)
        return self.typed(self.returns(arguments), *operands)

    def typed(self, t: LogicalType, *operands: RexNode) -> Call:
        """A call of the function whose type the return rule does not tell, or is known already."""
        return Call(self.internal_name, operands, t, self.syntax)

    @property
    def usage(self) -> tuple[str, ...]:
        """How it may be called, for messages."""
        return tuple(f"{self.name}({s})" for s in self.signatures)


def family(name: str) -> Argument:
    """A parameter of any type of a family; NULL fits everywhere."""

    def rule(types: Sequence[LogicalType], position: int) -> LogicalType | None:
        t = types[position]
        return t if t.root == "NULL" or in_family(t, name) else None

    return Argument(name, rule)
