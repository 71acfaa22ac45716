"""Arrays, maps, multisets and rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...plan.errors import UnsupportedError
from ...plan.functions.model import SPECIAL
from ...plan.rex import Call
from ...plan.types import LogicalType
from ..jvm.spark import F
from ..jvm.types import cast_type, field_name
from . import variant
from .maps import entries_of, keys_of, map_of, value_at
from .registry import Invocation, literal_operands, native, scalar

if TYPE_CHECKING:
    from pyspark.sql import Column

native("$ARRAY_APPEND$1", F.array_append)
native("$ARRAY_PREPEND$1", F.array_prepend)
native("$ARRAY_DISTINCT$1", F.array_distinct)
native("$ARRAY_REVERSE$1", F.reverse)
native("$ARRAY_CONCAT$1", F.concat)
native("$ARRAY_UNION$1", F.array_union)
native("$ARRAY_INTERSECT$1", F.array_intersect)
native("$ARRAY_EXCEPT$1", F.array_except)
native("$ARRAY_MAX$1", F.array_max)
native("$ARRAY_MIN$1", F.array_min)
native("$ARRAY_JOIN$1", lambda *operands: F.call_function("array_join", *operands))
native("$MAP_VALUES$1", F.map_values)


# ---------------------------------------------------------------- construction and access


@scalar("$ARRAY$1", syntax=SPECIAL)
def array(call: Invocation, *elements: Column) -> Column:
    """``ARRAY[…]``."""
    return F.array(*elements).cast(cast_type(call.type))


@scalar("$MAP$1", syntax=SPECIAL)
def map_(call: Invocation, *entries: Column) -> Column:
    """``MAP[key, value, …]``; the last value of a key wins."""
    return map_of(F.array(*entries[::2]), F.array(*entries[1::2]), call.type)


@scalar("$MULTISET$1", syntax=SPECIAL)
def multiset(call: Invocation, *elements: Column) -> Column:
    """``MULTISET[…]``."""
    all_, distinct = F.array(*elements), F.array_distinct(F.array(*elements))
    counts = F.transform(distinct, lambda x: F.size(F.filter(all_, lambda y: y.eqNullSafe(x))))
    return map_of(distinct, counts, call.type)


@scalar("$ROW$1", syntax=SPECIAL)
def row(call: Invocation, *fields: Column) -> Column:
    """``ROW(…)``."""
    return F.struct(*(f.alias(field_name(i)) for i, f in enumerate(fields))).cast(cast_type(call.type))


@scalar("$OBJECT_OF$1")
def object_of(call: Invocation, *operands: Column) -> Column:
    """``OBJECT_OF('class', 'name', value, …)``: a value of a structured type."""
    return row(call, *operands[2::2])


@scalar("$OBJECT_UPDATE$1", check=literal_operands(lambda call: range(1, len(call.operands), 2)))
def object_update(call: Invocation, a: Column, *updates: Column) -> Column:
    """``OBJECT_UPDATE(object, 'name', value, …)``: the object with other values of some attributes."""
    names = [str(call.constant(i)) for i in range(1, len(call.types), 2)]
    given = dict(zip(names, updates[1::2], strict=True))
    values = [given.get(f.name, a.getField(field_name(i))) for i, f in enumerate(call.type.fields)]
    return F.when(a.isNotNull(), row(call, *values))


@scalar("$ITEM$1", syntax=SPECIAL, check=literal_operands(lambda call: (1,) if _is_row(call) else ()))
def item(call: Invocation, a: Column, key: Column) -> Column:
    """``array[position]``, ``map[key]`` or ``row[position]``; NULL where there is none."""
    t = call.types[0]
    if t.root == "ARRAY":
        return F.get(a, key - 1)
    if t.root == "MAP":
        return value_at(a, t, key)
    if t.root == "ROW":
        return a.getField(field_name(_field_index(t, call.constant(1))))
    if t.root == "VARIANT":
        return variant.item(call, a, key)
    raise UnsupportedError(f"an element of a value of the type {t} cannot be taken")


def _is_row(item: Call) -> bool:
    return item.operands[0].type.root == "ROW"


def _field_index(t: LogicalType, key: int | str) -> int:
    return key - 1 if isinstance(key, int) else t.field_names.index(key)


@scalar("$ELEMENT$1")
def element(call: Invocation, a: Column) -> Column:
    """The only element of an array; NULL where it is empty, an error where it has several."""
    several = F.raise_error(F.lit("ELEMENT takes an array of at most one element")).cast(cast_type(call.type))
    return F.when(F.array_size(a) > 1, several).otherwise(F.get(a, F.lit(0)))


@scalar("$CARDINALITY$1")
def cardinality(call: Invocation, a: Column) -> Column:
    """The number of elements or entries."""
    return F.when(a.isNotNull(), F.size(a))


# ---------------------------------------------------------------- arrays


@scalar("$ARRAY_CONTAINS$1")
def array_contains(call: Invocation, a: Column, searched: Column) -> Column:
    """Whether an array has an element; a NULL is searched for as well."""
    return F.exists(a, lambda x: x.eqNullSafe(searched))


@scalar("$ARRAY_REMOVE$1")
def array_remove(call: Invocation, a: Column, removed: Column) -> Column:
    """An array without all elements equal to a value; NULLs are removed by NULL."""
    return F.filter(a, lambda x: ~x.eqNullSafe(removed))


@scalar("$ARRAY_POSITION$1")
def array_position(call: Invocation, a: Column, searched: Column) -> Column:
    """The position of the first element equal to a value; 0 for none."""
    return F.array_position(a, searched).cast("int")


@scalar("$ARRAY_SLICE$1")
def array_slice(call: Invocation, a: Column, start: Column, end: Column | None = None) -> Column:
    """The elements from one position to another; negative ones count from the end, those outside are moved in."""
    size = F.array_size(a)

    def position(p: Column) -> Column:
        return F.greatest(F.when(p < 0, size + p + 1).otherwise(p), F.lit(1))

    first = position(start)
    last = size if end is None else F.least(position(end), size)
    return F.when(start.isNotNull() & last.isNotNull(), F.slice(a, first, F.greatest(last - first + 1, F.lit(0))))


@scalar("$ARRAY_SORT$1")
def array_sort(
    call: Invocation, a: Column, ascending: Column | None = None, nulls_first: Column | None = None
) -> Column:
    """A sorted array; NULLs come first where it ascends, last where it descends, unless said otherwise."""
    upwards = F.lit(True) if ascending is None else ascending
    first = upwards if nulls_first is None else nulls_first
    sorted_ = F.when(upwards, F.sort_array(a, asc=True)).otherwise(F.sort_array(a, asc=False))
    known, unknown = F.filter(sorted_, lambda x: x.isNotNull()), F.filter(sorted_, lambda x: x.isNull())
    ordered = F.when(first, F.concat(unknown, known)).otherwise(F.concat(known, unknown))
    return F.when(upwards.isNotNull() & first.isNotNull(), ordered)


@scalar("$MAP_KEYS$1")
def map_keys(call: Invocation, a: Column) -> Column:
    """The keys of a map."""
    return keys_of(a, call.types[0])


@scalar("$MAP_FROM_ARRAYS$1")
def map_from_arrays(call: Invocation, keys: Column, values: Column) -> Column:
    """The map of an array of keys and one of values."""
    return map_of(keys, values, call.type)


@scalar("$MAP_UNION$1")
def map_union(call: Invocation, *maps: Column) -> Column:
    """The entries of all maps; the last value of a key wins."""
    keys = [keys_of(a, t) for a, t in zip(maps, call.types, strict=True)]
    return map_of(F.concat(*keys), F.concat(*map(F.map_values, maps)), call.type)


@scalar("$MAP_ENTRIES$1")
def map_entries(call: Invocation, a: Column) -> Column:
    """The entries of a map as rows of key and value."""
    return entries_of(a, call.types[0]).cast(cast_type(call.type))
