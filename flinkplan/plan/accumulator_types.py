"""The types of accumulators that are Java objects: map views, list views and structured types.

Sources: the accumulator classes of Flink's runtime, its type and serializer snapshots.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping, Sequence

from .record import Json
from .rex import internal_name
from .types import BIGINT, DOUBLE, INT, STRING, LogicalType, RowField, array, row

_VIEW = "org.apache.flink.table.api.dataview.MapView"
_LIST_VIEW = "org.apache.flink.table.api.dataview.ListView"
_AGGREGATES = "org.apache.flink.table.runtime.functions.aggregate."
_DATA = "org.apache.flink.table.data."
_DATA_CLASSES = {
    "CHAR": f"{_DATA}StringData",
    "VARCHAR": f"{_DATA}StringData",
    "DECIMAL": f"{_DATA}DecimalData",
    "TIMESTAMP": f"{_DATA}TimestampData",
    "TIMESTAMP_LTZ": f"{_DATA}TimestampData",
    "DATE": "java.lang.Integer",
    "TIME": "java.lang.Integer",
    "ROW": f"{_DATA}RowData",
}
"""Flink's internal classes for values whose class in the API is another one."""
_SERIALIZERS = "org.apache.flink.api.common.typeutils.base"
_RUNTIME_SERIALIZERS = "org.apache.flink.table.runtime.typeutils"
LISTED = {
    "BOOLEAN": (_SERIALIZERS, "Boolean", "Boolean", ()),
    "TINYINT": (_SERIALIZERS, "Byte", "Byte", ()),
    "SMALLINT": (_SERIALIZERS, "Short", "Short", ()),
    "INT": (_SERIALIZERS, "Int", "Int", ()),
    "DATE": (_SERIALIZERS, "Int", "Int", ()),
    "TIME": (_SERIALIZERS, "Int", "Int", ()),
    "BIGINT": (_SERIALIZERS, "Long", "Long", ()),
    "FLOAT": (_SERIALIZERS, "Float", "Float", ()),
    "DOUBLE": (_SERIALIZERS, "Double", "Double", ()),
    "CHAR": (_RUNTIME_SERIALIZERS, "StringData", "StringData", ()),
    "VARCHAR": (_RUNTIME_SERIALIZERS, "StringData", "StringData", ()),
    "DECIMAL": (_RUNTIME_SERIALIZERS, "DecimalData", "Decimal", ("precision", "scale")),
    "TIMESTAMP": (_RUNTIME_SERIALIZERS, "TimestampData", "TimestampData", ("precision",)),
    "TIMESTAMP_LTZ": (_RUNTIME_SERIALIZERS, "TimestampData", "TimestampData", ("precision",)),
}
"""By the type of a list's elements: package and names of the serializer and of its snapshot, and the type parameters
that the snapshot holds.
"""

_COMPOSITE_MAGIC, _NESTED_MAGIC = 911108, 1333245
_SNAPSHOT_VERSION = 3


WELFORD = LogicalType(
    "STRUCTURED",
    raw=Json({"class": f"{_AGGREGATES}WelfordM2AggFunction$WelfordM2Accumulator"}),
    fields=row((("n", BIGINT.not_null()), ("mean", DOUBLE.not_null()), ("m2", DOUBLE.not_null()))).fields,
)


def extreme_with_retract(name: str, t: LogicalType) -> LogicalType:
    """The accumulator of a MIN or MAX that retracts: the number of rows for each value."""
    title = name.capitalize()
    view = _map_view(t.not_null(), BIGINT)
    return _structured(
        f"{title}WithRetractAggFunction${title}WithRetractAccumulator",
        [
            {"name": name, "attributeType": str(t.nullable_())},
            {"name": "mapSize", "attributeType": "BIGINT"},
            {"name": "map", "attributeType": dict(view.raw or {})},
        ],
    )


def distinct_view(key: LogicalType, count_each: bool) -> LogicalType:
    """The distinct values with their numbers of rows; with ``count_each`` a number for each call that shares them."""
    if not count_each:
        return _map_view(key, BIGINT.not_null())
    longs = {"conversionClass": "[J", "elementClass": {"conversionClass": "long"}}
    return _map_view(key, array(BIGINT.not_null()), {"valueClass": longs})


def _map_view(key: LogicalType, value: LogicalType, classes: Mapping[str, object] | None = None) -> LogicalType:
    external: object = f"STRUCTURED<'{_VIEW}', `map` MAP<{key}, {value}>>"
    data_class = _DATA_CLASSES.get(key.root)
    conversions = dict(classes or {})
    if data_class:
        conversions = {"keyClass": {"conversionClass": data_class}, **conversions}
    if conversions:
        external = {"logicalType": external, "fields": [{"name": "map", **conversions}]}
    return LogicalType("RAW", raw=Json({"type": "RAW", "class": _VIEW, "externalDataType": external}))


def with_views(t: LogicalType) -> LogicalType:
    """The accumulator of a user's function as plans have it: its list and map views are RAW types.

    Source: ``LogicalTypeJsonSerializer``, which writes a data view with its external type.
    """
    if t.root != "STRUCTURED" or not t.raw or not any(map(_is_view, t.field_types)):
        return t
    attributes = [{"name": f.name, "attributeType": _attribute(f.type)} for f in t.fields]
    return LogicalType(
        "STRUCTURED",
        raw=Json(
            {
                "type": "STRUCTURED_TYPE",
                "implementationClass": t.raw["class"],
                "attributes": attributes,
                "comparison": "EQUALS",
            }
        ),
    )


def _is_view(t: LogicalType) -> bool:
    return t.root == "STRUCTURED" and t.raw is not None and t.raw.get("class") in (_VIEW, _LIST_VIEW)


def _attribute(t: LogicalType) -> object:
    if t.raw is None or not _is_view(t):
        return t.text
    name = t.raw["class"]
    external: object = str(t)
    if name == _LIST_VIEW:
        external = {"logicalType": external, "fields": [{"name": "list", "conversionClass": "java.util.List"}]}
    return {"type": "RAW", "class": name, "externalDataType": external}


def _structured(name: str, attributes: Sequence[Mapping[str, object]]) -> LogicalType:
    return LogicalType(
        "STRUCTURED",
        raw=Json(
            {
                "type": "STRUCTURED_TYPE",
                "implementationClass": f"{_AGGREGATES}{name}",
                "attributes": list(attributes),
                "comparison": "EQUALS",
            }
        ),
    )


PERCENTILE = _structured(
    "PercentileAggFunction$PercentileAccumulator",
    [
        {"name": "percentages", "attributeType": str(array(DOUBLE))},
        {"name": "valueCount", "attributeType": dict(_map_view(DOUBLE, BIGINT).raw or {})},
    ],
)


JSON_OBJECTAGG = _structured(
    "JsonObjectAggFunction$Accumulator",
    [
        {
            "name": "map",
            "attributeType": dict(
                _map_view(STRING.not_null(), STRING, {"valueClass": {"conversionClass": _DATA_CLASSES["VARCHAR"]}}).raw
                or {}
            ),
        }
    ],
)


_BITMAP = LogicalType("BITMAP")


def _combining_bitmaps(operation: str) -> LogicalType:
    """The accumulator of a function that combines bitmaps."""
    cls = f"{_AGGREGATES}AbstractBitmap{operation}AggFunction$Bitmap{operation}Accumulator"
    return LogicalType("STRUCTURED", fields=(RowField("bitmap", _BITMAP),), raw=Json({"class": cls}))


BITMAPS = {
    internal_name(f"BITMAP_{name}{counted}_AGG"): t
    for name, t in (("BUILD", _BITMAP.not_null()), *((o.upper(), _combining_bitmaps(o)) for o in ("And", "Or", "Xor")))
    for counted in ("", "_CARDINALITY")
}
"""The accumulators of bitmap functions that do not retract, by the function's internal name."""


def _list_view(element: LogicalType) -> LogicalType:
    classes = {"conversionClass": _DATA_CLASSES[element.root]}
    external = {
        "logicalType": f"STRUCTURED<'{_LIST_VIEW}', `list` ARRAY<{element}>>",
        "fields": [{"name": "list", "conversionClass": "java.util.List", "elementClass": classes}],
    }
    return LogicalType("RAW", raw=Json({"type": "RAW", "class": _LIST_VIEW, "externalDataType": external}))


_LISTS = tuple(
    {"name": n, "attributeType": dict(_list_view(STRING.not_null()).raw or {})} for n in ("list", "retractList")
)

LISTAGG_WITH_RETRACT = _structured("ListAggWithRetractAggFunction$ListAggWithRetractAccumulator", _LISTS)
"""The accumulator of a LISTAGG that retracts."""

LISTAGG_WS_WITH_RETRACT = _structured(
    "ListAggWsWithRetractAggFunction$ListAggWsWithRetractAccumulator",
    (*_LISTS, {"name": "delimiter", "attributeType": str(STRING)}),
)
"""The same with a delimiter."""


def collect(element: LogicalType) -> LogicalType:
    """The accumulator of COLLECT: the number of rows for each value."""
    view = _map_view(element.not_null(), INT)
    attributes = [{"name": "map", "attributeType": dict(view.raw or {})}]
    return _structured("CollectAggFunction$CollectAccumulator", attributes)


def array_agg(element: LogicalType) -> LogicalType:
    """The accumulator of ARRAY_AGG: the elements, and those that were retracted before they were added."""
    elements = LogicalType("RAW", raw=Json({"class": "java.util.LinkedList", "snapshot": _list_snapshot(element)}))
    fields = (RowField("list", elements), RowField("retractList", elements))
    cls = f"{_AGGREGATES}ArrayAggFunction$ArrayAggAccumulator"
    return LogicalType("STRUCTURED", fields=fields, raw=Json({"class": cls}))


def _list_snapshot(element: LogicalType) -> str:
    """The snapshot of a list's serializer, in the form that Flink writes into the type."""
    package, serializer, snapshot, parameters = LISTED[element.root]
    numbers = {"precision": element.precision or 0, "scale": element.scale or 0}
    nested = _snapshot(f"{package}.{serializer}Serializer${snapshot}SerializerSnapshot")
    nested += b"".join(struct.pack(">i", numbers[p]) for p in parameters)
    composite = struct.pack(">ii?iii", _COMPOSITE_MAGIC, _SNAPSHOT_VERSION, True, _NESTED_MAGIC, 1, 1)
    outer = _snapshot(f"{_RUNTIME_SERIALIZERS}.LinkedListSerializer$LinkedListSerializerSnapshot")
    return base64.b64encode(outer + composite + nested).decode()


def _snapshot(name: str) -> bytes:
    """A snapshot's class and version."""
    return struct.pack(">H", len(name)) + name.encode() + struct.pack(">i", _SNAPSHOT_VERSION)
