"""Maps whose keys may be NULL, as Flink's may and Spark's may not.

Spark's own functions are used where the type of the keys is NOT NULL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...plan.types import LogicalType
from ..jvm.spark import F, T
from ..jvm.types import spark_type
from .jvm import invoke

if TYPE_CHECKING:
    from pyspark.sql import Column


def map_of(keys: Column, values: Column, of: LogicalType) -> Column:
    """The map of an array of keys and one of values; the last value of a key wins."""
    made = _spark_map(of)
    if not _nullable_keys(of):
        return F.map_from_arrays(keys, values).cast(made)
    keys, values = keys.cast(T.ArrayType(made.keyType)), values.cast(T.ArrayType(made.valueType))
    return invoke("Maps.of", made, keys, values, F.lit(made.json()))


def keys_of(a: Column, of: LogicalType) -> Column:
    """The keys of a map or multiset of the type ``of``."""
    if not _nullable_keys(of):
        return F.map_keys(a)
    return invoke("Maps.keys", T.ArrayType(_spark_map(of).keyType), a)


def entries_of(a: Column, of: LogicalType) -> Column:
    """The entries of a map or multiset as structs of ``key`` and ``value``."""
    if not _nullable_keys(of):
        return F.map_entries(a)
    return F.zip_with(keys_of(a, of), F.map_values(a), lambda k, v: F.struct(k.alias("key"), v.alias("value")))


def value_at(a: Column, of: LogicalType, key: Column) -> Column:
    """The value of a key; NULL for an unknown one, and for NULL."""
    key = key.cast(_spark_map(of).keyType)
    if not _nullable_keys(of):
        return F.try_element_at(a, key)
    return F.get(F.map_values(a), F.array_position(keys_of(a, of), key).cast("int") - 1)


def _nullable_keys(of: LogicalType) -> bool:
    """MULTISET has its elements for keys."""
    return of.children[0].nullable


def _spark_map(of: LogicalType) -> T.MapType:
    made = spark_type(of)
    assert isinstance(made, T.MapType)
    return made
