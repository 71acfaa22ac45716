"""The types of accumulators that are objects, as Flink writes them into plans."""

from __future__ import annotations

import base64

import pytest

from flinkplan.plan.accumulator_types import (
    BITMAPS,
    JSON_OBJECTAGG,
    LISTAGG_WITH_RETRACT,
    LISTED,
    PERCENTILE,
    array_agg,
    distinct_view,
)
from flinkplan.plan.types import LogicalType
from flinkplan.plan.types.parser import parse_type

INTS = (
    "AFpvcmcuYXBhY2hlLmZsaW5rLnRhYmxlLnJ1bnRpbWUudHlwZXV0aWxzLkxpbmtlZExpc3RTZXJpYWxpemVyJExpbmtlZExpc3RTZXJpYWxpemVy"
    "U25hcHNob3QAAAADAA3nBAAAAAMBABRX/QAAAAEAAAABAE5vcmcuYXBhY2hlLmZsaW5rLmFwaS5jb21tb24udHlwZXV0aWxzLmJhc2UuSW50U2Vy"
    "aWFsaXplciRJbnRTZXJpYWxpemVyU25hcHNob3QAAAAD"
)


def test_lists_of_integers_are_written_as_flink_writes_them() -> None:
    cls = "org.apache.flink.table.runtime.functions.aggregate.ArrayAggFunction$ArrayAggAccumulator"
    raw = f"RAW('java.util.LinkedList', '{INTS}')"
    assert str(array_agg(parse_type("INT"))) == f"STRUCTURED<'{cls}', `list` {raw}, `retractList` {raw}>"


@pytest.mark.parametrize(("element", "end"), [("DECIMAL(10, 2)", (10, 2)), ("TIMESTAMP(3)", (3,)), ("STRING", (3,))])
def test_snapshots_end_with_the_parameters_of_the_type(element: str, end: tuple[int, ...]) -> None:
    snapshot = base64.b64decode(dict(array_agg(parse_type(element)).fields[0].type.raw or {})["snapshot"])
    assert snapshot.endswith(b"".join(n.to_bytes(4, "big") for n in end))


@pytest.mark.parametrize("root", LISTED)
def test_types_read_back(root: str) -> None:
    t = array_agg(LogicalType(root, precision=3, scale=0))
    assert parse_type(str(t)) == t


def test_percentiles_count_values() -> None:
    assert [a["name"] for a in dict(PERCENTILE.raw or {})["attributes"]] == ["percentages", "valueCount"]


def test_objects_of_json_map_texts_to_texts() -> None:
    (attribute,) = dict(JSON_OBJECTAGG.raw or {})["attributes"]
    (view,) = attribute["attributeType"]["externalDataType"]["fields"]
    texts = {"conversionClass": "org.apache.flink.table.data.StringData"}
    assert view == {"name": "map", "keyClass": texts, "valueClass": texts}


@pytest.mark.parametrize(
    ("function", "written"),
    [
        ("$BITMAP_BUILD_CARDINALITY_AGG$1", "BITMAP NOT NULL"),
        (
            "$BITMAP_XOR_AGG$1",
            "STRUCTURED<'org.apache.flink.table.runtime.functions.aggregate.AbstractBitmapXorAggFunction"
            "$BitmapXorAccumulator', `bitmap` BITMAP>",
        ),
    ],
)
def test_bitmaps_are_built_bare_and_combined_in_a_structure(function: str, written: str) -> None:
    assert str(BITMAPS[function]) == written


def test_texts_that_may_be_taken_back_are_listed() -> None:
    attributes = dict(LISTAGG_WITH_RETRACT.raw or {})["attributes"]
    assert [a["name"] for a in attributes] == ["list", "retractList"]
    (view,) = attributes[0]["attributeType"]["externalDataType"]["fields"]
    assert view["elementClass"] == {"conversionClass": "org.apache.flink.table.data.StringData"}


@pytest.mark.parametrize(
    ("key", "cls"),
    [("DATE", "java.lang.Integer"), ("STRING", "org.apache.flink.table.data.StringData"), ("INT", None)],
)
def test_keys_of_views_are_of_the_classes_inside_flink(key: str, cls: str | None) -> None:
    external = dict(distinct_view(parse_type(key), count_each=False).raw or {})["externalDataType"]
    fields = external["fields"] if isinstance(external, dict) else [{}]
    assert fields[0].get("keyClass", {}).get("conversionClass") == cls


def test_a_type_that_plans_write_as_an_object_has_a_text() -> None:
    name = "org.apache.flink.table.runtime.functions.aggregate.JsonObjectAggFunction$Accumulator"
    assert str(JSON_OBJECTAGG) == f"STRUCTURED<'{name}'>"
