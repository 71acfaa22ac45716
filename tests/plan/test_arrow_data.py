"""The rows of data frames within plans."""

from __future__ import annotations

import base64

import pytest

from flinkplan.plan.arrow_data import decoded, encoded, internal
from flinkplan.plan.errors import PlanError
from flinkplan.plan.specs import Column
from flinkplan.plan.types import BIGINT, STRING
from flinkplan.plan.types.json import type_from_json, type_to_json


def test_messages_are_written_as_java_serializes_them() -> None:
    """The text is that of Flink for an array of two byte arrays."""
    text = encoded([b"a", b"bc"])
    assert base64.b64decode(text).hex() == (
        "aced0005757200035b5b424bfd19156767db3702000078700000000275"
        "7200025b42acf317f8060854e0020000787000000001617571007e00020000000262" + "63"
    )
    assert decoded(text) == [b"a", b"bc"]
    assert decoded(encoded([])) == []


@pytest.mark.parametrize("cut", [0, 10, 30, 60, -1])
def test_other_texts_are_refused(cut: int) -> None:
    stream = base64.b64decode(encoded([b"a", b"bc"]))[:cut]
    with pytest.raises(PlanError, match="cannot be read"):
        decoded(base64.b64encode(stream).decode())
    with pytest.raises(PlanError, match="cannot be read"):
        decoded("no base64")


def test_a_column_names_the_class_of_its_values() -> None:
    column = internal(Column("c", data_type=STRING))
    assert column.data_type is not None
    written = type_to_json(column.data_type)
    assert written == {
        "logicalType": "VARCHAR(2147483647)",
        "conversionClass": "org.apache.flink.table.data.StringData",
    }
    assert type_from_json(written) == column.data_type
    assert internal(Column("c", data_type=BIGINT)) == Column("c", data_type=BIGINT)
