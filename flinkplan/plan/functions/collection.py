"""Functions of arrays, maps, rows, multisets and bitmaps."""

from __future__ import annotations

from collections.abc import Sequence

from ..record import Json, replace
from ..types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    CHARACTER,
    INT,
    STRING,
    LogicalType,
    array,
    map_,
    multiset,
    row,
)
from .model import SPECIAL, Argument, Arguments, Pushing
from .registry import declare
from .rules import (
    argument,
    common,
    common_argument,
    element_argument,
    if_null,
    least_restrictive_argument,
    null_in_null_out,
    of_type,
    signature,
    which,
)
from .typing import least_restrictive

_ARRAY = signature("ARRAY")
_SEARCH = signature("ARRAY", element_argument())


def _constructed_array(args: Arguments) -> LogicalType:
    return array(least_restrictive(args.types) or args.types[0], nullable=False)


ARRAY = declare(
    "ARRAY",
    signature(rest=least_restrictive_argument()),
    _constructed_array,
    syntax=SPECIAL,
    named=False,
    pushing=Pushing.NEVER,
)


def _constructed_map(args: Arguments) -> LogicalType:
    keys, values = least_restrictive(args.types[0::2]), least_restrictive(args.types[1::2])
    return map_(keys or args.types[0], values or args.types[1], nullable=False)


def _map_entry(start: int) -> Argument:
    def rule(types: Sequence[LogicalType], position: int) -> LogicalType | None:
        merged = least_restrictive(types[position % 2 :: 2])
        return None if merged is None else merged.with_nullability(types[position].nullable)

    return Argument("KEY, VALUE" if start == 0 else "VALUE", rule)


MAP = declare(
    "MAP", signature(rest=_map_entry(0)), _constructed_map, syntax=SPECIAL, named=False, pushing=Pushing.NEVER
)
MULTISET = declare(
    "MULTISET",
    signature(rest=least_restrictive_argument()),
    lambda args: multiset(least_restrictive(args.types) or args.types[0], nullable=False),
    syntax=SPECIAL,
    named=False,
)


def _constructed_row(args: Arguments) -> LogicalType:
    return row(((f"EXPR${i}", t) for i, t in enumerate(args.types)), nullable=False)


ROW = declare("ROW", signature(rest="ANY"), _constructed_row, syntax=SPECIAL, named=False, pushing=Pushing.NEVER)


def _item(args: Arguments) -> LogicalType:
    """An element may be missing, so it is always nullable."""
    t = args.types[0]
    if t.root == "ARRAY":
        return t.element.nullable_()
    if t.root == "MAP":
        return t.children[1].nullable_()
    if t.root == "ROW":
        key = args.literal(1)
        field_type = next((f.type for f in t.fields if f.name == key), None)
        if field_type is None and isinstance(key, int) and 1 <= key <= len(t.fields):
            field_type = t.fields[key - 1].type
        if field_type is not None:
            return field_type.nullable_() if t.nullable else field_type
    return t.nullable_()


def _map_key() -> Argument:
    def rule(types: Sequence[LogicalType], position: int) -> LogicalType | None:
        merged = least_restrictive((types[0].children[0], types[position])) if types[0].children else None
        return None if merged is None else types[position]

    return Argument("KEY", rule)


ITEM = declare(
    "ITEM",
    (
        signature("ARRAY", "INTEGER"),
        signature("MAP", _map_key()),
        signature("ROW", "ANY"),
        signature("VARIANT", "ANY"),
    ),
    _item,
    syntax=SPECIAL,
    named=False,
    pushing=Pushing.NEVER,
)

CARDINALITY = declare("CARDINALITY", signature("COLLECTION"), if_null(INT))


def _only_element(args: Arguments) -> LogicalType:
    collection = args.types[0]
    return collection.element.with_nullability(collection.nullable or collection.element.nullable)


declare("ELEMENT", (_ARRAY, signature("MULTISET")), _only_element)


def _appended(args: Arguments) -> LogicalType:
    t = args.types[0]
    element = least_restrictive((t.element, args.types[1]))
    return replace(t, children=(element or t.element,))


declare("ARRAY_APPEND", _SEARCH, null_in_null_out(_appended), bridged=True)
declare("ARRAY_PREPEND", _SEARCH, null_in_null_out(_appended), bridged=True)
ARRAY_CONTAINS = declare(
    "ARRAY_CONTAINS", _SEARCH, lambda args: BOOLEAN.with_nullability(args.types[0].nullable), bridged=True
)
declare("ARRAY_POSITION", _SEARCH, if_null(INT), bridged=True)
declare("ARRAY_REMOVE", _SEARCH, argument(0), bridged=True)
declare("ARRAY_DISTINCT", _ARRAY, argument(0), bridged=True)
declare("ARRAY_REVERSE", _ARRAY, argument(0), bridged=True)


def _index(types: Sequence[LogicalType], position: int) -> LogicalType | None:
    """An array index as an INT; a BIGINT is not cast to it."""
    t = types[position]
    return INT.with_nullability(t.nullable) if t.root in ("TINYINT", "SMALLINT", "INT", "NULL") else None


_INDEX = Argument("INT", _index)
declare(
    "ARRAY_SLICE",
    (signature("ARRAY", _INDEX, _INDEX), signature("ARRAY", _INDEX)),
    null_in_null_out(argument(0)),
    bridged=True,
)
declare(
    "ARRAY_SORT",
    (_ARRAY, signature("ARRAY", "BOOLEAN"), signature("ARRAY", "BOOLEAN", "BOOLEAN")),
    null_in_null_out(argument(0)),
    bridged=True,
)
_ONE_OF_ARRAYS = common_argument("ARRAY")
_ARRAYS = signature(_ONE_OF_ARRAYS, _ONE_OF_ARRAYS)
declare("ARRAY_UNION", _ARRAYS, null_in_null_out(common), bridged=True)
declare("ARRAY_EXCEPT", _ARRAYS, null_in_null_out(common), bridged=True)
declare("ARRAY_INTERSECT", _ARRAYS, null_in_null_out(common), bridged=True)
declare("ARRAY_CONCAT", signature(_ONE_OF_ARRAYS, rest=_ONE_OF_ARRAYS), null_in_null_out(common), bridged=True)
for _name in ("ARRAY_MAX", "ARRAY_MIN"):
    declare(_name, _ARRAY, lambda args: args.types[0].element.nullable_(), bridged=True)
_TEXTS = which("ARRAY<STRING>", lambda t: t.root == "ARRAY" and t.element.root in CHARACTER)
ARRAY_JOIN = declare(
    "ARRAY_JOIN",
    (signature(_TEXTS, "CHARACTER"), signature(_TEXTS, "CHARACTER", "CHARACTER")),
    if_null(STRING),
    bridged=True,
)


def _part(position: int, args: Arguments) -> LogicalType:
    return array(args.types[0].children[position], args.types[0].nullable)


def _entries(args: Arguments) -> LogicalType:
    key, value = args.types[0].children
    return array(row((("key", key), ("value", value))), args.types[0].nullable)


declare("MAP_KEYS", signature("MAP"), lambda args: _part(0, args), bridged=True)
declare("MAP_VALUES", signature("MAP"), lambda args: _part(1, args), bridged=True)
declare("MAP_ENTRIES", signature("MAP"), _entries, bridged=True)
declare("MAP_UNION", signature(common_argument("MAP"), rest=common_argument("MAP")), common, bridged=True)
declare(
    "MAP_FROM_ARRAYS",
    signature("ARRAY", "ARRAY"),
    lambda args: map_(args.types[0].element, args.types[1].element, args.any_nullable),
    bridged=True,
)

_BITMAP = LogicalType("BITMAP")
for _name in ("AND", "ANDNOT", "OR", "XOR"):
    declare(f"BITMAP_{_name}", signature("BITMAP", "BITMAP"), if_null(_BITMAP), bridged=True)
declare("BITMAP_BUILD", signature(of_type(array(INT))), if_null(_BITMAP), bridged=True)
declare("BITMAP_FROM_BYTES", signature("BINARY"), if_null(_BITMAP), bridged=True)
declare("BITMAP_CARDINALITY", signature("BITMAP"), if_null(BIGINT), bridged=True)
declare("BITMAP_TO_ARRAY", signature("BITMAP"), if_null(array(INT)), bridged=True)
declare("BITMAP_TO_BYTES", signature("BITMAP"), if_null(BYTES), bridged=True)
declare("BITMAP_TO_STRING", signature("BITMAP"), if_null(STRING), bridged=True)


def _attributes(args: Arguments) -> dict[str, LogicalType]:
    """The attributes given by the pairs of name and value after the first argument."""
    names = (str(args.literal(i)) for i in range(1, len(args), 2))
    return dict(zip(names, args.types[2::2], strict=True))


def _object(args: Arguments) -> LogicalType:
    """OBJECT_OF('class', 'name', value, …): a structured type whose class is a literal."""
    return LogicalType("STRUCTURED", fields=row(_attributes(args).items()).fields, raw=Json({"class": args.literal(0)}))


def _updated_object(args: Arguments) -> LogicalType:
    """OBJECT_UPDATE(object, 'name', value, …): updated attributes have the types of their new values."""
    updated, old = _attributes(args), args.types[0]
    return replace(old, fields=tuple(replace(f, type=updated.get(f.name, f.type)) for f in old.fields))


def _in_pairs(types: Sequence[LogicalType], position: int) -> LogicalType | None:
    """Accepts arguments in pairs of a name and a value."""
    return types[position] if len(types) % 2 else None


declare("OBJECT_OF", signature("CHARACTER", rest=Argument("NAME, VALUE", _in_pairs)), _object, bridged=True)
declare("OBJECT_UPDATE", signature("ROW", rest="ANY"), _updated_object, bridged=True)
