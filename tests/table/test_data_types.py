"""Types with PyFlink's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from flinkplan.table import DataTypes

PERSON = DataTypes.ROW(
    [DataTypes.FIELD("name", DataTypes.STRING(), "what to call"), DataTypes.FIELD("age", DataTypes.INT().not_null())]
)


def test_rows_have_fields() -> None:
    assert (PERSON.names, PERSON.field_names(), len(PERSON)) == (["name", "age"], ["name", "age"], 2)
    assert PERSON.field_types() == [DataTypes.STRING(), DataTypes.INT(False)]
    assert (PERSON["age"], PERSON[0].description) == (PERSON[1], "what to call")
    assert [field.name for field in PERSON] == PERSON.names
    with pytest.raises(KeyError, match="no field 'size', only name, age"):
        PERSON["size"]


def test_nullability_is_changed_and_nothing_else() -> None:
    required = PERSON.not_null()
    assert str(required) == "ROW<`name` STRING, `age` INT NOT NULL> NOT NULL"
    assert required.fields == PERSON.fields and required.nullable() == PERSON != required


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: DataTypes.DECIMAL(39, 2),
        lambda: DataTypes.DECIMAL(5, 6),
        lambda: DataTypes.DECIMAL(0, 0),
        lambda: DataTypes.TIMESTAMP(10),
        lambda: DataTypes.VARCHAR("x"),
        lambda: DataTypes.INTERVAL(DataTypes.SECOND(), DataTypes.DAY()),
        lambda: DataTypes.ARRAY(cast(Any, "INT")),
        lambda: DataTypes.MAP(DataTypes.INT(), cast(Any, int)),
        lambda: DataTypes.FIELD("a", cast(Any, 5)),
        lambda: DataTypes.ROW(cast(Any, ["a"])),
    ],
)
def test_types_that_are_none(wrong: Callable[[], Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        wrong()
