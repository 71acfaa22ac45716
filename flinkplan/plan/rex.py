"""Row expressions (RexNode): the typed expressions inside exec nodes.

Source: Flink's ``RexNodeJsonSerializer``.  A function is identified by its syntax and internal name
together: ``$-$1`` is a subtraction (BINARY), a negation (PREFIX) or a subtraction of dates (SPECIAL).

The classes of expressions are final, so that ``type(rex) is Call`` can replace ``isinstance`` in code that visits every
expression: for a struct a negative ``isinstance`` takes ten times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from operator import is_
from typing import Any, TypeAlias, final

from .errors import PlanError
from .record import Json, Record, cached_property, replace
from .text.spelling import ContainsNull, literal_json, literal_value
from .types import LogicalType
from .types.json import type_from_json, type_to_json

FUNCTION = "FUNCTION"
"""The syntax of a call whose JSON names none: an ordinary function call."""


@final
class InputRef(Record, gc=False):
    """The value of the input row's column at ``index`` (from 0)."""

    index: int
    type: LogicalType


@final
class PatternInputRef(Record, gc=False):
    """The value of a column in a row that the pattern variable ``alpha`` has matched; ``*`` stands for any variable."""

    alpha: str
    index: int
    type: LogicalType


@final
class Literal(Record, gc=False):
    """A constant.

    ``value`` has the form of the JSON: int and bool unchanged; DECIMAL, DOUBLE and FLOAT as text; an interval
    as text of milliseconds or months; binary as base64; dates and timestamps as SQL text; ``None`` for NULL.
    ``symbol`` is set for an enum constant and names its class (``TIME_UNIT_RANGE``).
    """

    value: Any
    type: LogicalType
    symbol: str | None = None


class Bound(Record, gc=False):
    """A bound of a range of a :class:`Sarg`, with a value as in :class:`Literal`."""

    value: Any
    closed: bool


class Range(Record, gc=False):
    """An interval of values; a missing bound is infinite."""

    lower: Bound | None
    upper: Bound | None


@final
class Sarg(Record):
    """A search argument: the set of values in which ``$SEARCH$1`` looks up its operand.

    ``null_as`` is the result of the search for NULL: TRUE, FALSE or UNKNOWN.
    """

    ranges: tuple[Range, ...]
    null_as: str
    type: LogicalType


class _Operands(tuple["RexNode", ...]):
    """Operands that compare as a plain tuple."""


NO_OPERANDS = _Operands()
"""No operands, written into the JSON as an empty list, as releases before 2.3 do."""


Classes: TypeAlias = frozenset[type]
"""Classes of expressions."""


def internal_name(name: str) -> str:
    """The name of a built-in function in plans: ``$UPPER$1``; 1 is the version, and Flink has no other yet."""
    return f"${name}$1"


def shown_name(internal_name: str) -> str:
    """The name of a built-in function without the parts that plans add: ``UPPER`` for ``$UPPER$1``."""
    return internal_name[1:].rsplit("$", 1)[0]


@final
class Call(Record, dict=True, cache_hash=True):
    """A call of a function or operator.

    ``name`` is the internal name (``$UPPER$1``) of a built-in function; a user's function has instead
    ``reference``, the JSON that identifies it (``catalogName``, ``systemName``, ``class``, ``instance``).
    """

    name: str
    operands: tuple[RexNode, ...]
    type: LogicalType
    syntax: str = FUNCTION
    reference: Json | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The identity of the function: its syntax and internal name."""
        return self.syntax, self.name

    @cached_property
    def callees(self) -> frozenset[tuple[str, str]]:
        """The keys of the functions called anywhere in the expression."""
        return frozenset((self.key,)).union(*map(callees, self.operands))

    @cached_property
    def classes(self) -> Classes:
        """The classes of the expression and of all its sub-expressions."""
        return _only_class(Call).union(*map(classes, self.operands))


@final
class FieldAccess(Record):
    """The field ``name`` of a row-typed expression."""

    name: str
    expr: RexNode

    @property
    def type(self) -> LogicalType:
        """The field's declared type, also where the row itself may be NULL.  Source: ``RexFieldAccess``."""
        return next(f.type for f in self.expr.type.fields if f.name == self.name)


@final
class CorrelVariable(Record):
    """The current row of the outer side of a correlation, such as ``$cor0``."""

    correl: str
    type: LogicalType


@final
class OpaqueRex(Record):
    """An expression of a kind that flinkplan preserves but cannot evaluate."""

    kind: str
    type: LogicalType
    json: Json


@final
class TableArgument(Record):
    """A table as an argument of a process table function: the rows of the input ``input_index`` of its node.

    ``partition_keys`` and ``order_keys`` are columns of that input, ``order_directions`` names of Calcite's sort
    directions, such as ``ASC_NULLS_LAST``.  Plans of releases before 2.3 have no order, which is ``None`` here.
    """

    input_index: int
    partition_keys: tuple[int, ...]
    type: LogicalType
    order_keys: tuple[int, ...] | None = None
    order_directions: tuple[str, ...] | None = None


class PlannerExpression(Record):
    """The base of the planner's own expressions, which are replaced before there is a plan."""

    @property
    def type(self) -> LogicalType:
        """The type of its values."""
        raise NotImplementedError


RexNode = (
    InputRef
    | PatternInputRef
    | Literal
    | Sarg
    | Call
    | FieldAccess
    | CorrelVariable
    | TableArgument
    | OpaqueRex
    | PlannerExpression
)

_CALL_REFERENCES = ("catalogName", "systemName", "class", "instance", "sqlKind")


def rex_from_json(json: Any) -> RexNode:
    """Read an expression.  Raises :class:`PlanError` on malformed JSON."""
    if not isinstance(json, Mapping) or "kind" not in json:
        raise PlanError(f"an expression is an object with a 'kind', not {json!r:.80}")
    try:
        return _read(json)
    except KeyError as e:
        raise PlanError(f"the {json['kind']} expression lacks the field {e}") from None


def _read(json: Mapping[str, Any]) -> RexNode:
    kind = json["kind"]
    if kind == "FIELD_ACCESS":
        return _field_access(json)
    rex_type = type_from_json(json["type"])
    if kind == "INPUT_REF":
        return InputRef(_index(json["inputIndex"]), rex_type)
    if kind == "PATTERN_INPUT_REF":
        return PatternInputRef(_word(json["alpha"]), _index(json["inputIndex"]), rex_type)
    if kind == "LITERAL":
        if "sarg" in json:
            sarg = json["sarg"]
            ranges = tuple(Range(_bound(r.get("lower")), _bound(r.get("upper"))) for r in sarg["ranges"])
            return Sarg(ranges, _null_as(sarg), rex_type)
        return Literal(_scalar(json["value"], rex_type), rex_type, _word(json["symbol"]) if "symbol" in json else None)
    if kind == "CALL":
        reference = Json({k: json[k] for k in _CALL_REFERENCES if k in json})
        return Call(
            _word(json["internalName"] if not reference else json.get("internalName", "")),
            tuple(map(rex_from_json, json.get("operands", ()))) if json.get("operands") != [] else NO_OPERANDS,
            rex_type,
            _word(json.get("syntax", FUNCTION)),
            reference or None,
        )
    if kind == "CORREL_VARIABLE":
        return CorrelVariable(_word(json["correl"]), rex_type)
    if kind == "TABLE_ARG_CALL":
        return TableArgument(
            _index(json["inputIndex"]),
            tuple(map(_index, json["partitionKeys"])),
            rex_type,
            tuple(map(_index, json["orderKeys"])) if "orderKeys" in json else None,
            tuple(map(_word, json["orderDirections"])) if "orderDirections" in json else None,
        )
    return OpaqueRex(kind, rex_type, Json(json))


def _null_as(sarg: Mapping[str, Any]) -> str:
    if "containsNull" not in sarg:
        return _word(sarg["nullAs"])
    if not isinstance(sarg["containsNull"], bool):
        raise PlanError(f"'containsNull' is true or false, not {sarg['containsNull']!r:.60}")
    return ContainsNull("TRUE" if sarg["containsNull"] else "UNKNOWN")


def _index(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise PlanError(f"a column index is a number from 0 on, not {value!r:.60}")
    return value


def _scalar(value: Any, type_: LogicalType) -> Any:
    if isinstance(value, (list, Mapping)):
        raise PlanError(f"a literal's value is a text, a number, true, false or null, not {value!r:.60}")
    return literal_value(value, type_.root)


def _word(value: Any) -> str:
    if not isinstance(value, str):
        raise PlanError(f"expected a text, found {value!r:.60}")
    return value


def _field_access(json: Mapping[str, Any]) -> FieldAccess:
    access = FieldAccess(_word(json["name"]), rex_from_json(json["expr"]))
    if access.name not in access.expr.type.field_names:
        raise PlanError(f"there is no field '{access.name}' in {access.expr.type}")
    return access


def _bound(json: Mapping[str, Any] | None) -> Bound | None:
    return None if json is None else Bound(json["value"], json["boundType"] == "CLOSED")


def rex_to_json(rex: RexNode) -> dict[str, Any]:
    """Write an expression, with its keys in Flink's order."""
    if type(rex) is Call:
        out = _call_json(rex)
    elif type(rex) is InputRef:
        out = {"kind": "INPUT_REF", "inputIndex": rex.index}
    elif type(rex) is PatternInputRef:
        out = {"kind": "PATTERN_INPUT_REF", "alpha": rex.alpha, "inputIndex": rex.index}
    elif type(rex) is Literal:
        symbol = {"symbol": rex.symbol} if rex.symbol else {}
        out = {"kind": "LITERAL", **symbol, "value": literal_json(rex.value)}
    elif type(rex) is Sarg:
        ranges = list(map(_range_json, rex.ranges))
        out = {"kind": "LITERAL", "sarg": {"ranges": ranges, **_null_as_json(rex.null_as)}}
    elif type(rex) is CorrelVariable:
        out = {"kind": "CORREL_VARIABLE", "correl": rex.correl}
    elif type(rex) is TableArgument:
        out = _table_argument_json(rex)
    elif type(rex) is FieldAccess:
        return {"kind": "FIELD_ACCESS", "name": rex.name, "expr": rex_to_json(rex.expr)}
    elif type(rex) is OpaqueRex:
        return dict(rex.json)
    else:
        raise TypeError(f"no plan holds {rex!r:.80}")
    out["type"] = type_to_json(rex.type)
    return out


def _call_json(rex: Call) -> dict[str, Any]:
    out: dict[str, Any] = {"kind": "CALL"}
    if rex.syntax != FUNCTION:
        out["syntax"] = rex.syntax
    if rex.name:
        out["internalName"] = rex.name
    out.update(rex.reference or {})
    if rex.operands or rex.operands is NO_OPERANDS:
        out["operands"] = list(map(rex_to_json, rex.operands))
    return out


def _table_argument_json(rex: TableArgument) -> dict[str, Any]:
    out: dict[str, Any] = {"kind": "TABLE_ARG_CALL", "inputIndex": rex.input_index}
    out["partitionKeys"] = list(rex.partition_keys)
    if rex.order_keys is not None:
        out["orderKeys"] = list(rex.order_keys)
    if rex.order_directions is not None:
        out["orderDirections"] = list(rex.order_directions)
    return out


def _null_as_json(null_as: str) -> dict[str, Any]:
    return {"containsNull": null_as == "TRUE"} if isinstance(null_as, ContainsNull) else {"nullAs": null_as}


def _range_json(r: Range) -> dict[str, Any]:
    out = {}
    for name, bound in (("lower", r.lower), ("upper", r.upper)):
        if bound is not None:
            out[name] = {"value": bound.value, "boundType": "CLOSED" if bound.closed else "OPEN"}
    return out


def children(rex: RexNode) -> tuple[RexNode, ...]:
    """The direct sub-expressions."""
    if type(rex) is Call:
        return rex.operands
    return (rex.expr,) if type(rex) is FieldAccess else ()


def callees(rex: RexNode) -> frozenset[tuple[str, str]]:
    """The keys of the functions called anywhere in the expression."""
    while type(rex) is FieldAccess:
        rex = rex.expr
    return rex.callees if type(rex) is Call else frozenset()


def classes(rex: RexNode) -> Classes:
    """The classes of the expression and of all its sub-expressions."""
    if type(rex) is Call:
        return rex.classes
    single = _only_class(type(rex))
    return single | classes(rex.expr) if type(rex) is FieldAccess else single


@cache
def _only_class(cls: type) -> Classes:
    return frozenset((cls,))


def walk(rex: RexNode) -> Iterator[RexNode]:
    """The expression and all its sub-expressions, parents first."""
    pending = [rex]
    while pending:
        node = pending.pop()
        yield node
        pending += reversed(children(node))


def input_refs(rex: RexNode) -> set[int]:
    """The indexes of the input columns that the expression reads."""
    return {r.index for r in walk(rex) if type(r) is InputRef}


def transform(rex: RexNode, rewrite: Callable[[RexNode], RexNode]) -> RexNode:
    """Rebuild an expression bottom-up: ``rewrite`` is applied to each node after its children."""
    if type(rex) is Call:
        new = tuple([transform(o, rewrite) for o in rex.operands])
        rex = rex if all(map(is_, new, rex.operands)) else replace(rex, operands=new)
    elif type(rex) is FieldAccess:
        expr = transform(rex.expr, rewrite)
        rex = rex if expr is rex.expr else replace(rex, expr=expr)
    return rewrite(rex)
