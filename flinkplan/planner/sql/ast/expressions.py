"""Expressions."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from .core import DataType, Identifier, IntervalQualifier, Name, Node

if TYPE_CHECKING:
    from .queries import Query


class Expression(Node):
    """Something with a value (or, as an argument of a function, a table, a descriptor or a symbol)."""


class BoundExpression(Expression):
    """An expression that is bound already: ``rex`` is a row expression."""

    rex: Any


class ColumnRef(Expression):
    """``a``, ``t.a``, ``t.a.nested``: a chain of identifiers whose meaning the binder finds."""

    parts: tuple[Identifier, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The parts as plain strings."""
        return tuple(part.name for part in self.parts)


class Star(Expression):
    """``*`` or ``t.*``."""

    qualifier: tuple[Identifier, ...] = ()


class NullLiteral(Expression):
    """``NULL``."""


class BooleanLiteral(Expression):
    """``TRUE``, ``FALSE``, or ``UNKNOWN`` (None)."""

    value: bool | None


class NumericLiteral(Expression):
    """A number as written; the digits decide its type (``1``, ``1.50``, ``1.5E3``).

    A sign directly before a number belongs to it, as in Calcite: ``-1`` is one literal.
    """

    text: str

    @property
    def approximate(self) -> bool:
        """Whether it is a DOUBLE, which an exponent makes it."""
        return "E" in self.text.upper()

    @property
    def value(self) -> Decimal:
        """The number."""
        return Decimal(self.text)


class StringLiteral(Expression):
    """``'text'`` or ``U&'\\00e9'``, unescaped."""

    value: str


class BinaryLiteral(Expression):
    """``X'cafe'``."""

    value: bytes


class DateTimeLiteral(Expression):
    """``DATE '…'``, ``TIME '…'``, ``TIMESTAMP '…'``; ``kind`` is DATE, TIME, TIMESTAMP or TIMESTAMP_LTZ."""

    kind: str
    value: str


class IntervalLiteral(Expression):
    """``INTERVAL [-] '1 02:03' DAY TO MINUTE``; ``negative`` is the sign outside the quotes."""

    value: str
    qualifier: IntervalQualifier
    negative: bool = False


class IntervalExpression(Expression):
    """``INTERVAL n DAY`` where n is not a string literal."""

    operand: Expression
    qualifier: IntervalQualifier


class IntervalDifference(Expression):
    """``(left - right) DAY``: the time between two points, as an interval."""

    left: Expression
    right: Expression
    qualifier: IntervalQualifier


class Symbol(Expression):
    """A keyword argument such as the unit in ``EXTRACT(DAY FROM ts)``.

    By ``kind`` the ``value`` is: TIME_UNIT: YEAR, DAY, …; TRIM: BOTH, LEADING or TRAILING;
    JSON_ON_NULL: NULL or ABSENT.
    """

    kind: str
    value: str


class Unary(Expression):
    """``-x``, ``+x``, ``NOT x``; ``operator`` is upper case."""

    operator: str
    operand: Expression


class Binary(Expression):
    """``left operator right``; one of ``+ - * / % || = <> < <= > >= AND OR``.

    ``!=`` is kept as ``<>``. Also OVERLAPS, CONTAINS, EQUALS, PRECEDES, SUCCEEDS,
    IMMEDIATELY PRECEDES and IMMEDIATELY SUCCEEDS.
    """

    operator: str
    left: Expression
    right: Expression


class IsPredicate(Expression):
    """``x IS [NOT] test``; test is NULL, TRUE, FALSE, UNKNOWN or JSON VALUE, OBJECT, ARRAY, SCALAR."""

    operand: Expression
    test: str
    negated: bool = False


class IsDistinctFrom(Expression):
    """``left IS [NOT] DISTINCT FROM right``."""

    left: Expression
    right: Expression
    negated: bool = False


class Between(Expression):
    """``x [NOT] BETWEEN [SYMMETRIC] low AND high``."""

    operand: Expression
    low: Expression
    high: Expression
    negated: bool = False
    symmetric: bool = False


class InList(Expression):
    """``x [NOT] IN (a, b)``."""

    operand: Expression
    items: tuple[Expression, ...]
    negated: bool = False


class InQuery(Expression):
    """``x [NOT] IN (SELECT …)``."""

    operand: Expression
    query: Query
    negated: bool = False


class Like(Expression):
    """``x [NOT] LIKE pattern [ESCAPE e]``, or SIMILAR TO when ``similar``."""

    operand: Expression
    pattern: Expression
    escape: Expression | None = None
    negated: bool = False
    similar: bool = False


class Quantified(Expression):
    """``left op ANY (…)``: ``quantifier`` is ANY (for SOME too) or ALL, over either ``items`` or a ``query``."""

    operator: str
    quantifier: str
    left: Expression
    items: tuple[Expression, ...] = ()
    query: Query | None = None


class Exists(Expression):
    """``EXISTS (SELECT …)``."""

    query: Query


class SubQuery(Expression):
    """A scalar subquery."""

    query: Query


class CollectionQuery(Expression):
    """``ARRAY(SELECT …)``, ``MAP(SELECT …)``, ``MULTISET(SELECT …)``."""

    kind: str
    query: Query


class When(Node):
    """``WHEN condition THEN result``; in a simple CASE the condition is the value compared with."""

    condition: Expression
    result: Expression


class Case(Expression):
    """``CASE [operand] WHEN … THEN … [ELSE otherwise] END``; ``WHEN a, b`` makes one branch for each."""

    operand: Expression | None
    branches: tuple[When, ...]
    otherwise: Expression | None = None


class Cast(Expression):
    """``CAST(x AS type)``, or TRY_CAST when ``safe``."""

    operand: Expression
    type: DataType
    safe: bool = False


class ArrayConstructor(Expression):
    """``ARRAY[a, b]``."""

    items: tuple[Expression, ...]


class MultisetConstructor(Expression):
    """``MULTISET[a, b]``."""

    items: tuple[Expression, ...]


class KeyValue(Node):
    """An entry of ``MAP[key, value]`` or ``JSON_OBJECT(key VALUE value)``."""

    key: Expression
    value: Expression


class MapConstructor(Expression):
    """``MAP[k1, v1, k2, v2]``."""

    entries: tuple[KeyValue, ...]


class RowConstructor(Expression):
    """``ROW(a, b)``, or ``(a, b)`` when not ``explicit``."""

    items: tuple[Expression, ...]
    explicit: bool = True


class FieldAccess(Expression):
    """``operand.field`` behind something other than a chain of identifiers."""

    operand: Expression
    field: Identifier


class ElementAccess(Expression):
    """``operand[index]``."""

    operand: Expression
    index: Expression


class FunctionCall(Expression):
    """A call, with everything that may follow it.

    ``name`` as written; built-in names are compared without case by the binder. Calls with a syntax of
    their own come as plain calls: SUBSTRING(s, from, for), OVERLAY(s, by, from, for), POSITION(a, s),
    EXTRACT(Symbol, x), FLOOR/CEIL(x, Symbol), TRIM(Symbol, chars, s),
    TIMESTAMPADD/TIMESTAMPDIFF(Symbol, a, b), JSON_OBJECTAGG(key, value, Symbol),
    JSON_ARRAYAGG(value, Symbol), with the defaults of the missing symbols and of TRIM's characters filled in.
    ``parentheses`` is False for CURRENT_DATE and the like.
    ``over`` is a window, or the name of one.
    """

    name: Name
    args: tuple[Expression, ...] = ()
    distinct: bool = False
    order_by: tuple[SortItem, ...] = ()
    within_group: tuple[SortItem, ...] = ()
    filter: Expression | None = None
    ignore_nulls: bool | None = None
    over: WindowSpec | Identifier | None = None
    parentheses: bool = True


class NamedArgument(Expression):
    """``name => value``."""

    name: Identifier
    value: Expression


class DefaultArgument(Expression):
    """``DEFAULT`` as an argument."""


class Descriptor(Expression):
    """``DESCRIPTOR(a, b)``."""

    columns: tuple[Identifier, ...]


class TableArgument(Expression):
    """A table given to a function: ``TABLE t`` or a query, with its PARTITION BY and ORDER BY."""

    query: Query
    partition_by: tuple[Expression, ...] = ()
    order_by: tuple[SortItem, ...] = ()


class SortItem(Node):
    """``x [ASC|DESC] [NULLS FIRST|LAST]``; ``nulls_first`` is None when not said."""

    expression: Expression
    descending: bool = False
    nulls_first: bool | None = None

    @property
    def nulls_last(self) -> bool:
        """Whether NULL comes last, which counts as the least value where nothing is said."""
        return self.descending if self.nulls_first is None else not self.nulls_first


class FrameBound(Node):
    """A bound of a window frame.

    ``kind`` is UNBOUNDED PRECEDING, PRECEDING, CURRENT ROW, FOLLOWING or UNBOUNDED FOLLOWING.
    """

    kind: str
    offset: Expression | None = None


class WindowFrame(Node):
    """``ROWS|RANGE [BETWEEN] start [AND end]``; ``unit`` is ROWS or RANGE."""

    unit: str
    start: FrameBound
    end: FrameBound | None = None


class WindowSpec(Node):
    """``([base] PARTITION BY … ORDER BY … frame)``; ``base`` names a window of the WINDOW clause."""

    base: Identifier | None = None
    partition_by: tuple[Expression, ...] = ()
    order_by: tuple[SortItem, ...] = ()
    frame: WindowFrame | None = None


class JsonBehavior(Node):
    """What JSON_VALUE and JSON_QUERY give ON EMPTY or ON ERROR.

    ``kind`` is NULL, ERROR, DEFAULT (with ``value``), EMPTY ARRAY or EMPTY OBJECT.
    """

    kind: str
    value: Expression | None = None


class JsonValue(Expression):
    """``JSON_VALUE(operand, path [RETURNING type] [… ON EMPTY] [… ON ERROR])``."""

    operand: Expression
    path: Expression
    returning: DataType | None = None
    on_empty: JsonBehavior | None = None
    on_error: JsonBehavior | None = None


class JsonQuery(Expression):
    """``JSON_QUERY(…)``; ``wrapper`` is None when not said, else WITHOUT, CONDITIONAL or UNCONDITIONAL."""

    operand: Expression
    path: Expression
    returning: DataType | None = None
    wrapper: str | None = None
    on_empty: JsonBehavior | None = None
    on_error: JsonBehavior | None = None


class JsonExists(Expression):
    """``JSON_EXISTS(operand, path [TRUE|FALSE|UNKNOWN|ERROR ON ERROR])``."""

    operand: Expression
    path: Expression
    on_error: str | None = None


class JsonObject(Expression):
    """``JSON_OBJECT(k VALUE v, … [NULL|ABSENT ON NULL])``; ``on_null`` is None when not said."""

    entries: tuple[KeyValue, ...]
    on_null: str | None = None


class JsonArray(Expression):
    """``JSON_ARRAY(a, … [NULL|ABSENT ON NULL])``; ``on_null`` is None when not said."""

    items: tuple[Expression, ...]
    on_null: str | None = None
