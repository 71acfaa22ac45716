"""What is put into states is of the types that kernels declare."""

from __future__ import annotations

import pytest
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DecimalType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    StringType,
    StructType,
)

from flinkplan.executor.checkpoints.entries import _fits

INT, BIGINT, STRING = IntegerType(), LongType(), StringType()


def _struct(*types: DataType, prefix: str = "f") -> StructType:
    found = StructType()
    for i, t in enumerate(types):
        found = found.add(f"{prefix}{i}", t)
    return found


@pytest.mark.parametrize(
    ("found", "wanted", "fits"),
    [
        (_struct(INT, STRING), _struct(BIGINT, STRING, prefix="x"), True),
        (_struct(INT), _struct(INT, INT), False),
        (_struct(_struct(STRING)), _struct(STRING), False),
        (ArrayType(STRING), ArrayType(INT), False),
        (MapType(STRING, INT), MapType(STRING, BIGINT), True),
        (DecimalType(10, 2), DecimalType(10, 3), False),
        (NullType(), _struct(INT), True),
        (STRING, INT, False),
    ],
    ids=repr,
)
def test_types_fit(found: DataType, wanted: DataType, fits: bool) -> None:
    assert _fits(found, wanted) == fits
