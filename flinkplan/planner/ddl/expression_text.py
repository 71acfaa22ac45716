"""SQL text of a bound expression's syntax, as Flink writes it into a plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...plan.functions import find_function
from ...plan.functions.temporal import PART_FUNCTIONS
from ..sql import ast

_OWN = """
    TYPEOF IFNULL MAP_KEYS MAP_VALUES MAP_UNION MAP_ENTRIES MAP_FROM_ARRAYS SOURCE_WATERMARK ARRAY_APPEND
    ARRAY_CONTAINS ARRAY_SORT ARRAY_DISTINCT ARRAY_POSITION ARRAY_PREPEND ARRAY_REMOVE ARRAY_REVERSE ARRAY_SLICE
    ARRAY_UNION ARRAY_CONCAT ARRAY_MAX ARRAY_JOIN ARRAY_MIN SPLIT URL_DECODE URL_ENCODE INET_ATON INET_NTOA
    ARRAY_EXCEPT ARRAY_INTERSECT GREATEST LEAST STARTSWITH ENDSWITH TRANSLATE3 REGEXP_COUNT REGEXP_EXTRACT_ALL
    REGEXP_INSTR REGEXP_SUBSTR JSON_QUOTE JSON_UNQUOTE PRINTF BTRIM ELT OBJECT_OF OBJECT_UPDATE UNHEX
    TO_TIMESTAMP_LTZ CURRENT_WATERMARK JSON_STRING JSON PARSE_JSON BITMAP_AND BITMAP_ANDNOT BITMAP_BUILD
    BITMAP_CARDINALITY BITMAP_FROM_BYTES BITMAP_OR BITMAP_TO_ARRAY BITMAP_TO_BYTES BITMAP_TO_STRING BITMAP_XOR
"""
_QUOTED_FUNCTIONS = frozenset(_OWN.split())
"""Functions that Flink defines itself: it quotes their names, unlike those of Calcite's."""

_PRECEDENCE = {
    **{"OR": 1, "AND": 2, "NOT": 3},
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">="), 4),
    **dict.fromkeys(("+", "-"), 6),
    **dict.fromkeys(("||", "*", "/", "%"), 7),
}
_PREDICATE = 4
_ATOM = 9


def sql_text(node: ast.Expression) -> str:
    """The expression with quoted identifiers and one space around operators."""
    return _write(node)[0]


def quoted(name: str) -> str:
    """An identifier in backquotes."""
    return "`" + name.replace("`", "``") + "`"


def quoted_string(value: str) -> str:
    """A string literal."""
    return "'" + value.replace("'", "''") + "'"


def _write(node: ast.Expression) -> tuple[str, int]:
    """The text and its operator precedence."""
    writer = _WRITERS.get(type(node))
    return (node.span.text, _ATOM) if writer is None else writer(node)


def _operand(node: ast.Expression, strength: int) -> str:
    text, own = _write(node)
    return text if own >= strength else f"({text})"


def _list(nodes: tuple[ast.Expression, ...]) -> str:
    return ", ".join(map(sql_text, nodes))


def _binary(node: ast.Binary) -> tuple[str, int]:
    strength = _PRECEDENCE.get(node.operator, _PREDICATE)
    return f"{_operand(node.left, strength)} {node.operator} {_operand(node.right, strength + 1)}", strength


def _unary(node: ast.Unary) -> tuple[str, int]:
    if node.operator == "NOT":
        return f"NOT {_operand(node.operand, 3)}", 3
    return f"{node.operator} {_operand(node.operand, 8)}", 8


def _call(node: ast.FunctionCall) -> tuple[str, int]:
    name = str(node.name).upper()
    if not node.parentheses:
        return name, _ATOM
    if node.name.parts[0].quoted and (len(node.name.parts) > 1 or find_function(name) is None):
        return f"{'.'.join(map(quoted, node.name.names))}({_list(node.args)})", _ATOM
    special = _SPECIAL_CALLS.get(name)
    if special is not None:
        return special(node), _ATOM
    shown = quoted(name) if name in _QUOTED_FUNCTIONS else name
    return f"{shown}({_list(node.args)})", _ATOM


def _floor(node: ast.FunctionCall) -> str:
    name = str(node.name).upper()
    if len(node.args) == 1:
        return f"{name}({_list(node.args)})"
    unit = node.args[1]
    assert isinstance(unit, ast.Symbol)
    return f"{name}({sql_text(node.args[0])} TO {unit.value})"


def _extract(node: ast.FunctionCall) -> str:
    unit = node.args[0]
    assert isinstance(unit, ast.Symbol)
    return f"EXTRACT({unit.value} FROM {sql_text(node.args[1])})"


def _trim(node: ast.FunctionCall) -> str:
    side, *rest = node.args
    assert isinstance(side, ast.Symbol)
    return f"TRIM({side.value} {sql_text(rest[0])} FROM {sql_text(rest[1])})"


def _overlay(node: ast.FunctionCall) -> str:
    text, by, start, *length = map(sql_text, node.args)
    return f"OVERLAY({text} PLACING {by} FROM {start}{f' FOR {length[0]}' if length else ''})"


def _part(node: ast.FunctionCall) -> str:
    return f"EXTRACT({PART_FUNCTIONS[str(node.name).upper()]} FROM {sql_text(node.args[0])})"


def _null_if(node: ast.FunctionCall) -> str:
    value, other = node.args
    equal = f"{_operand(value, _PREDICATE)} = {_operand(other, _PREDICATE + 1)}"
    return f"CASE WHEN {equal} THEN NULL ELSE {sql_text(value)} END"


def _position(node: ast.FunctionCall) -> str:
    return f"POSITION({sql_text(node.args[0])} IN {sql_text(node.args[1])})"


_SPECIAL_CALLS: dict[str, Callable[[ast.FunctionCall], str]] = {
    "FLOOR": _floor,
    "CEIL": _floor,
    "EXTRACT": _extract,
    "TRIM": _trim,
    "OVERLAY": _overlay,
    "POSITION": _position,
    "NULLIF": _null_if,
    **dict.fromkeys(PART_FUNCTIONS, _part),
}


def _case(node: ast.Case) -> tuple[str, int]:
    parts = ["CASE"]
    for branch in node.branches:
        condition = sql_text(branch.condition)
        if node.operand is not None:
            condition = f"{_operand(node.operand, _PREDICATE)} = {condition}"
        parts.append(f"WHEN {condition} THEN {sql_text(branch.result)}")
    parts.append(f"ELSE {sql_text(node.otherwise) if node.otherwise is not None else 'NULL'} END")
    return " ".join(parts), _ATOM


def _cast(node: ast.Cast) -> tuple[str, int]:
    name = "TRY_CAST" if node.safe else "CAST"
    return f"{name}({sql_text(node.operand)} AS {type_text(node.type)})", _ATOM


def type_text(node: ast.DataType) -> str:
    """A data type as Flink's parser writes it back."""
    name = "INTEGER" if node.name == "INT" else node.name
    if node.args:
        name += f"({', '.join(map(str, node.args))})"
    inner = [_nullable_type_text(e) for e in node.elements]
    inner += [f"{quoted(f.name.name)} {_nullable_type_text(f.type)}" for f in node.fields]
    return f"{name}< {', '.join(inner)} >" if inner else name


def _nullable_type_text(node: ast.DataType) -> str:
    return type_text(node) + ("" if node.nullable else " NOT NULL")


def _interval(node: ast.IntervalLiteral) -> tuple[str, int]:
    q = node.qualifier
    units = q.unit + (f"({q.precision})" if q.precision is not None else "")
    if q.end_unit is not None:
        units += f" TO {q.end_unit}"
    return f"INTERVAL {'-' if node.negative else ''}{quoted_string(node.value)} {units}", _ATOM


def _in(node: ast.InList) -> tuple[str, int]:
    word = "NOT IN" if node.negated else "IN"
    return f"{_operand(node.operand, _PREDICATE + 1)} {word} ({_list(node.items)})", _PREDICATE


def _is(node: ast.IsPredicate) -> tuple[str, int]:
    word = "IS NOT" if node.negated else "IS"
    return f"{_operand(node.operand, _PREDICATE + 1)} {word} {node.test}", _PREDICATE


def _like(node: ast.Like) -> tuple[str, int]:
    word = ("NOT " if node.negated else "") + ("SIMILAR TO" if node.similar else "LIKE")
    text = f"{_operand(node.operand, _PREDICATE + 1)} {word} {_operand(node.pattern, _PREDICATE + 1)}"
    return text + (f" ESCAPE {sql_text(node.escape)}" if node.escape is not None else ""), _PREDICATE


def _distinct(node: ast.IsDistinctFrom) -> tuple[str, int]:
    word = "IS NOT DISTINCT FROM" if node.negated else "IS DISTINCT FROM"
    return f"{_operand(node.left, _PREDICATE + 1)} {word} {_operand(node.right, _PREDICATE + 1)}", _PREDICATE


def _json_value(node: ast.JsonValue) -> tuple[str, int]:
    text = f"JSON_VALUE({sql_text(node.operand)}, {sql_text(node.path)}"
    if node.returning is not None:
        text += f" RETURNING {type_text(node.returning)}"
    for behavior, when in ((node.on_empty, "EMPTY"), (node.on_error, "ERROR")):
        if behavior is not None:
            value = f" {sql_text(behavior.value)}" if behavior.value is not None else ""
            text += f" {behavior.kind}{value} ON {when}"
    return text + ")", _ATOM


def _json_query(node: ast.JsonQuery) -> tuple[str, int]:
    text = f"JSON_QUERY({sql_text(node.operand)}, {sql_text(node.path)}"
    if node.returning is not None:
        text += f" RETURNING {type_text(node.returning)}"
    wrapper = {None: "WITHOUT", "WITHOUT": "WITHOUT"}.get(node.wrapper, f"WITH {node.wrapper}")
    empty, error = (b.kind if b is not None else "NULL" for b in (node.on_empty, node.on_error))
    return f"{text} {wrapper} ARRAY WRAPPER {empty} ON EMPTY {error} ON ERROR)", _ATOM


def _json_exists(node: ast.JsonExists) -> tuple[str, int]:
    on_error = f" {node.on_error} ON ERROR" if node.on_error is not None else ""
    return f"JSON_EXISTS({sql_text(node.operand)}, {sql_text(node.path)}{on_error})", _ATOM


def _json_object(node: ast.JsonObject) -> tuple[str, int]:
    entries = ", ".join(f"KEY {sql_text(e.key)} VALUE {sql_text(e.value)}" for e in node.entries)
    return f"JSON_OBJECT({entries} {node.on_null or 'NULL'} ON NULL)", _ATOM


def _json_array(node: ast.JsonArray) -> tuple[str, int]:
    return f"JSON_ARRAY({_list(node.items)} {node.on_null or 'ABSENT'} ON NULL)", _ATOM


def _between(node: ast.Between) -> tuple[str, int]:
    word = ("NOT " if node.negated else "") + f"BETWEEN {'SYMMETRIC' if node.symmetric else 'ASYMMETRIC'}"
    low, high = _operand(node.low, _PREDICATE + 1), _operand(node.high, _PREDICATE + 1)
    return f"{_operand(node.operand, _PREDICATE + 1)} {word} {low} AND {high}", _PREDICATE


_WRITERS: dict[type[ast.Node], Callable[[Any], tuple[str, int]]] = {
    ast.ColumnRef: lambda n: (".".join(map(quoted, n.names)), _ATOM),
    ast.NullLiteral: lambda n: ("NULL", _ATOM),
    ast.BooleanLiteral: lambda n: ({True: "TRUE", False: "FALSE", None: "UNKNOWN"}[n.value], _ATOM),
    ast.NumericLiteral: lambda n: (n.text.upper(), _ATOM),
    ast.StringLiteral: lambda n: (quoted_string(n.value), _ATOM),
    ast.BinaryLiteral: lambda n: (f"X'{n.value.hex().upper()}'", _ATOM),
    ast.DateTimeLiteral: lambda n: (f"{n.kind} {quoted_string(n.value)}", _ATOM),
    ast.IntervalLiteral: _interval,
    ast.Unary: _unary,
    ast.Binary: _binary,
    ast.FunctionCall: _call,
    ast.Case: _case,
    ast.Cast: _cast,
    ast.InList: _in,
    ast.IsPredicate: _is,
    ast.Like: _like,
    ast.Between: _between,
    ast.IsDistinctFrom: _distinct,
    ast.JsonValue: _json_value,
    ast.JsonQuery: _json_query,
    ast.JsonExists: _json_exists,
    ast.JsonObject: _json_object,
    ast.JsonArray: _json_array,
    ast.MapConstructor: lambda n: (f"MAP[{_list(tuple(x for e in n.entries for x in (e.key, e.value)))}]", _ATOM),
    ast.ElementAccess: lambda n: (f"{_operand(n.operand, _ATOM)}[{sql_text(n.index)}]", _ATOM),
    ast.FieldAccess: lambda n: (f"{_operand(n.operand, _ATOM)}.{quoted(n.field.name)}", _ATOM),
    ast.ArrayConstructor: lambda n: (f"ARRAY[{_list(n.items)}]", _ATOM),
    ast.RowConstructor: lambda n: (f"ROW({_list(n.items)})", _ATOM),
}
