"""Functions called as a worker calls them, without Spark: over Arrow arrays in this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle

from flinkplan.plan.types import LogicalType
from flinkplan.plan.types.parser import parse_type
from flinkplan.table.udf import DeclaredFunction, DeclaredTable
from flinkplan.udf.asynchronous import AsyncOptions
from flinkplan.udf.code import FunctionCode, Imports
from flinkplan.udf.opening import Surroundings
from flinkplan.udf.scalar import Argument, Called, Constant, ScalarCalls
from flinkplan.udf.tables import TableCall
from flinkplan.udf.values import writer

SURROUNDINGS = Surroundings("UTC", (("unit", "m"),), True, "task", 1000, AsyncOptions())
IMPORTS = Imports("a job")


def code_of(declared: DeclaredFunction, name: str = "f", *, takes_row: bool = False) -> FunctionCode:
    """What goes to a worker."""
    pickled: bytes = cloudpickle.dumps(declared.function)  # type: ignore[no-untyped-call]
    return FunctionCode(name, declared.declaration.python, takes_row, pickled, IMPORTS)


def types_of(*texts: str) -> tuple[LogicalType, ...]:
    """The types of these texts."""
    return tuple(map(parse_type, texts))


def called(
    declared: DeclaredFunction,
    types: Sequence[str],
    *columns: Sequence[Any],
    takes_row: bool = False,
    surroundings: Surroundings = SURROUNDINGS,
    code: FunctionCode | None = None,
) -> list[Any]:
    """The results for rows of these columns, as Arrow gives them back; of a table function the rows for each row."""
    arguments = tuple(map(Argument, range(len(types))))
    result = declared.declaration.result
    is_table = isinstance(declared, DeclaredTable)
    work = (TableCall if is_table else ScalarCalls)(
        (code or code_of(declared, takes_row=takes_row),),
        types_of(*types),
        tuple(f"c{i}" for i in range(len(types))),
        (Called(0, arguments),),
        result.field_types if is_table else (result,),
        surroundings,
    )
    batch = tuple(writer(t)(values) for t, values in zip(types_of(*types), columns, strict=True))
    (array,) = work([batch])
    rows = array.to_pylist()
    return [[tuple(r.values()) for r in row] for row in rows] if is_table else rows


__all__ = ["Argument", "Called", "Constant", "ScalarCalls", "called", "code_of", "pa", "types_of"]
